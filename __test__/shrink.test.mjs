// A short run of stress/shrink-test.mjs, which says what is checked. Two processes of their
// own: the point is whether one of them dies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

test('a file that shrinks while it is read kills nobody and shows nothing untrue', async () => {
  // Large enough to be mapped (from 1 MiB on) and small enough to change many times.
  const output = await runScript('shrink-test.mjs', '--seconds', '3', '--mebibytes', '16')
  assert.match(output, /\d+ reads, \d+ views/)
})
