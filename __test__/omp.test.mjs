import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as omp from 'hashline-native/omp'
import {
  outcomeOf,
  Random,
  randomLine,
  randomOmpEdits,
  randomTag,
  randomText,
} from '../stress/hashlineCases.mjs'
import { naiveHash, naiveOmpApply, naiveRows } from './naiveHashline.mjs'
import { untyped, vectors } from './support.mjs'

/** @import { HashlineEdit } from 'hashline-native/omp' */

/**
 * Runs `body` with the variable that switches the heuristics.
 * @template T
 * @param {string | undefined} value
 * @param {() => T} body
 * @returns {T}
 */
function withAutocorrect(value, body) {
  const before = process.env.PI_HL_AUTOCORRECT
  set(value)
  try {
    return body()
  } finally {
    set(before)
  }
  /** @param {string | undefined} to */
  function set(to) {
    if (to === undefined) delete process.env.PI_HL_AUTOCORRECT
    else process.env.PI_HL_AUTOCORRECT = to
  }
}

test('import and require return the same functions', () => {
  const required = createRequire(import.meta.url)('hashline-native/omp')
  assert.deepEqual(Object.keys(required).sort(), Object.keys(omp).sort())
  for (const [name, value] of Object.entries(omp)) assert.equal(value, required[name], name)
})

test('hashes are as recorded', () => {
  const rows = vectors('omp.hash')
  assert.equal(rows.length, 2000)
  for (const { line, hash } of rows) {
    assert.equal(omp.computeLineHash(7, line), hash, JSON.stringify(line))
    assert.equal(omp.formatLineTag(7, line), `7#${hash}`)
  }
})

test('texts with anchors are as recorded', () => {
  const rows = vectors('omp.format')
  assert.equal(rows.length, 100)
  for (const { text, startLine, formatted } of rows) {
    assert.equal(omp.formatHashLines(text, startLine), formatted)
    if (startLine === 1) assert.equal(omp.formatHashLines(text), formatted)
  }
})

test('anchors are as recorded', () => {
  const rows = vectors('omp.tag')
  assert.equal(rows.length, 22)
  for (const { ref, tag, error } of rows) {
    const { returned, thrown } = outcomeOf(() => omp.parseTag(ref))
    assert.deepEqual(returned, tag, ref)
    assert.equal(thrown?.message, error, ref)
  }
})

test('edits are as recorded', () => {
  const rows = vectors('omp.apply')
  assert.equal(rows.length, 2000)
  for (const { content, edits, autocorrect, result, error } of rows) {
    const { returned, thrown } = withAutocorrect(autocorrect ? '1' : '0', () =>
      outcomeOf(() => omp.applyHashlineEdits(content, structuredClone(edits))),
    )
    const context = JSON.stringify({ content, edits, autocorrect })
    if (error) {
      const { name, message, mismatches, remaps } = thrown ?? {}
      const actual = mismatches ? { name, message, mismatches, remaps } : { name, message }
      assert.deepEqual(actual, error, context)
    } else {
      const { firstChangedLine = null, noopEdits = null } = /** @type {any} */ (returned)
      const actual = { .../** @type {any} */ (returned), firstChangedLine, noopEdits }
      assert.deepEqual(actual, result, context)
    }
  }
})

test('generated lines have the hashes of the reference', () => {
  const random = new Random(1)
  for (let round = 0; round < 3000; round++) {
    const line = randomLine(random)
    assert.equal(omp.computeLineHash(1, line), naiveHash.omp(1, line), JSON.stringify(line))
  }
})

test('lines of every length, around the limit of hashing in JavaScript', () => {
  for (let length = 0; length < 300; length++) {
    for (const line of ['x'.repeat(length), `${'ab c\t'.repeat(length)}é`]) {
      assert.equal(omp.computeLineHash(1, line), naiveHash.omp(1, line), `${length}`)
    }
  }
})

test('generated texts are formatted as by the reference', () => {
  const random = new Random(2)
  for (let round = 0; round < 300; round++) {
    const text = randomText(random, 20)
    const startLine = random.pick([1, 0, -3, 1.5, 99_998, 2 ** 32, 2 ** 60])
    const expected = naiveRows(naiveHash.omp, text.split('\n'), startLine).join('\n')
    assert.equal(omp.formatHashLines(text, startLine), expected)
  }
})

for (const autocorrect of [false, true]) {
  test(`generated edits, ${autocorrect ? 'with' : 'without'} heuristics`, () => {
    const random = new Random(autocorrect ? 3 : 4)
    let applied = 0
    for (let round = 0; round < 3000; round++) {
      const text = randomText(random, random.is(0.03) ? 400 : 12)
      const edits = randomOmpEdits(random, text, omp.computeLineHash)
      const context = JSON.stringify({ text, edits })
      const { returned, thrown } = withAutocorrect(autocorrect ? '1' : undefined, () =>
        outcomeOf(() => omp.applyHashlineEdits(text, structuredClone(edits))),
      )
      const naive = outcomeOf(() => naiveOmpApply(text, edits, autocorrect))
      const stale = /** @type {any} */ (naive.returned)?.stale
      assert.deepEqual(returned, stale ? undefined : naive.returned, context)
      assert.deepEqual(thrown?.mismatches, stale, context)
      if (!stale) assert.equal(thrown?.message, naive.thrown?.message, context)
      applied += returned ? 1 : 0
    }
    assert.ok(applied > 2000, `only ${applied} were applied`)
  })
}

test('only the value 1 enables the heuristics, at the time of the call', () => {
  const text = '  a\n  b'
  const tag = omp.parseTag(omp.formatLineTag(1, '  a'))
  const call = () => omp.applyHashlineEdits(text, [{ op: 'set', tag, content: ['x'] }]).content
  for (const value of [undefined, '', '0', 'true', '1 ', '01']) {
    assert.equal(withAutocorrect(value, call), 'x\n  b', `${value}`)
  }
  assert.equal(withAutocorrect('1', call), '  x\n  b')
})

test('duplicates are removed from the array of edits, so that an index names the edit', () => {
  const text = 'a\nb\nc'
  const tag = (/** @type {number} */ line) => ({
    line,
    hash: omp.computeLineHash(line, 'abc'[line - 1]),
  })
  /** @type {HashlineEdit[]} */
  const edits = [
    { op: 'append', after: tag(1), content: ['x'] },
    { op: 'append', after: tag(1), content: ['x'] },
    { op: 'set', tag: tag(3), content: ['c'] },
  ]
  const result = omp.applyHashlineEdits(text, edits)
  assert.equal(result.content, 'a\nx\nb\nc')
  assert.deepEqual(result.noopEdits, [
    { editIndex: 1, loc: omp.formatLineTag(3, 'c'), currentContent: 'c' },
  ])
  assert.equal(edits.length, 2)
  assert.equal(edits[1].op, 'set')
})

test('a mismatch is an error of its own class, with fresh anchors', () => {
  const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
  const { thrown } = outcomeOf(() => omp.validateLineRef({ line: 9, hash: 'ZZ' }, lines))
  assert.equal(thrown?.message, 'Line 9 does not exist (file has 7 lines)')
  omp.validateLineRef({ line: 4, hash: omp.computeLineHash(4, 'four') }, lines)
  try {
    omp.validateLineRef({ line: 4, hash: 'ZZ' }, lines)
    assert.fail('not thrown')
  } catch (error) {
    assert.ok(error instanceof omp.HashlineMismatchError)
    assert.ok(error instanceof Error)
    assert.ok(error.stack?.includes('omp.test'), error.stack)
    // As in the original, in the order in which they are printed.
    assert.deepEqual(Object.keys(error), ['mismatches', 'fileLines', 'remaps', 'name'])
    assert.equal(error.name, 'HashlineMismatchError')
    assert.equal(error.fileLines, lines)
    assert.deepEqual(error.mismatches, [
      { line: 4, expected: 'ZZ', actual: omp.computeLineHash(4, 'four') },
    ])
    assert.ok(error.remaps instanceof Map)
    assert.equal(error.remaps.get('4#ZZ'), omp.formatLineTag(4, 'four'))
    assert.ok(error.message.includes(`\n>>> ${omp.formatLineTag(4, 'four')}:four\n`))
    assert.ok(!error.message.includes('seven'))
  }
})

test('regression: lone surrogates are preserved', () => {
  const text = 'a\ud83d\n\udc00\nb\ufffd\n\ud83d \udc00'
  const lines = text.split('\n')
  const formatted = omp.formatHashLines(text)
  assert.equal(formatted, naiveRows(naiveHash.omp, lines, 1).join('\n'))
  // Without the space between them, the surrogates are a pair.
  assert.equal(omp.computeLineHash(1, '\ud83d \udc00'), omp.computeLineHash(1, '\ud83d\udc00'))
  assert.notEqual(omp.computeLineHash(1, '\ud83d \udc00'), omp.computeLineHash(1, '\ufffd\ufffd'))
  const tag = { line: 2, hash: omp.computeLineHash(2, lines[1]) }
  for (const value of ['0', '1']) {
    const { content } = withAutocorrect(value, () =>
      omp.applyHashlineEdits(text, [
        { op: 'append', after: tag, content: ['\udc00 ', '\ue000\ud800'] },
      ]),
    )
    const added = value === '1' ? ['\ue000\ud800'] : ['\udc00 ', '\ue000\ud800']
    assert.equal(content, [...lines.slice(0, 2), ...added, ...lines.slice(2)].join('\n'))
  }
})

test('regression: a line that merges one beyond the original end of the text is a no-op', () =>
  withAutocorrect('1', () => {
    const tag = omp.parseTag(`1#${omp.computeLineHash(1, 'a ?? b')}`)
    assert.deepEqual(
      omp.applyHashlineEdits('a ?? b', [
        { op: 'replace', first: tag, last: tag, content: ['a ??', 'b'] },
        { op: 'set', tag, content: ['a ?? b'] },
      ]),
      {
        content: 'a ??\nb',
        firstChangedLine: 1,
        noopEdits: [{ editIndex: 1, loc: `1#${tag.hash}`, currentContent: 'a ?? b' }],
      },
    )
  }))

test('regression: surrogates separated by whitespace are a pair for the heuristics', () =>
  withAutocorrect('1', () => {
    const line = 'a\ud83d \udc00'
    const tag = omp.parseTag(`1#${omp.computeLineHash(1, line)}`)
    const apply = (/** @type {HashlineEdit} */ edit) => omp.applyHashlineEdits(line, [edit]).content
    assert.equal(apply({ op: 'append', after: tag, content: ['a\ud83d\udc00', 'x'] }), `${line}\nx`)
    const lines = ['x', '\ta\ud83d\udc00']
    assert.equal(apply({ op: 'prepend', before: tag, content: lines }), `x\n${line}`)
    // Wrapped between the surrogates.
    const wrapped = ['before', '\ud83d', '\udc00 =', '10;']
    const file = 'before\n\ud83d\udc00 = 10;\nafter'
    const edit = { op: /** @type {const} */ ('set'), content: wrapped }
    const own = omp.parseTag(`2#${omp.computeLineHash(2, '\ud83d\udc00 = 10;')}`)
    assert.equal(omp.applyHashlineEdits(file, [{ ...edit, tag: own }]).content, file)
  }))

test('regression: lines with lone surrogates are repaired next to any other characters', () =>
  withAutocorrect('1', () => {
    const all = Array.from({ length: 6400 }, (_, at) => String.fromCharCode(0xe000 + at)).join('')
    const line = `  ${all}\ud800`
    const tag = omp.parseTag(`1#${omp.computeLineHash(1, line)}`)
    const edit = { op: /** @type {const} */ ('set'), tag, content: ['x\ud801 '] }
    assert.equal(omp.applyHashlineEdits(line, [edit]).content, '  x\ud801 ')
  }))

test('regression: many edits of long ranges', () =>
  withAutocorrect('1', () => {
    const text = Array.from({ length: 5000 }, (_, at) => `line ${at}`).join('\n')
    const lines = text.split('\n')
    const tag = (/** @type {number} */ line) =>
      omp.parseTag(`${line}#${omp.computeLineHash(line, lines[line - 1])}`)
    const edits = Array.from({ length: 60 }, (_, at) => {
      const op = /** @type {const} */ ('replace')
      return { op, first: tag(1), last: tag(5000), content: [`n${at}`] }
    })
    assert.equal(omp.applyHashlineEdits(text, edits).content, 'n59')
  }))

test('texts of a million lines', () => {
  const lines = Array.from({ length: 1_000_000 }, (_, index) => `line ${index + 1}`)
  const text = lines.join('\n')
  const tag = (/** @type {number} */ line) => ({
    line,
    hash: omp.computeLineHash(line, lines[line - 1]),
  })
  const result = omp.applyHashlineEdits(text, [
    { op: 'set', tag: tag(1), content: [] },
    { op: 'replace', first: tag(500_000), last: tag(999_999), content: ['x'] },
  ])
  assert.equal(result.content, [...lines.slice(1, 499_999), 'x', lines[999_999]].join('\n'))
  assert.equal(result.firstChangedLine, 1)
})

test('regression: an edit without lines is an error, whatever its operation', () => {
  const [known, odd] = [
    { op: 'append', content: ['y'] },
    { op: 'delete', content: ['z'] },
  ]
  const byText = { op: 'replaceText', old_text: 'x', new_text: 'y' }
  for (const edits of [[byText], [known, byText], [{ op: 'delete' }], [{}], [{ op: 'set' }]]) {
    assert.throws(() => omp.applyHashlineEdits('x', untyped(edits)), TypeError)
  }
  // An edit with lines is skipped, and kept only once.
  const edits = [odd, known, structuredClone(odd)]
  assert.deepEqual(omp.applyHashlineEdits('x', untyped(edits)), {
    content: 'x\ny',
    firstChangedLine: 2,
  })
  assert.deepEqual(edits, [odd, known])
})

test('invalid input is an error or ignored, and does not crash', () => {
  for (const value of [undefined, null, 5, {}, [], '', () => {}]) {
    for (const call of [
      () => omp.computeLineHash(1, untyped(value)),
      () => omp.computeLineHash(untyped(value), 'x'),
      () => omp.formatHashLines(untyped(value)),
      () => omp.formatHashLines('x', untyped(value)),
      () => omp.parseTag(untyped(value)),
      () => omp.validateLineRef(untyped(value), ['x']),
      () => omp.applyHashlineEdits('x', untyped(value)),
      () => omp.applyHashlineEdits(untyped(value), [{ op: 'append', content: ['x'] }]),
      () => omp.applyHashlineEdits('x', [untyped({ op: value, content: ['x'] })]),
      () => omp.applyHashlineEdits('x', [{ op: 'set', tag: untyped(value), content: ['x'] }]),
      () => omp.applyHashlineEdits('x', [{ op: 'append', content: untyped(value) }]),
    ]) {
      outcomeOf(call)
    }
  }
  const random = new Random(5)
  for (let round = 0; round < 500; round++) outcomeOf(() => omp.parseTag(randomTag(random)))
})
