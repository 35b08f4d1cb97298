export * from './omp.cjs'
