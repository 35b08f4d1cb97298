import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchHashed, searchHashedSync } from 'hashline-native'
import { assertRejects, MISUSED_OPTIONS, untyped, withDir } from './support.mjs'

test('a search returns the result of its synchronous form', () =>
  withDir({ 'a.txt': 'find\n', 'b/c.txt': 'x\nfind\n' }, async (root) => {
    const { signal } = new AbortController()
    const result = await searchHashed({ search: 'find', contextBefore: 1 }, { root, signal })
    assert.equal(result.matchCount, 2)
    assert.deepEqual(result, searchHashedSync({ search: 'find', contextBefore: 1 }, { root }))
  }))

test('an aborted signal stops a search', async () => {
  const signal = AbortSignal.abort()
  await assert.rejects(searchHashed({ search: 'a' }, { signal }), { name: 'AbortError' })
})

test('misuse rejects the promise', async () => {
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    await assertRejects(
      () => searchHashed({ search: 'a' }, untyped(options)),
      'INVALID_ARGUMENT',
      ...parts,
    )
  }
  await assertRejects(() => untyped(searchHashed)(), 'INVALID_ARGUMENT', 'query is undefined')
  await assertRejects(() => searchHashed({ search: '(', regex: true }), 'INVALID_PATTERN')
})
