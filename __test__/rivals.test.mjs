// A short run of scripts/rivals.mjs, which says what is checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

test('rivals lose no edit', async () => {
  assert.match(
    await runScript('rivals.mjs', '--processes', '4', '--edits', '25', '--powered', '5'),
    /^ok: /m,
  )
})
