// The right edit of a task in each scheme, as a model writes it after a read.

import { hashLines } from '../../../index.js'
import { call } from '../../../scripts/modelServer.mjs'
import { unifiedDiff } from '../../misplacement/diff.mjs'
import { replacementsOf } from '../../tokens/players/exact.mjs'
import { operationOf } from '../../tokens/players/hashline.mjs'
import { split, startOf } from '../history/text.mjs'
import { DEFAULT_DIALECT } from '../schemes.mjs'

/** @import { ToolCall } from '../../../scripts/modelServer.mjs' */
/** @import { Edit } from '../history/text.mjs' */
/** @import { Task, TaskFile } from '../task.mjs' */

/** Edits with fewer lines between them are merged. */
const NEAR_LINES = 12

/** @param {TaskFile} file */
export function linesOf({ before }) {
  const text = split(before)
  if (text === undefined) throw new Error('the file has no plain lines')
  return text.lines
}

/**
 * The sorted edits of a file, with close ones merged.
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

/** @param {TaskFile} file */
export function diffOf(file) {
  const { path, before } = file
  return unifiedDiff(linesOf(file), editsOf(file), {
    eol: '\n',
    final: before.endsWith('\n'),
    path,
  })
}

/** @param {TaskFile} file */
export function operationsIn(file) {
  // In this dialect there is no separator between number and hash.
  const hashes = hashLines(file.before, { dialect: DEFAULT_DIALECT })
  const anchorOf = (/** @type {number} */ line) => `${line}${hashes[line - 1]}`
  const { path } = file
  return editsOf(file).map((edit) => ({ path, ...operationOf(edit, anchorOf) }))
}

/** @param {TaskFile} file */
export const exactEdits = (file) => replacementsOf(linesOf(file), editsOf(file))

/** @type {Record<string, (task: Task) => ToolCall[]>} */
export const WRITERS = {
  exact: ({ files }) =>
    files.flatMap((file) => call('edit', { path: file.path, edits: exactEdits(file) }).calls),
  diff: ({ files }) => call('apply_diff', { patch: files.map(diffOf).join('') }).calls,
  hashline: ({ files }) => call('apply', { operations: files.flatMap(operationsIn) }).calls,
}
