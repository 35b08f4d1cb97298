// The tour of the README works: it edits copies of this repository's own sources, and checks them
// on disk itself.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('the tour ends with its edits on disk', () => {
  const tour = fileURLToPath(new URL('../examples/tour.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [tour], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const [, directory] = /The edited files are in (\S+)/.exec(stdout) ?? []
  assert.ok(directory, stdout)
  rmSync(directory, { recursive: true })
})
