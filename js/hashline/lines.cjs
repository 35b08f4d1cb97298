// The lines of a text, without cutting it into lines: a few edits touch a few of them.

'use strict'

const native = require('./native.cjs')

/** How many code units a block has; as in crates/core/src/edit/omp.rs. */
const BLOCK_UNITS = 128

/** In shorter texts line feeds are counted here: less than a call of native code takes. */
const NATIVE_MIN_UNITS = 4096

/** So many lines further on a line is found sooner by going there than by its block. */
const NEAR_LINES = 3

/** @typedef {TextLines} Lines */

/** The lines of a text, as `split('\n')` would cut it. Numbers start at 1. */
class TextLines {
  /** @type {Uint32Array} how many line feeds stand before each block, and then in all */
  #counts
  /** The line that was looked for last, and where it starts. */
  #line = 1
  #start = 0

  /** @param {string} text */
  constructor(text) {
    this.text = text
    this.#counts = countsOf(text)
    /** How many lines there are. */
    this.count = this.#counts[this.#counts.length - 1] + 1
  }

  /**
   * The text of a line; undefined when there is none.
   * @param {number} line
   * @returns {string}
   */
  at(line) {
    if (!(Number.isInteger(line) && line >= 1 && line <= this.count)) {
      return /** @type {any} */ (undefined)
    }
    const start = this.#startOf(line)
    const end = this.text.indexOf('\n', start)
    return end === -1 ? this.text.slice(start) : this.text.slice(start, end)
  }

  /**
   * The text of the lines from the first to the last, without the final line feed.
   * @param {number} first
   * @param {number} last
   */
  slice(first, last) {
    const start = this.#startOf(first)
    return this.text.slice(start, last < this.count ? this.#startOf(last + 1) - 1 : undefined)
  }

  /**
   * The lines from the first to the last.
   * @param {number} first
   * @param {number} last
   */
  between(first, last) {
    if (first === last) return [this.at(first)]
    return first > last ? [] : this.slice(first, last).split('\n')
  }

  /**
   * Where an existing line starts.
   * @param {number} line
   */
  #startOf(line) {
    if (line < this.#line || line > this.#line + NEAR_LINES) this.#moveToBlock(line)
    while (this.#line < line) {
      this.#start = this.text.indexOf('\n', this.#start) + 1
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
  if (text.length < NATIVE_MIN_UNITS) return lineFeedCounts(text)
  return new Uint32Array(native.lineFeedCounts(text))
}

/** @param {string} text */
function lineFeedCounts(text) {
  const counts = new Uint32Array(Math.ceil(text.length / BLOCK_UNITS) + 1)
  let block = 1
  let total = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    while (block * BLOCK_UNITS <= at) counts[block++] = total
    total++
  }
  return counts.fill(total, block)
}

module.exports = { TextLines }
