import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHashedSync, searchHashedSync } from 'hashline-native'
import { assertThrows, MISUSED_OPTIONS, NO_COUNTS, untyped, withDir } from './support.mjs'

const FILES = {
  'a.txt': '}\nfind me\n}\n',
  'sub/b.js': 'find\nFIND\n',
  'sub/.hidden': 'find\n',
  'skipped.txt': 'find\n',
  '.ignore': 'skipped.txt\n',
  'null.bin': Buffer.from([0, 1, 2]),
}

test('matches of all files, with anchors and as data', () =>
  withDir(FILES, (root) => {
    const result = searchHashedSync({ search: 'find' }, { root })
    const [{ text }] = readHashedSync({ path: 'a.txt', search: 'find' }, { root })
    assert.ok(result.text.startsWith(`--- a.txt ---\n${text}\n--- sub/b.js ---\n`), result.text)
    assert.deepEqual(result.files, [
      { path: 'a.txt', matchLines: [2], matchCount: 1, lineCount: 3, truncated: false },
      { path: 'sub/b.js', matchLines: [1, 2], matchCount: 2, lineCount: 2, truncated: false },
    ])
    assert.deepEqual(
      [result.matchCount, result.filesSearched, result.binarySkipped, result.truncated],
      [3, 2, 1, false],
    )
    assert.deepEqual(result.errors, [])
  }))

test('every option of a query has an effect', () =>
  withDir(FILES, (root) => {
    const search = (/** @type {object} */ query) => {
      const result = searchHashedSync({ search: 'find', ...query }, { root })
      return result.files.map((file) => `${file.path}:${file.matchLines}`).join(' ')
    }
    assert.equal(search({}), 'a.txt:2 sub/b.js:1,2')
    assert.equal(search({ caseSensitive: true }), 'a.txt:2 sub/b.js:1')
    assert.equal(search({ search: '^find$', regex: true }), 'sub/b.js:1,2')
    assert.equal(search({ paths: 'sub' }), 'sub/b.js:1,2')
    assert.equal(search({ paths: ['a.txt'] }), 'a.txt:2')
    assert.equal(search({ globs: 'a.*' }), 'a.txt:2')
    assert.equal(search({ globs: ['!*.txt'] }), 'sub/b.js:1,2')
    assert.equal(search({ maxMatches: 2 }), 'a.txt:2 sub/b.js:1')
    assert.equal(search({ maxMatchesPerFile: 1 }), 'a.txt:2 sub/b.js:1')
    assert.equal(search({ hidden: true }), 'a.txt:2 sub/.hidden:1 sub/b.js:1,2')
    assert.equal(search({ ignoreFiles: false }), 'a.txt:2 skipped.txt:1 sub/b.js:1,2')
    assert.equal(search({ maxDepth: 1 }), 'a.txt:2')
    const around = searchHashedSync(
      { search: 'me', contextBefore: 1, contextAfter: 1 },
      { root, dialect: 'pi26' },
    )
    assert.equal(around.text.split('\n').length, 4)
    assert.match(around.text, /^1:ovpo\|}$/m)
  }))

test('paths that cannot be searched are reported, and the rest is searched', () =>
  withDir({ 'a.txt': 'find\n' }, (root) => {
    const result = searchHashedSync({ search: 'find', paths: ['none', 'a.txt'] }, { root })
    assert.equal(result.matchCount, 1)
    assert.deepEqual(
      result.errors.map(({ path, code }) => [path, code]),
      [['none', 'FILE_NOT_FOUND']],
    )
  }))

test('misuse is refused with the reason', () => {
  for (const [options, ...parts] of MISUSED_OPTIONS) {
    assertThrows(
      () => searchHashedSync({ search: 'a' }, untyped(options)),
      'INVALID_ARGUMENT',
      ...parts,
    )
  }
  const counts = ['contextBefore', 'contextAfter', 'maxMatches', 'maxMatchesPerFile', 'maxBytes']
  for (const [count, is] of NO_COUNTS) {
    for (const name of [...counts, 'maxDepth']) {
      assertThrows(
        () => searchHashedSync(untyped({ search: 'a', [name]: count })),
        'INVALID_ARGUMENT',
        `query.${name} is ${is}`,
      )
    }
  }
  for (const name of ['regex', 'hidden', 'gitignore', 'ignoreFiles', 'followLinks']) {
    assertThrows(
      () => searchHashedSync(untyped({ search: 'a', [name]: 1 })),
      'INVALID_ARGUMENT',
      `query.${name} is the number 1`,
      'true or false',
    )
  }
  /** @type {[unknown, ...string[]][]} */
  const queries = [
    [undefined, 'query is undefined', 'an object with search'],
    [null, 'query is null'],
    ['find', 'query is the string "find"'],
    [{}, 'nothing to search for', 'globs or paths'],
    [{ search: undefined, output: 'files' }, 'nothing to search for'],
    [{ search: /a/ }, 'query.search is an object'],
    [{ search: '' }, 'search is empty'],
    [{ search: 'a', path: '.' }, 'query has the unknown name "path"', 'paths'],
    [{ search: 'a', paths: 1 }, 'query.paths is the number 1', 'an array of strings'],
    [{ search: 'a', paths: ['a', null] }, 'query.paths[1] is null', 'a string'],
    [{ search: 'a', globs: {} }, 'query.globs is an object'],
  ]
  for (const [query, ...parts] of queries) {
    assertThrows(() => searchHashedSync(untyped(query)), 'INVALID_ARGUMENT', ...parts)
  }
  assertThrows(() => searchHashedSync({ search: '\ud800' }), 'UNENCODABLE_TEXT', 'query.search')
  assertThrows(
    () => searchHashedSync({ search: 'a', paths: ['\ud800'] }),
    'UNENCODABLE_TEXT',
    'query.paths[0]',
  )
  assertThrows(() => searchHashedSync({ search: 'é(', regex: true }), 'INVALID_PATTERN', '2')
})
