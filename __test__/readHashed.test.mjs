import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readHashed } from 'hashline-native'
import { assertRejects, MISUSED_OPTIONS, untyped, withDir } from './support.mjs'

test('views come in the order of the requests, and one bad file fails no other', () =>
  withDir({ 'a.txt': '}\n', 'b.txt': 'return null;\n' }, async (root) => {
    const views = await readHashed(['b.txt', 'none.txt', { path: 'a.txt' }], { root })
    assert.deepEqual(
      views.map((view) => [view.path, view.text, view.error?.code]),
      [
        ['b.txt', '1:56|return null;', undefined],
        ['none.txt', '', 'FILE_NOT_FOUND'],
        ['a.txt', '1:18|}', undefined],
      ],
    )
    assert.match(views[1].error?.message ?? '', /none\.txt/)
  }))

test('one request is an array of one', () =>
  withDir({ 'a.txt': '}\n' }, async (dir) => {
    const path = join(dir, 'a.txt')
    assert.equal((await readHashed(path)).length, 1)
    assert.equal((await readHashed({ path }))[0].text, '1:18|}')
    assert.deepEqual(await readHashed([]), [])
  }))

test('misuse rejects the promise and throws nothing', async () => {
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    await assertRejects(() => readHashed('a', untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
  await assertRejects(() => untyped(readHashed)(), 'INVALID_ARGUMENT', 'requests is undefined')
  await assertRejects(() => readHashed('a\udfff'), 'UNENCODABLE_TEXT', 'requests')
  await assertRejects(
    () => readHashed('a', { encoding: 'no-such' }),
    'UNSUPPORTED_ENCODING',
    'no-such',
  )
})

test("an exception of the caller's own code arrives as it is", async () => {
  const mine = new TypeError('mine')
  const options = {
    get root() {
      throw mine
    },
  }
  await assert.rejects(readHashed('a', untyped(options)), (error) => error === mine)
  const trap = () => {
    throw mine
  }
  const requests = untyped(new Proxy([], { get: trap }))
  await assert.rejects(readHashed(requests), (error) => error === mine)
})

test('a signal must be one', async () => {
  for (const signal of [{}, { aborted: false }, 1, new AbortController()]) {
    await assertRejects(
      () => readHashed('a', untyped({ signal })),
      'INVALID_ARGUMENT',
      'options.signal',
      'an AbortSignal',
    )
  }
})
