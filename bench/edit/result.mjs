// A run without texts: the data for its figures, in the form that users submit. It has no part of a
// file, an instruction or an answer.

import { FORMAT } from './record.mjs'
import { isMoving, isNear, sizeOf } from './task.mjs'

/** @import { Outcome } from './attempt.mjs' */
/** @import { About, Entry } from './record.mjs' */
/** @import { Task } from './task.mjs' */

/**
 * @typedef {{ id: string, language: string, kind: string, size: string, moving: boolean, near: boolean }} TaskRow
 * @typedef {{ task: string, scheme: string, run: number, ending: Outcome['ending'], solved: boolean, first: boolean, touched: boolean, wrong: boolean, rounds: number, refusals: number, byAnchor: number, byText: number, input: number, output: number, cacheRead: number, cacheWrite: number, estimated: number, seconds: number }} Row
 * @typedef {{ format: number, model: string, api: string, bench: string, engine: string, limit: number, extra: Record<string, unknown>, set: 'fixed' | 'own', started: string, told: Record<string, number>, tasks: TaskRow[], attempts: Row[] }} Result
 */

/**
 * @param {{ about: About, tasks: Task[], entries: Entry[] }} run
 * @returns {Result}
 */
export function resultOf({ about, tasks, entries }) {
  const { model, api, bench, engine, limit, extra, set, started } = about
  const used = new Set(entries.map(({ task }) => task))
  const attempts = entries.map(rowOf).sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  const shown = tasks.filter(({ id }) => used.has(id)).map(taskRow)
  const told = Object.fromEntries(
    Object.entries(about.schemes).map(([name, what]) => [name, lengthOf(what)]),
  )
  const how = { format: FORMAT, model, api, bench, engine, limit, extra, set, started, told }
  return { ...how, tasks: shown, attempts }
}

/** In bytes. @param {About['schemes'][string]} told the prompt of a scheme */
const lengthOf = ({ system, tools }) => Buffer.byteLength(system + JSON.stringify(tools))

/** @param {Row} row */
const sortKey = ({ task, scheme, run }) => `${task} ${String(run).padStart(6, '0')} ${scheme}`

/** @param {Task} task @returns {TaskRow} */
const taskRow = (task) => {
  const { id, language, kind } = task
  return {
    id,
    language,
    kind,
    size: sizeOf(task),
    moving: isMoving(task),
    near: isNear(task),
  }
}

/** @param {Entry} entry @returns {Row} */
function rowOf({ log: _, usage, ...entry }) {
  const { task, scheme, run, ending, solved, first, touched, wrong } = entry
  const { rounds, refusals, byAnchor, byText, seconds } = entry
  const counts = {
    ending,
    solved,
    first,
    touched,
    wrong,
    rounds,
    refusals,
    byAnchor,
    byText,
    ...usage,
    seconds,
  }
  return { task, scheme, run, ...counts }
}
