// `hashline-native/omp` for `import`: the same functions as for `require`.

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
