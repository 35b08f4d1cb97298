// A short run of stress/swapper.mjs, which describes the checks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

const skip =
  process.platform === 'win32' && 'Windows cannot rename a directory that a call has open'

test('a directory that is replaced by a link does not lead out of the root', { skip }, async () => {
  assert.match(await runScript('swapper.mjs', '--calls', '500'), /^ok: /m)
})
