// `hashline-native/omp`: the functions of a TypeScript hashline module, implemented natively.

'use strict'

const { hashlineModule } = require('./hashline/module.cjs')
const { applyOmpEdits } = require('./hashline/ompEdits.cjs')

const omp = hashlineModule('omp')

/** @type {typeof import('./omp.cjs')} */
module.exports = {
  applyHashlineEdits: (content, edits) => applyOmpEdits(omp, content, edits),
  computeLineHash: omp.computeLineHash,
  formatHashLines: omp.formatHashLines,
  formatLineTag: omp.formatLineTag,
  HashlineMismatchError: omp.HashlineMismatchError,
  parseTag: omp.parseTag,
  streamHashLinesFromLines: omp.streamHashLinesFromLines,
  streamHashLinesFromUtf8: omp.streamHashLinesFromUtf8,
  validateLineRef: omp.validateLineRef,
}
