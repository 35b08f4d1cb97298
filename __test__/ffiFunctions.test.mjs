// The functions over the C interface, with a library that must not be called.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { assertThrows, untyped } from './support.mjs'

const { functionsOver } = createRequire(import.meta.url)('../js/ffi/functions.cjs')

const unused = () => assert.fail('the library is called')
const { readHashedSync, searchHashedSync, HashSession } = functionsOver(
  untyped({ call: unused, open: unused, close: unused }),
)

test('an argument that JSON cannot represent is refused', () => {
  const circle = /** @type {any} */ ({ path: 'a.txt' })
  circle.search = circle
  const cases = /** @type {[() => unknown, string][]} */ ([
    [() => readHashedSync({ path: 'a.txt', startLine: 1n }), 'requests'],
    [() => readHashedSync(circle), 'requests'],
    [() => searchHashedSync({ search: 'a' }, { maxFileBytes: 1n }), 'options'],
    [() => new HashSession({ limits: { maxLines: 1n } }), 'options'],
  ])
  for (const [call, name] of cases) {
    assertThrows(call, 'INVALID_ARGUMENT', `${name} cannot be written as JSON: `)
  }
})
