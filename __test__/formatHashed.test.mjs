import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHashed } from 'hashline-native'
import { assertThrows, MISUSED_OPTIONS, NO_COUNTS, untyped, vectors } from './support.mjs'

test('every line gets its anchor', () => {
  assert.equal(formatHashed('}\n\nreturn null;\n'), '1:18|}\n2:05|\n3:56|return null;')
  assert.equal(formatHashed('}', { dialect: 'pi26' }), '1:ovpo|}')
  assert.equal(formatHashed('a\r\nb'), '1:56|a\n2:bf|b')
})

test('dialect omp matches the original exactly', () => {
  for (const { text, startLine, formatted } of vectors('omp.format')) {
    assert.equal(formatHashed(text, { dialect: 'omp', startLine }), formatted)
  }
})

test('omitted options have defaults', () => {
  const expected = formatHashed('a')
  assert.equal(formatHashed('a', undefined), expected)
  assert.equal(formatHashed('a', untyped(null)), expected)
  assert.equal(formatHashed('a', { dialect: undefined, startLine: untyped(null) }), expected)
})

test('bytes are UTF-8, and invalid sequences show as U+FFFD', () => {
  const text = 'é\n🎉 x\n'
  assert.equal(formatHashed(Buffer.from(text)), formatHashed(text))
  assert.equal(formatHashed(new TextEncoder().encode(text)), formatHashed(text))
  assert.equal(formatHashed(new Uint8Array([97, 0xff, 98])), formatHashed('a\ufffdb'))
  assert.equal(formatHashed(new Uint8Array()), formatHashed(''))
  const part = new TextEncoder().encode('xxabcxx').subarray(2, 5)
  assert.equal(formatHashed(part), formatHashed('abc'))
  const shared = new Uint8Array(new SharedArrayBuffer(3))
  shared.set([97, 98, 99])
  assert.equal(formatHashed(shared), formatHashed('abc'))
})

test('text that is not ASCII arrives intact', () => {
  assert.equal(formatHashed('こんにちは世界\n🎉'), '1:0c|こんにちは世界\n2:09|🎉')
  assert.equal(formatHashed('\u00e9\u0080').slice(5), '\u00e9\u0080')
})

test('a lone surrogate is refused, a replacement character is not', () => {
  assertThrows(() => formatHashed('a\ud800b'), 'UNENCODABLE_TEXT', 'text', 'lone surrogate')
  assertThrows(() => formatHashed('\udc00'), 'UNENCODABLE_TEXT')
  assert.ok(formatHashed('a\ufffdb').endsWith('|a\ufffdb'))
})

test('misuse is refused with the reason', () => {
  assertThrows(() => formatHashed(untyped(5)), 'INVALID_ARGUMENT', 'text is the number 5')
  assertThrows(() => untyped(formatHashed)(), 'INVALID_ARGUMENT', 'text is undefined')
  assertThrows(() => formatHashed(untyped(new Uint16Array(2))), 'INVALID_ARGUMENT', 'Uint8Array')
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    assertThrows(() => formatHashed('a', untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
  for (const [startLine, is] of [...NO_COUNTS, [0, 'the number 0'], [2 ** 32, 'the number']]) {
    assertThrows(
      () => formatHashed('a', untyped({ startLine })),
      'INVALID_ARGUMENT',
      `options.startLine is ${is}`,
      'a whole number from 1 to 4294967295',
    )
  }
})

test('text beyond ASCII arrives whole, short or long', () => {
  for (const line of ['é\u00ff\u0080', 'Ā', 'я', '文', '\ud83d\ude00', 'é文\ud83d\ude00']) {
    for (const count of [1, 1_000_000]) {
      const text = formatHashed(line.repeat(count))
      assert.ok(text.slice(text.indexOf('|') + 1) === line.repeat(count), `${count} × ${line}`)
    }
  }
})
