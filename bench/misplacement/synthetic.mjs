// Cases from random changes. Each line has an identity that changes keep or remove, so the right
// place of an edit is known without comparing texts.

import { startOf, withLines } from '../edit/history/text.mjs'
import { copied, randomEdit, rewritten } from './edits.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */

/** @import { Line } from './identities.mjs' */
/** @typedef {(lines: Line[], at: number, count: number, random: Random) => void} Change */

const MOST_CHANGES = 5
const MOST_LINES = 8
/** Half of the changes are at most this number of lines from the target. */
const NEAR = 20
const CASES_OF_A_TEXT = 4
const LEAST_LINES = 12

/** @type {Record<string, Change>} */
export const CHANGES = {
  insert(lines, at, _count, random) {
    lines.splice(at, 0, ...fresh(copied(texts(lines), random)))
  },
  delete(lines, at, count) {
    lines.splice(at, count)
  },
  replace(lines, at, count, random) {
    const block = lines.splice(at, count)
    const wanted = rewritten(texts(block), random)
    // Equal texts are the same lines.
    const result = wanted.map((text) => {
      const same = block.findIndex((line) => line.text === text)
      return block.splice(0, same + 1).at(-1) ?? { text }
    })
    lines.splice(at, 0, ...result)
  },
  move(lines, at, count, random) {
    const block = lines.splice(at, count)
    lines.splice(random.below(lines.length + 1), 0, ...block)
  },
  swap(lines, at, count) {
    const block = lines.splice(at, count)
    lines.splice(Math.min(lines.length, at + count), 0, ...block)
  },
  duplicate(lines, at, count, random) {
    const to = random.below(2) === 0 ? at + count : random.below(lines.length + 1)
    lines.splice(to, 0, ...fresh(texts(lines.slice(at, at + count))))
  },
  indent(lines, at, count, random) {
    const isMore = random.below(2) === 0
    const unit = random.pick(['  ', '    ', '\t'])
    for (const line of lines.slice(at, at + count)) {
      if (isMore && line.text !== '') line.text = unit + line.text
      else line.text = line.text.replace(/^(?: {1,4}|\t)/, '')
    }
  },
  rename(lines, at, count, random) {
    const words = texts(lines.slice(at, at + count))
      .join('\n')
      .match(/[A-Za-z_]\w{2,}/g)
    if (!words) return
    const [from, to] = [random.pick(words), `renamed${random.below(1000)}`]
    for (const line of lines) line.text = line.text.replace(new RegExp(`\\b${from}\\b`, 'g'), to)
  },
}

/** The changes that remove the identity of lines. */
const ENDS = ['delete', 'replace', 'rename']

/** @param {Line[]} lines */
const texts = (lines) => lines.map(({ text }) => text)

/** @param {string[]} lines @returns {Line[]} */
const fresh = (lines) => lines.map((text) => ({ text }))

/**
 * @param {Pair} pair its old text is used
 * @param {Random} random
 * @returns {Generator<Case>}
 */
export function* syntheticCases({ source, path, old }, random) {
  // Files without a final terminator are skipped: which line loses it is not tested here.
  if (!old.final || old.lines.length < LEAST_LINES) return
  for (let count = 0; count < CASES_OF_A_TEXT; count++) {
    const edit = randomEdit(old.lines, random)
    if (!edit) continue
    /** @type {Line[]} */
    const lines = old.lines.map((text, id) => ({ text, id }))
    const names = changeLines(lines, edit, random)
    const wanted = resultOf(lines, old.lines, edit)
    const current = withLines(old, texts(lines))
    const truth = wanted && withLines(old, wanted)
    if (current === withLines(old, old.lines) || truth === current) continue
    const changes = names.length === 1 ? 'one change' : 'several changes'
    const meant = truth ? 'still there' : 'gone or not what they were'
    yield {
      scenario: `synthetic, ${changes}: the lines meant are ${meant}`,
      source,
      change: names.join(', '),
      path,
      old: withLines(old, old.lines),
      oldLines: old.lines,
      current,
      truth,
      isIndented: names.includes('indent'),
      ids: lines.map(({ id }) => id),
      operations: [edit],
    }
  }
}

/**
 * Changes some lines: in half of the cases at one place, otherwise at several; in every third case
 * the target itself first.
 * @param {Line[]} lines
 * @param {Edit} edit
 * @param {Random} random
 */
function changeLines(lines, edit, random) {
  const target = Math.max(0, startOf(edit) - ('after' in edit ? 1 : 0))
  const names = []
  const wanted = random.below(2) === 0 ? 1 : 2 + random.below(MOST_CHANGES - 1)
  if (random.below(3) === 0) {
    const name = random.pick(ENDS)
    const count = 'after' in edit ? 1 : edit.last - edit.first + 1
    CHANGES[name](lines, target, count, random)
    names.push(`${name} the target`)
  }
  while (names.length < wanted && lines.length > 1) {
    const name = random.pick(Object.keys(CHANGES))
    const block = 1 + random.below(Math.min(MOST_LINES, lines.length - 1))
    const near = target - NEAR + random.below(2 * NEAR)
    const at = random.below(2) === 0 ? near : random.below(lines.length)
    CHANGES[name](lines, Math.min(Math.max(0, at), lines.length - block), block, random)
    names.push(name)
  }
  return names
}

/**
 * Applies the edit to the target lines, if they all exist unchanged (except for indentation) and
 * are consecutive. An insertion only needs its line.
 * @param {Line[]} lines
 * @param {string[]} oldLines
 * @param {Edit} edit
 */
function resultOf(lines, oldLines, edit) {
  const at = (/** @type {number} */ number) => lines.findIndex(({ id }) => id === number - 1)
  const result = texts(lines)
  if ('after' in edit) {
    const anchor = at(edit.after)
    if (edit.after > 0 && anchor < 0) return undefined
    result.splice(anchor + 1, 0, ...edit.lines)
    return result
  }
  const start = at(edit.first)
  for (let number = edit.first; number <= edit.last; number++) {
    const line = start < 0 ? undefined : lines[start + number - edit.first]
    if (line?.id !== number - 1) return undefined
    if (line.text.trimStart() !== oldLines[number - 1].trimStart()) return undefined
  }
  result.splice(start, edit.last - edit.first + 1, ...edit.lines)
  return result
}
