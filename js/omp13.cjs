// `hashline-native/omp13`: the functions of a later generation of that hashline module.

'use strict'

const { diffPreview } = require('./hashline/diffPreview.cjs')
const { hashlineModule } = require('./hashline/module.cjs')
const { applyOmp13Edits } = require('./hashline/omp13Edits.cjs')

const omp13 = hashlineModule('omp13')

/** @type {typeof import('./omp13.cjs')} */
module.exports = {
  applyHashlineEdits: (text, edits) => applyOmp13Edits(omp13, text, edits),
  buildCompactHashlineDiffPreview: diffPreview(omp13.computeLineHash),
  computeLineHash: omp13.computeLineHash,
  formatHashLines: omp13.formatHashLines,
  formatLineTag: omp13.formatLineTag,
  HashlineMismatchError: omp13.HashlineMismatchError,
  parseTag: omp13.parseTag,
  streamHashLinesFromLines: omp13.streamHashLinesFromLines,
  streamHashLinesFromUtf8: omp13.streamHashLinesFromUtf8,
  validateLineRef: omp13.validateLineRef,
}
