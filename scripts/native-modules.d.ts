// What js/addon.cjs may load, for the type checker: there is one of these at most on a machine.

declare module '*.node'
declare module 'hashline-native-*'
