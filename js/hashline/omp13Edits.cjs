// The edits of dialect `omp13`, and how they are applied.

'use strict'

const { areKept, bottomUp, Changes, Check, UNRANKED } = require('./edits.cjs')
const { TextLines } = require('./lines.cjs')

/** @import { HashlineEdit, applyHashlineEdits } from '../omp13.cjs' */
/** @import { HashlineModule } from './module.cjs' */
/** @import { Operation } from './edits.cjs' */
/** @import { Lines } from './lines.cjs' */

/**
 * An insert of no lines is one of an empty line; the caller's edit says so afterwards.
 * @param {HashlineEdit} edit
 */
function fill(edit) {
  if (edit.lines.length === 0) edit.lines = ['']
}

/**
 * @template Edit
 * @typedef {Operation<Edit> & { lastLine?(edit: Edit): number }} Omp13Operation
 * `lastLine` is the last of the lines that an edit replaces.
 */

/** @type {{ [Op in HashlineEdit['op']]: Omp13Operation<Extract<HashlineEdit, { op: Op }>> }} */
const OPERATIONS = {
  // @ts-expect-error: an edit without a known operation is to find nothing here
  __proto__: null,
  replace_line: {
    check: ({ pos }, check) => check.holds(pos),
    key: ({ pos }) => `s:${pos.line}`,
    rank: ({ pos }) => [pos.line, 0],
    lastLine: ({ pos }) => pos.line,
    apply({ pos, lines }, changes, index) {
      const replaced = changes.lines.between(pos.line, pos.line)
      if (lines.length === 1 && areKept(replaced, lines)) return changes.skip(index, pos, replaced)
      changes.replace(pos.line, pos.line, lines)
    },
  },
  replace_range: {
    check({ pos, end }, check) {
      const holds = [check.holds(pos), check.holds(end)]
      if (!holds.includes(false) && pos.line > end.line) {
        throw new Error(`Range start line ${pos.line} must be <= end line ${end.line}`)
      }
    },
    key: ({ pos, end }) => `r:${pos.line}:${end.line}`,
    rank: ({ end }) => [end.line, 0],
    lastLine: ({ end }) => end.line,
    apply: ({ pos, end, lines }, changes) => changes.replace(pos.line, end.line, lines),
  },
  append_at: {
    check(edit, check) {
      if (check.holds(edit.pos)) fill(edit)
    },
    key: ({ pos }) => `i:${pos.line}`,
    rank: ({ pos }) => [pos.line, 1],
    apply: ({ pos, lines }, changes) => changes.insertBefore(pos.line + 1, lines),
  },
  prepend_at: {
    check(edit, check) {
      if (check.holds(edit.pos)) fill(edit)
    },
    key: ({ pos }) => `ib:${pos.line}`,
    rank: ({ pos }) => [pos.line, 2],
    apply: ({ pos, lines }, changes) => changes.insertBefore(pos.line, lines),
  },
  append_file: {
    check: fill,
    key: () => 'ieof',
    rank: (_, lineCount) => [lineCount + 1, 1],
    apply: ({ lines }, changes) => changes.insertAtEnd(lines),
  },
  prepend_file: {
    check: fill,
    key: () => 'ibef',
    rank: () => [0, 2],
    apply: ({ lines }, changes) => changes.insertAtStart(lines),
  },
}

/**
 * Turns `\t`, written as two characters, into tabs where it stands at the start of lines and no
 * line of the edit has a real tab. The caller's edit has the tabs afterwards.
 * @param {HashlineEdit[]} edits
 * @param {string[]} warnings
 */
function restoreTabs(edits, warnings) {
  if (process.env.PI_HASHLINE_AUTOCORRECT_ESCAPED_TABS === '0') return
  for (const edit of edits) {
    if (edit.lines.length === 0) continue
    if (!edit.lines.some((line) => line.startsWith('\\t'))) continue
    if (edit.lines.some((line) => line.includes('\t'))) continue
    edit.lines = edit.lines.map((line) =>
      line.replace(/^(?:\\t)+/, (escapes) => '\t'.repeat(escapes.length / 2)),
    )
    warnings.push(
      'Auto-corrected escaped tab indentation in edit: converted leading \\t sequence(s) to real tab characters',
    )
  }
}

/**
 * Warns of escapes that a model may have made up.
 * @param {HashlineEdit[]} edits
 * @param {string[]} warnings
 */
function warnOfPlaceholders(edits, warnings) {
  for (const edit of edits) {
    // An edit without lines is an error here, also one of an unknown operation.
    if (edit.lines.length === 0) continue
    if (!edit.lines.some((line) => /\\uDDDD/i.test(line))) continue
    warnings.push(
      'Detected literal \\uDDDD in edit content; no autocorrection applied. Verify whether this should be a real Unicode escape or plain text.',
    )
  }
}

/**
 * Warns of a block whose text ends with the line behind the block, which is then there twice.
 * @param {HashlineModule} module
 * @param {Lines} lines
 * @param {HashlineEdit[]} edits
 * @param {string[]} warnings
 */
function warnOfDoubledEnds(module, lines, edits, warnings) {
  for (const edit of edits) {
    const lastLine = operationOf(edit)?.lastLine?.(edit)
    if (lastLine === undefined || edit.lines.length === 0 || lastLine >= lines.count) continue
    const next = lines.at(lastLine + 1)
    const last = edit.lines[edit.lines.length - 1].trim()
    if (last === '' || last !== next.trim()) continue
    const tag = module.formatLineTag(lastLine + 1, next)
    warnings.push(
      `Possible boundary duplication: your last replacement line \`${last}\` is identical to the next surviving line ${tag}. If you meant to replace the entire block, set \`end\` to ${tag} instead.`,
    )
  }
}

/**
 * Applies edits to a text.
 * @param {HashlineModule} module
 * @param {string} text
 * @param {HashlineEdit[]} edits duplicates are removed from this array, and lines are corrected
 * @returns {ReturnType<typeof applyHashlineEdits>}
 */
function applyOmp13Edits(module, text, edits) {
  if (edits.length === 0) return { lines: text, firstChangedLine: undefined }
  const lines = new TextLines(text)
  const check = new Check(lines, module.mismatchOf)
  for (const edit of edits) operationOf(edit)?.check(edit, check)
  if (check.mismatches.length > 0) {
    throw new module.HashlineMismatchError(check.mismatches, text.split('\n'))
  }
  /** @type {string[]} */
  const warnings = []
  restoreTabs(edits, warnings)
  warnOfPlaceholders(edits, warnings)
  warnOfDoubledEnds(module, lines, edits, warnings)
  const steps = bottomUp(edits, (edit) => rankOf(edit, lines.count), keyOf)
  const changes = new Changes(lines)
  for (const { edit, index } of steps) {
    operationOf(edit)?.apply(edit, changes, index)
  }
  const noopEdits = changes.noops.map(({ index, ...noop }) => ({ editIndex: index, ...noop }))
  return {
    lines: changes.draft.toString(),
    firstChangedLine: changes.firstChangedLine,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(noopEdits.length > 0 ? { noopEdits } : {}),
  }
}

/**
 * @param {HashlineEdit} edit
 * @param {number} lineCount
 * @returns {[number, number]}
 */
function rankOf(edit, lineCount) {
  return operationOf(edit)?.rank(edit, lineCount) ?? UNRANKED
}

/** @param {HashlineEdit} edit */
function keyOf(edit) {
  return `${operationOf(edit)?.key(edit)}:${edit.lines.join('\n')}`
}

/**
 * @param {HashlineEdit} edit
 * @returns {Omp13Operation<any> | undefined}
 */
function operationOf(edit) {
  return OPERATIONS[edit.op]
}

module.exports = { applyOmp13Edits }
