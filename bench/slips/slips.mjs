// Mistakes of models, derived from real hunks: the intended edit, and what a model writes instead.

import { editOf } from '../edit/history/text.mjs'

/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */

/** A line of closing brackets and punctuation, or with a word or tag that closes a block. */
const CLOSING_BRACKETS = /^\s*(?:(?:[)\]}]|end\b)[)\]};,]*|fi|done|esac|<\/[\w:.-]+>)\s*$/

/**
 * @typedef {object} Mistake
 * @property {string} mistake
 * @property {Edit} edit
 * @property {'lines' | 'text' | 'file'} [form] the operation, by default on lines
 */

/**
 * The edit of a hunk, with lines around it or without.
 * @param {Pair} pair
 * @param {number} at the index of the hunk
 * @param {number} [context]
 */
export function meantEdit({ old, new: wanted, hunks }, at, context = 0) {
  const [previous, hunk, next] = [hunks[at - 1], hunks[at], hunks[at + 1]]
  const from = previous ? previous.oldAt + previous.oldCount : 0
  const to = next ? next.oldAt : old.lines.length
  const before = Math.min(context, hunk.oldAt - from)
  const after = Math.min(context, to - hunk.oldAt - hunk.oldCount)
  return editOf(hunk, old.lines, wanted.lines, { before, after })
}

/**
 * The mistakes that a model may make.
 * @param {Edit} meant
 * @param {string[]} file the lines of the old file
 * @param {Random} random
 * @returns {Generator<Mistake>}
 */
export function* mistakesOf(meant, file, random) {
  const { lines } = meant
  const above = 'after' in meant ? meant.after : meant.first - 1
  const below = 'after' in meant ? meant.after : meant.last
  const [lineAbove, lineBelow] = [file[above - 1], file[below]]
  if (!('after' in meant)) {
    yield* wrongRanges(meant, file)
  }
  const last = lines.at(-1)
  if (lines.length > 1 && last !== undefined && CLOSING_BRACKETS.test(last)) {
    yield {
      mistake: 'closing bracket missing from the end of the text',
      edit: { ...meant, lines: lines.slice(0, -1) },
    }
  }
  if (lines.length > 0 && lineBelow !== undefined && CLOSING_BRACKETS.test(lineBelow)) {
    yield {
      mistake: 'closing bracket below repeated',
      edit: { ...meant, lines: [...lines, lineBelow] },
    }
  }
  if (lines.length > 0 && lineAbove !== undefined && CLOSING_BRACKETS.test(lineAbove)) {
    yield {
      mistake: 'closing bracket above repeated',
      edit: { ...meant, lines: [lineAbove, ...lines] },
    }
  }
  if (lines.length > 0 && lineBelow !== undefined && /\w/.test(lineBelow)) {
    yield { mistake: 'line below repeated', edit: { ...meant, lines: [...lines, lineBelow] } }
  }
  if (lines.length > 3) {
    const kept = 1 + random.below(lines.length - 2)
    yield { mistake: 'text cut off', edit: { ...meant, lines: lines.slice(0, kept) } }
  }
  yield* wrongDepths(meant)
}

/**
 * @param {{ first: number, last: number, lines: string[] }} meant
 * @param {string[]} file
 * @returns {Generator<Mistake>}
 */
function* wrongRanges(meant, file) {
  const next = file[meant.last]
  if (next !== undefined && CLOSING_BRACKETS.test(next)) {
    yield { mistake: 'closing bracket below removed', edit: { ...meant, last: meant.last + 1 } }
  } else if (next?.trim()) {
    yield { mistake: 'end one line too late', edit: { ...meant, last: meant.last + 1 } }
  }
  if (meant.first > 1 && file[meant.first - 2].trim()) {
    yield { mistake: 'start one line too early', edit: { ...meant, first: meant.first - 1 } }
  }
  if (meant.last > meant.first) {
    yield { mistake: 'end one line too early', edit: { ...meant, last: meant.last - 1 } }
    yield { mistake: 'start one line too late', edit: { ...meant, first: meant.first + 1 } }
  }
}

/** @param {Edit} meant @returns {Generator<Mistake>} */
function* wrongDepths(meant) {
  const { lines } = meant
  if (lines.length < 2 || !lines.every((line) => line.trim() === '' || /^ {4}/.test(line))) return
  const shifted = lines.map((line) => (line.trim() === '' ? line : `    ${line}`))
  yield { mistake: 'text 4 columns too deep', edit: { ...meant, lines: shifted } }
  const left = lines.map((line) => line.slice(4))
  yield { mistake: 'text 4 columns too far left', edit: { ...meant, lines: left } }
}

/**
 * Mistakes of the layout: lost indentation, and markers that were copied from a diff or a view.
 * @param {Edit} meant
 * @param {Edit} around the same with unchanged lines around it
 * @param {import('./judge.mjs').Judge} judge
 * @returns {Generator<Mistake & { meant: Edit }>}
 */
export function* copyingMistakesOf(meant, around, judge) {
  const { lines } = meant
  const first = lines.findIndex((line) => line.trim() !== '')
  if (first >= 0) {
    const bare = lines.with(first, lines[first].trimStart())
    yield { mistake: 'first line without indentation', meant, edit: { ...meant, lines: bare } }
    if (lines.length > 1) {
      const left = withoutCommonIndentation(lines)
      yield { mistake: 'text without indentation', meant, edit: { ...meant, lines: left } }
    }
    const plus = lines.map((line) => `+${line}`)
    yield { mistake: 'every line with a +', meant, edit: { ...meant, lines: plus } }
  }
  if ('after' in around || around.lines.length === 0) return
  const anchored = (/** @type {string} */ line, /** @type {number} */ at) => {
    const number = Math.min(around.first + at, around.last)
    return `${judge.anchor(number)}|${line}`
  }
  const every = { ...around, lines: around.lines.map(anchored) }
  yield { mistake: 'every line with an anchor', meant: around, edit: every }
  const invented = around.lines.map(
    (line, at) => `${around.first + at}:${inventedHash(at)}|${line}`,
  )
  const edit = { ...around, lines: invented }
  yield { mistake: 'every line with an invented anchor', meant: around, edit }
  const rows = rowsOf(around, judge)
  if (!rows) return
  for (const form of /** @type {const} */ (['lines', 'text', 'file'])) {
    const mistake = `shown rows among the lines (${form})`
    yield { mistake, meant: around, edit: { ...around, lines: rows }, form }
  }
}

/** A hash that no line has by rule. @param {number} at */
const inventedHash = (at) => ((at * 37 + 11) % 256).toString(16).padStart(2, '0')

/**
 * The text of an edit in which unchanged lines at its ends are rows as they were shown; not all
 * lines are.
 * @param {{ first: number, last: number, lines: string[] }} edit
 * @param {import('./judge.mjs').Judge} judge
 */
function rowsOf({ first, last, lines }, judge) {
  const rows = [...lines]
  const old = judge.lines.slice(first - 1, last)
  let from = 0
  while (from < lines.length && lines[from] === old[from]) from++
  let to = 0
  while (
    to < lines.length - from &&
    to < old.length - from &&
    lines.at(-1 - to) === old.at(-1 - to)
  )
    to++
  if (from + to === 0 || from + to === lines.length) return undefined
  const row = (/** @type {number} */ at, /** @type {number} */ number) => {
    rows[at] = `${judge.anchor(number)}|${lines[at]}`
  }
  for (let at = 0; at < from; at++) row(at, first + at)
  for (let at = 0; at < to; at++) row(lines.length - 1 - at, last - at)
  return rows
}

/** @param {string[]} lines */
function withoutCommonIndentation(lines) {
  const filled = lines.filter((line) => line.trim() !== '')
  const widths = filled.map((line) => line.length - line.trimStart().length)
  const width = Math.min(...widths)
  return lines.map((line) => (line.trim() === '' ? line : line.slice(width)))
}
