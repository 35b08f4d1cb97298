// Mistakes of models, derived from real hunks: the intended edit, and what a model writes instead.

import { editOf } from '../edit/history/text.mjs'

/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */

/** A line of closing brackets and punctuation. */
const CLOSING_BRACKETS = /^\s*[)\]}]+[)\]};,]*\s*$/

/** @typedef {{ mistake: string, edit: Edit }} Mistake */

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
