// The right edit of a task in each scheme, as a model writes it that has read the file.

import { call } from '../../../scripts/modelServer.mjs'
import { unifiedDiff } from '../../misplacement/diff.mjs'
import { uniqueTextOf } from '../../misplacement/subjects/exact.mjs'
import { operationsOf } from '../../misplacement/subjects/plain.mjs'
import { short } from '../../tokens/schemes.mjs'
import { split, startOf } from '../history/text.mjs'

/** @import { ToolCall } from '../../../scripts/modelServer.mjs' */
/** @import { Case } from '../../misplacement/cases.mjs' */
/** @import { Edit } from '../history/text.mjs' */
/** @import { Task, TaskFile } from '../task.mjs' */

/** Edits that are nearer are made as one. */
const NEAR_LINES = 12

/** @param {TaskFile} file */
export function linesOf({ before }) {
  const text = split(before)
  if (text === undefined) throw new Error('the file has no plain lines')
  return text.lines
}

/**
 * The edits of a file, in order, those that are near to one another as one.
 * @param {TaskFile} file
 * @returns {Edit[]}
 */
export function editsOf(file) {
  const lines = linesOf(file)
  /** @type {{ start: number, end: number, lines: string[] }[]} */
  const spans = []
  for (const edit of [...file.edits].sort((one, other) => startOf(one) - startOf(other))) {
    const start = startOf(edit)
    const end = 'after' in edit ? start : edit.last
    const last = spans.at(-1)
    if (last && start - last.end <= NEAR_LINES) {
      last.lines.push(...lines.slice(last.end, start), ...edit.lines)
      last.end = end
    } else spans.push({ start, end, lines: [...edit.lines] })
  }
  return spans.map(({ start, end, lines }) =>
    start === end ? { after: start, lines } : { first: start + 1, last: end, lines },
  )
}

/** @param {TaskFile} file @returns {Case} */
export function caseOf(file) {
  const { path, before, changed, wanted } = file
  const about = { scenario: '', source: '', change: '', path, old: before }
  const texts = { current: changed ?? before, truth: wanted }
  return { ...about, oldLines: linesOf(file), ...texts, operations: editsOf(file) }
}

/** @param {TaskFile} file */
export function exactEdits(file) {
  const one = caseOf(file)
  const eol = one.old.includes('\r\n') ? '\r\n' : '\n'
  return one.operations.map((edit) => {
    // A deletion takes along a line that stays, for the end of the line that goes.
    const whole = edit.lines.length === 0 ? withNeighbour(edit, one.oldLines) : edit
    const target = uniqueTextOf(one, whole, eol)
    if (target === undefined) throw new Error(`${file.path} is nowhere unique`)
    const [from, to] = 'after' in whole ? [whole.after, whole.after] : [whole.first - 1, whole.last]
    const before = one.oldLines.slice(target.first, from)
    const behind = one.oldLines.slice(to, target.end)
    return {
      old_text: one.oldLines.slice(target.first, target.end).join('\n'),
      new_text: [...before, ...whole.lines, ...behind].join('\n'),
    }
  })
}

/** @param {Edit} edit @param {string[]} lines @returns {Edit} */
function withNeighbour(edit, lines) {
  if ('after' in edit) return edit
  const { first, last } = edit
  return first > 1
    ? { first: first - 1, last, lines: [lines[first - 2]] }
    : { first, last: last + 1, lines: [lines[last]] }
}

/** @param {TaskFile} file */
export function diffOf(file) {
  const { old, oldLines, operations, path } = caseOf(file)
  return unifiedDiff(oldLines, operations, { eol: '\n', final: old.endsWith('\n'), path })
}

/** @param {TaskFile} file */
export const operationsIn = (file) =>
  operationsOf(caseOf(file)).map((operation) => {
    const { text, ...rest } = short(operation)
    // The end of a text is no line: an empty last line has an end of its own.
    const whole = text === undefined ? {} : { text: text.replace(/\n$/, '\n\n') }
    return { ...rest, ...whole, path: file.path }
  })

/** @type {Record<string, (task: Task) => ToolCall[]>} */
export const WRITERS = {
  exact: ({ files }) =>
    files.flatMap((file) => call('edit', { path: file.path, edits: exactEdits(file) }).calls),
  diff: ({ files }) => call('apply_diff', { patch: files.map(diffOf).join('') }).calls,
  hashline: ({ files }) => call('apply_hash', { operations: files.flatMap(operationsIn) }).calls,
}
