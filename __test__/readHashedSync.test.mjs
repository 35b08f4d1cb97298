import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readHashedSync } from 'hashline-native'
import { assertThrows, MISUSED_OPTIONS, NO_COUNTS, untyped, withDir } from './support.mjs'

const COUNTS = ['startLine', 'maxLines', 'maxBytes', 'contextBefore', 'contextAfter', 'maxMatches']

test('a view of a text', () =>
  withDir({ 'a.txt': 'one\n\ntwo\r\n' }, (root) => {
    const [{ snapshot, ...view }] = readHashedSync('a.txt', { root })
    assert.match(snapshot ?? '', /^[0-9a-f]+$/)
    assert.deepEqual(view, {
      path: 'a.txt',
      kind: 'text',
      text: '1:60|one\n2:05|\n3:f4|two',
      lineCount: 3,
      startLine: 1,
      endLine: 3,
      truncated: false,
      lineEnding: 'mixed',
      finalNewline: true,
      encoding: 'utf-8',
      bom: false,
      lossy: false,
    })
  }))

test('a window has the line to continue with', () =>
  withDir({ 'a.txt': 'a\nb\nc\nd\n' }, (root) => {
    const [view] = readHashedSync({ path: 'a.txt', startLine: 2, maxLines: 2 }, { root })
    assert.equal(view.text, '2:bf|b\n3:1b|c')
    assert.deepEqual([view.startLine, view.endLine, view.nextLine, view.truncated], [2, 3, 4, true])
    const [cut] = readHashedSync({ path: 'a.txt', maxBytes: 7 }, { root })
    assert.deepEqual([cut.text, cut.nextLine], ['1:56|a', 2])
  }))

test('matches carry anchors and are listed', () =>
  withDir({ 'a.txt': 'A\nb\nc\na\n' }, (root) => {
    const request = { path: 'a.txt', search: 'a' }
    const [view] = readHashedSync(request, { root })
    assert.deepEqual([view.matchLines, view.matchCount], [[1, 4], 2])
    assert.equal(view.text.split('\n')[1], '...')
    const [one] = readHashedSync({ ...request, regex: true, caseSensitive: true }, { root })
    assert.deepEqual(one.matchLines, [4])
    const [around] = readHashedSync({ ...request, contextAfter: 1, maxMatches: 1 }, { root })
    assert.deepEqual([around.matchLines, around.matchCount, around.nextLine], [[1], 2, 4])
    assert.equal(around.text, '1:4d|A\n2:bf|b')
    const [bad] = readHashedSync({ path: 'a.txt', search: '(', regex: true }, { root })
    assert.equal(bad.error?.code, 'INVALID_PATTERN')
  }))

test('encodings, byte order marks, binary files and images are distinguished', () =>
  withDir(
    {
      'utf16.txt': Buffer.from('\ufeff}\r\n', 'utf16le'),
      'latin.txt': Buffer.from([0xe9]),
      'null.bin': Buffer.from([1, 0, 2]),
      'a.png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    },
    (root) => {
      const [utf16, lossy, binary, image, latin] = readHashedSync(
        ['utf16.txt', 'latin.txt', 'null.bin', 'a.png', { path: 'latin.txt', encoding: 'latin1' }],
        { root },
      )
      assert.deepEqual([utf16.text, utf16.bom, utf16.lineEnding], ['1:18|}', true, 'crlf'])
      assert.match(utf16.encoding ?? '', /utf-16/i)
      assert.deepEqual([lossy.lossy, lossy.finalNewline], [true, false])
      assert.ok(lossy.text.endsWith('|\ufffd'))
      assert.deepEqual([binary.kind, binary.text, binary.mimeType], ['binary', '', undefined])
      assert.deepEqual([image.kind, image.mimeType], ['image', 'image/png'])
      assert.ok(latin.text.endsWith('|é'))
    },
  ))

test('null and undefined mean the default', () =>
  withDir({ 'a.txt': 'x\n' }, (root) => {
    const request = { path: 'a.txt', startLine: null, maxLines: undefined, search: null }
    const [view] = readHashedSync(untyped(request), untyped({ root, dialect: null }))
    assert.equal(view.error, undefined)
    assert.equal(view.matchLines, undefined)
  }))

test('options are also read from prototypes', () =>
  withDir({ 'a.txt': '}\n' }, (root) => {
    const options = Object.create({ root, dialect: 'pi26' })
    assert.equal(readHashedSync('a.txt', options)[0].text, '1:ovpo|}')
  }))

test('refusals of a path are in the view', () =>
  withDir({ 'a.txt': 'x\n', 'big.txt': 'x'.repeat(100) }, (root) => {
    mkdirSync(join(root, 'dir'))
    const codes = (/** @type {any} */ requests, /** @type {any} */ options) =>
      readHashedSync(requests, { root, ...options }).map((view) => view.error?.code)
    assert.deepEqual(codes(['dir', '../x', 'a\0b'], {}), [
      'NOT_A_FILE',
      'OUTSIDE_ROOT',
      'INVALID_ARGUMENT',
    ])
    assert.deepEqual(codes(['a.txt', 'big.txt'], { maxFileBytes: 50 }), [
      undefined,
      'FILE_TOO_LARGE',
    ])
    assert.deepEqual(codes({ path: 'a.txt', startLine: 9 }, {}), ['LINE_OUT_OF_RANGE'])
  }))

test('misuse is refused with the reason', () => {
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    assertThrows(() => readHashedSync('a', untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
  for (const [count, is] of NO_COUNTS) {
    assertThrows(
      () => readHashedSync('a', untyped({ maxFileBytes: count })),
      'INVALID_ARGUMENT',
      `options.maxFileBytes is ${is}`,
      'a whole number from 0 to 9007199254740991',
    )
    for (const name of COUNTS) {
      assertThrows(
        () => readHashedSync(untyped(['a', { path: 'b', [name]: count }])),
        'INVALID_ARGUMENT',
        `requests[1].${name} is ${is}`,
      )
    }
  }
  /** @type {[unknown, ...string[]][]} */
  const requests = [
    [undefined, 'requests is undefined', 'a path, or an object with path'],
    [null, 'requests is null'],
    [[null], 'requests[0] is null'],
    [['a', [['b']]], 'requests[1] is an array'],
    [{}, 'requests.path is undefined', 'expected a string'],
    [{ path: 1 }, 'requests.path is the number 1'],
    [[{ path: 'a', search: /a/ }], 'requests[0].search is an object', 'expected a string'],
    [[{ path: 'a', regex: 'yes' }], 'requests[0].regex is the string "yes"', 'true or false'],
    [[{ path: 'a', caseSensitive: 0 }], 'requests[0].caseSensitive is the number 0'],
    [[{ path: 'a', encoding: 8 }], 'requests[0].encoding is the number 8'],
    [[{ path: 'a', maxlines: 8 }], 'requests[0] has the unknown name "maxlines"', 'maxLines'],
  ]
  for (const [request, ...parts] of requests) {
    assertThrows(() => readHashedSync(untyped(request)), 'INVALID_ARGUMENT', ...parts)
  }
  assertThrows(() => readHashedSync('a', untyped({ root: 1 })), 'INVALID_ARGUMENT', 'options.root')
})

test('lone surrogates are refused', () => {
  assertThrows(() => readHashedSync(['a', 'b\ud800']), 'UNENCODABLE_TEXT', 'requests[1] ')
  assertThrows(
    () => readHashedSync({ path: 'a', search: '\udc00' }),
    'UNENCODABLE_TEXT',
    'requests.search',
  )
})

test('a signal is refused', () => {
  const { signal } = new AbortController()
  assertThrows(
    () => readHashedSync('a', untyped({ signal })),
    'INVALID_ARGUMENT',
    'options.signal',
    'synchronous',
  )
})
