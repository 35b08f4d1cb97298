import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyHashSync } from 'hashline-native'
import {
  assertThrows,
  MISUSED_OPTIONS,
  NO_COUNTS,
  UNUSED_STATE,
  untyped,
  withDir,
} from './support.mjs'

/**
 * The code of the refusal of a patch that the types forbid.
 * @param {unknown} patch
 */
function refusal(patch) {
  const outcome = applyHashSync(untyped(patch), { stateDir: UNUSED_STATE })
  assert.equal(outcome.status, 'rejected')
  return outcome
}

/** @param {unknown} operation */
const one = (operation) => ({ operations: [operation] })

test('a patch is applied', () =>
  withDir({ 'a.txt': '}\r\n' }, (root, stateDir) => {
    const outcome = applyHashSync(
      { operations: [{ op: 'set_line', path: 'a.txt', anchor: '1:18|}', text: ['a', 'b'] }] },
      { root, stateDir, durability: 'process', relocate: 'off', relocateWindow: 0, repairs: false },
    )
    assert.equal(outcome.status, 'applied')
    assert.equal(outcome.files[0].lineCount, 2)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'a\r\nb\r\n')
  }))

test('operations without effect are reported', () =>
  withDir({ 'a.txt': '}\nx\n' }, (root, stateDir) => {
    const set = /** @type {const} */ ({
      op: 'set_line',
      path: 'a.txt',
      anchor: '1:18',
      text: '};',
    })
    const outcome = applyHashSync({ operations: [set, { ...set }] }, { root, stateDir })
    assert.equal(outcome.status, 'applied')
    assert.deepEqual(outcome.noops, [
      { operation: 1, path: 'a.txt', reason: 'duplicate', duplicateOf: 0 },
    ])
    const again = applyHashSync(
      { operations: [{ op: 'replace_text', path: 'a.txt', old_text: 'x', new_text: 'x' }] },
      { root, stateDir },
    )
    assert.equal(again.status, 'applied')
    assert.deepEqual(again.files, [])
    assert.deepEqual(again.noops, [{ operation: 0, path: 'a.txt', reason: 'unchanged' }])
  }))

test('relocations and repairs are reported', () =>
  withDir({ 'a.js': '  a\n  b\n  c\n  d\n  e\n  const x = 10;\n' }, (root, stateDir) => {
    const outcome = applyHashSync(
      {
        operations: [{ op: 'set_line', path: 'a.js', anchor: '1:61', text: 'const x = 11;' }],
      },
      { root, stateDir },
    )
    assert.equal(outcome.status, 'applied')
    assert.deepEqual(outcome.relocations, [
      { operation: 0, path: 'a.js', from: '1:61', to: '6:61', distance: 5 },
    ])
    assert.deepEqual(outcome.repairs, [
      {
        rule: 'inherit-indent',
        operation: 0,
        before: 'const x = 11;',
        after: '  const x = 11;',
      },
    ])
  }))

test('a malformed patch is a refusal, not an exception', () => {
  for (const patch of [undefined, null, 1, 'x', [], {}, () => {}, Symbol('s'), 1n, new Map()]) {
    assert.equal(refusal(patch).code, 'INVALID_OPERATION')
  }
})

test('invalid values are named', () => {
  /** @type {[unknown, RegExp][]} */
  const cases = [
    [() => {}, /function/],
    [Symbol('s'), /symbol/],
    [1n, /bigint/],
    [new Uint8Array(3), /typed array/],
    [1.5, /1\.5/],
    [{}, /object/],
    [undefined, /missing/],
  ]
  for (const [text, message] of cases) {
    const { code, failures } = refusal(one({ op: 'set_line', path: 'a.txt', anchor: '1:18', text }))
    assert.equal(code, 'INVALID_OPERATION')
    assert.match(failures[0].message, message)
  }
})

test('holes of an array count as null', () => {
  assert.match(refusal({ operations: new Array(2) }).failures[1].message, /null/)
})

test('a lone surrogate anywhere in a text is unencodable', () => {
  const text = 'a\ud800b'
  for (const operation of [
    { op: 'set_line', path: 'a.txt', anchor: '1:18', text },
    { op: 'set_line', path: 'a.txt', anchor: '1:18', text: ['x', text] },
    { op: 'set_line', path: text, anchor: '1:18', text: 'x' },
    { op: 'add_file', path: 'a.txt', content: text },
  ]) {
    assert.equal(refusal(one(operation)).code, 'UNENCODABLE_TEXT')
  }
  const key = { op: 'set_line', path: 'a.txt', anchor: '1:18', [text]: 'x' }
  assert.equal(refusal(one(key)).code, 'INVALID_OPERATION')
})

test('a value that is not a finite tree is refused', () => {
  const cyclic = { operations: /** @type {unknown[]} */ ([]) }
  cyclic.operations.push({ cyclic })
  assertThrows(() => applyHashSync(untyped(cyclic)), 'INVALID_ARGUMENT', 'patch', 'cyclic')
  let deep = {}
  for (let level = 0; level < 100; level++) deep = { deep }
  assertThrows(() => applyHashSync(untyped(deep)), 'INVALID_ARGUMENT', '64 levels')
  const sparse = { operations: new Array(2 ** 32 - 1) }
  assertThrows(() => applyHashSync(untyped(sparse)), 'INVALID_ARGUMENT', 'more than 4000000')
})

test("an exception of the caller's own code is passed on", () => {
  for (const mine of [new TypeError('mine'), 'mine', 7]) {
    const patch = {
      get operations() {
        throw mine
      },
    }
    assert.throws(
      () => applyHashSync(untyped(patch)),
      (error) => error === mine,
    )
  }
})

test('misuse is refused with the reason', () => {
  /** @param {unknown} options */
  const call = (options) => () => applyHashSync({ operations: [] }, untyped(options))
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    assertThrows(call(options), 'INVALID_ARGUMENT', ...parts)
  }
  for (const [count, is] of NO_COUNTS) {
    for (const name of ['relocateWindow', 'maxFileBytes', 'lockTimeoutMs']) {
      assertThrows(call({ [name]: count }), 'INVALID_ARGUMENT', `options.${name} is ${is}`)
    }
  }
  /** @type {[unknown, ...string[]][]} */
  const cases = [
    [{ relocate: 'near' }, 'options.relocate is the string "near"', '"guarded", "unique", "off"'],
    [{ relocate: true }, 'options.relocate is true'],
    [{ durability: 'disk' }, 'options.durability', '"power", "process"'],
    [{ repairs: 'all' }, 'options.repairs is the string "all"'],
    [{ repairs: ['echoes'] }, 'options.repairs is an array'],
    [{ repairs: { echos: true } }, 'options.repairs', '"echos"', 'echoes'],
    [{ repairs: { echoes: 1 } }, 'options.repairs["echoes"] is the number 1', 'true or false'],
    [{ root: ['/'] }, 'options.root is an array', 'a string'],
    [{ stateDir: 1 }, 'options.stateDir is the number 1', 'a string'],
    [{ stateDir: '' }, 'stateDir is empty'],
    [{ encoding: 1 }, 'options.encoding is the number 1'],
    [{ signal: new AbortController().signal }, 'options.signal', 'synchronous'],
  ]
  for (const [options, ...parts] of cases) assertThrows(call(options), 'INVALID_ARGUMENT', ...parts)
  assertThrows(call({ root: '\ud800' }), 'UNENCODABLE_TEXT', 'options.root')
  assertThrows(call({ stateDir: '\ud800' }), 'UNENCODABLE_TEXT', 'options.stateDir')
})
