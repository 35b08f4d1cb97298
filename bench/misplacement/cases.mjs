// Cases from real changes: one hunk is omitted from the new file and sent as an edit of the old
// one, like an edit of a model that saw the old file while others made the rest of the change.

import { editOf, withLines } from '../edit/history/text.mjs'

/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */

/**
 * @typedef {object} Case
 * @property {string} scenario
 * @property {string} source the repository or package
 * @property {string} change the commit or releases
 * @property {string} path
 * @property {string} old the text that the model saw
 * @property {string[]} oldLines
 * @property {string} current the file when the edit arrives
 * @property {string} [truth] the correct result; undefined if there is no right place
 * @property {boolean} [isIndented] lines were re-indented: a session then indents the new text alike
 * @property {Edit[]} operations by line numbers of the old text
 * @property {Map<number, number>} [mispaired] numbers that the model writes with the hash of
 * another line: of this one
 * @property {number[]} [now] the numbers of the current lines that have the text of the edit's lines
 * @property {(number | undefined)[]} [ids] for each current line the old one that it is, from 0, for
 * analysis
 * @property {boolean} [isUnmoved] the file is unchanged: repairs and warnings are counted
 */

/** The most hunks of one file in one change, so that none outweighs the rest. */
const HUNKS_OF_A_PAIR = 3
const MOST_CONTEXT = 3
const MOST_TOGETHER = 4

/**
 * @param {Pair} pair
 * @param {Random} random
 * @param {string} family the prefix of the names of the scenarios
 * @returns {Generator<Case>}
 */
export function* casesOf(pair, random, family) {
  const { hunks } = pair
  const all = random.shuffled([...hunks.keys()]).filter((at) => !hunks[at].isUnsure)
  for (const at of all.slice(0, HUNKS_OF_A_PAIR)) {
    yield caseOf(pair, `${family}: one hunk, exactly its lines`, [at], 0)
    const context = 1 + random.below(MOST_CONTEXT)
    const around = roomAround(pair, at, context)
    if (around.before + around.after === 0) continue
    yield caseOf(pair, `${family}: one hunk, 1 to 3 lines of context replaced along`, [at], context)
  }
  const most = Math.min(MOST_TOGETHER, hunks.length - 1, all.length)
  if (most < 2) return
  const together = random.shuffled(all).slice(0, 2 + random.below(most - 1))
  together.sort((one, other) => one - other)
  yield caseOf(pair, `${family}: two to four hunks in one patch`, together, 0)
}

/**
 * @param {Pair} pair
 * @param {string} scenario
 * @param {number[]} leftOut the indices of hunks, ascending
 * @param {number} context
 * @returns {Case}
 */
export function caseOf(pair, scenario, leftOut, context) {
  const { source, change, path, old, new: wanted, hunks } = pair
  const current = [...wanted.lines]
  for (const at of [...leftOut].reverse()) {
    const { oldAt, oldCount, newAt, newCount } = hunks[at]
    current.splice(newAt, newCount, ...old.lines.slice(oldAt, oldAt + oldCount))
  }
  return {
    scenario,
    source,
    change,
    path,
    old: withLines(old, old.lines),
    oldLines: old.lines,
    current: withLines(old, current),
    truth: withLines(wanted, wanted.lines),
    isIndented: true,
    operations: leftOut.map((at) =>
      editOf(hunks[at], old.lines, wanted.lines, roomAround(pair, at, context)),
    ),
  }
}

/**
 * The number of context lines before and after a hunk, up to the next hunk.
 * @param {Pair} pair
 * @param {number} at
 * @param {number} most
 */
export function roomAround({ old, hunks }, at, most) {
  const [previous, { oldAt, oldCount }, next] = [hunks[at - 1], hunks[at], hunks[at + 1]]
  const from = previous ? previous.oldAt + previous.oldCount : 0
  const to = next ? next.oldAt : old.lines.length
  return {
    before: Math.min(most, oldAt - from),
    after: Math.min(most, to - oldAt - oldCount),
  }
}
