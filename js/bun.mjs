// `hashline-native/bun` for `import`: the same functions as for `require`.

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
