// A text during editing: runs of its original lines, and new lines between them.

'use strict'

/** @import { Lines } from './lines.cjs' */

/** Consecutive lines: those of the text from number `first`, or new ones. */
class Run {
  /**
   * @param {number} first
   * @param {number} count
   * @param {string[] | undefined} lines
   */
  constructor(first, count, lines) {
    this.first = first
    this.count = count
    this.lines = lines
  }

  /**
   * Splits the run at an index; returns the second part.
   * @param {number} index
   */
  cut(index) {
    const rest = new Run(this.first + index, this.count - index, this.lines?.slice(index))
    this.count = index
    if (this.lines) this.lines = this.lines.slice(0, index)
    return rest
  }
}

/** From this number of runs on, `join` is faster than adding strings; see below. */
const MANY_RUNS = 64

/**
 * Behaves like `text.split('\n')` during edits, without the array. Indices start at 0. There is a
 * gap at the last edit, with runs above and below it, so edits that move up through the text, as
 * most do, access one run each.
 */
class Draft {
  #text
  /** @type {Run[]} above the gap; none of them empty */
  #above
  /** @type {Run[]} below the gap, the next one last; none of them empty */
  #below = []
  /** How many lines are above the gap. */
  #gap

  /** @param {Lines} text */
  constructor(text) {
    this.#text = text
    this.#above = [new Run(1, text.count, undefined)]
    this.#gap = text.count
    this.length = text.count
  }

  /**
   * The line at an index; undefined if there is none.
   * @param {number} index
   * @returns {string | undefined}
   */
  at(index) {
    if (index < 0 || index >= this.length) return undefined
    let start = this.#gap
    if (index < start) {
      for (let position = this.#above.length - 1; ; position--) {
        const run = this.#above[position]
        start -= run.count
        if (index >= start) return this.#lineOf(run, index - start)
      }
    }
    for (let position = this.#below.length - 1; ; position--) {
      const run = this.#below[position]
      if (index < start + run.count) return this.#lineOf(run, index - start)
      start += run.count
    }
  }

  /** Whether the text is one empty line. */
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
    this.#moveGap(Math.min(index, this.length))
    const deleted = Math.min(deleteCount, this.length - this.#gap)
    this.#drop(deleted)
    if (lines.length > 0) this.#below.push(new Run(0, lines.length, lines))
    this.length += lines.length - deleted
  }

  /** The current text. */
  toString() {
    const texts = []
    for (const run of this.#above) texts.push(this.#textOf(run))
    for (let at = this.#below.length - 1; at >= 0; at--) texts.push(this.#textOf(this.#below[at]))
    // Engines store a concatenation as a rope and copy all its parts once, when the text is read.
    // `join` copies them now, which is faster for many parts.
    if (texts.length >= MANY_RUNS) return texts.join('\n')
    let text = ''
    for (let at = 0; at < texts.length; at++) text += at > 0 ? `\n${texts[at]}` : texts[at]
    return text
  }

  /** @param {number} index */
  #moveGap(index) {
    const above = this.#above
    const below = this.#below
    while (this.#gap > index) {
      const run = above[above.length - 1]
      const start = this.#gap - run.count
      if (start < index) {
        below.push(run.cut(index - start))
        this.#gap = index
      } else {
        below.push(run)
        above.pop()
        this.#gap = start
      }
    }
    while (this.#gap < index) {
      const run = below[below.length - 1]
      this.#takeFromBelow(index - this.#gap)
      above.push(run)
      this.#gap += run.count
    }
  }

  /**
   * Takes lines from the run below the gap, at most `count`.
   * @param {number} count
   */
  #takeFromBelow(count) {
    const below = this.#below
    const run = below[below.length - 1]
    if (run.count > count) below[below.length - 1] = run.cut(count)
    else below.pop()
  }

  /**
   * Removes lines below the gap.
   * @param {number} count at most the number of lines below
   */
  #drop(count) {
    for (let left = count; left > 0; ) {
      const run = this.#below[this.#below.length - 1]
      this.#takeFromBelow(left)
      left -= run.count
    }
  }

  /**
   * @param {Run} run
   * @param {number} index
   */
  #lineOf({ first, lines }, index) {
    return lines ? lines[index] : this.#text.at(first + index)
  }

  /** @param {Run} run */
  #textOf({ first, count, lines }) {
    if (!lines) return this.#text.slice(first, first + count - 1)
    return lines.length === 1 && typeof lines[0] === 'string' ? lines[0] : lines.join('\n')
  }
}

module.exports = { Draft }
