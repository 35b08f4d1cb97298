import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readHashed } from 'hashline-native'
import { assertRejects, MISUSED_OPTIONS, untyped, withDir } from './support.mjs'

test('views are in the order of the requests, and an error of one file does not fail others', () =>
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

test('a view is the same in a large answer as alone', () =>
  withDir(
    {
      'a.txt': 'A\nb\nc\na\n',
      'é.txt': 'é\r\n\ud83d\ude00',
      'empty.txt': '',
      'utf16.txt': Buffer.from('\ufeff}\r\n', 'utf16le'),
      'latin.txt': Buffer.from([0xe9]),
      'null.bin': Buffer.from([1, 0, 2]),
      'a.png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    },
    async (root) => {
      const kinds = [
        ...['a.txt', 'é.txt', 'empty.txt', 'utf16.txt', 'latin.txt', 'null.bin', 'a.png', 'none'],
        { path: 'a.txt', startLine: 2, maxLines: 1 },
        { path: 'a.txt', search: 'a' },
        { path: 'a.txt', search: 'a', maxMatches: 1 },
      ]
      const alone = []
      for (const request of kinds) alone.push(...(await readHashed(request, { root })))
      const many = await readHashed(Array(5).fill(kinds).flat(), { root })
      const expected = Array(5).fill(alone).flat()
      assert.deepEqual(many, expected)
      // In the same order, without absent properties.
      assert.deepEqual(many.map(Object.keys), expected.map(Object.keys))
    },
  ))

test('one request is an array of one', () =>
  withDir({ 'a.txt': '}\n' }, async (dir) => {
    const path = join(dir, 'a.txt')
    assert.equal((await readHashed(path)).length, 1)
    assert.equal((await readHashed({ path }))[0].text, '1:18|}')
    assert.deepEqual(await readHashed([]), [])
  }))

test('misuse rejects the promise', async () => {
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

test("an exception of the caller's own code is passed on", async () => {
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

test('an invalid signal is refused', async () => {
  for (const signal of [{}, { aborted: false }, 1, new AbortController()]) {
    await assertRejects(
      () => readHashed('a', untyped({ signal })),
      'INVALID_ARGUMENT',
      'options.signal',
      'an AbortSignal',
    )
  }
})
