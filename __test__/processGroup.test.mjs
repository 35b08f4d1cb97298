// How `npm run stress -- smoke` ends a test file with all its child processes. The output of a
// process ends when every writer has ended, so returning from the call is enough.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runGroup } from '../scripts/processGroup.mjs'

const skip = process.platform === 'win32' && 'Windows has no groups of processes'
const nobody = new AbortController().signal

test('remaining child processes end with the program', { skip, timeout: 60_000 }, async () => {
  const script = 'sleep 100000 & echo "left one"; echo "and said so" >&2; exit 3'
  const ended = await runGroup('sh', ['-c', script], {}, nobody)
  assert.deepEqual(ended, {
    code: 3,
    signal: null,
    stdout: 'left one\n',
    stderr: 'and said so\n',
  })
})

test('a program is stopped with its child processes', { skip, timeout: 60_000 }, async () => {
  const script = 'sleep 100000 & sleep 100000 & wait'
  const ended = await runGroup('sh', ['-c', script], {}, AbortSignal.timeout(200))
  assert.deepEqual(ended, { code: null, signal: 'SIGKILL', stdout: '', stderr: '' })
})

test('a program that was stopped before its start does not run', {
  skip,
  timeout: 60_000,
}, async () => {
  const { signal } = await runGroup('sleep', ['100000'], {}, AbortSignal.abort())
  assert.equal(signal, 'SIGKILL')
})

test('a missing program is an error', { skip }, () =>
  assert.rejects(
    () => runGroup('hashline-no-such-program', [], {}, nobody),
    // EACCES if PATH has a directory that this user may not search.
    (/** @type {NodeJS.ErrnoException} */ error) => /^(ENOENT|EACCES)$/.test(error.code ?? ''),
  ),
)
