// The plain functions: they use the current file and the anchors, but not what the model saw.

import { applyHashToText, hashLines } from 'hashline-native'
import { refused } from './subject.mjs'

/** @import { Dialect, EditOptions, TextOperation } from 'hashline-native' */
/** @import { Case } from '../cases.mjs' */
/** @import { Subject } from './subject.mjs' */

/** The separators between number and hash of an anchor, and between an anchor and a hint. */
const MARKS = {
  pi: { hash: ':', hint: '|' },
  pi26: { hash: ':', hint: '|' },
  cli: { hash: ':', hint: '|' },
  omp: { hash: '#', hint: ':' },
  omp13: { hash: '#', hint: ':' },
  lean: { hash: '', hint: '|' },
  // Here an anchor is only a number, and is refused.
  omp18: { hash: '', hint: ':' },
}

/**
 * The hashes of old texts by dialect: the cases of one text come in sequence.
 * @type {WeakMap<string[], Partial<Record<Dialect, string[]>>>}
 */
const hashes = new WeakMap()

/**
 * @param {Case} one
 * @param {Dialect} dialect
 */
function hashesOf({ old, oldLines }, dialect) {
  const known = hashes.get(oldLines) ?? {}
  hashes.set(oldLines, known)
  known[dialect] ??= hashLines(old, { dialect })
  return known[dialect]
}

/**
 * A case's operations by anchors, as a model writes them.
 * @param {Case} one
 * @param {{ dialect?: Dialect, hints?: boolean, verbatim?: boolean }} [shape]
 * @returns {TextOperation[]}
 */
export function operationsOf(one, { dialect = 'pi', hints, verbatim } = {}) {
  const { oldLines, operations, mispaired } = one
  const shown = hashesOf(one, dialect)
  const marks = MARKS[dialect]
  const anchor = (/** @type {number} */ line) => {
    const hashed = mispaired?.get(line) ?? line
    const short = `${line}${marks.hash}${shown[hashed - 1]}`
    return hints ? `${short}${marks.hint}${oldLines[hashed - 1]}` : short
  }
  return operations.map((edit) => {
    const rest = verbatim ? { verbatim } : {}
    if ('after' in edit) {
      const at = edit.after === 0 ? 'BOF' : anchor(edit.after)
      return { op: 'insert_after', anchor: at, text: edit.lines, ...rest }
    }
    const ends = { start_anchor: anchor(edit.first), end_anchor: anchor(edit.last) }
    if (edit.lines.length === 0) return { op: 'delete', ...ends, ...rest }
    return { op: 'replace_range', ...ends, text: edit.lines, ...rest }
  })
}

/**
 * @param {string} name
 * @param {{ hints?: boolean, verbatim?: boolean } & EditOptions} [how]
 * @returns {Subject}
 */
function plain(name, { hints, verbatim, ...options } = {}) {
  const shape = { dialect: options.dialect, hints, verbatim }
  return {
    name: `plain, ${name}`,
    pace: name === 'pi' ? 'main' : 'usual',
    apply(one) {
      const outcome = applyHashToText(one.current, operationsOf(one, shape), options)
      if (outcome.status === 'rejected') return refused(outcome.code)
      return {
        status: 'applied',
        text: outcome.content,
        repaired: outcome.repairs.length > 0,
      }
    },
  }
}

/** @type {Subject[]} */
export const plainSubjects = [
  plain('pi'),
  plain('pi, verbatim', { verbatim: true }),
  plain('pi, hints', { hints: true }),
  plain('pi, relocate unique', { relocate: 'unique' }),
  plain('pi, relocate off', { relocate: 'off' }),
  plain('pi, hints, relocate off', { hints: true, relocate: 'off' }),
  plain('pi26', { dialect: 'pi26' }),
  plain('pi26, hints', { dialect: 'pi26', hints: true }),
  plain('pi26, relocate unique', { dialect: 'pi26', relocate: 'unique' }),
  plain('pi26, relocate off', { dialect: 'pi26', relocate: 'off' }),
  plain('cli', { dialect: 'cli' }),
  plain('omp', { dialect: 'omp' }),
  plain('omp, hints', { dialect: 'omp', hints: true }),
  plain('omp13', { dialect: 'omp13' }),
  plain('omp13, hints', { dialect: 'omp13', hints: true }),
]
