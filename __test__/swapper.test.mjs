// A short run of stress/swapper.mjs, which says what is checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

const skip =
  process.platform === 'win32' && 'Windows renames no directory that somebody has open, as calls do'

test('a directory that flips to a link leads nobody out of the root', { skip }, async () => {
  assert.match(await runScript('swapper.mjs', '--calls', '500'), /^ok: /m)
})
