import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyHashToText, formatHashed } from 'hashline-native'
import { assertThrows, MISUSED_OPTIONS, untyped } from './support.mjs'

test('operations are an array or a patch, without paths', () => {
  const set = /** @type {const} */ ({ op: 'set_line', anchor: '1:18', text: '};' })
  for (const operations of [
    [set],
    { operations: [set] },
    { edits: [{ set_line: { anchor: '1:18', new_text: '};' } }] },
  ]) {
    const outcome = applyHashToText('}\nx', operations)
    assert.equal(outcome.status, 'applied')
    assert.equal(outcome.content, '};\nx')
    assert.equal(outcome.files.length, 1)
    assert.ok(outcome.text.includes(formatHashed('};')))
  }
})

test('text that is not ASCII arrives intact', () => {
  const outcome = applyHashToText('🎉\né', [{ op: 'delete', anchor: '1:09' }])
  assert.equal(outcome.status, 'applied')
  assert.equal(outcome.content, 'é')
})

test('a refusal is data', () => {
  const outcome = applyHashToText('}\n', [{ op: 'set_line', anchor: '1:19', text: 'x' }])
  assert.equal(outcome.status, 'rejected')
  assert.equal(outcome.code, 'HASH_MISMATCH')
  assert.equal('content' in outcome, false)
  const file = applyHashToText('', untyped([{ op: 'delete_file', path: 'a' }]))
  assert.equal(file.status, 'rejected')
})

test('misuse is refused with the reason', () => {
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    assertThrows(() => applyHashToText('', [], untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
  assertThrows(() => applyHashToText(untyped(1), []), 'INVALID_ARGUMENT', 'text is the number 1')
  assertThrows(() => applyHashToText('\ud800', []), 'UNENCODABLE_TEXT', 'text')
  assertThrows(
    () => applyHashToText('', [], untyped({ root: '/' })),
    'INVALID_ARGUMENT',
    'unknown name "root"',
  )
})

test('regression: a result longer than a string can be is refused as too large', () => {
  const text = 'a'.repeat(2 ** 15)
  const old_text = 'a'
  const new_text = 'b'.repeat(2 ** 14)
  const edit = /** @type {const} */ ({ op: 'replace_text', old_text, new_text, all: true })
  assertThrows(() => applyHashToText(text, [edit]), 'FILE_TOO_LARGE', '536870912 characters')
})
