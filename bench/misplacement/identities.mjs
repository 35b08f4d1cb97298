// Edits of texts whose lines have identities: the lines that an edit means are known without
// comparing texts, and so are its right place and the indentation of its new lines.

import { startOf, withLines } from '../edit/history/text.mjs'
import { changed, repeatsNeighbours } from './edits.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit, Lines } from '../edit/history/text.mjs' */

/**
 * @typedef {object} Line of a current text
 * @property {string} text
 * @property {number} [id] the line that it was in the old text, from 0
 * @property {number[]} [holds] the lines of the old text whose letters and digits it has a part of;
 * by default only its own
 */
/**
 * @typedef {object} LineEdit
 * @property {Edit} edit
 * @property {number[]} like for each new line, the old line that has its indentation, from 0
 */

const MOST_LINES = 4

/**
 * A random edit. Each new line is a changed old line.
 * @param {string[]} lines
 * @param {Random} random
 * @param {number} [from] the first line that may be edited, from 1
 * @param {number} [to] the last one
 * @returns {LineEdit | undefined} undefined if the new lines repeat those around them or consist of
 * whitespace, because the intention of such an edit is unknown
 */
export function lineEdit(lines, random, from = 1, to = lines.length) {
  const kind = random.pick(['line', 'line', 'line', 'range', 'insert', 'delete'])
  const count = kind === 'range' || kind === 'delete' ? 1 + random.below(MOST_LINES) : 1
  if (to - from + 1 < count) return undefined
  const first = from + random.below(to - from - count + 2)
  const like = Array.from({ length: count }, (_, at) => first - 1 + at)
  if (lines[first - 1].trim() === '') return undefined
  const wanted = like.map((at) =>
    lines[at].trim() === '' ? lines[at] : changed(lines[at], random),
  )
  /** @type {Edit} */
  const edit =
    kind === 'insert'
      ? { after: first, lines: wanted }
      : { first, last: first + count - 1, lines: kind === 'delete' ? [] : wanted }
  if (edit.lines.some((line) => line !== '' && line.trim() === '')) return undefined
  return repeatsNeighbours(edit, lines) ? undefined : { edit, like }
}

/** @param {string} line */
const indentationOf = (line) => line.slice(0, line.length - line.trimStart().length)

/**
 * The current lines after the edit, if all its lines exist unchanged (except for whitespace at
 * their ends) and are consecutive. An insertion only needs its line.
 * @param {Line[]} lines
 * @param {string[]} oldLines
 * @param {LineEdit} edit
 * @param {Map<number, number>} places of the identities
 * @returns {string[] | undefined}
 */
export function resultOf(lines, oldLines, { edit, like }, places) {
  const [first, last] = 'after' in edit ? [edit.after, edit.after] : [edit.first, edit.last]
  const start = places.get(first - 1)
  if (start === undefined) return undefined
  for (let number = first; number <= last; number++) {
    const line = lines[start + number - first]
    if (line?.id !== number - 1 || line.text.trim() !== oldLines[number - 1].trim())
      return undefined
  }
  const wanted = edit.lines.map((text, at) => {
    const line = lines[/** @type {number} */ (places.get(like[at]))]
    return text === '' ? '' : indentationOf(line.text) + text.trimStart()
  })
  const result = lines.map(({ text }) => text)
  const count = last - first + 1
  if ('after' in edit) result.splice(start + 1, 0, ...wanted)
  else result.splice(start, count, ...wanted)
  return result
}

/** @param {Line[]} lines @returns {Map<number, number>} */
export const placesOf = (lines) =>
  new Map(lines.flatMap(({ id }, at) => (id === undefined ? [] : [[id, at]])))

/**
 * The numbers of the current lines that have the text of an edit's lines.
 * @param {Line[]} lines
 * @param {string[]} oldLines
 * @param {Edit} edit
 */
function numbersOf(lines, oldLines, edit) {
  const [from, to] = 'after' in edit ? [edit.after, edit.after] : [edit.first, edit.last]
  const isMeant = (/** @type {number} */ id) => id >= from - 1 && id < to
  return lines.flatMap(({ id, text, holds }, at) => {
    if (holds) return holds.some(isMeant) ? [at + 1] : []
    const isThere = id !== undefined && isMeant(id) && text.trim() === oldLines[id].trim()
    return isThere ? [at + 1] : []
  })
}

/**
 * Cases of one old and one current text.
 * @param {{ scenario: string, source: string, change: string, path: string }} names
 * @param {Lines} old
 * @param {Line[]} lines of the current text
 * @param {Random} random
 * @param {number} count the most
 * @param {Set<number>} [unsure] old lines that are not edited, from 0
 * @returns {Generator<Case>}
 */
export function* casesOfLines(names, old, lines, random, count, unsure = new Set()) {
  const places = placesOf(lines)
  const shared = {
    ...names,
    old: withLines(old, old.lines),
    oldLines: old.lines,
    current: withLines(
      old,
      lines.map(({ text }) => text),
    ),
    ids: lines.map(({ id }) => id),
  }
  for (let left = count; left > 0; left--) {
    const made = lineEdit(old.lines, random)
    if (!made || made.like.some((id) => unsure.has(id))) continue
    const { edit } = made
    // Which line loses the terminator at the end of a file is not tested here.
    if (!old.final && ('after' in edit ? edit.after : edit.last) === old.lines.length) continue
    const wanted = resultOf(lines, old.lines, made, places)
    const truth = wanted && withLines(old, wanted)
    if (truth === shared.current || truth === '') continue
    yield {
      ...shared,
      truth,
      isIndented: true,
      operations: [edit],
      now: numbersOf(lines, old.lines, edit),
    }
  }
}

/** The line before the place of an edit, or its first one. @param {Edit} edit */
export const targetOf = (edit) => Math.max(0, startOf(edit) - ('after' in edit ? 1 : 0))
