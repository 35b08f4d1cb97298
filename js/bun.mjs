// `hashline-native/bun` for `import`: the very functions that `require` gives.

import bun from './bun.cjs'

export const {
  applyHashSync,
  applyHashToText,
  applyJsonSync,
  checkCommand,
  formatHashed,
  HashlineError,
  HashSession,
  hashLines,
  readHashedSync,
  readJsonSync,
  readText,
  recoverTransactionsSync,
  searchHashedSync,
  version,
} = bun
