// Tasks from the history of a git repository: a hunk of a commit to repeat, hunks in two files of
// one commit, and mistakes inserted into a file of a commit.

import { basename, resolve } from 'node:path'
import { changesIn, pairsOfRepository } from '../history/git.mjs'
import { randomFrom } from '../history/random.mjs'
import { editOf } from '../history/text.mjs'
import { isDoneBefore, isLarge } from '../task.mjs'
import { formatterOf } from './formatters.mjs'
import { languageOf } from './languages.mjs'
import { MOVING_EACH, movingChange, mutatedChange, NEAR_LINES, taskOf, wordsOf } from './make.mjs'
import { MUTATIONS } from './mutations.mjs'

/** @import { Change as LoggedChange, Pair } from '../history/git.mjs' */
/** @import { Random } from '../history/random.mjs' */
/** @import { Hunk } from '../history/text.mjs' */
/** @import { Task } from '../task.mjs' */
/** @import { Change } from './make.mjs' */

export const HUNK = 'hunk of a commit'
const TWO_FILES = 'hunks in two files'
const KINDS = [HUNK, TWO_FILES, HUNK, ...Object.keys(MUTATIONS)]
/** Every fifth task is in a file of 1,000 or more lines, if there are such files. */
const LARGE_EACH = 5
const MOST_LINES = 5000
const MOST_CHARS = 400
const MAX_HUNK_LINES = 30
const MAX_BYTES = 400_000
const NO_CONTEXT = { before: 0, after: 0 }

/** @typedef {{ kind: string, isMoving: boolean, isLarge: boolean }} Slot the requirements for a task */

/**
 * @param {{ repository: string, count: number, seed: string, commits: number, isWanted: (language: string) => boolean }} which
 * @returns {Promise<Task[]>} at most `count`
 */
export async function tasksOfRepository({ repository, count, seed, commits, isWanted }) {
  const name = basename(resolve(repository))
  const logged = await changesIn(repository, commits, 1)
  const changes = logged.filter(({ path }) => isWanted(languageOf(path) ?? ''))
  const random = randomFrom(seed, 'tasks of a repository')
  const about = { name, path: repository }
  const pairs = () =>
    fitting(pairsOfRepository(about, changes, randomFrom(seed, 'pairs'), { maxBytes: MAX_BYTES }))
  const slots = slotsOf(count)
  const ofOne = slots.filter(({ kind }) => kind !== TWO_FILES)
  /** @type {Map<string, Task>} */
  const made = new Map()
  const fill = async (/** @type {Slot[]} */ open, /** @type {boolean} */ bySize) => {
    const isNew = async (/** @type {Task} */ task) =>
      !made.has(task.id) && !(await isDoneBefore(task))
    for await (const task of filled(open, pairs(), { random, root: repository, bySize, isNew })) {
      made.set(task.id, task)
    }
  }
  await fill(ofOne, true)
  const two = await twoFiles(about, changes, slots.length - ofOne.length, random)
  for (const task of two) made.set(task.id, task)
  // Tasks that a repository cannot provide, such as in large files, are replaced by others.
  const rest = () => slotsOf(count - made.size).map((slot) => ({ ...slot, kind: HUNK }))
  await fill(rest(), false)
  await fill(
    rest().map((slot) => ({ ...slot, isMoving: false })),
    false,
  )
  return random.shuffled([...made.values()])
}

/** @param {number} count @returns {Slot[]} */
const slotsOf = (count) =>
  Array.from({ length: count }, (_, at) => ({
    kind: KINDS[at % KINDS.length],
    isMoving: (at + Math.floor(at / KINDS.length)) % MOVING_EACH === 0,
    isLarge: at % LARGE_EACH === 2,
  }))

/** Files that a person could have written. @param {Iterable<Pair>} pairs */
function* fitting(pairs) {
  for (const pair of pairs) {
    const { lines } = pair.new
    const isFit = lines.length <= MOST_LINES && lines.every((line) => line.length <= MOST_CHARS)
    if (isFit) yield pair
  }
}

/**
 * @param {Slot[]} slots
 * @param {Iterable<Pair>} pairs
 * @param {{ random: Random, root: string, bySize: boolean, isNew: (task: Task) => Promise<boolean> }} how
 * @returns {AsyncGenerator<Task>}
 */
async function* filled(slots, pairs, { random, root, bySize, isNew }) {
  const open = [...slots]
  if (open.length === 0) return
  for (const pair of pairs) {
    const size = isLarge(pair.new.lines.length)
    const fit = open.filter((slot) => !bySize || slot.isLarge === size)
    // A slot that this file does not fit must not block later ones.
    for (const slot of oneOfEach(fit)) {
      const task = taskFor(slot, pair, random, root)
      if (task === undefined || !(await isNew(task))) continue
      yield task
      open.splice(open.indexOf(slot), 1)
      break
    }
    if (open.length === 0) return
  }
}

/** One slot of each kind. @param {Slot[]} slots */
const oneOfEach = (slots) => [
  ...new Map(slots.map((slot) => [`${slot.kind} ${slot.isMoving}`, slot])).values(),
]

/**
 * A task of a file in one commit.
 * @param {Slot} slot
 * @param {Pair} pair
 * @param {Random} random
 * @param {string} root of the project
 */
export function taskFor({ kind, isMoving }, pair, random, root) {
  const { path, source, change: commit, new: text } = pair
  const change =
    kind === HUNK ? hunkChange(pair, random, isMoving) : mistake(pair, kind, random, isMoving)
  const language = languageOf(path)
  if (change === undefined || language === undefined) return undefined
  const about = { language, kind, source: `${source} ${commit} ${path}` }
  const formatter = formatterOf(root, path)
  return taskOf({ changes: [{ ...change, text, formatter }], ...about })
}

/** @param {Pair} pair @param {string} kind @param {Random} random @param {boolean} isMoving */
function mistake({ path, new: text }, kind, random, isMoving) {
  const still = mutatedChange(path, text.lines, kind, random)
  return still && isMoving ? movingChange(still, random) : still
}

/** @param {Pair} pair @param {Random} random @param {boolean} isMoving @returns {Change | undefined} */
function hunkChange(pair, random, isMoving) {
  const { hunks } = pair
  if (isMoving && hunks.length < 2) return undefined
  const fit = hunks.filter((hunk) => isFit(hunk, pair))
  if (fit.length === 0) return undefined
  const hunk = random.pick(fit)
  return isMoving ? amongOthers(pair, hunk) : alone(pair, hunk)
}

/** @param {Hunk} hunk @param {Pair} pair */
function isFit({ oldAt, oldCount, newAt, newCount }, { old, new: text }) {
  const lines = [
    ...old.lines.slice(oldAt, oldAt + oldCount),
    ...text.lines.slice(newAt, newAt + newCount),
  ]
  return lines.length <= MAX_HUNK_LINES && lines.some((line) => line.trim() !== '')
}

/** A hunk to apply to a file that has all others. @param {Pair} pair @param {Hunk} hunk */
function alone({ path, old, new: text }, hunk) {
  const { oldAt, oldCount, newAt, newCount } = hunk
  const before = [...text.lines]
  before.splice(newAt, newCount, ...old.lines.slice(oldAt, oldAt + oldCount))
  const edit = editOf({ ...hunk, oldAt: newAt }, before, text.lines, NO_CONTEXT)
  return { path, before, edits: [edit], wanted: text.lines, words: wordsOf(before, edit) }
}

/**
 * A hunk to apply to a file that has none, while others apply the rest.
 * @param {Pair} pair
 * @param {Hunk} hunk
 */
function amongOthers({ path, old, new: text, hunks }, hunk) {
  const edit = editOf(hunk, old.lines, text.lines, NO_CONTEXT)
  const changed = alone({ path, old, new: text, source: '', change: '', hunks: [] }, hunk).before
  const words = wordsOf(old.lines, edit)
  const near = hunks.some((other) => other !== hunk && linesBetween(hunk, other) <= NEAR_LINES)
  return { path, before: old.lines, changed, near, edits: [edit], wanted: text.lines, words }
}

/** @param {Hunk} one @param {Hunk} other */
const linesBetween = (one, other) =>
  Math.max(one.oldAt - (other.oldAt + other.oldCount), other.oldAt - (one.oldAt + one.oldCount))

/**
 * Commits that changed two or more files: one hunk in each of two.
 * @param {{ name: string, path: string }} about
 * @param {LoggedChange[]} changes
 * @param {number} count
 * @param {Random} random
 */
async function twoFiles(about, changes, count, random) {
  const byCommit = grouped(changes)
  const several = [...byCommit.values()].filter(({ length }) => length >= 2)
  /** @type {Task[]} */
  const tasks = []
  for (const files of random.shuffled(several)) {
    if (tasks.length === count) break
    const pairs = [...fitting(pairsOfRepository(about, files, random, { maxBytes: MAX_BYTES }))]
    const changed = pairs.flatMap((pair) => {
      const change = hunkChange(pair, random, false)
      const formatter = formatterOf(about.path, pair.path)
      return change === undefined ? [] : [{ ...change, text: pair.new, formatter }]
    })
    const language = languageOf(changed[0]?.path ?? '')
    if (changed.length < 2 || language === undefined) continue
    const source = `${about.name} ${files[0].commit}`
    const task = taskOf({ changes: changed.slice(0, 2), language, kind: TWO_FILES, source })
    if (!(await isDoneBefore(task))) tasks.push(task)
  }
  return tasks
}

/** @param {LoggedChange[]} changes */
function grouped(changes) {
  /** @type {Map<string, LoggedChange[]>} */
  const groups = new Map()
  for (const change of changes) {
    groups.set(change.commit, [...(groups.get(change.commit) ?? []), change])
  }
  return groups
}
