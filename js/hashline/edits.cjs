// What applying edits has in common in both dialects: edits are checked against the lines, freed
// of duplicates, and carried out from the bottom up, so that a step moves no line of a later one.

'use strict'

const { Draft } = require('./draft.cjs')
const { checkLineExists } = require('./tags.cjs')

/** @import { Lines } from './lines.cjs' */
/** @import { HashMismatch, LineTag } from './tags.cjs' */

/**
 * What a dialect knows about a kind of edit.
 * @template Edit
 * @template {Changes} [C=Changes]
 * @typedef {object} Operation
 * @property {(edit: Edit, check: Check) => void} check throws, or notes the anchors that are stale
 * @property {(edit: Edit) => string} key where it goes: with its lines, what makes a duplicate
 * @property {(edit: Edit, lineCount: number) => number} line the one at which it works
 * @property {number} turn its turn among the edits at the same line
 * @property {(edit: Edit, changes: C, index: number) => void} apply
 */

/**
 * The place of an edit among the others. That of an edit without a known operation is no number:
 * comparing with it says nothing, so only the indices of the edits are left to go by, as in the
 * original.
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
   * Whether the anchor holds. One that does not is noted; one of no line is an error at once.
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
 * A text while its edits are carried out, and what is told about them.
 */
class Changes {
  /** @type {number | undefined} */
  firstChangedLine
  /** @type {{ index: number, loc: string, current: string }[]} edits that change nothing */
  noops = []

  /** @param {Lines} lines the text as it was */
  constructor(lines) {
    this.lines = lines
    this.draft = new Draft(lines)
  }

  /**
   * Puts new lines in place of those from the first to the last.
   * @param {number} first
   * @param {number} last
   * @param {string[]} lines
   */
  replace(first, last, lines) {
    this.draft.splice(first - 1, last - first + 1, lines)
    this.#note(first)
  }

  /**
   * Puts new lines before the line with that number.
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
   * Notes that an edit says what is there already.
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
 * The edits in the order in which they are applied, the last line first. Those that put the same
 * lines at the same place as an earlier one are removed before, from the array itself: callers find
 * an edit by the index that a result names.
 * @template Edit
 * @template {Changes} C
 * @param {Edit[]} edits
 * @param {number} lineCount
 * @param {(edit: Edit) => Operation<Edit, C> | undefined} operationOf
 * @param {(edit: Edit) => string} keyOf what only duplicates share
 */
function bottomUp(edits, lineCount, operationOf, keyOf) {
  const steps = stepsOf(edits, lineCount, operationOf)
  // Most edits come in the order of their lines, one for each.
  if (isAscending(steps)) return steps.reverse()
  steps.sort(compareSteps)
  // Duplicates are at the same place. Mostly no two edits are, and that is seen sooner than keys
  // are made. Among edits without a place they stand anywhere.
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
 * @returns {boolean} whether there were any
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
 * Whether each of some lines is the new one at its place.
 * @param {string[]} lines
 * @param {string[]} newLines
 */
function areKept(lines, newLines) {
  return lines.every((line, index) => line === newLines[index])
}

module.exports = { areKept, bottomUp, Changes, Check }
