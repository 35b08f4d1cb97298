// The lines of a text, without splitting it: a few edits access only a few lines.

'use strict'

const { lineStarts } = require('./lineStarts.cjs')

/** @typedef {TextLines} Lines */

/** The lines of a text, as `split('\n')` returns them. Numbers start at 1. */
class TextLines {
  #starts

  /**
   * @param {string} text
   * @param {number} wanted the approximate number of queries
   */
  constructor(text, wanted) {
    this.text = text
    this.#starts = lineStarts(text, wanted)
    /** The number of lines. */
    this.count = this.#starts.count
  }

  /**
   * The text of a line; undefined if there is none.
   * @param {number} line
   * @returns {string}
   */
  at(line) {
    if (!(Number.isInteger(line) && line >= 1 && line <= this.count)) {
      return /** @type {any} */ (undefined)
    }
    return this.slice(line, line)
  }

  /**
   * Whether an existing line has that text.
   * @param {number} line
   * @param {string} text
   */
  isAt(line, text) {
    const start = this.startOf(line)
    return this.#endOf(line) - start === text.length && this.text.startsWith(text, start)
  }

  /**
   * The text of the lines from the first to the last, without the final newline.
   * @param {number} first
   * @param {number} last
   */
  slice(first, last) {
    const start = this.startOf(first)
    return this.text.slice(start, this.#endOf(last))
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
  startOf(line) {
    return this.#starts.startOf(line)
  }

  /** @param {number} line */
  #endOf(line) {
    return line < this.count ? this.#starts.startOf(line + 1) - 1 : this.text.length
  }
}

module.exports = { TextLines }
