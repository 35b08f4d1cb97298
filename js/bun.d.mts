export * from './bun.cjs'
