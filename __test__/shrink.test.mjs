// A short run of scripts/shrink-test.mjs, which says what is checked. Two processes of their
// own: the point is whether one of them dies.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../scripts/shrink-test.mjs', import.meta.url))

test('a file that shrinks while it is read kills nobody and shows nothing untrue', async () => {
  // Large enough to be mapped (from 1 MiB on) and small enough to change many times.
  const args = [script, '--seconds', '3', '--mebibytes', '16']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  assert.equal(code, 0, output)
  assert.match(output, /\d+ reads, \d+ views/)
})
