// Random edits in the style of a model: replaces some lines by similar ones.

/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */

const MOST_LINES = 6

/**
 * @param {string[]} lines
 * @param {Random} random
 * @returns {Edit | undefined} undefined if the new lines repeat those around them, because the
 * intention of such an edit is unknown
 */
export function randomEdit(lines, random) {
  const edit = anyEdit(lines, random)
  return repeatsNeighbours(edit, lines) ? undefined : edit
}

/**
 * Whether the new lines begin with the lines above them or end with those below.
 * @param {Edit} edit
 * @param {string[]} lines
 */
export function repeatsNeighbours(edit, lines) {
  const above = lines.slice(0, 'after' in edit ? edit.after : edit.first - 1)
  const below = lines.slice('after' in edit ? edit.after : edit.last)
  const alike = (/** @type {string[]} */ one, /** @type {string[]} */ other) =>
    one.length === other.length && one.every((line, at) => line === other[at])
  return edit.lines.some((_, at) => {
    const count = at + 1
    const atStart = alike(edit.lines.slice(0, count), above.slice(-count))
    return atStart || alike(edit.lines.slice(-count), below.slice(0, count))
  })
}

/**
 * @param {string[]} lines
 * @param {Random} random
 * @returns {Edit}
 */
function anyEdit(lines, random) {
  const kind = random.pick(['replace', 'replace', 'insert', 'delete'])
  const count = Math.min(lines.length, 1 + random.below(MOST_LINES))
  const first = 1 + random.below(lines.length - count + 1)
  const range = lines.slice(first - 1, first - 1 + count)
  if (kind === 'insert') return { after: first, lines: rewritten(copied(lines, random), random) }
  if (kind === 'delete') return { first, last: first + count - 1, lines: [] }
  return { first, last: first + count - 1, lines: rewritten(range, random) }
}

/**
 * Some lines of a text.
 * @param {string[]} lines
 * @param {Random} random
 */
export function copied(lines, random) {
  const at = random.below(lines.length)
  return lines.slice(at, at + 1 + random.below(MOST_LINES))
}

/**
 * Slightly changed lines: at least one of them, and often an additional one.
 * @param {string[]} lines
 * @param {Random} random
 */
export function rewritten(lines, random) {
  const sure = random.below(lines.length)
  const result = lines.map((line, at) =>
    at === sure || random.below(3) === 0 ? changed(line, random) : line,
  )
  if (random.below(3) === 0) result.splice(sure, 0, changed(lines[sure], random))
  return result
}

/**
 * @param {string} line
 * @param {Random} random
 */
export function changed(line, random) {
  const words = [...line.matchAll(/\w+/g)]
  const name = `value${random.below(1000)}`
  if (words.length === 0) return `${line.slice(0, line.length - line.trimStart().length)}${name}()`
  const { 0: word, index } = random.pick(words)
  return `${line.slice(0, index)}${name}${line.slice(index + word.length)}`
}
