// The unified diff of edits with known lines.

import { startOf } from '../edit/history/text.mjs'

/** @import { Edit } from '../edit/history/text.mjs' */

const CONTEXT = 3
const NO_NEWLINE = '\\ No newline at end of file'

/**
 * The hunks that `diff -u` prints for edits of a text.
 * @param {string[]} oldLines
 * @param {Edit[]} edits
 * @param {{ eol: string, final: boolean, path: string }} file `final`: whether the last line has a
 * terminator
 */
export function unifiedDiff(oldLines, edits, { eol, final, path }) {
  const rows = [`--- a/${path}\n`, `+++ b/${path}\n`]
  let shift = 0
  const whole = final ? edits : edits.map((edit) => replacingLast(oldLines, edit))
  for (const group of groupsOf(whole)) {
    const from = Math.max(0, group[0].start - CONTEXT)
    const to = Math.min(oldLines.length, group[group.length - 1].end + CONTEXT)
    /** @type {{ mark: ' ' | '-' | '+', line: string, last: boolean }[]} */
    const body = []
    const lastOld = oldLines.length - 1
    const old = (/** @type {' ' | '-'} */ mark, /** @type {number} */ at) =>
      body.push({ mark, line: oldLines[at], last: at === lastOld })
    let at = from
    for (const { start, end, lines } of group) {
      for (; at < start; at++) old(' ', at)
      for (; at < end; at++) old('-', at)
      for (const line of lines) body.push({ mark: '+', line, last: false })
      if (end === oldLines.length && lines.length > 0) body[body.length - 1].last = true
    }
    for (; at < to; at++) old(' ', at)
    const count = (/** @type {string} */ other) => body.filter(({ mark }) => mark !== other).length
    const [oldCount, newCount] = [count('+'), count('-')]
    const start = (/** @type {number} */ line, /** @type {number} */ lines) =>
      lines === 0 ? line : line + 1
    rows.push(
      `@@ -${start(from, oldCount)},${oldCount} +${start(from + shift, newCount)},${newCount} @@\n`,
    )
    for (const { mark, line, last } of body) {
      rows.push(last && !final ? `${mark}${line}\n${NO_NEWLINE}\n` : `${mark}${line}${eol}`)
    }
    shift += newCount - oldCount
  }
  return rows.join('')
}

/**
 * Lines after a last line without terminator give it one, which changes it.
 * @param {string[]} lines
 * @param {Edit} edit
 * @returns {Edit}
 */
function replacingLast(lines, edit) {
  const { length } = lines
  if (!('after' in edit) || edit.after < length) return edit
  return { first: length, last: length, lines: [lines[length - 1], ...edit.lines] }
}

/**
 * Edits in line order; those with touching contexts are grouped.
 * @param {Edit[]} edits
 */
function groupsOf(edits) {
  const spans = edits
    .map((edit) => {
      const start = startOf(edit)
      return { start, end: 'after' in edit ? start : edit.last, lines: edit.lines }
    })
    .sort((one, other) => one.start - other.start)
  /** @type {(typeof spans)[]} */
  const groups = []
  for (const span of spans) {
    const group = groups.at(-1)
    if (group && span.start - group[group.length - 1].end <= 2 * CONTEXT) group.push(span)
    else groups.push([span])
  }
  return groups
}
