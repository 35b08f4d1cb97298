// One set of cases (vectors/faces.jsonl) through every face, each of which has to write the same
// lines, byte for byte: how they are made is in faces/run.mjs. The program answers them in
// crates/cli/tests/faces.rs.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as addon from 'hashline-native'
import { cases } from '../scripts/faces/cases.mjs'
import { expectedLine, lineOf, loadCases } from './faces/run.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const path = join(root, 'vectors', 'faces.jsonl')
const all = loadCases(path)
const expected = all.map(expectedLine)

/** Messages of the system and paths were recorded where names of files are divided by `/`. */
const elsewhere = process.platform === 'win32' && 'paths and messages are those of another system'

test('the cases are those that are made for it', () => {
  assert.ok(all.length >= 300)
  const given = all.map(({ expected: _, ...given }) => given)
  assert.deepEqual(given, JSON.parse(JSON.stringify(cases())))
})

test('the addon answers as recorded', { skip: elsewhere }, () => {
  for (const [at, one] of all.entries()) assert.equal(lineOf(one, addon), expected[at])
})
