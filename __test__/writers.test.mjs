// A short run of stress/writers.mjs, which says what is checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEmulated, runScript } from './support.mjs'

test('writers that replace files and take no locks lose no version', async () => {
  const rounds = isEmulated ? '20' : '200'
  assert.match(
    await runScript('writers.mjs', '--rounds', rounds, '--kinds', 'rename,recreate'),
    /^ok: /m,
  )
})
