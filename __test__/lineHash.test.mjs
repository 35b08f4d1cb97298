// The drop-ins hash lines in JavaScript, the engine in native code: both must match.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHashed, verify } from 'hashline-native'
import * as omp from 'hashline-native/omp'
import * as omp13 from 'hashline-native/omp13'
import { Random, randomText } from '../stress/hashlineCases.mjs'

/** Characters of one, two, three and four bytes, with whitespace in all but the last set. */
const ALPHABETS = ['ab1{} ;\t', 'é ñß\u00a0', 'имя = ', '変数 \u3000計', '🎉𝒳a', '\u2028\ufeff—“x']

const DIALECTS = /** @type {const} */ ([
  ['omp', omp],
  ['omp13', omp13],
])

/**
 * @param {Random} random
 * @param {number} length
 */
function lineOfLength(random, length) {
  const alphabets = random.is(0.5) ? [random.pick(ALPHABETS)] : ['abc ', random.pick(ALPHABETS)]
  let line = ''
  while (line.length < length) line += random.pick([...random.pick(alphabets)])
  return random.is(0.1) ? `${line}\r` : line
}

for (const [dialect, { computeLineHash, formatHashLines }] of DIALECTS) {
  test(`${dialect}: lines of every length in every script have the hashes of the engine`, () => {
    const random = new Random(6)
    const lengths = [...Array(140).keys(), 680, 690, 1023, 1024, 2040, 2048, 2049, 2100]
    for (const length of lengths) {
      for (let round = 0; round < 12; round++) {
        const line = lineOfLength(random, length)
        const number = random.whole(1, 100_000)
        const hash = computeLineHash(number, line)
        assert.ok(verify(number, line, hash, dialect), `${number} ${JSON.stringify(line)} ${hash}`)
      }
    }
  })

  test(`${dialect}: short texts are formatted as in the engine`, () => {
    const random = new Random(7)
    let compared = 0
    for (let round = 0; round < 1000; round++) {
      const text = randomText(random, 8)
      const startLine = random.whole(1, 2000)
      // The engine does not accept lone surrogates.
      if (/\p{Surrogate}/u.test(text)) continue
      const formatted = formatHashed(text, { dialect, startLine })
      assert.equal(formatHashLines(text, startLine), formatted, JSON.stringify(text))
      compared++
    }
    assert.ok(compared > 500, `only ${compared} were compared`)
  })
}
