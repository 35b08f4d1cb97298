import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashLines } from 'hashline-native'
import { assertThrows, MISUSED_OPTIONS, untyped, vectors } from './support.mjs'

test('one hash for every line', () => {
  assert.deepEqual(hashLines('}\n\nreturn null;\n'), ['18', '05', '56'])
  assert.deepEqual(hashLines('}\n', { dialect: 'pi26' }), ['ovpo'])
  assert.deepEqual(hashLines(''), [])
  assert.equal(hashLines('}\n', { dialect: 'omp' }).length, 2)
})

test('all dialects match the recorded hashes', () => {
  const rows = {
    pi: vectors('pi.hash').map(({ line, pi }) => ({ line, hash: pi })),
    pi26: vectors('pi.hash').map(({ line, pi26 }) => ({ line, hash: pi26 })),
    cli: vectors('cli.hash'),
    omp: vectors('omp.hash'),
    omp13: vectors('omp13.hash'),
    lean: vectors('lean.hash'),
  }
  for (const [dialect, lines] of Object.entries(rows)) {
    for (const { line, hash, lineNumber } of lines) {
      // In a file, a final carriage return would belong to the terminator.
      if (line.endsWith('\r') && !dialect.startsWith('omp')) continue
      const options = { dialect: untyped(dialect), startLine: lineNumber }
      assert.equal(hashLines(`${line}\n`, options)[0], hash, `${dialect} ${JSON.stringify(line)}`)
    }
  }
})

test('bytes have the hashes of their text', () => {
  const text = 'a\né\n🎉'
  assert.deepEqual(hashLines(Buffer.from(text)), hashLines(text))
  assert.deepEqual(hashLines(new Uint8Array([0xff])), hashLines('\ufffd'))
})

test('misuse is refused with the reason', () => {
  assertThrows(() => hashLines(untyped(null)), 'INVALID_ARGUMENT', 'text is null')
  assertThrows(() => hashLines('\ud800'), 'UNENCODABLE_TEXT')
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    assertThrows(() => hashLines('a', untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
})
