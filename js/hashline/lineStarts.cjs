// Where the lines of a text start: of all lines, or of blocks of the text, between which a line is
// looked for. Either can be the faster way.

'use strict'

const native = require('./native.cjs')

/**
 * @typedef {object} LineStarts
 * @property {number} count how many lines there are
 * @property {(line: number) => number} startOf where an existing line starts
 */

/** How many code units a block has; as in src/omp/lines.rs. */
const BLOCK_UNITS = 128

/** In shorter texts line feeds are looked for here: less than a call of native code takes. */
const NATIVE_MIN_UNITS = 4096

/** Where more than one line in so much text is asked for, it pays to look for all of them. */
const SPARSE_UNITS = 512

/** So many lines further on a line is found sooner by going there than by its block. */
const NEAR_LINES = 3

/**
 * @param {string} text
 * @param {number} wanted about how many lines will be asked for
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

/** How many line feeds stand before each block. */
class BlockStarts {
  #text
  #counts
  /** The line that was looked for last, and where it starts. */
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
   * Goes to the start of the block in which the line starts, or at whose end it starts. That is
   * within a line; the next line feed ends it nevertheless.
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
