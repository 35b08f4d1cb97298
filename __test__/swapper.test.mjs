// A short run of scripts/swapper.mjs, which says what is checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

test('a directory that flips to a link leads nobody out of the root', async () => {
  assert.match(await runScript('swapper.mjs', '--calls', '500'), /^ok: /m)
})
