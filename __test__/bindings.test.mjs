// Runs one set of cases (vectors/bindings.jsonl) through every binding. Each must produce the same
// lines, byte for byte, in the form that bindings/run.mjs defines. The program runs them in
// crates/cli/tests/all/bindings.rs, Deno in `npm run test:deno`.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as addon from 'hashline-native'
import { binaryPath } from '../js/ffi/library.cjs'
import { cases } from './bindings/cases.mjs'
import { expectedLine, lineOf, loadCases } from './bindings/run.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const path = join(root, 'vectors', 'bindings.jsonl')
const all = loadCases(path)
const expected = all.map(expectedLine)

/** System messages and paths were recorded on systems with `/` in paths. */
const elsewhere = process.platform === 'win32' && 'paths and messages are those of another system'

test('the cases are current', () => {
  assert.ok(all.length >= 300)
  const given = all.map(({ expected: _, ...given }) => given)
  assert.deepEqual(given, JSON.parse(JSON.stringify(cases())))
})

test('the addon answers as recorded', { skip: elsewhere }, () => {
  for (const [at, one] of all.entries()) assert.equal(lineOf(one, addon), expected[at])
})

/**
 * Runs a program that prints the lines of a binding.
 * @param {string} command
 * @param {string[]} args
 */
function assertPrints(command, ...args) {
  const printed = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26, cwd: root })
  assert.equal(printed.status, 0, printed.error?.message ?? printed.stderr)
  const lines = printed.stdout.split('\n')
  for (const [at, line] of expected.entries()) assert.equal(lines[at], line)
  assert.equal(printed.stdout, `${expected.join('\n')}\n`)
}

test('hashline-native/bun answers as recorded', (t) => {
  const bun = join(root, 'node_modules', '.bin', 'bun')
  if (!existsSync(bun)) return t.skip('Bun is not installed here')
  if (process.env.HASHLINE_EMULATOR) return t.skip('Bun exists only for this machine')
  assertPrints(bun, join(root, '__test__/bindings/print.mjs'), join(root, 'js/bun.mjs'), path)
})

test('the C interface answers as recorded, to Python', { skip: elsewhere }, (t) => {
  if (spawnSync('python3', ['--version']).error) return t.skip('python3 is not installed')
  if (process.env.HASHLINE_EMULATOR) return t.skip('Python exists only for this machine')
  assertPrints('python3', join(root, '__test__/bindings/driver.py'), binaryPath(), path)
})

test('hashline-native/bun frees all memory', (t) => {
  const bun = join(root, 'node_modules', '.bin', 'bun')
  if (!existsSync(bun)) return t.skip('Bun is not installed here')
  if (process.env.HASHLINE_EMULATOR) return t.skip('Bun exists only for this machine')
  const script = join(root, 'stress/ffi-memory.mjs')
  const { status, stderr } = spawnSync(bun, [script, '--calls', '4000'], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})
