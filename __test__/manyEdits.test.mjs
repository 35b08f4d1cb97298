// Edits whose numbers and text lengths select each way of finding lines: by scanning, by blocks, by
// an index.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as omp from 'hashline-native/omp'
import * as omp13 from 'hashline-native/omp13'
import {
  outcomeOf,
  Random,
  randomOmp13Edits,
  randomOmpEdits,
  randomText,
} from '../stress/hashlineCases.mjs'
import { naiveOmp13Apply, naiveOmpApply } from './naiveHashline.mjs'

/** @typedef {{ returned?: any, thrown?: any }} Result */

const DIALECTS = {
  omp: {
    /** @type {(random: Random, text: string) => any[]} */
    edits: (random, text) => randomOmpEdits(random, text, omp.computeLineHash),
    /** @type {(text: string, edits: any[]) => unknown} */
    apply: omp.applyHashlineEdits,
    /** @type {(text: string, edits: any[]) => unknown} */
    naive: (text, edits) => naiveOmpApply(text, edits, false),
  },
  omp13: {
    /** @type {(random: Random, text: string) => any[]} */
    edits: (random, text) => randomOmp13Edits(random, text, omp13.computeLineHash),
    /** @type {(text: string, edits: any[]) => unknown} */
    apply(text, edits) {
      // The reference has no warnings.
      const { warnings: _, ...result } = omp13.applyHashlineEdits(text, edits)
      return result
    },
    /** @type {(text: string, edits: any[]) => unknown} */
    naive: (text, edits) => naiveOmp13Apply(text, edits),
  },
}

/** @param {any} edit */
const lineOf = (edit) =>
  (edit.tag ?? edit.pos ?? edit.first ?? edit.after ?? edit.before)?.line ?? 0

for (const [dialect, { edits: some, apply, naive }] of Object.entries(DIALECTS)) {
  /**
   * Valid edits, approximately `count`.
   * @param {Random} random
   * @param {string} text
   * @param {number} count
   */
  const valid = (random, text, count) => {
    const edits = []
    while (edits.length < count) {
      const tried = some(random, text)
      const { returned, thrown } = /** @type {Result} */ (
        outcomeOf(() => apply(text, structuredClone(tried)))
      )
      if (returned && !thrown) edits.push(...tried)
    }
    return edits
  }

  for (const [lines, count] of [
    [3, 12],
    [30, 60],
    [900, 2],
    [900, 20],
    [900, 200],
  ]) {
    test(`${dialect}: ${count} edits in up to ${lines} lines`, () => {
      const random = new Random(lines + count)
      for (let round = 0; round < 4; round++) {
        const text = randomText(random, lines)
        const edits = valid(random, text, count)
        const order = random.pick(['none', 'up', 'down'])
        if (order === 'up') edits.sort((one, other) => lineOf(one) - lineOf(other))
        if (order === 'down') edits.sort((one, other) => lineOf(other) - lineOf(one))
        const actual = outcomeOf(() => apply(text, structuredClone(edits)))
        const expected = outcomeOf(() => naive(text, structuredClone(edits)))
        assert.deepEqual(actual, expected, `round ${round}`)
      }
    })
  }
}

test('a line for each of many edits, in ASCII and in wide characters', () => {
  for (const word of ['line', 'строка', '行']) {
    const lines = Array.from({ length: 3000 }, (_, at) => (at % 7 === 0 ? '' : `${word} ${at}`))
    const text = lines.join('\n')
    const numbers = lines.flatMap((_, at) => (at % 3 === 1 ? [at + 1] : []))
    const expected = lines.flatMap((line, at) => (at % 3 === 1 ? [`${line}!`, 'more'] : [line]))
    const edits = numbers.map((line) => {
      const hash = omp13.computeLineHash(line, lines[line - 1])
      return {
        op: /** @type {const} */ ('replace_line'),
        pos: { line, hash },
        lines: [`${lines[line - 1]}!`, 'more'],
      }
    })
    const result = omp13.applyHashlineEdits(text, edits)
    assert.equal(result.lines, expected.join('\n'))
    assert.equal(result.firstChangedLine, 2)
  }
})
