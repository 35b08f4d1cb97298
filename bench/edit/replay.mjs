// Replays recorded calls with another version of the engine, without a model: which answers differ,
// and the resulting files. After a different answer a model might have continued differently, so
// later calls are less meaningful.

import { watchOver, within } from './attempt.mjs'
import { keyOf } from './record.mjs'

/** @import { Attempt } from './attempt.mjs' */
/** @import { Entry } from './record.mjs' */
/** @import { Scheme } from './schemes.mjs' */
/** @import { Task } from './task.mjs' */

/**
 * @typedef {object} Replayed
 * @property {string} key
 * @property {{ solved: boolean, refusals: number }} was
 * @property {{ solved: boolean, refusals: number }} is
 * @property {Difference[]} differences
 *
 * @typedef {{ round: number, call: string, was: string, is: string }} Difference of an answer
 */

/**
 * @param {{ entries: Entry[], tasks: Task[], schemes: Scheme[] }} what
 * @returns {AsyncGenerator<Replayed>}
 */
export async function* replayed({ entries, tasks, schemes }) {
  for (const entry of entries) {
    const scheme = schemes.find(({ name }) => name === entry.scheme)
    const task = tasks.find(({ id }) => id === entry.task)
    if (scheme === undefined) continue
    if (task === undefined) throw new Error(`there is no task ${entry.task} in the run`)
    const again = await callsAgain(entry, task, scheme)
    yield {
      key: keyOf(entry),
      was: { solved: entry.solved, refusals: entry.refusals },
      is: { solved: again.solved, refusals: again.refusals },
      differences: differencesOf(entry, again),
    }
  }
}

/** @param {Entry} entry @param {Task} task @param {Scheme} scheme @returns {Promise<Attempt>} */
const callsAgain = ({ log, ending }, task, scheme) =>
  within({ task, scheme }, async (place, tools) => {
    const watch = watchOver(place, tools)
    for (const { answer, calls, isCut } of log) await watch.round(answer, calls, isCut)
    return watch.end(ending)
  })

/** @param {Entry} one @param {Attempt} other @returns {Difference[]} */
function differencesOf(one, other) {
  return one.log.flatMap(({ calls, results }, at) =>
    calls.flatMap((call, index) => {
      const [was, is] = [results[index].text, other.log[at].results[index].text]
      const about = { round: at + 1, call: `${call.name} ${JSON.stringify(call.args)}` }
      return was === is ? [] : [{ ...about, was, is }]
    }),
  )
}

/** @param {Replayed[]} all */
export function summaryOf(all) {
  const count = (/** @type {(one: Replayed) => boolean} */ is) => all.filter(is).length
  const refusals = (/** @type {'was' | 'is'} */ when) =>
    all.reduce((sum, one) => sum + one[when].refusals, 0)
  return [
    `attempts: ${all.length}, of which ${count(({ differences }) => differences.length > 0)} are answered otherwise`,
    `solved: ${count(({ was }) => was.solved)} then, ${count(({ is }) => is.solved)} now`,
    `refused calls: ${refusals('was')} then, ${refusals('is')} now`,
    ...all.filter(({ was, is }) => was.solved !== is.solved).map(changeOf),
  ].join('\n')
}

/** @param {Replayed} one */
const changeOf = ({ key, is }) => `${key}: ${is.solved ? 'solved now' : 'not solved any more'}`
