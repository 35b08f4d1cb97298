// A short run of stress/rivals.mjs, which describes the checks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEmulated, runScript } from './support.mjs'

test('concurrent processes lose no edit', async () => {
  const [processes, edits, powered] = isEmulated ? ['2', '5', '2'] : ['4', '25', '5']
  const count = ['--processes', processes]
  assert.match(
    await runScript('rivals.mjs', ...count, '--edits', edits, '--powered', powered),
    /^ok: /m,
  )
})
