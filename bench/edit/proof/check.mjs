// Compares the counts of the benchmark with the input of the scripted model.

import assert from 'node:assert/strict'
import { figuresOf } from '../figures.mjs'
import { isMoving } from '../task.mjs'
import { SLIPS } from './slips.mjs'

/** @import { Entry } from '../record.mjs' */
/** @import { Result } from '../result.mjs' */
/** @import { Task } from '../task.mjs' */
/** @import { Played } from './player.mjs' */

/** The expected counts of an attempt whose file is not changed by others, and of other attempts. */
const STILL = /** @type {const} */ (['solved', 'first', 'wrong', 'ending', 'rounds', 'refusals'])
const MOVING = /** @type {const} */ (['solved', 'wrong', 'ending'])

/**
 * Checks that each attempt is counted as its mistake requires, and that nothing else is counted.
 * @param {Entry[]} entries
 * @param {Task[]} tasks
 * @param {Map<string, Played>} played
 */
export function checkEntries(entries, tasks, played) {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  for (const entry of entries) {
    const key = `${entry.task} ${entry.scheme}`
    const [task, put] = [byId.get(entry.task), played.get(key)]
    assert.ok(task && put, key)
    const names = isMoving(task) ? MOVING : STILL
    const counts = SLIPS[put.mistake].counts
    const some = (/** @type {Record<string, unknown>} */ from) =>
      names.map((name) => [name, from[name]])
    assert.deepEqual(some({ ...entry }), some(counts), `${key}: ${put.mistake}: ${task.source}`)
  }
}

/**
 * Checks that the sums of the report are those of the scripted model, in a run without
 * interruption.
 * @param {Result} result
 * @param {Task[]} tasks
 * @param {Map<string, Played>} played
 */
export function checkFigures(result, tasks, played) {
  const { names, schemes } = figuresOf(result, { input: 3, output: 15 })
  for (const [at, name] of names.entries()) {
    const puts = tasks.map(({ id }) => played.get(`${id} ${name}`))
    const sum = (/** @type {(put: Played) => number} */ of) =>
      puts.reduce((all, put) => all + (put === undefined ? 0 : of(put)), 0)
    const slips = (/** @type {'solved' | 'wrong'} */ what) =>
      sum(({ mistake }) => Number(SLIPS[mistake].counts[what]))
    const { attempts, solved, wrong, rounds, input, output, cost = 0 } = schemes[at]
    assert.equal(attempts, tasks.length)
    assert.deepEqual([solved, wrong], [slips('solved'), slips('wrong')], name)
    const put = [sum(({ requests }) => requests), sum((one) => one.input), sum((one) => one.output)]
    const counted = [rounds, input, output].map((mean) => Math.round(mean * attempts))
    assert.deepEqual(counted, put, name)
    const dollars = (put[1] * 3 + put[2] * 15) / 1e6
    assert.ok(Math.abs(cost * attempts - dollars) < 1e-9, name)
  }
}

/** A result without fields that differ from run to run. @param {Result} result */
export const timeless = ({ attempts, ...rest }) => ({
  ...rest,
  attempts: attempts.map(({ seconds: _, ...row }) => row),
})

/** Equal rates, with which every mistake is made. */
export const EVEN_RATES = Object.fromEntries(
  Object.keys(SLIPS).map((name, _, { length }) => [name, 1 / length]),
)
