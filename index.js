// The functions of the addon, by names that `import { … }` finds without running this.

'use strict'

const {
  HashlineError,
  HashSession,
  applyHash,
  applyHashSync,
  applyHashToText,
  applyJson,
  applyJsonSync,
  checkCommand,
  formatHashed,
  hashLines,
  readHashed,
  readHashedSync,
  readJson,
  readJsonSync,
  recoverTransactions,
  recoverTransactionsSync,
  searchHashed,
  searchHashedSync,
  verify,
  version,
} = require('./js/addon.cjs')

module.exports = {
  HashlineError,
  HashSession,
  applyHash,
  applyHashSync,
  applyHashToText,
  applyJson,
  applyJsonSync,
  checkCommand,
  formatHashed,
  hashLines,
  readHashed,
  readHashedSync,
  readJson,
  readJsonSync,
  recoverTransactions,
  recoverTransactionsSync,
  searchHashed,
  searchHashedSync,
  verify,
  version,
}
