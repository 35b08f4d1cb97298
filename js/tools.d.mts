export * from './tools.cjs'
