// Creates tasks from texts: a mistake to fix, or a hunk of a commit to repeat, and changes of
// others between the model's read and its edit.

import { createHash } from 'node:crypto'
import { edited, startOf, withLines } from '../history/text.mjs'
import { fenced, MUTATIONS, quoted } from './mutations.mjs'

/** @import { Random } from '../history/random.mjs' */
/** @import { Edit, Lines } from '../history/text.mjs' */
/** @import { Task, TaskFile } from '../task.mjs' */
/** @import { Formatting } from './formatters.mjs' */

/** In every fourth task, the file changes between read and edit. */
export const MOVING_EACH = 4
const MAX_INSERTED = 4
/** The minimum distance, in lines, of a distant change of others from the edit. */
const FAR_LINES = 6
/**
 * The maximum distance, in lines, of a close change of others from the edit; the minimum is one.
 */
export const NEAR_LINES = 3
/** One in this number of their changes is close. */
const NEAR_EACH = 3

/**
 * @typedef {object} Change of one file, with its instruction
 * @property {string} path
 * @property {string[]} before
 * @property {string[]} [changed]
 * @property {boolean} [near] whether that is next to the requested edit
 * @property {Formatting} [formatter]
 * @property {Edit[]} edits by line numbers of `before`
 * @property {string[]} wanted
 * @property {string} words
 */

/**
 * A mistake of a kind in a text.
 * @param {string} path
 * @param {string[]} lines
 * @param {string} kind
 * @param {Random} random
 * @returns {Change | undefined}
 */
export function mutatedChange(path, lines, kind, random) {
  const mutation = MUTATIONS[kind](lines, random)
  if (mutation === undefined) return undefined
  const { before, edits, words } = mutation
  const isRight = edited(before, edits).join('\n') === lines.join('\n')
  return isRight ? { path, before, edits, wanted: lines, words } : undefined
}

/**
 * The same change, while others insert lines: copies of other lines of the file, so that they are
 * inconspicuous.
 * @param {Change} change
 * @param {Random} random
 * @returns {Change | undefined}
 */
export function movingChange(change, random) {
  const { before, edits } = change
  const touched = edits.map((edit) => {
    const start = startOf(edit)
    return { start, end: 'after' in edit ? start : edit.last }
  })
  const meant = new Set(touched.flatMap(({ start, end }) => before.slice(start - 1, end + 1)))
  const distance = (/** @type {number} */ at) =>
    Math.min(
      ...touched.map(({ start, end }) => (at < start ? start - at : at > end ? at - end : 0)),
    )
  const far = [...before.keys()].filter((at) => distance(at) >= FAR_LINES)
  const beside = [...before.keys()].filter((at) => distance(at) > 0 && distance(at) <= NEAR_LINES)
  const near = random.below(NEAR_EACH) === 0 && beside.length > 0
  const places = near ? beside : far
  // Above the edit, if possible: lines inserted below it would not move it.
  const above = places.filter((at) => touched.some(({ start }) => at < start))
  const copies = [...before.keys()].filter(
    (at) => before[at].trim() !== '' && !meant.has(before[at]),
  )
  if (places.length === 0 || copies.length === 0) return undefined
  const after = random.pick(above.length > 0 ? above : places)
  const from = random.pick(copies)
  const lines = before
    .slice(from, from + 1 + random.below(MAX_INSERTED))
    .filter((line) => !meant.has(line))
  const theirs = { after, lines }
  return {
    ...change,
    near,
    changed: edited(before, [theirs]),
    wanted: edited(before, [...edits, theirs]),
  }
}

/**
 * The instruction for a hunk.
 * @param {string[]} before
 * @param {Edit} edit
 */
export function wordsOf(before, edit) {
  if ('after' in edit) {
    const place =
      edit.after === 0
        ? 'Insert before the first line'
        : `Insert after line ${edit.after}, which is ${quoted(before[edit.after - 1])},`
    return `${place} these lines:\n${fenced(edit.lines)}`
  }
  const { first, last, lines } = edit
  const which = first === last ? `line ${first}` : `lines ${first} to ${last}`
  const old = fenced(before.slice(first - 1, last))
  if (lines.length === 0) return `Delete ${which}:\n${old}`
  return `Replace ${which}:\n${old}\nby:\n${fenced(lines)}`
}

/**
 * @param {{ changes: (Change & { text: Lines })[], language: string, kind: string, source: string }} what
 * @returns {Task}
 */
export function taskOf({ changes, language, kind, source }) {
  const files = changes.map(fileOf)
  const instruction = changes
    .map(({ path, words }) => `In the file \`${path}\`:\n\n${words}`)
    .join('\n\n')
  const lines = Math.max(...changes.map(({ before }) => before.length))
  const rest = { language, kind, source, lines, instruction, files }
  return { id: checksum(JSON.stringify(rest)).slice(0, 12), ...rest }
}

/** @param {Change & { text: Lines }} change @returns {TaskFile} */
function fileOf({ path, before, changed, near, formatter, edits, wanted, text }) {
  return {
    path,
    before: withLines(text, before),
    ...(changed && { changed: withLines(text, changed), near }),
    ...(formatter && { formatter }),
    wanted: withLines(text, wanted),
    edits,
  }
}

/** @param {string | Uint8Array} content */
export const checksum = (content) => createHash('sha256').update(content).digest('hex')
