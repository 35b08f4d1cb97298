// The lines that tools without the engine show: those that an edit has changed, and those most
// similar to a missing text. The engine's answers show the same amount.

/** Lines shown above and below. */
const AROUND = 2
const MOST_LINES = 100
/** The most lines of a missing text that are compared. */
const MOST_COMPARED = 50

/** @typedef {{ start: number, end: number }} Span lines from `start` to below `end`, from 0 */

/**
 * Lines with their numbers, as in reads, and a mark for omitted ones.
 * @param {string[]} lines
 * @param {Span[]} spans in their order
 */
export function shownLines(lines, spans) {
  /** @type {string[]} */
  const rows = []
  let next = 0
  let count = 0
  for (const { start, end } of spans) {
    const from = Math.max(next, start - AROUND)
    const to = Math.min(lines.length, end + AROUND)
    if (from >= to) continue
    if (rows.length > 0 && from > next) rows.push('...')
    for (let at = from; at < to; at++) {
      if (++count > MOST_LINES) return [...rows, '... more is changed: read it.'].join('\n')
      rows.push(`${at + 1}\t${lines[at]}`)
    }
    next = to
  }
  return rows.join('\n')
}

/**
 * The lines that are most similar to others, with those around them.
 * @param {string[]} lines
 * @param {string[]} wanted
 * @returns {string | undefined} undefined if no lines are similar
 */
export function nearestLines(lines, wanted) {
  const compared = wanted.slice(0, MOST_COMPARED).map(wordsOf)
  const words = lines.map(wordsOf)
  let best = { score: 0, at: 0 }
  for (const at of lines.keys()) {
    const score = compared.reduce((sum, one, index) => sum + likeness(one, words[at + index]), 0)
    if (score > best.score) best = { score, at }
  }
  if (best.score === 0) return undefined
  const end = best.at + Math.min(compared.length, wanted.length)
  return shownLines(lines, [{ start: best.at, end }])
}

/** @param {string} line */
const wordsOf = (line) => new Set(line.match(/\w+|[^\w\s]/g) ?? [])

/** The similarity of lines, from 0 to 1. @param {Set<string>} one @param {Set<string>} [other] */
function likeness(one, other) {
  if (other === undefined || one.size === 0) return 0
  const both = [...one].filter((word) => other.has(word)).length
  return (2 * both) / (one.size + other.size)
}

/**
 * How lines have moved below an edit.
 * @param {string[]} before
 * @param {string[]} after
 * @param {number} last line of the edit, from 1
 */
export function movedNote(before, after, last) {
  const by = after.length - before.length
  if (by === 0 || last >= after.length) return ''
  return `\nLines after ${last} moved by ${by > 0 ? '+' : ''}${by}.`
}
