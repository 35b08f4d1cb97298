// Finds where lines start: from an index of all lines, or from newline counts of blocks and a
// search within one block. Which is faster depends on the number of queries.

'use strict'

const native = require('./native.cjs')

/**
 * @typedef {object} LineStarts
 * @property {number} count the number of lines
 * @property {(line: number) => number} startOf where an existing line starts
 */

/** The code units of a block; as in src/omp/lines.rs. */
const BLOCK_UNITS = 128

/** Shorter texts are searched in JavaScript, which takes less time than a native call. */
const NATIVE_MIN_UNITS = 4096

/** With more than one query per this number of code units, an index of all lines is faster. */
const SPARSE_UNITS = 512

/** A line at most this many lines further is found faster by scanning than by its block. */
const NEAR_LINES = 3

/**
 * @param {string} text
 * @param {number} wanted the approximate number of queries
 * @returns {LineStarts}
 */
function lineStarts(text, wanted) {
  return text.length > wanted * SPARSE_UNITS ? new BlockStarts(text) : new AllStarts(text)
}

/** Where each line starts. */
class AllStarts {
  #starts

  /** @param {string} text */
  constructor(text) {
    const isShort = text.length < NATIVE_MIN_UNITS
    this.#starts = isShort ? startsOf(text) : new Uint32Array(native.lineStarts(text))
    this.count = this.#starts.length
  }

  /** @param {number} line */
  startOf(line) {
    return this.#starts[line - 1]
  }
}

/** @param {string} text */
function startsOf(text) {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The number of newlines before each block. */
class BlockStarts {
  #text
  #counts
  /** The last line that was found, and its start. */
  #line = 1
  #start = 0

  /** @param {string} text */
  constructor(text) {
    this.#text = text
    const isShort = text.length < NATIVE_MIN_UNITS
    this.#counts = isShort ? countsOf(text) : new Uint32Array(native.lineFeedCounts(text))
    this.count = this.#counts[this.#counts.length - 1] + 1
  }

  /** @param {number} line */
  startOf(line) {
    if (line < this.#line || line > this.#line + NEAR_LINES) this.#moveToBlock(line)
    while (this.#line < line) {
      this.#start = this.#text.indexOf('\n', this.#start) + 1
      this.#line++
    }
    return this.#start
  }

  /**
   * Moves to the start of the block that has the start of the line, or ends at it. That may be
   * within a line; the next newline ends it anyway.
   * @param {number} line
   */
  #moveToBlock(line) {
    const counts = this.#counts
    let low = 0
    let high = counts.length - 1
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (counts[middle] < line - 1) low = middle
      else high = middle
    }
    this.#line = counts[low] + 1
    this.#start = low * BLOCK_UNITS
  }
}

/** @param {string} text */
function countsOf(text) {
  const counts = new Uint32Array(Math.ceil(text.length / BLOCK_UNITS) + 1)
  let block = 1
  let total = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    while (block * BLOCK_UNITS <= at) counts[block++] = total
    total++
  }
  return counts.fill(total, block)
}

module.exports = { lineStarts }
