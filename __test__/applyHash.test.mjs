import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyHash, HashlineError, readHashed, readJsonSync } from 'hashline-native'
import { assertRejects, MISUSED_OPTIONS, untyped, withDir } from './support.mjs'

test('a patch of several files is applied', () =>
  withDir({ 'a.txt': '}\n', 'b.txt': 'return null;\n' }, async (root, stateDir) => {
    const outcome = await applyHash(
      {
        operations: [
          { op: 'set_line', path: 'a.txt', anchor: '1:18', text: '};' },
          { op: 'insert_after', path: 'b.txt', anchor: 'EOF', text: ['x', 'y'] },
          { op: 'add_file', path: 'new/c.txt', content: 'z' },
        ],
      },
      { root, stateDir },
    )
    assert.equal(outcome.status, 'applied')
    assert.deepEqual(
      outcome.files.map(({ path, change, added, removed }) => [path, change, added, removed]),
      [
        ['a.txt', 'edited', 1, 1],
        ['b.txt', 'edited', 2, 0],
        ['new/c.txt', 'created', 1, 0],
      ],
    )
    const contents = ['a.txt', 'b.txt', 'new/c.txt'].map((name) =>
      readFileSync(join(root, name), 'utf8'),
    )
    assert.deepEqual(contents, ['};\n', 'return null;\nx\ny\n', 'z'])
  }))

test('a refusal is data, and nothing changes', () =>
  withDir({ 'a.txt': '}\n', 'b.txt': 'return null;\n' }, async (root, stateDir) => {
    const outcome = await applyHash(
      {
        operations: [
          { op: 'set_line', path: 'a.txt', anchor: '1:18', text: '};' },
          { op: 'set_line', path: 'b.txt', anchor: '1:00', text: 'x' },
        ],
      },
      { root, stateDir },
    )
    assert.equal(outcome.status, 'rejected')
    assert.equal(outcome.code, 'HASH_MISMATCH')
    assert.equal(outcome.failures.length, 1)
    assert.equal(outcome.failures[0].operation, 1)
    assert.equal(outcome.failures[0].path, 'b.txt')
    assert.deepEqual(outcome.remaps, { '1:00': '1:56' })
    assert.match(outcome.text, /1:56\|return null;/)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), '}\n')
  }))

test('a signal that never fires changes nothing', () =>
  withDir({ 'a.txt': '}\n' }, async (root, stateDir) => {
    const { signal } = new AbortController()
    const operations = [/** @type {const} */ ({ op: 'delete_file', path: 'a.txt' })]
    const outcome = await applyHash({ operations }, { root, stateDir, signal })
    assert.equal(outcome.status, 'applied')
  }))

test('misuse rejects the promise', async () => {
  const patch = { operations: [] }
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    await assertRejects(() => applyHash(patch, untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
  const cyclic = { operations: /** @type {unknown[]} */ ([]) }
  cyclic.operations.push(cyclic)
  await assertRejects(() => applyHash(untyped(cyclic)), 'INVALID_ARGUMENT', 'cyclic')
})

test("an exception of the caller's own code is passed on", async () => {
  for (const mine of [new TypeError('mine'), 'mine', undefined, null]) {
    const patch = {
      get operations() {
        throw mine
      },
    }
    const [outcome] = await Promise.allSettled([applyHash(untyped(patch))])
    assert.equal(outcome.status, 'rejected')
    assert.equal(outcome.reason, mine)
  }
})

test('a value that JSON cannot represent is refused with a code and its place', async () => {
  const circle = /** @type {any} */ ({})
  circle.self = circle
  let deep = /** @type {unknown[]} */ ([])
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  for (const value of [circle, { big: 1n }, deep]) {
    const patch = { operations: [{ op: 'set_path', path: 'a.json', anchor: '$:00', value }] }
    const place = 'patch.operations[0].value cannot be written as JSON: '
    await assertRejects(() => applyHash(untyped(patch)), 'INVALID_ARGUMENT', place)
  }
  const mine = new Error('mine')
  const thrower = {
    toJSON() {
      throw mine
    },
  }
  const edits = [{ set_path: { anchor: '$:00', value: thrower } }]
  const [outcome] = await Promise.allSettled([applyHash(untyped({ path: 'a.json', edits }))])
  assert.equal(outcome.status, 'rejected')
  assert.equal(outcome.reason, mine)
})

test('a dry run returns a diff', () =>
  withDir({ 'a.txt': 'one\ntwo\nthree\n' }, async (root, stateDir) => {
    const patch = {
      operations: [
        /** @type {const} */ ({ op: 'set_line', path: 'a.txt', anchor: '2:f4', text: 'Two' }),
      ],
    }
    const options = { root, stateDir }
    const tried = await applyHash(patch, { ...options, dryRun: true })
    assert.match(tried.files?.[0].diff ?? '', /\n one\n-two\n\+Two\n three\n$/)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one\ntwo\nthree\n')
    const shown = await applyHash(patch, { ...options, context: 0 })
    assert.match(shown.files?.[0].diff ?? '', /@@\n-two\n\+Two\n$/)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one\nTwo\nthree\n')
  }))

test('all errors have one class', async () => {
  const [refused] = await Promise.allSettled([readHashed('a', untyped({ rot: '.' }))])
  assert.equal(refused.status, 'rejected')
  const error = refused.reason
  assert.ok(error instanceof HashlineError && error instanceof Error)
  assert.deepEqual(
    [error.name, error.code, error.path],
    ['HashlineError', 'INVALID_ARGUMENT', undefined],
  )
  assert.match(String(error.stack), /^HashlineError: options has the unknown name/)
  assert.throws(() => readJsonSync('no such file'), HashlineError)
  const own = new HashlineError('gone', 'FILE_NOT_FOUND', 'a', 'why')
  assert.deepEqual(
    [own.message, own.code, own.path, own.cause],
    ['gone', 'FILE_NOT_FOUND', 'a', 'why'],
  )
})
