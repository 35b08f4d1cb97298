// A text while it is edited: runs of its own lines and new lines between them.

'use strict'

/** @import { Lines } from './lines.cjs' */

/**
 * Lines in a row: those of the text from number `first` on, or new ones.
 * @typedef {{ first: number, count: number, lines?: undefined }
 *   | { first?: undefined, count: number, lines: string[] }} Run
 */

/** What `text.split('\n')` is to edits, without the array. Indices start at 0. */
class Draft {
  #text
  /** @type {Run[]} none of them empty */
  #runs

  /** @param {Lines} text */
  constructor(text) {
    this.#text = text
    this.#runs = [{ first: 1, count: text.count }]
    /** How many lines there are. */
    this.length = text.count
  }

  /**
   * The line at an index; undefined when there is none.
   * @param {number} index
   * @returns {string | undefined}
   */
  at(index) {
    if (index < 0) return undefined
    let from = 0
    for (const run of this.#runs) {
      if (index < from + run.count) {
        return run.lines ? run.lines[index - from] : this.#text.at(run.first + index - from)
      }
      from += run.count
    }
    return undefined
  }

  /** Whether there is one empty line and no more. */
  get isEmpty() {
    return this.length === 1 && this.at(0) === ''
  }

  /**
   * As `splice` of an array does.
   * @param {number} index
   * @param {number} deleteCount
   * @param {string[]} lines
   */
  splice(index, deleteCount, lines) {
    const end = Math.min(index + deleteCount, this.length)
    const from = this.#cutAt(Math.min(index, end))
    const to = this.#cutAt(end)
    const added = lines.length > 0 ? [{ count: lines.length, lines }] : []
    this.#runs.splice(from, to - from, ...added)
    this.length += lines.length - (end - Math.min(index, end))
  }

  /**
   * Sees to it that a run starts at a line, and says which.
   * @param {number} index
   */
  #cutAt(index) {
    let from = 0
    for (let position = 0; position < this.#runs.length; position++) {
      const run = this.#runs[position]
      const head = index - from
      if (head <= 0) return position
      if (head < run.count) {
        this.#runs.splice(position, 1, ...halves(run, head))
        return position + 1
      }
      from += run.count
    }
    return this.#runs.length
  }

  /** The text as it is now. */
  toString() {
    // Engines keep a sum of strings as such and copy its parts when the whole is looked at,
    // all of them once. `join` would copy them now.
    let text = ''
    for (let position = 0; position < this.#runs.length; position++) {
      const run = this.#runs[position]
      if (position > 0) text += '\n'
      text += run.lines
        ? run.lines.join('\n')
        : this.#text.slice(run.first, run.first + run.count - 1)
    }
    return text
  }
}

/**
 * @param {Run} run
 * @param {number} count how many lines the first half gets
 * @returns {Run[]}
 */
function halves(run, count) {
  const rest = run.count - count
  return run.lines
    ? [
        { count, lines: run.lines.slice(0, count) },
        { count: rest, lines: run.lines.slice(count) },
      ]
    : [
        { first: run.first, count },
        { first: run.first + count, count: rest },
      ]
}

module.exports = { Draft }
