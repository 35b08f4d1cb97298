// Runs one table of calls (vectors/tools.jsonl) through the addon, with arguments as JavaScript
// values. Arguments as text are tested in crates/tools/tests, the program in
// crates/cli/tests/all/tools.rs.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FILES, READ, toolCalls } from './bindings/toolCalls.mjs'
import { answerOf } from './bindings/tools.mjs'

const path = new URL('../vectors/tools.jsonl', import.meta.url)
const [before, ...rows] = readFileSync(path, 'utf8')
  .trimEnd()
  .split('\n')
  .map((row) => JSON.parse(row))

/** System messages and paths were recorded on systems with `/` in paths. */
const elsewhere = process.platform === 'win32' && 'paths and messages are those of another system'

test('the calls are current', () => {
  assert.ok(rows.length >= 400)
  assert.deepEqual(before, { files: FILES, read: READ })
  const given = rows.map(({ tool, arguments: args }) => ({ tool, arguments: args }))
  assert.deepEqual(given, toolCalls())
})

test('the addon answers as recorded, arguments as values', { skip: elsewhere }, async () => {
  // JavaScript objects cannot have duplicate keys.
  const values = rows.filter((row) => !/ has the key "\w+" twice/.test(row.text))
  // Several at once, because file access takes most of the time.
  const some = Array.from({ length: 8 }, async (_, first) => {
    for (let at = first; at < values.length; at += 8) {
      const { tool, arguments: args, ...answer } = values[at]
      assert.deepEqual(await answerOf(FILES, READ, { tool, arguments: args }), answer, args)
    }
  })
  await Promise.all(some)
})
