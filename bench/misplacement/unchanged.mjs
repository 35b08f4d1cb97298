// Cases with an unchanged file: hunks of commits, random edits with the anchors that were shown, and
// with a mistake of models, the right number with the hash of a nearby line. The number is the
// intended line (vectors/mispaired.jsonl).

import { edited, editOf, withLines } from '../edit/history/text.mjs'
import { roomAround } from './cases.mjs'
import { randomEdit } from './edits.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */

const CASES_OF_A_TEXT = 20
const FURTHEST = 3
const HUNKS_OF_A_PAIR = 3
const MOST_CONTEXT = 3

/**
 * @param {Pair} pair its old text is used
 * @param {Random} random
 * @returns {Generator<Case>}
 */
export function* unchangedCases({ source, path, old }, random) {
  // Files without a final terminator are skipped: which line loses it is not tested here.
  if (!old.final) return
  const text = withLines(old, old.lines)
  for (let count = 0; count < CASES_OF_A_TEXT; count++) {
    const edit = randomEdit(old.lines, random)
    if (!edit) continue
    const truth = withLines(old, edited(old.lines, [edit]))
    if (truth === text || truth === '') continue
    const file = { source, change: 'none', path, old: text, oldLines: old.lines, current: text }
    const rest = { ...file, truth, operations: [edit] }
    yield { scenario: 'unchanged file: the anchors that were shown', ...rest }
    const mispaired = mistake(edit, old.lines, random)
    if (!mispaired) continue
    yield {
      scenario: "unchanged file: a number with a neighbour's hash",
      ...rest,
      mispaired,
    }
  }
}

/**
 * Hunks of a change as edits of the file before it: nothing should interfere.
 * @param {Pair} pair
 * @param {Random} random
 * @returns {Generator<Case>}
 */
export function* hunkCases(pair, random) {
  const { source, change, path, old, new: wanted, hunks } = pair
  // Files without a final terminator are skipped: which line loses it is not tested here.
  if (!old.final) return
  const text = withLines(old, old.lines)
  const file = { source, change, path, old: text, oldLines: old.lines, current: text }
  const edit = (/** @type {number} */ at, /** @type {number} */ context) =>
    editOf(hunks[at], old.lines, wanted.lines, roomAround(pair, at, context))
  const caseOf = (/** @type {string} */ scenario, /** @type {Edit[]} */ operations) => ({
    scenario: `hunks: ${scenario}`,
    ...file,
    truth: withLines(old, edited(old.lines, operations)),
    operations,
    isUnmoved: true,
  })
  for (const at of random.shuffled([...hunks.keys()]).slice(0, HUNKS_OF_A_PAIR)) {
    yield caseOf('exactly its lines', [edit(at, 0)])
    yield caseOf('1 to 3 lines of context', [edit(at, 1 + random.below(MOST_CONTEXT))])
  }
  yield caseOf(
    'all hunks of the file',
    hunks.map((_, at) => edit(at, 0)),
  )
}

/**
 * @param {Edit} edit
 * @param {string[]} lines
 * @param {Random} random
 */
function mistake(edit, lines, random) {
  const number = 'after' in edit ? edit.after : random.pick([edit.first, edit.last])
  const distance = (1 + random.below(FURTHEST)) * random.pick([1, -1])
  const hashed = number + distance
  if (number < 1 || hashed < 1 || hashed > lines.length) return undefined
  if (lines[hashed - 1].trim() === lines[number - 1].trim()) return undefined
  return new Map([[number, hashed]])
}
