// Tasks of texts: a mistake to take out, or a hunk of a commit to make again, and what somebody
// else does to the file between the model's read and its edit.

import { createHash } from 'node:crypto'
import { edited, startOf, withLines } from '../history/text.mjs'
import { fenced, MUTATIONS, quoted } from './mutations.mjs'

/** @import { Random } from '../history/random.mjs' */
/** @import { Edit, Lines } from '../history/text.mjs' */
/** @import { Task, TaskFile } from '../task.mjs' */
/** @import { Formatting } from './formatters.mjs' */

/** In every fourth task the file changes between read and edit. */
export const MOVING_EACH = 4
const MAX_INSERTED = 4
/** What others do far away is at least so many lines from what is to be done. */
const FAR_LINES = 6
/** What they do next to it is at most so many lines away, and one at least. */
export const NEAR_LINES = 3
/** Every so many of their changes are next to it. */
const NEAR_EACH = 3

/**
 * @typedef {object} Change of one file, in words as well
 * @property {string} path
 * @property {string[]} before
 * @property {string[]} [changed]
 * @property {boolean} [near] whether that is next to what is to be done
 * @property {Formatting} [formatter]
 * @property {Edit[]} edits of the lines before
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
 * The same, where somebody else inserts lines meanwhile: copies of others in the file, so that they
 * do not stand out.
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
  // Above the edit, where there is room: what is inserted below it moves nothing.
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
 * A hunk in words.
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
