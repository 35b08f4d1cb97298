// `hashline-native/omp` for `import`: the very functions that `require` gives.

import omp from './omp.cjs'

export const {
  applyHashlineEdits,
  computeLineHash,
  formatHashLines,
  formatLineTag,
  HashlineMismatchError,
  parseTag,
  streamHashLinesFromLines,
  streamHashLinesFromUtf8,
  validateLineRef,
} = omp
