// How `npm run stress -- smoke` ends a test file with all that it has started. The output of a
// process is at its end when everything that could write to it has ended; so a call that returns
// says enough.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runGroup } from '../scripts/processGroup.mjs'

const skip = process.platform === 'win32' && 'Windows has no groups of processes'
const nobody = new AbortController().signal

test('what a program leaves behind is ended with it', { skip, timeout: 60_000 }, async () => {
  const script = 'sleep 100000 & echo "left one"; echo "and said so" >&2; exit 3'
  const ended = await runGroup('sh', ['-c', script], {}, nobody)
  assert.deepEqual(ended, {
    code: 3,
    signal: null,
    stdout: 'left one\n',
    stderr: 'and said so\n',
  })
})

test('a program is stopped with all that it has started', { skip, timeout: 60_000 }, async () => {
  const script = 'sleep 100000 & sleep 100000 & wait'
  const ended = await runGroup('sh', ['-c', script], {}, AbortSignal.timeout(200))
  assert.deepEqual(ended, { code: null, signal: 'SIGKILL', stdout: '', stderr: '' })
})

test('a program that was stopped beforehand does not go on', {
  skip,
  timeout: 60_000,
}, async () => {
  const { signal } = await runGroup('sleep', ['100000'], {}, AbortSignal.abort())
  assert.equal(signal, 'SIGKILL')
})

test('a program that is not there is an error', { skip }, () =>
  assert.rejects(
    () => runGroup('hashline-no-such-program', [], {}, nobody),
    // The second, where the path has a directory that this user may not look into.
    (/** @type {NodeJS.ErrnoException} */ error) => /^(ENOENT|EACCES)$/.test(error.code ?? ''),
  ),
)
