import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { applyHash, readHashed, recoverTransactions, searchHashed } from 'hashline-native'
import { assertRejects, untyped, withDir } from './support.mjs'

/** @import { HashlineError } from 'hashline-native' */

/**
 * @param {unknown} value
 * @param {unknown} reason
 */
function assertAborted(value, reason) {
  const error = /** @type {HashlineError} */ (value)
  assert.ok(error instanceof Error)
  assert.equal(error.name, 'AbortError')
  assert.equal(error.code, 'ABORTED')
  assert.equal(error.cause, reason)
  return true
}

/** @param {AbortSignal} signal */
const listeners = (signal) => getEventListeners(signal, 'abort').length

test('an aborted signal rejects, and nothing is done', () =>
  withDir({}, async (root, stateDir) => {
    const signal = AbortSignal.abort('enough')
    const rejected = (/** @type {unknown} */ error) => assertAborted(error, 'enough')
    await assert.rejects(readHashed('a', { signal }), rejected)
    const operations = [/** @type {const} */ ({ op: 'add_file', path: 'new', content: '' })]
    await assert.rejects(applyHash({ operations }, { root, stateDir, signal }), rejected)
    assert.equal(existsSync(join(root, 'new')), false)
  }))

test('a running call stops, and the handlers of the caller run', () =>
  withDir({ 'a.txt': 'some line\n'.repeat(100_000) }, async (root) => {
    const controller = new AbortController()
    const { signal } = controller
    let handled = 0
    signal.onabort = () => handled++
    signal.addEventListener('abort', () => handled++)
    const before = listeners(signal)
    const reading = readHashed(Array(5000).fill('a.txt'), { root, signal })
    setTimeout(() => controller.abort(), 20)
    await assert.rejects(reading, (error) => assertAborted(error, signal.reason))
    assert.equal(handled, 2)
    assert.equal(listeners(signal), before)
  }))

test('a finished call leaves no listener, and a later abort does nothing', () =>
  withDir({ 'a.txt': '}\n' }, async (root) => {
    const controller = new AbortController()
    const { signal } = controller
    const calls = Array.from({ length: 20 }, () => readHashed('a.txt', { root, signal }))
    for (const [view] of await Promise.all(calls)) assert.equal(view.text, '1:18|}')
    // Listeners are removed some time after the promises are settled.
    for (let turn = 0; turn < 1000 && listeners(signal) > 0; turn++) await pause(1)
    assert.equal(listeners(signal), 0)
    controller.abort()
  }))

test('one signal stops many calls', () =>
  withDir({ 'a.txt': 'some line\n'.repeat(100_000) }, async (root) => {
    const controller = new AbortController()
    const { signal } = controller
    const calls = Array.from({ length: 8 }, () =>
      readHashed(Array(2000).fill('a.txt'), { root, signal }),
    )
    setTimeout(() => controller.abort('all'), 20)
    for (const call of await Promise.allSettled(calls)) {
      assert.equal(call.status, 'rejected')
      assertAborted(call.reason, 'all')
    }
  }))

test('a call that is aborted before its answer rejects', () =>
  withDir({ 'a.txt': '}\n' }, async (root, stateDir) => {
    const controller = new AbortController()
    const options = { root, signal: controller.signal }
    const calls = [
      readHashed('a.txt', options),
      readHashed(['a.txt', 'missing.txt'], options),
      searchHashed({ search: '}' }, options),
      recoverTransactions({ stateDir, signal: controller.signal }),
    ]
    controller.abort('enough')
    // Awaited together: a promise that rejects without a handler is an unhandled rejection.
    const settled = await Promise.allSettled(calls)
    for (const call of settled.slice(0, 3)) {
      assert.equal(call.status, 'rejected')
      assertAborted(call.reason, 'enough')
    }
  }))

test('a value that is not a signal is refused with a code', async () => {
  const fake = { aborted: false, addEventListener() {}, removeEventListener() {} }
  const thrower = () => {
    throw new Error('mine')
  }
  const cases = [
    1,
    'abort',
    {},
    Object.create(AbortSignal.prototype),
    { ...fake, aborted: 'no' },
    { ...fake, addEventListener: undefined },
    { ...fake, addEventListener: thrower },
    Object.defineProperty({ ...fake }, 'aborted', { get: thrower }),
    // An object that changes with each access.
    Object.defineProperty({ ...fake }, 'addEventListener', {
      get() {
        Object.defineProperty(this, 'addEventListener', { value: undefined })
        return fake.addEventListener
      },
      configurable: true,
    }),
  ]
  for (const signal of cases) {
    const call = () => readHashed('a.txt', untyped({ signal }))
    await assertRejects(call, 'INVALID_ARGUMENT', 'options.signal is ', 'an AbortSignal')
  }
  const changing = { ...fake, looks: 0 }
  Object.defineProperty(changing, 'aborted', {
    get: () => (changing.looks++ === 0 ? false : 'no'),
  })
  const [view] = await readHashed('no such file', untyped({ signal: changing }))
  assert.equal(view.kind, 'error')
})
