// Which formatters of opencode's configuration run, and how.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withMess } from '../../__test__/support.mjs'
import { formattersOf, formatting } from './formatters.js'

/** A command that appends a text to a file. @param {string} text @param {string[]} rest */
const appending = (text, ...rest) => [
  process.execPath,
  '-e',
  `require('fs').appendFileSync(process.argv[1], ${text})`,
  '$FILE',
  ...rest,
]

test('formatters with a command and extensions run, in their order', () =>
  withMess({ 'a.js': 'a', 'b.py': 'b', 'gone.js': '' }, async (dir) => {
    const formatters = formattersOf({
      formatter: {
        first: {
          command: appending('process.env.MARK'),
          extensions: ['.js'],
          environment: { MARK: '1' },
        },
        gofmt: { environment: { A: 'b' } },
        off: { command: appending("'off'"), extensions: ['.js'], disabled: true },
        second: { command: appending("'2'"), extensions: ['.ts', '.js'] },
      },
    })
    assert.deepEqual(
      formatters.map(({ name }) => name),
      ['first', 'second'],
    )
    const { signal } = new AbortController()
    await formatting(formatters, dir)(
      [
        { path: join(dir, 'a.js'), change: 'edited' },
        { path: join(dir, 'b.py'), change: 'created' },
        { path: join(dir, 'none.js'), change: 'deleted' },
      ],
      { signal },
    )
    assert.equal(readFileSync(join(dir, 'a.js'), 'utf8'), 'a12')
    assert.equal(readFileSync(join(dir, 'b.py'), 'utf8'), 'b')
  }))

test('no formatters run if the configuration switches them off or has none', () => {
  assert.deepEqual(formattersOf({}), [])
  assert.deepEqual(formattersOf({ formatter: false }), [])
})

test('a formatter that fails is reported, the others run, and a signal ends them', () =>
  withMess({}, async (dir) => {
    const path = join(dir, 'a.js')
    writeFileSync(path, '')
    const failing = [process.execPath, '-e', "console.error('line 3: no'); process.exit(4)"]
    const formatters = formattersOf({
      formatter: {
        failing: { command: failing, extensions: ['.js'] },
        missing: { command: ['no-such-program', '$FILE'], extensions: ['.js'] },
        last: { command: appending("'x'"), extensions: ['.js'] },
      },
    })
    const run = formatting(formatters, dir)
    const { signal } = new AbortController()
    const file = { path, change: /** @type {const} */ ('edited') }
    await assert.rejects(async () => run([file], { signal }), {
      message: /^failing: exit code 4\. line 3: no\nmissing: spawn no-such-program ENOENT$/,
    })
    assert.equal(readFileSync(path, 'utf8'), 'x')
    // The child of the shell keeps its error output open.
    const hanging = ['sh', '-c', 'sleep 600; true']
    const endless = formattersOf({
      formatter: { hanging: { command: hanging, extensions: ['.js'] } },
    })
    const aborted = formatting(endless, dir)([file], { signal: AbortSignal.abort() })
    await assert.rejects(async () => aborted, { message: /aborted/ })
    const stopped = formatting(endless, dir, 100)([file], { signal })
    await assert.rejects(async () => stopped, {
      message: /hanging: took longer than 100 ms/,
    })
  }))
