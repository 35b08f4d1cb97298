// Shortens a diff with numbered lines for a model: with fresh anchors and truncated runs.

'use strict'

/** @import { CompactHashlineDiffOptions, CompactHashlineDiffPreview } from '../omp13.cjs' */

const DEFAULT_RUN_LINES = 2
const DEFAULT_OUTPUT_LINES = 16

/** Replaces `#XY` in the row of a deleted line, which has no anchor. */
const NO_ANCHOR = '   '

/** The text of a row that replaces lines the diff omits. */
const ELLIPSIS = '...'

/**
 * Consecutive rows of one kind: added, removed, unchanged, or not a line of the diff.
 * @typedef {{ kind: '+' | '-' | ' ' | '', rows: string[] }} Run
 */

/**
 * @param {string} row
 * @returns {{ kind: Run['kind'], line: number, width: number, text: string } | undefined}
 */
function parseRow(row) {
  const [, kind, field, text] = /^([ +-])(\s*\d+)\|(.*)$/.exec(row) ?? []
  const line = Number(field)
  if (!Number.isInteger(line)) return undefined
  return { kind: /** @type {Run['kind']} */ (kind), line, width: field.length, text }
}

/**
 * The rows of a diff as runs, with anchors.
 * @param {string[]} rows
 * @param {(idx: number, line: string) => string} computeLineHash
 */
function runsOf(rows, computeLineHash) {
  /** @type {Run[]} */
  const runs = []
  // Added rows have new line numbers, all others have old ones.
  let shift = 0
  for (const row of rows) {
    const parsed = parseRow(row)
    const kind = parsed?.kind ?? ''
    let shown = row
    if (parsed && parsed.text !== ELLIPSIS) {
      const { line, width, text } = parsed
      const number = kind === ' ' ? line + shift : line
      const anchor = kind === '-' ? NO_ANCHOR : `#${computeLineHash(number, text)}`
      shown = `${kind}${String(number).padStart(width)}${anchor}|${text}`
      if (kind === '+') shift++
      if (kind === '-') shift--
    }
    const run = runs[runs.length - 1]
    if (run?.kind === kind) run.rows.push(shown)
    else runs.push({ kind, rows: [shown] })
  }
  return runs
}

/**
 * The first and the last rows of a run, and the number of omitted rows between them.
 * @param {string[]} rows
 * @param {{ first?: number, last?: number, name: string }} shown
 */
function cut(rows, { first = 0, last, name }) {
  const hidden = rows.length - first - (last ?? 0)
  if (hidden <= 0) return rows
  const end = last === undefined ? [] : rows.slice(-last)
  return [...rows.slice(0, first), ` ... ${hidden} more ${name} lines`, ...end]
}

/**
 * @param {Run} run
 * @param {boolean} isFirst
 * @param {boolean} isLast
 * @param {CompactHashlineDiffOptions} options
 */
function shownRows({ kind, rows }, isFirst, isLast, options) {
  switch (kind) {
    case '':
      return rows
    case '+':
      return cut(rows, { first: options.maxAdditionRun ?? DEFAULT_RUN_LINES, name: 'added' })
    case '-':
      return cut(rows, { first: options.maxDeletionRun ?? DEFAULT_RUN_LINES, name: 'removed' })
    default: {
      // Unchanged lines are useful only next to changed ones.
      const most = options.maxUnchangedRun ?? DEFAULT_RUN_LINES
      const name = 'unchanged'
      if (isFirst) return cut(rows, { last: most, name })
      return cut(rows, isLast ? { first: most, name } : { first: most, last: most, name })
    }
  }
}

/**
 * @param {(idx: number, line: string) => string} computeLineHash
 */
function diffPreview(computeLineHash) {
  /**
   * @param {string} diff
   * @param {CompactHashlineDiffOptions} [options]
   * @returns {CompactHashlineDiffPreview}
   */
  return function buildCompactHashlineDiffPreview(diff, options = {}) {
    const runs = runsOf(diff.length === 0 ? [] : diff.split('\n'), computeLineHash)
    const rows = runs.flatMap((run, at) =>
      shownRows(run, at === 0, at === runs.length - 1, options),
    )
    const most = options.maxOutputLines ?? DEFAULT_OUTPUT_LINES
    const shown = cut(rows, { first: most, name: 'preview' })
    const count = (/** @type {Run['kind']} */ kind) =>
      runs.reduce((sum, run) => sum + (run.kind === kind ? run.rows.length : 0), 0)
    return { preview: shown.join('\n'), addedLines: count('+'), removedLines: count('-') }
  }
}

module.exports = { diffPreview }
