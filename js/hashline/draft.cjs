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
    const runs = this.#runs
    const end = Math.min(index + deleteCount, this.length)
    const start = Math.min(index, end)
    let [first, firstIndex] = [0, 0]
    while (first < runs.length && firstIndex + runs[first].count <= start) {
      firstIndex += runs[first++].count
    }
    let [last, lastIndex] = [first, firstIndex]
    while (last < runs.length && lastIndex + runs[last].count < end) {
      lastIndex += runs[last++].count
    }
    /** @type {Run[]} what takes the place of the runs from the first to the last */
    const parts = []
    if (start > firstIndex) parts.push(part(runs[first], 0, start - firstIndex))
    if (lines.length > 0) parts.push({ count: lines.length, lines })
    const rest = last < runs.length ? lastIndex + runs[last].count - end : 0
    if (rest > 0) parts.push(part(runs[last], end - lastIndex, runs[last].count))
    runs.splice(first, last + 1 - first, ...parts)
    this.length += lines.length - (end - start)
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
 * The lines of a run from one index up to but not another.
 * @param {Run} run
 * @param {number} from
 * @param {number} to
 * @returns {Run}
 */
function part(run, from, to) {
  const count = to - from
  return run.lines
    ? { count, lines: run.lines.slice(from, to) }
    : { first: run.first + from, count }
}

module.exports = { Draft }
