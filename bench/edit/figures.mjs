// The figures of a result: solved tasks and costs, for all attempts and for groups of tasks, and
// which of two schemes solved more of the same tasks. Schemes are compared by attempts that all of
// them have made.

import { differenceOf, intervalOf } from './proportion.mjs'
import { SIZES } from './task.mjs'

/** @import { Row, Result, TaskRow } from './result.mjs' */

/**
 * @typedef {object} Figures of some attempts by one scheme
 * @property {number} attempts
 * @property {number} solved
 * @property {number} first solved in the first attempt
 * @property {number} wrong left a wrong file that the model considered done
 * @property {Record<'solved' | 'first' | 'wrong', Interval>} intervals
 * @property {number} untouched ended without a change
 * @property {number} cut not solved, and the last answer was truncated
 * @property {number} endless not solved after the last round
 * @property {number} refused not solved, and the endpoint refused to continue
 * @property {number} touched left a wrong file, whatever the ending
 * @property {number} rounds mean
 * @property {number} refusals mean
 * @property {number} byAnchor operations, all together
 * @property {number} byText
 * @property {number} input tokens, mean
 * @property {number} output tokens, mean
 * @property {number} estimated the fraction of all these tokens that the endpoint did not report
 * @property {number | undefined} cost dollars, mean
 * @property {number} seconds median
 *
 * @typedef {{ low: number, high: number }} Interval
 * @typedef {object} Comparison
 * @property {string} one
 * @property {string} other
 * @property {number} tasks that both have attempted
 * @property {number} moreOne tasks that the first scheme solved more often
 * @property {number} moreOther
 * @property {Interval & { mean: number }} difference of the fractions that they solved
 * @property {number} p
 *
 * @typedef {{ input: number, output: number, cache_read?: number, cache_write?: number }} Price in
 * dollars per million tokens
 */

/** The groupings of tasks. @type {Record<string, (task: TaskRow) => string>} */
const GROUPS = {
  language: ({ language }) => language,
  'size of the file': ({ size }) => size,
  'between read and edit': ({ moving, near }) =>
    moving
      ? near
        ? 'the file changes next to it'
        : 'the file changes far away'
      : 'nothing happens',
  'kind of change': ({ kind }) => kind,
}

/**
 * @param {Result} result
 * @param {Price} [price]
 */
export function figuresOf({ tasks, attempts: all }, price) {
  const names = [...new Set(all.map(({ scheme }) => scheme))]
  const attempts = common(all, names)
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const of = (/** @type {string} */ scheme) => attempts.filter((row) => row.scheme === scheme)
  const groups = Object.entries(GROUPS).map(([name, ofTask]) => {
    const value = (/** @type {Row} */ { task }) => {
      const known = byId.get(task)
      if (known === undefined) throw new Error(`the result says nothing of the task ${task}`)
      return ofTask(known)
    }
    const values = [...new Set(attempts.map(value))].sort(bySize)
    const rows = values.map((one) => ({
      value: one,
      schemes: names.map((scheme) =>
        tallied(
          of(scheme).filter((row) => value(row) === one),
          price,
        ),
      ),
    }))
    return { name, rows }
  })
  const leftOut = all.length - attempts.length
  return {
    names,
    tasks: new Set(attempts.map(({ task }) => task)).size,
    runs: Math.max(0, ...attempts.map(({ run }) => run)),
    leftOut,
    schemes: names.map((name) => tallied(of(name), price)),
    groups,
    comparisons: names.flatMap((one, at) =>
      names.slice(at + 1).map((other) => compared(one, of(one), other, of(other))),
    ),
  }
}

/**
 * The tasks and runs that all schemes have attempted.
 * @param {Row[]} attempts
 * @param {string[]} names
 */
function common(attempts, names) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  const key = (/** @type {Row} */ { task, run }) => `${task} ${run}`
  for (const row of attempts) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1)
  return attempts.filter((row) => counts.get(key(row)) === names.length)
}

/** Sorts sizes by size, other values alphabetically. @param {string} one @param {string} other */
function bySize(one, other) {
  const [first, second] = [SIZES.indexOf(one), SIZES.indexOf(other)]
  return first - second || (one < other ? -1 : 1)
}

/** @param {Row[]} rows @param {Price} [price] @returns {Figures} */
function tallied(rows, price) {
  const count = (/** @type {(row: Row) => boolean} */ is) => rows.filter(is).length
  const sum = (/** @type {(row: Row) => number} */ of) =>
    rows.reduce((all, row) => all + of(row), 0)
  const mean = (/** @type {(row: Row) => number} */ of) => sum(of) / (rows.length || 1)
  const unsolved = (
    /** @type {Row['ending']} */ by,
    /** @type {(row: Row) => boolean} */ is = () => true,
  ) => count((row) => !row.solved && row.ending === by && is(row))
  return {
    attempts: rows.length,
    solved: count(({ solved }) => solved),
    first: count(({ first }) => first),
    wrong: count(({ wrong }) => wrong),
    intervals: {
      solved: intervalOf([...byTask(rows, ({ solved }) => solved).values()]),
      first: intervalOf([...byTask(rows, ({ first }) => first).values()]),
      wrong: intervalOf([...byTask(rows, ({ wrong }) => wrong).values()]),
    },
    untouched: unsolved('done', ({ wrong }) => !wrong),
    cut: unsolved('cut'),
    endless: unsolved('rounds'),
    refused: unsolved('refused'),
    touched: count(({ touched }) => touched),
    rounds: mean((row) => row.rounds),
    refusals: mean((row) => row.refusals),
    byAnchor: sum((row) => row.byAnchor),
    byText: sum((row) => row.byText),
    input: mean((row) => row.input),
    output: mean((row) => row.output),
    estimated: mean((row) => row.estimated) / (mean(tokensOf) || 1),
    cost: price === undefined ? undefined : mean((row) => costOf(row, price)),
    seconds: median(rows.map((row) => row.seconds)),
  }
}

/** The results of the runs of each task. @param {Row[]} rows @param {(row: Row) => boolean} is */
function byTask(rows, is) {
  /** @type {Map<string, boolean[]>} */
  const tasks = new Map()
  for (const row of rows) tasks.set(row.task, [...(tasks.get(row.task) ?? []), is(row)])
  return tasks
}

/** @param {Row} row */
const tokensOf = ({ input, output }) => input + output

/** @param {Row} row @param {Price} price */
function costOf({ input, output, cacheRead, cacheWrite }, price) {
  // Some endpoints report more cached tokens than total tokens.
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  const read = cacheRead * (price.cache_read ?? price.input)
  const written = cacheWrite * (price.cache_write ?? price.input)
  return (plain * price.input + read + written + output * price.output) / 1e6
}

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other)
  const half = sorted.length >> 1
  if (sorted.length === 0) return 0
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

/**
 * Which of two schemes solved more, in attempts that both have made. A task with several runs
 * counts once, because its runs are not independent.
 * @param {string} one
 * @param {Row[]} rows
 * @param {string} other
 * @param {Row[]} others
 * @returns {Comparison}
 */
function compared(one, rows, other, others) {
  const [first, second] = [rows, others].map(partsSolved)
  const differences = [...first].map(([task, part]) => part - (second.get(task) ?? 0))
  const moreOne = differences.filter((by) => by > 0).length
  const moreOther = differences.filter((by) => by < 0).length
  const difference = differenceOf(differences)
  const p = mcNemar(moreOne, moreOther)
  return { one, other, tasks: differences.length, moreOne, moreOther, difference, p }
}

/**
 * The fraction of successful runs of each task.
 * @param {Row[]} rows
 * @returns {Map<string, number>}
 */
function partsSolved(rows) {
  const part = (/** @type {boolean[]} */ runs) => runs.filter(Boolean).length / runs.length
  return new Map(
    [...byTask(rows, ({ solved }) => solved)].map(([task, runs]) => [task, part(runs)]),
  )
}

/**
 * The probability of this difference or a larger one if both schemes are equally good: the exact
 * two-sided test.
 * @param {number} moreOne
 * @param {number} moreOther
 */
export function mcNemar(moreOne, moreOther) {
  const all = moreOne + moreOther
  const few = Math.min(moreOne, moreOther)
  // As logarithms, because powers of two underflow quickly.
  let logOfChoices = 0
  let tail = 0
  for (let at = 0; at <= few; at++) {
    tail += Math.exp(logOfChoices - all * Math.LN2)
    logOfChoices += Math.log(all - at) - Math.log(at + 1)
  }
  return Math.min(1, 2 * tail)
}
