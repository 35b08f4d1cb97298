// `hashline-native/omp13` for `import`: the same functions as for `require`.

import omp13 from './omp13.cjs'

export const {
  applyHashlineEdits,
  buildCompactHashlineDiffPreview,
  computeLineHash,
  formatHashLines,
  formatLineTag,
  HashlineMismatchError,
  parseTag,
  streamHashLinesFromLines,
  streamHashLinesFromUtf8,
  validateLineRef,
} = omp13
