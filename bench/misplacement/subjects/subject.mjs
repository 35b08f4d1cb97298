// What is measured: a way to apply an edit of a text seen earlier to the text as it is now.

/** @import { Case } from '../cases.mjs' */

/**
 * @typedef {{ status: 'applied', text: string, repaired?: boolean } | { status: 'refused', code: string }} Result
 * `repaired`: the texts of the edit were mended before, which may be what differs
 */
/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {'main' | 'usual' | 'slow'} pace how many cases it gets: slow ones start a process for
 *   each
 * @property {((one: Case) => Result)} [apply]
 * @property {((cases: Case[]) => Result[])} [applyAll] instead, many at once
 * @property {() => void} [end] lets go of what it holds
 */

/** @param {string} code @returns {Result} */
export const refused = (code) => ({ status: 'refused', code })

/**
 * The results of cases, one by one or all at once, as the subject can.
 * @param {Subject} subject
 * @param {Case[]} cases
 * @returns {Result[]}
 */
export function resultsOf({ name, apply, applyAll }, cases) {
  if (applyAll) return applyAll(cases)
  if (!apply) throw new Error(`${name} says nothing of how it is applied`)
  return cases.map(apply)
}
