import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from 'hashline-native'
import { assertThrows, NO_COUNTS, untyped, vectors } from './support.mjs'

test('the hash of a line is recognized', () => {
  assert.equal(verify(1, 'const x = 10;', '61'), true)
  assert.equal(verify(9, '  const x  =10;', '61', 'pi'), true)
  assert.equal(verify(1, 'const x = 11;', '61'), false)
  assert.equal(verify(1, '}', 'ovpo', 'pi26'), true)
})

test('an invalid hash does not match', () => {
  for (const hash of ['', '6', '610', 'zz', '61|']) {
    assert.equal(verify(1, 'const x = 10;', hash), false)
  }
})

test('all recorded hashes are recognized', () => {
  for (const { line, pi, pi26 } of vectors('pi.hash')) {
    assert.ok(verify(1, line, pi))
    assert.ok(verify(1, line, pi26, 'pi26'))
  }
  for (const { line, hash } of vectors('cli.hash')) assert.ok(verify(1, line, hash, 'cli'))
  for (const { line, hash } of vectors('omp.hash')) assert.ok(verify(1, line, hash, 'omp'))
  for (const { line, hash, lineNumber } of vectors('omp13.hash')) {
    assert.ok(verify(lineNumber, line, hash, 'omp13'))
  }
})

test('misuse is refused with the reason', () => {
  for (const [number, is] of [...NO_COUNTS, [0, 'the number 0'], [undefined, 'undefined']]) {
    assertThrows(
      () => verify(untyped(number), 'a', '00'),
      'INVALID_ARGUMENT',
      `lineNumber is ${is}`,
      'a whole number from 1',
    )
  }
  assertThrows(() => verify(1, untyped(1), '00'), 'INVALID_ARGUMENT', 'text is the number 1')
  assertThrows(() => verify(1, 'a', untyped(0)), 'INVALID_ARGUMENT', 'expectedHash is the number 0')
  assertThrows(() => verify(1, 'a', '00', untyped('x')), 'INVALID_ARGUMENT', 'dialect', '"x"')
  assertThrows(() => verify(1, '\ud800', '00'), 'UNENCODABLE_TEXT', 'text')
})
