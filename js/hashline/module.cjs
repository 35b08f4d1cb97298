// The exports that the modules of both dialects share.

'use strict'

const { formatting } = require('./format.cjs')
const { streaming } = require('./streams.cjs')
const { checking, parseTag } = require('./tags.cjs')

/** @import { Dialect } from './native.cjs' */

/** @typedef {ReturnType<typeof hashlineModule>} HashlineModule */

/** @param {Dialect} dialect */
function hashlineModule(dialect) {
  const { computeLineHash, formatEach, formatHashLines, formatLineTag } = formatting(dialect)
  return {
    computeLineHash,
    formatHashLines,
    formatLineTag,
    parseTag,
    ...checking(formatLineTag, computeLineHash),
    ...streaming(formatEach, formatHashLines),
  }
}

module.exports = { hashlineModule }
