// A run: each task with each scheme, several in parallel, until all are done or the budget is used
// up.

import { attempt } from './attempt.mjs'
import { keyOf } from './record.mjs'

/** @import { Ask } from './endpoint.mjs' */
/** @import { Entry, Job } from './record.mjs' */
/** @import { Scheme } from './schemes.mjs' */
/** @import { Task } from './task.mjs' */
/** @import { Wire } from './wire.mjs' */

/**
 * @typedef {object} Plan
 * @property {Task[]} tasks
 * @property {Scheme[]} schemes
 * @property {number} runs
 * @property {number} parallel
 * @property {number} budget tokens of all attempts of the run together
 * @property {{ entries: Entry[], places: string, add: (entry: Entry) => void }} record
 * @property {Wire} wire
 * @property {Ask} ask
 * @property {(state: Progress) => void} [onProgress]
 *
 * @typedef {{ all: number, done: number, spent: number }} Progress
 */

/** @param {Entry} entry */
const tokensOf = ({ usage }) => usage.input + usage.output

/**
 * Runs the remaining jobs. The first error ends it, after the attempts in progress have ended.
 * @param {Plan} plan
 * @returns {Promise<Progress>}
 */
export async function carryOut(plan) {
  const { tasks, schemes, record, budget, onProgress } = plan
  const jobs = jobsOf(plan)
  const wanted = new Set(jobs.map(keyOf))
  const done = new Set(record.entries.map(keyOf).filter((key) => wanted.has(key)))
  let spent = record.entries.reduce((sum, entry) => sum + tokensOf(entry), 0)
  const left = jobs.filter((job) => !done.has(keyOf(job))).values()
  const state = () => ({ all: jobs.length, done: done.size, spent })
  let failed = false
  const worker = async () => {
    while (!failed && spent < budget) {
      const { value: job, done: none } = left.next()
      if (none) return
      const entry = await entryOf(job, tasks, schemes, plan)
      record.add(entry)
      done.add(keyOf(job))
      spent += tokensOf(entry)
      onProgress?.(state())
    }
  }
  onProgress?.(state())
  const workers = Array.from({ length: plan.parallel }, () =>
    worker().catch((error) => {
      failed = true
      throw error
    }),
  )
  const ends = await Promise.allSettled(workers)
  const fault = ends.find((end) => end.status === 'rejected')
  if (fault?.status === 'rejected') throw fault.reason
  return state()
}

/**
 * All schemes of a task come in sequence, so an interrupted run has the same tasks for all.
 * @param {Plan} plan
 * @returns {Job[]}
 */
function jobsOf({ tasks, schemes, runs }) {
  const rounds = Array.from({ length: runs }, (_, at) => at + 1)
  return rounds.flatMap((run) =>
    tasks.flatMap(({ id }) => schemes.map(({ name }) => ({ task: id, scheme: name, run }))),
  )
}

/**
 * @param {Job} job
 * @param {Task[]} tasks
 * @param {Scheme[]} schemes
 * @param {Plan} plan
 * @returns {Promise<Entry>}
 */
async function entryOf(job, tasks, schemes, { wire, ask, record: { places } }) {
  const task = tasks.find(({ id }) => id === job.task)
  const scheme = schemes.find(({ name }) => name === job.scheme)
  if (!task || !scheme) throw new Error(`there is no job ${keyOf(job)}`)
  const begin = performance.now()
  const { lostMs, ...outcome } = await attempt({ task, scheme, wire, ask, places })
  const seconds = Math.round(performance.now() - begin - lostMs) / 1000
  return { ...job, seconds, ...outcome }
}
