// Applies edits for both dialects: checks them against the lines, removes duplicates and applies
// them from the bottom up, so that no edit moves the lines of a later one.

'use strict'

const { Draft } = require('./draft.cjs')
const { checkLineExists } = require('./tags.cjs')

/** @import { Lines } from './lines.cjs' */
/** @import { HashMismatch, LineTag } from './tags.cjs' */

/**
 * How a dialect handles one kind of edit.
 * @template Edit
 * @template {Changes} [C=Changes]
 * @typedef {object} Operation
 * @property {(edit: Edit, check: Check) => void} check throws, or records stale anchors
 * @property {(edit: Edit) => string} key the place; together with its lines it identifies
 * duplicates
 * @property {(edit: Edit, lineCount: number) => number} line the line where it applies
 * @property {number} turn its position among the edits at the same line
 * @property {(edit: Edit, changes: C, index: number) => void} apply
 */

/**
 * The sort key of an edit. Without a known operation it is NaN: comparisons are then false and only
 * the index decides, as in the original.
 * @typedef {{ line: number, turn: number, index: number }} Place
 */

/** Compares anchors with the lines of a text. */
class Check {
  /** @type {HashMismatch[]} */
  mismatches = []
  #lines
  #mismatchOf

  /**
   * @param {Lines} lines
   * @param {(ref: LineTag, text: string) => HashMismatch | undefined} mismatchOf
   */
  constructor(lines, mismatchOf) {
    this.#lines = lines
    this.#mismatchOf = mismatchOf
  }

  /**
   * Whether the anchor matches. A stale anchor is recorded; one beyond the last line throws.
   * @param {LineTag} ref
   */
  holds(ref) {
    checkLineExists(ref, this.#lines.count)
    const mismatch = this.#mismatchOf(ref, this.#lines.at(ref.line))
    if (mismatch) this.mismatches.push(mismatch)
    return mismatch === undefined
  }
}

/**
 * A text while its edits are applied, and the results to report.
 */
class Changes {
  /** @type {number | undefined} */
  firstChangedLine
  /** @type {{ index: number, loc: string, current: string }[]} edits that change nothing */
  noops = []

  /** @param {Lines} lines the original text */
  constructor(lines) {
    this.lines = lines
    this.draft = new Draft(lines)
  }

  /**
   * Replaces the lines from the first to the last.
   * @param {number} first
   * @param {number} last
   * @param {string[]} lines
   */
  replace(first, last, lines) {
    this.draft.splice(first - 1, last - first + 1, lines)
    this.#note(first)
  }

  /**
   * Inserts lines before the line with that number.
   * @param {number} line
   * @param {string[]} lines
   */
  insertBefore(line, lines) {
    this.draft.splice(line - 1, 0, lines)
    this.#note(line)
  }

  /** @param {string[]} lines */
  insertAtStart(lines) {
    this.draft.splice(0, this.draft.isEmpty ? 1 : 0, lines)
    this.#note(1)
  }

  /** @param {string[]} lines */
  insertAtEnd(lines) {
    if (this.draft.isEmpty) return this.insertAtStart(lines)
    this.insertBefore(this.draft.length + 1, lines)
  }

  /**
   * Records an edit that changes nothing.
   * @param {number} index
   * @param {LineTag} tag
   * @param {string[]} current
   */
  skip(index, tag, current) {
    this.noops.push({ index, loc: `${tag.line}#${tag.hash}`, current: current.join('\n') })
  }

  /** @param {number} line */
  #note(line) {
    if (this.firstChangedLine === undefined || line < this.firstChangedLine) {
      this.firstChangedLine = line
    }
  }
}

/**
 * Sorts the edits into the order of application, the last line first. Edits that repeat an earlier
 * one are first removed from the array itself, because callers find an edit by the index in a
 * result.
 * @template Edit
 * @template {Changes} C
 * @param {Edit[]} edits
 * @param {number} lineCount
 * @param {(edit: Edit) => Operation<Edit, C> | undefined} operationOf
 * @param {(edit: Edit) => string} keyOf equal only for duplicates
 */
function bottomUp(edits, lineCount, operationOf, keyOf) {
  const steps = stepsOf(edits, lineCount, operationOf)
  // Most edits are already in line order, one per line.
  if (isAscending(steps)) return steps.reverse()
  steps.sort(compareSteps)
  // Duplicates are at the same place. Usually no two edits are, and this check is cheaper than
  // creating keys. Edits without a place may be anywhere in the order.
  const mayRepeat = steps.some(
    ({ line, turn }, at) =>
      Number.isNaN(line) || (at > 0 && line === steps[at - 1].line && turn === steps[at - 1].turn),
  )
  if (!mayRepeat || !dropDuplicates(edits, keyOf)) return steps
  return stepsOf(edits, lineCount, operationOf).sort(compareSteps)
}

/**
 * @template Edit
 * @template {Changes} C
 * @param {Edit[]} edits
 * @param {number} lineCount
 * @param {(edit: Edit) => Operation<Edit, C> | undefined} operationOf
 */
function stepsOf(edits, lineCount, operationOf) {
  return edits.map((edit, index) => {
    const operation = operationOf(edit)
    const line = operation ? operation.line(edit, lineCount) : Number.NaN
    return { edit, operation, index, line, turn: operation ? operation.turn : Number.NaN }
  })
}

/** @param {Place[]} steps */
function isAscending(steps) {
  for (let at = 1; at < steps.length; at++) {
    if (!(steps[at].line > steps[at - 1].line)) return false
  }
  return steps.length > 0
}

/**
 * @param {Place} a
 * @param {Place} b
 */
function compareSteps(a, b) {
  return b.line - a.line || a.turn - b.turn || a.index - b.index
}

/**
 * @template Edit
 * @param {Edit[]} edits
 * @param {(edit: Edit) => string} keyOf
 * @returns {boolean} whether there were duplicates
 */
function dropDuplicates(edits, keyOf) {
  const seen = new Set()
  const doubled = edits.map((edit) => {
    const key = keyOf(edit)
    return seen.size === seen.add(key).size
  })
  for (let index = edits.length - 1; index >= 0; index--) {
    if (doubled[index]) edits.splice(index, 1)
  }
  return doubled.includes(true)
}

/**
 * Whether each line equals the new line at its index.
 * @param {string[]} lines
 * @param {string[]} newLines
 */
function areKept(lines, newLines) {
  return lines.every((line, index) => line === newLines[index])
}

module.exports = { areKept, bottomUp, Changes, Check }
