// A short run of stress/shrink-test.mjs, which describes the checks. It uses two processes, because
// it tests whether one of them crashes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScript } from './support.mjs'

test('a file that shrinks while it is read crashes no process and has correct views', async () => {
  // Large enough to be mapped (from 1 MiB) and small enough to change many times.
  const output = await runScript('shrink-test.mjs', '--seconds', '3', '--mebibytes', '16')
  assert.match(output, /\d+ reads, \d+ views/)
})
