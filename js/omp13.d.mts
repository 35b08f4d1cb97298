export * from './omp13.cjs'
