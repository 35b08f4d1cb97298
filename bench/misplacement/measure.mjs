// Runs cases with the subjects and counts the results.

import { resultsOf } from './subjects/subject.mjs'
import { Tally } from './tally.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Refused, Result, Subject } from './subjects/subject.mjs' */
/** @import { Verdict } from './tally.mjs' */

/** How many cases are run at a time. */
const CHUNK = 128

/**
 * @typedef {object} Wrong a wrong result, for analysis
 * @property {Subject} subject
 * @property {Case} one
 * @property {string} text
 */

/** Tallies by scenario and subject, in the order of their first case. */
export class Tallies {
  /** @type {Map<string, Map<string, Tally>>} */
  byScenario = new Map()

  /** @param {string} scenario @param {string} subject */
  of(scenario, subject) {
    const bySubject = this.byScenario.get(scenario) ?? new Map()
    this.byScenario.set(scenario, bySubject)
    const tally = bySubject.get(subject) ?? new Tally()
    bySubject.set(subject, tally)
    return /** @type {Tally} */ (tally)
  }
}

/**
 * @param {AsyncIterable<Case>} cases
 * @param {Subject[]} subjects
 * @param {object} options
 * @param {Record<Subject['pace'], number>} options.most the most cases of each scenario
 * @param {(wrong: Wrong) => void} [options.onWrong]
 * @param {(refusal: { subject: Subject, one: Case, result: Refused }) => void} [options.onRefused]
 * @param {Tallies} [options.tallies] to add to
 * @returns {Promise<Tallies>}
 */
export async function measure(
  cases,
  subjects,
  { most, onWrong, onRefused, tallies = new Tallies() },
) {
  for await (const chunk of chunksOf(cases)) {
    for (const subject of subjects) {
      const given = sampleOf(chunk, tallies, subject, most[subject.pace])
      const results = resultsOf(subject, given)
      for (const [at, one] of given.entries()) {
        const result = results[at]
        const verdict = count(tallies.of(one.scenario, subject.name), one, result)
        if (verdict === 'right') continue
        if (verdict === 'refused' && result.status === 'refused')
          onRefused?.({ subject, one, result })
        if (result.status === 'applied') onWrong?.({ subject, one, text: result.text })
      }
    }
  }
  return tallies
}

/** @param {AsyncIterable<Case>} cases */
async function* chunksOf(cases) {
  let chunk = []
  for await (const one of cases) {
    chunk.push(one)
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

/**
 * The first cases of each scenario, from all sources in turns.
 * @param {Case[]} chunk
 * @param {Tallies} tallies
 * @param {Subject} subject
 * @param {number} most
 */
function sampleOf(chunk, tallies, { name }, most) {
  /** @type {Map<string, number>} */
  const left = new Map()
  return chunk.filter(({ scenario }) => {
    const count = left.get(scenario) ?? most - tallies.of(scenario, name).all
    left.set(scenario, count - 1)
    return count > 0
  })
}

/**
 * Counts a result.
 * @param {Tally} tally
 * @param {Case} one
 * @param {Result} result
 * @returns {Verdict}
 */
export function count(tally, one, result) {
  const verdict = verdictOf(one, result)
  tally[verdict]++
  if (one.truth !== undefined) tally.possible++
  const remarks = result.status === 'refused' ? [`refused ${result.code}`] : (result.remarks ?? [])
  if (one.isUnmoved) {
    for (const remark of new Set(remarks)) {
      const name = verdict === 'wrong' ? `wrong, ${remark}` : remark
      tally.remarks.set(name, (tally.remarks.get(name) ?? 0) + 1)
    }
  }
  if (result.status === 'applied') {
    if (verdict === 'wrong' && result.repaired) tally.repaired++
    if (verdict === 'right' && result.text !== one.truth) tally.indented++
  } else if (!isShown(one, result)) tally.unshown++
  return verdict
}

/** Whether a refusal shows what the next edit needs. @param {Case} one @param {Refused} result */
export const isShown = ({ now = [] }, { shown }) =>
  now.every((number) => shown?.has(number) ?? true)

/**
 * @param {Case} one
 * @param {Result} result
 * @returns {Verdict}
 */
function verdictOf(one, result) {
  if (result.status === 'refused') return 'refused'
  const isRight = result.text === one.truth || (one.isIndented && isAlike(result.text, one))
  return isRight ? 'right' : 'wrong'
}

/**
 * Whether a text is the correct result, except for the indentation of new lines.
 * @param {string} text
 * @param {Case} one
 */
function isAlike(text, { truth, operations }) {
  if (truth === undefined) return false
  const own = new Set(operations.flatMap(({ lines }) => lines.map((line) => line.trimStart())))
  const [lines, wanted] = [text.split('\n'), truth.split('\n')]
  return (
    lines.length === wanted.length &&
    lines.every((line, at) => {
      const [bare, other] = [line.trimStart(), wanted[at].trimStart()]
      return line === wanted[at] || (bare === other && own.has(bare.trimEnd()))
    })
  )
}
