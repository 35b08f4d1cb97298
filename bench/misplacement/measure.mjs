// Runs cases with the subjects and counts the results.

import { extname } from 'node:path'
import { resultsOf } from './subjects/subject.mjs'
import { Tally } from './tally.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Result, Subject } from './subjects/subject.mjs' */
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
 * @returns {Promise<Tallies>}
 */
export async function measure(cases, subjects, { most, onWrong }) {
  const tallies = new Tallies()
  for await (const chunk of chunksOf(cases)) {
    /** @type {Map<Case, Map<string, string | undefined>>} */
    const formatted = new Map()
    for (const subject of subjects) {
      const given = sampleOf(chunk, tallies, subject, most[subject.pace])
      const results = resultsOf(subject, given)
      for (const [at, one] of given.entries()) {
        const known = formatted.get(one) ?? new Map()
        formatted.set(one, known)
        const result = results[at]
        const verdict = await verdictOf(one, result, known)
        const tally = tallies.of(one.scenario, subject.name)
        tally[verdict]++
        if (verdict !== 'wrong' || result.status !== 'applied') continue
        if (result.repaired) tally.repaired++
        onWrong?.({ subject, one, text: result.text })
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
 * @param {Case} one
 * @param {Result} result
 * @param {Map<string, string | undefined>} known formatted results of the case
 * @returns {Promise<Verdict>}
 */
async function verdictOf(one, result, known) {
  if (result.status === 'refused') return 'refused'
  const { formatted, truth } = one
  if (!formatted) {
    const isRight = result.text === truth || (one.isIndented && isAlike(result.text, one))
    return isRight ? 'right' : 'wrong'
  }
  if (!known.has(result.text)) {
    const [text] = await formatted.formatter.format([result.text], extname(one.path))
    known.set(result.text, text)
  }
  return known.get(result.text) === formatted.truth ? 'right' : 'wrong'
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
