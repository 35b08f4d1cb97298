// Formats lines with their anchors: `12#XY:text`.

'use strict'

const native = require('./native.cjs')
const { lineHash } = require('./lineHash.cjs')

/** @import { Dialect } from './native.cjs' */

/** Shorter texts are formatted in JavaScript: a native call would take longer. */
const NATIVE_MIN_UNITS = 96

/** A text of a single line is formatted in JavaScript up to this length. */
const NATIVE_MIN_UNITS_OF_ONE_LINE = 1024

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
   * Formats each line with its anchor; joined by newlines.
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
   * Formats the lines of a short text.
   * @param {string} content
   * @param {number} startLine
   * @returns {string}
   */
  function formatShort(content, startLine) {
    let formatted = ''
    let index = 0
    let start = 0
    for (;;) {
      const end = content.indexOf('\n', start)
      const line = end === -1 ? content.slice(start) : content.slice(start, end)
      const number = startLine + index
      formatted += `${number}#${computeLineHash(number, line)}:${line}`
      if (end === -1) return formatted
      formatted += '\n'
      start = end + 1
      index++
    }
  }

  /**
   * Formats each line of a text with its anchor; joined by newlines.
   * @param {string} content
   * @param {number} [startLine]
   * @returns {string}
   */
  function formatHashLines(content, startLine = 1) {
    if (isShort(content)) return formatShort(content, startLine)
    // Native code supports only whole numbers, strings without lone surrogates, and characters that
    // its Unicode tables know.
    const formatted = isLineNumber(startLine)
      ? native.formatLines(dialect, content, startLine)
      : null
    return formatted ?? formatEach(content.split('\n'), startLine)
  }

  return { computeLineHash, formatLineTag, formatEach, formatHashLines }
}

/** @param {unknown} content */
function isShort(content) {
  if (typeof content !== 'string') return false
  if (content.length < NATIVE_MIN_UNITS) return true
  return content.length < NATIVE_MIN_UNITS_OF_ONE_LINE && !content.includes('\n')
}

/**
 * Whether a number and those of all following lines are exact integers.
 * @param {unknown} value
 */
function isLineNumber(value) {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 52
}

module.exports = { formatting }
