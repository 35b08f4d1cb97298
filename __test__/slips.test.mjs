// A short run of bench/slips: one file in each of some languages, and the recorded mistakes.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { randomFrom } from '../bench/edit/history/random.mjs'
import { Judge } from '../bench/slips/judge.mjs'
import { replayRecorded } from '../bench/slips/recorded.mjs'
import { mistakesOf } from '../bench/slips/slips.mjs'

const scratchDir = mkdtempSync(join(tmpdir(), 'hashline-slips-'))
after(() => rmSync(scratchDir, { recursive: true, force: true }))

test('recorded mistakes edit no other line', () => {
  const counts = { reported: 87, right: 1, wrong: 0, unclear: 0 }
  assert.deepEqual(replayRecorded(scratchDir), counts)
})

/** A block in a function, by file extension. */
const FILES = {
  js: ['function f() {', '  if (a) {', '    b()', '  }', '}', 'f()'],
  rs: ['fn f() {', '    if a {', '        b();', '    }', '}', 'fn g() {}'],
  go: ['package p', 'func f() {', '\tif a {', '\t\tb()', '\t}', '}'],
}

for (const [end, lines] of Object.entries(FILES)) {
  test(`${end}: removed, repeated or missing closing brackets are reported or fixed`, () => {
    const old = { lines, eol: '\n', final: true }
    const judge = new Judge(/** @type {any} */ ({ path: `f.${end}`, old }), scratchDir)
    const first = lines.findIndex((line) => line.includes('b()')) + 1
    const [call, closer] = [lines[first - 1], lines[first]]
    // The call is duplicated; then the block is written again, with its closing bracket.
    const edits = [
      { first, last: first, lines: [call, call] },
      { first, last: first + 1, lines: [call, call, closer] },
    ]
    const silent = []
    const kinds = new Set()
    for (const meant of edits) {
      const truth = judge.judge([meant], true)
      assert.equal(truth.syntax, 'ok')
      assert.deepEqual(judge.judge([meant]).codes, [])
      for (const { mistake, edit } of mistakesOf(meant, lines, randomFrom('short', end))) {
        if (!mistake.startsWith('closing bracket')) continue
        kinds.add(mistake)
        const { reported, snapshot } = judge.judge([edit])
        if (!reported && snapshot !== truth.snapshot) silent.push(mistake)
      }
    }
    assert.deepEqual(silent, [])
    assert.ok(kinds.size >= 3, [...kinds].join())
  })
}
