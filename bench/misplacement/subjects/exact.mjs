// Replacement of exact text, as most agents edit: the old text has enough context to be unique in
// the file that the model saw, and must occur exactly once.

import { refused } from './subject.mjs'

/** @import { Case } from '../cases.mjs' */
/** @import { Edit } from '../../edit/history/text.mjs' */
/** @import { Result, Subject } from './subject.mjs' */

/** @typedef {{ at: number, end: number, text: string }} Place */

/** @type {Subject} */
export const exactSubject = {
  name: 'exact text, context made unique',
  pace: 'main',
  apply(one) {
    const eol = one.old.includes('\r\n') ? '\r\n' : '\n'
    /** @type {Place[]} */
    const places = []
    for (const edit of one.operations) {
      const target = uniqueTextOf(one, edit, eol)
      if (!target) return refused('not unique when seen')
      const count = countOf(one.current, target.text)
      if (count !== 1) return refused(count === 0 ? 'not found' : 'not unique')
      places.push(placeOf(one, edit, target, eol))
    }
    return replaced(one.current, places)
  },
}

/**
 * The lines of an edit with lines around it, added alternately after and before, until the text is
 * unique. An insertion starts with the line before it.
 * @param {{ old: string, oldLines: string[] }} seen
 * @param {Edit} edit
 * @param {string} eol
 */
export function uniqueTextOf({ old, oldLines }, edit, eol) {
  let first = 'after' in edit ? Math.max(0, edit.after - 1) : edit.first - 1
  let end = 'after' in edit ? edit.after : edit.last
  for (let step = 0; ; step++) {
    const text = oldLines.slice(first, end).join(eol)
    if (countOf(old, text) === 1) return { first, end, text }
    if (first === 0 && end === oldLines.length) return undefined
    if (first === 0 || (step % 2 === 0 && end < oldLines.length)) end++
    else first--
  }
}

/**
 * How often a text occurs: 0, 1, or 2 for several; occurrences may overlap.
 * @param {string} whole
 * @param {string} part
 */
function countOf(whole, part) {
  const at = part === '' ? -1 : whole.indexOf(part)
  if (at < 0) return 0
  return whole.indexOf(part, at + 1) < 0 ? 1 : 2
}

/**
 * The range that is replaced in the current text, and its replacement. A deletion includes a
 * terminator.
 * @param {Case} one
 * @param {Edit} edit
 * @param {{ first: number, end: number, text: string }} target
 * @param {string} eol
 * @returns {Place}
 */
function placeOf({ current, oldLines }, edit, { first, end, text }, eol) {
  const [from, to] = 'after' in edit ? [edit.after, edit.after] : [edit.first - 1, edit.last]
  const lines = [...oldLines.slice(first, from), ...edit.lines, ...oldLines.slice(to, end)]
  const at = current.indexOf(text)
  const place = { at, end: at + text.length, text: lines.join(eol) }
  if (lines.length > 0) return place
  if (current.startsWith(eol, place.end)) return { ...place, end: place.end + eol.length }
  const before = at - eol.length
  return before >= 0 && current.startsWith(eol, before) ? { ...place, at: before } : place
}

/**
 * @param {string} text
 * @param {Place[]} places
 * @returns {Result}
 */
function replaced(text, places) {
  let limit = text.length
  for (const place of [...places].sort((one, other) => other.at - one.at)) {
    // Calls run in sequence: context that an earlier one replaced is not found.
    if (place.end > limit) return refused('contexts overlap')
    text = text.slice(0, place.at) + place.text + text.slice(place.end)
    limit = place.at
  }
  return { status: 'applied', text }
}
