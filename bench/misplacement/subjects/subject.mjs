// A subject of the measurement: a way to apply an edit of an earlier text to the current text.

/** @import { Case } from '../cases.mjs' */

/**
 * @typedef {object} Applied
 * @property {'applied'} status
 * @property {string} text
 * @property {boolean} [repaired] the texts of the edit were repaired before, which may explain the
 * difference
 * @property {string[]} [remarks] the repairs and warnings, by kind
 */
/**
 * @typedef {object} Refused
 * @property {'refused'} status
 * @property {string} code
 * @property {Set<number>} [shown] the numbers of the current lines that the refusal shows
 */
/** @typedef {Applied | Refused} Result */
/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {'main' | 'usual' | 'slow'} pace how many cases it gets: slow ones start a process for
 * each
 * @property {((one: Case) => Result)} [apply]
 * @property {((cases: Case[]) => Result[])} [applyAll] instead, many at once
 * @property {() => void} [end] releases its resources
 */

/** @param {string} code @returns {Result} */
export const refused = (code) => ({ status: 'refused', code })

/**
 * The results of cases, one by one or all at once, as the subject supports.
 * @param {Subject} subject
 * @param {Case[]} cases
 * @returns {Result[]}
 */
export function resultsOf({ name, apply, applyAll }, cases) {
  if (applyAll) return applyAll(cases)
  if (!apply) throw new Error(`${name} has neither apply nor applyAll`)
  return cases.map(apply)
}
