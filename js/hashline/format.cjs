// Lines with their anchors in front: `12#XY:text`.

'use strict'

const native = require('./native.cjs')
const { lineHash } = require('./lineHash.cjs')

/** @import { Dialect } from './native.cjs' */

/**
 * @param {Dialect} dialect
 */
function formatting(dialect) {
  const computeLineHash = lineHash[dialect]

  /**
   * The anchor of a line.
   * @param {number} line
   * @param {string} content
   * @returns {string}
   */
  function formatLineTag(line, content) {
    return `${line}#${computeLineHash(line, content)}`
  }

  /**
   * Each of some lines with its anchor, joined by line feeds.
   * @param {string[]} lines
   * @param {number} startLine
   * @returns {string}
   */
  function formatEach(lines, startLine) {
    return lines
      .map((line, index) => `${formatLineTag(startLine + index, line)}:${line}`)
      .join('\n')
  }

  /**
   * Each line of a text with its anchor, joined by line feeds.
   * @param {string} content
   * @param {number} [startLine]
   * @returns {string}
   */
  function formatHashLines(content, startLine = 1) {
    // Native code knows whole numbers only, strings that UTF-8 can hold, and characters that are
    // no newer than its tables.
    const formatted = isLineNumber(startLine)
      ? native.formatLines(dialect, content, startLine)
      : null
    return formatted ?? formatEach(content.split('\n'), startLine)
  }

  return { computeLineHash, formatLineTag, formatEach, formatHashLines }
}

/**
 * Whether a number and those of all lines behind it can be told apart.
 * @param {unknown} value
 */
function isLineNumber(value) {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 52
}

module.exports = { formatting }
