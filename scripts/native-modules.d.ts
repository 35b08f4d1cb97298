// The addons that js/addon.cjs may load, for the type checker: a machine has at most one.

declare module '*.node'
declare module 'hashline-native-*'
