// Compares `hashline-native/omp13` with the published module, on generated input. Runs under Bun,
// which that module needs: `npm run stress -- oracle`, or `npm run stress -- oracle --cases 100000
// --seed 7`.

import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import * as own from 'hashline-native/omp13'
import { PEER, peerModule } from '../scripts/peer.mjs'
import {
  asynchronously,
  collect,
  outcomeOf,
  Random,
  randomCuts,
  randomDiff,
  randomDiffOptions,
  randomLine,
  randomOmp13Edits,
  randomStreamOptions,
  randomTag,
  randomText,
  readableOf,
} from './hashlineCases.mjs'

/** @typedef {typeof own} Hashline */

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
})

/** @type {Hashline} */
const peer = await import(peerModule())
const random = new Random(Number(values.seed))
/** @type {Record<string, number>} */
const compared = {}

/**
 * @param {string} what
 * @param {(module: Hashline) => unknown} call
 * @returns {unknown} the common result
 */
function compare(what, call) {
  const [actual, expected] = [own, peer].map((module) => outcomeOf(() => call(module)))
  assert.deepEqual(actual, expected, what)
  compared[what] = (compared[what] ?? 0) + 1
  return actual
}

function compareHashes() {
  const line = randomLine(random)
  const odd = [0, -1, -(2 ** 40), 2.5, 2 ** 32 - 1, 2 ** 32 + 3, 2 ** 53, 2 ** 63, 1e20, Number.NaN]
  const number = random.is(0.3) ? random.pick(odd) : random.whole(1, 1e6)
  compare('computeLineHash', (module) => module.computeLineHash(number, line))
  compare('formatLineTag', (module) => module.formatLineTag(number, line))
  const text = randomText(random, random.is(0.01) ? 2000 : 30)
  const startLine = random.pick([undefined, 1, number])
  compare('formatHashLines', (module) => module.formatHashLines(text, startLine))
}

function compareTags() {
  const ref = randomTag(random)
  compare('parseTag', (module) => module.parseTag(ref))
  const lines = randomText(random, 8).split('\n')
  const line = random.whole(0, 9)
  const hash = random.is(0.5) ? 'ZP' : peer.computeLineHash(line, lines[line - 1] ?? '')
  compare('validateLineRef', (module) => module.validateLineRef({ line, hash }, lines))
}

/** @type {Record<string, number>} */
const seen = { applied: 0, warnings: 0, noopEdits: 0, mismatches: 0, 'other errors': 0 }

/**
 * Edits that the types forbid: unknown operations, with lines and without.
 * @type {any[]}
 */
const ODD_EDITS = [
  { op: 'set', lines: ['x', '\\uDDDD'] },
  { op: 'toString', lines: [] },
  { op: 'replaceText', old_text: 'x', new_text: 'y' },
  {},
  { op: 'append_file' },
  { lines: ['\\tx'] },
]

function compareEdits() {
  const text = randomText(random, random.is(0.02) ? 1500 : 25)
  const edits = randomOmp13Edits(random, text, peer.computeLineHash)
  if (random.is(0.02)) {
    // In longer arrays, edits without a rank make the order of the others arbitrary.
    edits.splice(1)
    for (const edit of Array(random.whole(1, 2)).fill(random.pick(ODD_EDITS))) {
      edits.splice(random.whole(0, edits.length), 0, structuredClone(edit))
    }
  }
  const outcome = compare('applyHashlineEdits', (module) => {
    const own = structuredClone(edits)
    return { ...outcomeOf(() => module.applyHashlineEdits(text, own)), edits: own }
  })
  const { returned, thrown } = /** @type {any} */ (outcome).returned
  seen.applied += returned ? 1 : 0
  seen.warnings += returned?.warnings ? 1 : 0
  seen.noopEdits += returned?.noopEdits ? 1 : 0
  seen.mismatches += thrown?.mismatches ? 1 : 0
  seen['other errors'] += thrown && !thrown.mismatches ? 1 : 0
}

function compareDiffs() {
  const [diff, options] = [randomDiff(random), randomDiffOptions(random)]
  compare('buildCompactHashlineDiffPreview', (module) =>
    module.buildCompactHashlineDiffPreview(diff, options),
  )
}

async function compareStreams() {
  const text = random.is(0.05) ? '' : randomText(random, 20)
  const options = randomStreamOptions(random)
  const bytes = new TextEncoder().encode(text)
  // Truncated, so that the text may end within a character; some have a byte order mark.
  const whole = random.is(0.2) ? bytes.slice(0, random.whole(0, bytes.length)) : bytes
  const marked = random.is(0.2) ? new Uint8Array([0xef, 0xbb, 0xbf, ...whole]) : whole
  const pieces = [...randomCuts(random, marked)]
  const wrap = random.pick([asynchronously, readableOf])
  const lines = random.is(0.1) ? [text, text] : text.split('\n')
  for (const [
    what,
    call,
  ] of /** @type {[string, (module: Hashline) => AsyncIterable<string>][]} */ ([
    ['streamHashLinesFromUtf8', (module) => module.streamHashLinesFromUtf8(wrap(pieces), options)],
    ['streamHashLinesFromLines', (module) => module.streamHashLinesFromLines(lines, options)],
  ])) {
    const [actual, expected] = [await collect(call(own)), await collect(call(peer))]
    assert.deepEqual(actual, expected, what)
    compared[what] = (compared[what] ?? 0) + 1
  }
}

for (let round = 0; round < Number(values.cases); round++) {
  try {
    compareHashes()
    compareTags()
    compareEdits()
    compareDiffs()
    if (round % 4 === 0) await compareStreams()
  } catch (error) {
    console.error(`seed ${values.seed}, round ${round}`)
    throw error
  }
}
console.log(`agrees with ${PEER}, seed ${values.seed}`)
for (const [what, count] of Object.entries({ ...compared, ...seen })) {
  console.log(`${String(count).padStart(8)} ${what}`)
}
