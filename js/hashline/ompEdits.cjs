// The edits of dialect `omp`, and how they are applied.

'use strict'

const { areKept, bottomUp, Changes, Check } = require('./edits.cjs')
const { TextLines } = require('./lines.cjs')
const { indented, mergedNeighbour, unwrapped, withoutEchoes } = require('./repairs.cjs')

/** @import { HashlineEdit, applyHashlineEdits } from '../omp.cjs' */
/** @import { HashlineModule } from './module.cjs' */
/** @import { Operation } from './edits.cjs' */
/** @import { Lines } from './lines.cjs' */

/** The changes of a call, with the repairs of its texts. */
class OmpChanges extends Changes {
  /**
   * @param {Lines} lines
   * @param {Set<number> | undefined} touched the lines that edits name, if texts are repaired
   */
  constructor(lines, touched) {
    super(lines)
    this.touched = touched
  }

  /**
   * The lines of an edit that inserts them between two lines, or next to one.
   * @param {number | undefined} above the line above the insertion, if the edit names it
   * @param {number | undefined} below
   * @param {string[]} content
   */
  inserted(above, below, content) {
    if (!this.touched || content.length < 2) return content
    return withoutEchoes(content, this.#lineAt(above), this.#lineAt(below), 1)
  }

  /**
   * The lines of an edit that replaces others.
   * @param {number} first
   * @param {number} last
   * @param {string[]} replaced
   * @param {string[]} content
   */
  replacement(first, last, replaced, content) {
    if (!this.touched) return content
    // An edit that does not grow would lose lines that the model intended.
    const mayEcho = content.length > 1 && content.length > replaced.length
    const own = mayEcho
      ? withoutEchoes(content, this.#lineAt(first - 1), this.#lineAt(last + 1), 0)
      : content
    return indented(replaced, unwrapped(replaced, own))
  }

  /** @param {number | undefined} line */
  #lineAt(line) {
    return line === undefined ? undefined : this.lines.at(line)
  }

  /**
   * The current lines that a single new line replaces: the named line, and possibly a neighbour
   * that was merged into it.
   * @param {number} line
   * @param {string[]} content
   * @returns {[first: number, last: number]}
   */
  span(line, content) {
    const { draft, touched } = this
    if (!touched || content.length !== 1) return [line, line]
    const current = draft.at(line - 1)
    if (current === undefined) return [line, line]
    const merged = mergedNeighbour(content[0], current, (side) =>
      touched.has(line + side) ? undefined : draft.at(line + side - 1),
    )
    return [line + Math.min(merged, 0), line + Math.max(merged, 0)]
  }

  /**
   * The original text of lines.
   * @param {number} first
   * @param {number} last
   */
  before(first, last) {
    return this.lines.between(first, Math.min(last, this.lines.count))
  }
}

/**
 * @param {string[]} content
 * @param {string} where
 */
function checkFilled(content, where) {
  if (content.length === 0) throw new Error(`${where} requires non-empty dst`)
}

/**
 * @template Edit
 * @typedef {Operation<Edit, OmpChanges> & { touches(edit: Edit): Iterable<number> }} OmpOperation
 * `touches` are the lines that an edit names.
 */

/** @type {{ [Op in HashlineEdit['op']]: OmpOperation<Extract<HashlineEdit, { op: Op }>> }} */
const OPERATIONS = {
  // @ts-expect-error: an unknown operation must be undefined
  __proto__: null,
  set: {
    check: ({ tag }, check) => check.holds(tag),
    key: ({ tag }) => `s:${tag.line}`,
    line: ({ tag }) => tag.line,
    turn: 0,
    touches: ({ tag }) => [tag.line],
    apply({ tag, content }, changes, index) {
      const { line } = tag
      if (!changes.touched) {
        // If the text begins with the old line, its further lines are dropped, too.
        const isKept = content.length > 0 && changes.lines.isAt(line, content[0])
        if (isKept) return changes.skip(index, tag, content.slice(0, 1))
        return changes.replace(line, line, content)
      }
      const [first, last] = changes.span(line, content)
      const replaced = changes.before(first, last)
      const lines =
        first < last
          ? indented(replaced.slice(0, 1), content)
          : changes.replacement(line, line, replaced, content)
      // Two merged lines are a change, but lines that the text adds are not counted as one.
      if (areKept(replaced, lines)) return changes.skip(index, tag, replaced)
      changes.replace(first, last, lines)
    },
  },
  replace: {
    check({ first, last }, check) {
      if (first.line > last.line) {
        throw new Error(`Range start line ${first.line} must be <= end line ${last.line}`)
      }
      check.holds(first)
      check.holds(last)
    },
    key: ({ first, last }) => `r:${first.line}:${last.line}`,
    line: ({ last }) => last.line,
    turn: 0,
    touches: ({ first, last }) => numbersBetween(first.line, last.line),
    apply({ first, last, content }, changes, index) {
      if (!changes.touched) return changes.replace(first.line, last.line, content)
      const replaced = changes.before(first.line, last.line)
      const lines = changes.replacement(first.line, last.line, replaced, content)
      if (areKept(replaced, lines)) return changes.skip(index, first, replaced)
      changes.replace(first.line, last.line, lines)
    },
  },
  append: {
    check({ after, content }, check) {
      checkFilled(content, 'Insert-after edit (src "N#HH..")')
      if (after) check.holds(after)
    },
    key: ({ after }) => (after ? `i:${after.line}` : 'ieof'),
    line: ({ after }, lineCount) => (after ? after.line : lineCount + 1),
    turn: 1,
    touches: ({ after }) => (after ? [after.line] : []),
    apply({ after, content }, changes) {
      if (!after) return changes.insertAtEnd(content)
      const lines = changes.inserted(after.line, undefined, content)
      changes.insertBefore(after.line + 1, lines)
    },
  },
  prepend: {
    check({ before, content }, check) {
      checkFilled(content, 'Insert-before edit (src "N#HH..")')
      if (before) check.holds(before)
    },
    key: ({ before }) => (before ? `ib:${before.line}` : 'ibef'),
    line: ({ before }) => (before ? before.line : 0),
    turn: 2,
    touches: ({ before }) => (before ? [before.line] : []),
    apply({ before, content }, changes) {
      if (!before) return changes.insertAtStart(content)
      changes.insertBefore(before.line, changes.inserted(undefined, before.line, content))
    },
  },
  insert: {
    check({ after, before, content }, check) {
      checkFilled(content, 'Insert-between edit (src "A#HH.. B#HH..")')
      if (before.line <= after.line) {
        throw new Error(`insert requires after (${after.line}) < before (${before.line})`)
      }
      check.holds(after)
      check.holds(before)
    },
    key: ({ after, before }) => `ix:${after.line}:${before.line}`,
    line: ({ before }) => before.line,
    turn: 3,
    touches: ({ after, before }) => [after.line, before.line],
    apply({ after, before, content }, changes) {
      const lines = changes.inserted(after.line, before.line, content)
      changes.insertBefore(before.line, lines)
    },
  },
}

/**
 * @param {number} first
 * @param {number} last
 */
function* numbersBetween(first, last) {
  for (let number = first; number <= last; number++) yield number
}

/**
 * Applies edits to a text.
 * @param {HashlineModule} module
 * @param {string} content
 * @param {HashlineEdit[]} edits duplicates are removed from this array
 * @returns {ReturnType<typeof applyHashlineEdits>}
 */
function applyOmpEdits(module, content, edits) {
  if (edits.length === 0) return { content, firstChangedLine: undefined }
  const lines = new TextLines(content, edits.length)
  const check = new Check(lines, module.mismatchOf)
  for (const edit of edits) operationOf(edit)?.check(edit, check)
  if (check.mismatches.length > 0) {
    throw new module.HashlineMismatchError(check.mismatches, content.split('\n'))
  }
  for (const edit of edits) checkHasLines(edit)
  const steps = bottomUp(edits, lines.count, operationOf, keyOf)
  const changes = new OmpChanges(lines, touchedLines(edits))
  for (const { edit, operation, index } of steps) operation?.apply(edit, changes, index)
  const noopEdits = changes.noops.map(({ index, loc, current }) => ({
    editIndex: index,
    loc,
    currentContent: current,
  }))
  return {
    content: changes.draft.toString(),
    firstChangedLine: changes.firstChangedLine,
    ...(noopEdits.length > 0 ? { noopEdits } : {}),
  }
}

/**
 * Throws for an edit without lines, as the original does in its search for duplicates. Edits by
 * text are exempt, and so is an unknown operation that has lines.
 * @param {HashlineEdit} edit
 */
function checkHasLines(edit) {
  if (typeof edit.content.join !== 'function') edit.content.join('\n')
}

/** @param {HashlineEdit} edit */
function keyOf(edit) {
  return `${operationOf(edit)?.key(edit)}|${edit.content.join('\n')}`
}

/**
 * The lines that edits name, if texts are repaired.
 * @param {HashlineEdit[]} edits
 */
function touchedLines(edits) {
  if (process.env.PI_HL_AUTOCORRECT !== '1') return undefined
  const touched = new Set()
  for (const edit of edits) {
    for (const line of operationOf(edit)?.touches(edit) ?? []) touched.add(line)
  }
  return touched
}

/**
 * @param {HashlineEdit} edit
 * @returns {OmpOperation<any> | undefined}
 */
function operationOf(edit) {
  return OPERATIONS[edit.op]
}

module.exports = { applyOmpEdits }
