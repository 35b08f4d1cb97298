// A short run of scripts/writers.mjs, which says what is checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

test('writers that replace files and take no locks lose no version', async () => {
  assert.match(
    await runScript('writers.mjs', '--rounds', '200', '--kinds', 'rename,recreate'),
    /^ok: /m,
  )
})
