// The functions of the addon, by names that `import { … }` finds without running this.

'use strict'

const {
  EditPlan,
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

require('./js/events.cjs')

module.exports = {
  EditPlan,
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
