// The edits of dialect `omp13`, and how they are applied.

'use strict'

const { skipWhitespace } = require('./characters.cjs')
const { bottomUp, Changes, Check } = require('./edits.cjs')
const { TextLines } = require('./lines.cjs')

/** @import { HashlineEdit, applyHashlineEdits } from '../omp13.cjs' */
/** @import { HashlineModule } from './module.cjs' */
/** @import { Operation } from './edits.cjs' */
/** @import { Lines } from './lines.cjs' */

/**
 * Turns an insert of zero lines into one of an empty line, in the caller's edit.
 * @param {HashlineEdit} edit
 */
function fill(edit) {
  if (edit.lines.length === 0) edit.lines = ['']
}

/**
 * @template Edit
 * @typedef {Operation<Edit> & { lastLine?(edit: Edit): number }} Omp13Operation
 * `lastLine` is the last line that an edit replaces.
 */

/** @type {{ [Op in HashlineEdit['op']]: Omp13Operation<Extract<HashlineEdit, { op: Op }>> }} */
const OPERATIONS = {
  // @ts-expect-error: an unknown operation must be undefined
  __proto__: null,
  replace_line: {
    check: ({ pos }, check) => check.holds(pos),
    key: ({ pos }) => `s:${pos.line}`,
    line: ({ pos }) => pos.line,
    turn: 0,
    lastLine: ({ pos }) => pos.line,
    apply({ pos, lines }, changes, index) {
      const isKept = lines.length === 1 && changes.lines.isAt(pos.line, lines[0])
      if (isKept) return changes.skip(index, pos, lines)
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
    line: ({ end }) => end.line,
    turn: 0,
    lastLine: ({ end }) => end.line,
    apply: ({ pos, end, lines }, changes) => changes.replace(pos.line, end.line, lines),
  },
  append_at: {
    check(edit, check) {
      if (check.holds(edit.pos)) fill(edit)
    },
    key: ({ pos }) => `i:${pos.line}`,
    line: ({ pos }) => pos.line,
    turn: 1,
    apply: ({ pos, lines }, changes) => changes.insertBefore(pos.line + 1, lines),
  },
  prepend_at: {
    check(edit, check) {
      if (check.holds(edit.pos)) fill(edit)
    },
    key: ({ pos }) => `ib:${pos.line}`,
    line: ({ pos }) => pos.line,
    turn: 2,
    apply: ({ pos, lines }, changes) => changes.insertBefore(pos.line, lines),
  },
  append_file: {
    check: fill,
    key: () => 'ieof',
    line: (_, lineCount) => lineCount + 1,
    turn: 1,
    apply: ({ lines }, changes) => changes.insertAtEnd(lines),
  },
  prepend_file: {
    check: fill,
    key: () => 'ibef',
    line: () => 0,
    turn: 2,
    apply: ({ lines }, changes) => changes.insertAtStart(lines),
  },
}

/**
 * Whether any line has a backslash, which is rare.
 * @param {string[]} lines
 */
function holdsBackslash(lines) {
  for (const line of lines) if (line.includes('\\')) return true
  return false
}

/**
 * Replaces `\t`, written as two characters, by tabs at the start of lines, unless a line of the
 * edit has a real tab. Changes the caller's edit.
 * @param {HashlineEdit[]} edits
 * @param {string[]} warnings
 */
function restoreTabs(edits, warnings) {
  if (process.env.PI_HASHLINE_AUTOCORRECT_ESCAPED_TABS === '0') return
  for (const edit of edits) {
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
 * Warns of escapes that a model may have invented.
 * @param {HashlineEdit[]} edits
 * @param {string[]} warnings
 */
function warnOfPlaceholders(edits, warnings) {
  for (const edit of edits) {
    if (!edit.lines.some((line) => /\\uDDDD/i.test(line))) continue
    warnings.push(
      'Detected literal \\uDDDD in edit content; no autocorrection applied. Verify whether this should be a real Unicode escape or plain text.',
    )
  }
}

/**
 * Whether the first characters that are not whitespace differ, as they usually do.
 * @param {string} one
 * @param {number} from
 * @param {string} other
 * @param {number} otherFrom
 */
function beginDifferently(one, from, other, otherFrom) {
  const unit = one.charCodeAt(skipWhitespace(one, from))
  return unit !== other.charCodeAt(skipWhitespace(other, otherFrom))
}

/**
 * Warns of a block whose last line equals the line after the block, which is then duplicated.
 * @param {HashlineModule} module
 * @param {Lines} lines
 * @param {HashlineEdit[]} edits
 * @param {string[]} warnings
 */
function warnOfDoubledEnds(module, lines, edits, warnings) {
  for (const edit of edits) {
    const lastLine = operationOf(edit)?.lastLine?.(edit)
    if (lastLine === undefined || edit.lines.length === 0 || lastLine >= lines.count) continue
    const end = edit.lines[edit.lines.length - 1]
    if (beginDifferently(end, 0, lines.text, lines.startOf(lastLine + 1))) continue
    const next = lines.at(lastLine + 1)
    const last = end.trim()
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
 * @param {HashlineEdit[]} edits duplicates are removed from this array, and lines are corrected in
 * it
 * @returns {ReturnType<typeof applyHashlineEdits>}
 */
function applyOmp13Edits(module, text, edits) {
  if (edits.length === 0) return { lines: text, firstChangedLine: undefined }
  const lines = new TextLines(text, edits.length)
  const check = new Check(lines, module.mismatchOf)
  for (const edit of edits) operationOf(edit)?.check(edit, check)
  if (check.mismatches.length > 0) {
    throw new module.HashlineMismatchError(check.mismatches, text.split('\n'))
  }
  /** @type {string[]} */
  const warnings = []
  // An edit without lines is an error, also for an unknown operation.
  const escaped = edits.filter((edit) => edit.lines.length > 0 && holdsBackslash(edit.lines))
  restoreTabs(escaped, warnings)
  warnOfPlaceholders(escaped, warnings)
  warnOfDoubledEnds(module, lines, edits, warnings)
  const steps = bottomUp(edits, lines.count, operationOf, keyOf)
  const changes = new Changes(lines)
  for (const { edit, operation, index } of steps) operation?.apply(edit, changes, index)
  const noopEdits = changes.noops.map(({ index, ...noop }) => ({ editIndex: index, ...noop }))
  return {
    lines: changes.draft.toString(),
    firstChangedLine: changes.firstChangedLine,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(noopEdits.length > 0 ? { noopEdits } : {}),
  }
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
