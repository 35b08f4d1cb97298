// A short run of stress/writers.mjs, which describes the checks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEmulated, runScript } from './support.mjs'

const lost =
  process.platform === 'win32'
    ? 'find no mixed versions (Windows can lose a version: docs/durability.md)'
    : 'lose no version'

test(`writers that replace files and take no locks ${lost}`, async () => {
  const rounds = isEmulated ? '20' : '200'
  assert.match(
    await runScript('writers.mjs', '--rounds', rounds, '--kinds', 'rename,recreate'),
    /^ok: /m,
  )
})
