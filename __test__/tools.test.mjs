// `hashline-native/tools`: descriptions for models, arguments and results.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { formatHashed, HashSession } from 'hashline-native'
import * as library from 'hashline-native/tools'
import { untyped, withDir } from './support.mjs'

/** @import { ApplyData, HashTool, OperationName, ReadData, ReadJsonData, SearchData, ToolResult } from 'hashline-native/tools' */

const {
  guard,
  hashTools,
  remember,
  toAiSdk,
  toAnthropic,
  toAnthropicContent,
  toGeminiParts,
  toOpenAI,
  toOpenAIContent,
  toStandardSchema,
  toZodShape,
} = library

const numbered = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

/** @param {string} cwd @param {string} stateDir */
const toolsOf = (cwd, stateDir, more = {}) =>
  hashTools(new HashSession({ cwd, stateDir, durability: 'process', ...more }))

/** The anchor of the row with this end. */
const anchorOf = (/** @type {string} */ text, /** @type {string} */ end) => {
  const found = text.split('\n').find((row) => row.endsWith(`|${end}`))
  assert.ok(found, `${end} in ${text}`)
  return found.slice(0, -end.length - 1)
}

/** The rules of the repairs in a result. */
const rules = (/** @type {ToolResult} */ { structured }) =>
  structured.repairs.map(({ rule }) => rule)

/** @param {string} cwd @param {string} stateDir */
const jsonToolsOf = (cwd, stateDir, options = {}) =>
  hashTools(new HashSession({ cwd, stateDir, durability: 'process' }), { ...options, json: true })

const describing = Object.values(hashTools(new HashSession()))
const describingAll = Object.values(hashTools(new HashSession(), { json: true }))

test('both kinds of module have the same functions', () => {
  const required = createRequire(import.meta.url)('hashline-native/tools')
  assert.deepEqual(Object.keys(required).sort(), Object.keys(library).filter(isNamed).sort())
  assert.equal(required.hashTools, hashTools)
})

/** Bun adds names to CommonJS exports. @param {string} name */
const isNamed = (name) => name !== 'default' && name !== '__esModule'

test('a model reads, edits and gets a refusal', () =>
  withDir({ 'a.js': 'one\ntwo\nthree\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const shown = await read.execute({ path: 'a.js' })
    assert.equal(shown.text, formatHashed('one\ntwo\nthree\n', { dialect: 'lean' }))
    assert.deepEqual([shown.isError, shown.summary, shown.images], [false, 'a.js: 3 lines', []])
    const two = anchorOf(shown.text, 'two')
    const edit = { op: 'set_line', path: 'a.js', anchor: two, text: '2' }
    // As JSON text, as models send it.
    const done = await apply.execute(JSON.stringify({ operations: [edit] }))
    assert.equal(readFileSync(join(cwd, 'a.js'), 'utf8'), 'one\n2\nthree\n')
    assert.match(done.text, /^1 edit, \+1 -1\n2\w\w$/)
    assert.deepEqual([done.isError, done.summary], [false, 'a.js +1 -1'])
    assert.match(
      done.diff ?? '',
      /^--- a\/a\.js\n\+\+\+ b\/a\.js\n@@ -1,3 \+1,3 @@\n one\n-two\n\+2\n/,
    )
    const again = await apply.execute({ operations: [edit] })
    assert.match(again.text, /^Nothing was written\.\nHash mismatch at /)
    assert.deepEqual([again.isError, again.structured.code], [true, 'HASH_MISMATCH'])
    assert.equal(again.summary, `refused: HASH_MISMATCH at a.js ${two}`)
    assert.equal(again.structured.status, 'rejected')
  }))

test('a file is replaced only where its lines may be replaced', () =>
  withDir({ a: 'a\n' }, async (cwd, stateDir) => {
    const add = { op: 'add_file', path: 'a', content: 'b\n', replace: true }
    const session = new HashSession({ cwd, stateDir })
    const { apply, read } = hashTools(session, { operations: ['add_file', 'delete_file'] })
    await read.execute({ path: 'a' })
    const refused = await apply.execute({ operations: [add] })
    assert.match(refused.text, /operations\[0\] sets replace, but .* is not allowed/)
    assert.equal(readFileSync(join(cwd, 'a'), 'utf8'), 'a\n')
  }))

test('a dry run has the diff, and writes nothing', () =>
  withDir({}, async (cwd, stateDir) => {
    const { apply } = toolsOf(cwd, stateDir)
    const patch = { operations: [{ op: 'add_file', path: 'a', content: 'a\n' }] }
    const preview = await apply.execute(patch, { dryRun: true })
    assert.deepEqual([preview.isError, preview.summary], [false, 'a created +1'])
    assert.match(preview.diff ?? '', /\+a\n/)
    assert.equal(existsSync(join(cwd, 'a')), false)
    assert.equal((await apply.execute(patch)).diff, preview.diff)
  }))

test('a file that a command changed is reported once', () =>
  withDir({ 'a.js': 'one\n', 'b.js': 'two\n' }, async (cwd, stateDir) => {
    const { read, search } = toolsOf(cwd, stateDir)
    await read.execute({ path: 'a.js' })
    writeFileSync(join(cwd, 'a.js'), 'zero\none\n')
    const other = await read.execute({ path: 'b.js' })
    assert.match(other.text, /\n\(a\.js changed since you read it\.\)$/)
    assert.doesNotMatch((await search.execute({ pattern: 'two' })).text, /changed since/)
  }))

test('a search shows anchors for edits, and summarizes its matches', () =>
  withDir({ 'src/a.js': 'let a\n', 'b.md': 'LET b\n' }, async (cwd, stateDir) => {
    const { search, apply } = toolsOf(cwd, stateDir)
    const found = await search.execute({ pattern: '^let \\w', globs: ['*.js'] })
    assert.equal(found.text, `--- src/a.js ---\n${formatHashed('let a', { dialect: 'lean' })}`)
    assert.equal(found.summary, '1 match in 1 file')
    const anchor = anchorOf(found.text, 'let a')
    const operations = [{ op: 'delete', path: 'src/a.js', anchor }]
    assert.equal((await apply.execute({ operations })).isError, false)
    const none = await search.execute({ pattern: 'a.b', literal: true })
    assert.deepEqual([none.text, none.isError], ['(no match for "a.b" in 2 files)', false])
    const cased = await search.execute({ pattern: 'let b', case_sensitive: true })
    assert.equal(cased.structured.matchCount, 0)
    const nowhere = await search.execute({ pattern: 'x', paths: ['gone'] })
    assert.deepEqual([nowhere.isError, nowhere.structured.code], [true, 'FILE_NOT_FOUND'])
    assert.match(nowhere.text, /^FILE_NOT_FOUND: gone: /)
    const wrong = await search.execute({ pattern: '(' })
    assert.deepEqual([wrong.isError, wrong.structured.code], [true, 'INVALID_PATTERN'])
  }))

test('results are limited and say how to continue', () =>
  withDir({ 'a.txt': numbered(5000), 'b.txt': 'b\n', empty: '' }, async (cwd, stateDir) => {
    const { read, search, apply } = toolsOf(cwd, stateDir)
    const cut = await read.execute({ path: 'a.txt', more_paths: ['b.txt'] })
    assert.match(cut.text, /Continue from line 2001\.\)\n\(Not shown, .*: b\.txt from line 1\.\)$/)
    assert.equal(cut.structured.truncated, true)
    assert.equal(cut.summary, 'a.txt: lines 1–2000 of 5000, b.txt: not shown')
    assert.equal((await read.execute({ path: 'empty' })).text, '(empty file)')
    const all = await search.execute({ pattern: 'line', context: 9 })
    assert.ok(all.text.split('\n').length <= 2001, all.text.slice(-200))
    const last = all.text.split('\n').at(-1) ?? ''
    assert.match(last, /^\(\d+ matches are shown.*Narrow .* read a\.txt from line \d+\.\)$/)
    // The refusal of all lines is as long as the whole file.
    const rows = (await read.execute({ path: 'a.txt' })).text.split('\n').slice(0, 2000)
    writeFileSync(join(cwd, 'a.txt'), numbered(5000).replaceAll('line', 'row'))
    const operations = rows.map((row) => ({
      op: 'delete',
      path: 'a.txt',
      anchor: row.split('|')[0],
    }))
    const refused = await apply.execute({ operations })
    assert.ok(refused.text.split('\n').length <= 2002)
    assert.ok(Buffer.byteLength(refused.text) <= 51_200 + 200)
    assert.match(refused.text, /\n\(\d+ more problems are not shown\.\)$/)
  }))

test('images are returned as bytes', () =>
  withDir({}, async (cwd, stateDir) => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    writeFileSync(join(cwd, 'c.png'), png)
    const { read } = toolsOf(cwd, stateDir)
    const { images, text, summary } = await read.execute({ path: 'c.png' })
    assert.deepEqual([text, summary], [`(image, image/png, ${png.length} bytes)`, 'c.png: image'])
    assert.deepEqual(
      images.map(({ path, mimeType, data }) => [path, mimeType, Buffer.from(data)]),
      [['c.png', 'image/png', png]],
    )
  }))

test('regression: images that models do not accept are named', () =>
  withDir({ 'a.txt': 'a\nb\n(x. Continue from line 2.)\n' }, async (cwd, stateDir) => {
    writeFileSync(join(cwd, 'i.bmp'), Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]))
    const session = new HashSession({ cwd, stateDir, durability: 'process' })
    const { read } = hashTools(session, { names: { read: 'peek' } })
    const bmp = await read.execute({ path: 'i.bmp' })
    assert.deepEqual([bmp.images, bmp.isError], [[], false])
    assert.match(bmp.text, /^\(image, image\/bmp, 62 bytes; not shown: only png, /)
    const cut = await read.execute({ path: 'a.txt', max_lines: 1 })
    assert.match(cut.text, /\n\(3 lines\)$/)
    const whole = await read.execute({ path: 'a.txt' })
    assert.match(whole.text, /\|\(x\. Continue from line 2\.\)$/)
  }))

test('regression: a read that shows only errors because of a limit is an error', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const { read } = toolsOf(cwd, stateDir, { limits: { maxLines: 1 } })
    const mixed = await read.execute({ path: 'gone', more_paths: ['a.txt', 'a.txt'] })
    assert.equal(mixed.isError, false)
    const { read: other } = toolsOf(cwd, stateDir, { limits: { maxBytes: 20 } })
    const nothing = await other.execute({ path: 'gone', more_paths: ['a.txt'] })
    assert.deepEqual([nothing.isError, nothing.structured.code], [true, 'FILE_NOT_FOUND'])
  }))

test('unambiguous mistakes in arguments are repaired and reported', () =>
  withDir({ 'a.txt': 'a\nb\n', '[id].txt': 'x\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const url = pathToFileURL(join(cwd, 'a.txt')).href
    const shown = await read.execute({ path: url, offset: '2', limit: null })
    assert.match(shown.text, /^2\w\w\|b\n\(offset: taken as start_line\.\)/)
    assert.deepEqual(rules(shown), ['other-name', 'unused', 'number', 'file-url'])
    const whole = await read.execute({ file_path: '@a.txt', more_paths: '[id].txt' })
    assert.match(whole.text, /\|a\n.*\n--- \[id\]\.txt ---\n1\w\w\|x\n/)
    assert.match(whole.text, /\(path: taken as "a\.txt"\.\)/)
    assert.deepEqual(rules(whole), ['other-name', 'wrapped', 'at-path'])
    const list = await read.execute({ path: 'a.txt', more_paths: '["[id].txt"]', start_line: 0 })
    assert.deepEqual(rules(list), ['json-text', 'number'])
    const b = anchorOf(shown.text, 'b')
    const texts = [
      { op: 'set_line', path: '@a.txt', anchor: b, text: 'B', old_text: '', all: false, to: null },
    ]
    const set = await apply.execute({ operations: JSON.stringify(texts) })
    assert.equal(set.isError, false, set.text)
    assert.deepEqual(rules(set), ['json-text', 'unused', 'unused', 'unused', 'at-path'])
    assert.doesNotMatch(set.text, /old_text/)
    const move = await apply.execute({
      operations: { op: 'move_file', path: 'a.txt', to: '@b.txt' },
    })
    assert.deepEqual(
      [move.summary, rules(move)],
      ['a.txt → b.txt', ['wrapped', 'at-path', 'move-path']],
    )
    const bare = await apply.execute({
      op: 'replace_text',
      file: 'b.txt',
      old_text: 'B',
      new_text: '+c',
    })
    assert.deepEqual(rules(bare), ['wrapped', 'other-name'])
    const shared = {
      path: 'b.txt',
      operations: [{ op: 'insert_after', anchor: 'EOF', text: '+d\n+e' }],
    }
    const end = await apply.execute(shared)
    // Repairs of texts by the session are reported separately.
    assert.deepEqual(rules(end), ['strip-plus'])
    assert.equal(readFileSync(join(cwd, 'b.txt'), 'utf8'), 'a\n+c\nd\ne\n')
  }))

test('an empty field counts as omitted, but an empty text does not', () =>
  withDir({ 'a.txt': 'a\nb\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const { text } = await read.execute({ path: 'a.txt' })
    const [first, last] = [anchorOf(text, 'a'), anchorOf(text, 'b')]
    const blank = { op: 'set_line', path: 'a.txt', anchor: first, text: '', verbatim: false }
    const gone = {
      op: 'delete',
      path: 'a.txt',
      anchor: '',
      range: '',
      start_anchor: last,
      end_anchor: last,
    }
    const done = await apply.execute({ operations: [blank, gone] })
    assert.equal(done.isError, false, done.text)
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), '\n')
    // In unknown fields, null may have a meaning.
    const other = await apply.execute({ operations: [{ op: 'frob', path: 'a.txt', value: null }] })
    assert.deepEqual(rules(other), [])
    const missing = await apply.execute({
      operations: [{ ...gone, start_anchor: '', op: 'delete' }],
    })
    assert.match(missing.text, /operation 0/)
    assert.equal(missing.isError, true)
  }))

test('other shapes of edits are passed to the session', () =>
  withDir({ 'a.txt': 'a\nb\nc\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const { text } = await read.execute({ path: 'a.txt' })
    const edits = [{ set_line: { anchor: anchorOf(text, 'c'), new_text: 'C' } }]
    assert.equal((await apply.execute({ path: 'a.txt', edits })).isError, false)
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'a\nb\nC\n')
  }))

test('regression: an edit in the shape of another tool does not delete if its text is missing', () =>
  withDir({ 'a.txt': 'a\nb\nc\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const { text } = await read.execute({ path: 'a.txt' })
    const anchor = anchorOf(text, 'b')
    const range = { start_anchor: anchor, end_anchor: anchor }
    /** @type {[Record<string, unknown>, RegExp][]} */
    const cases = [
      [{ set_line: { anchor } }, /edits\[0\]\.set_line\.new_text is missing, .*delete/],
      [{ set_line: { anchor, new_text: null } }, /new_text is null/],
      [{ set_line: { anchor, new_text: [] } }, /new_text is \[\]/],
      [{ set_line: { anchor, text: 'B' } }, /set_line has no field text: .* into new_text/],
      [{ replace_lines: range }, /edits\[0\]\.replace_lines\.new_text is missing/],
      [{ replace_lines: { ...range, content: 'B' } }, /replace_lines has no field content/],
      [{ op: 'set_line', anchor }, /operations\[0\]\.text is missing/],
    ]
    for (const [edit, message] of cases) {
      for (const edits of [[edit], JSON.stringify([edit]), [JSON.stringify(edit)]]) {
        const refused = await apply.execute({ path: 'a.txt', edits })
        assert.match(refused.text, /^Nothing was written\.\napply: /)
        assert.match(refused.text, message)
      }
    }
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'a\nb\nc\n')
  }))

test('edits in the shape of another tool are parsed as leniently as operations', () =>
  withDir({ 'a.txt': 'a\nb\nc\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const { text } = await read.execute({ path: 'a.txt' })
    const [a, b, c] = ['a', 'b', 'c'].map((line) => anchorOf(text, line))
    const first = await apply.execute({
      file_path: '@a.txt',
      edits: JSON.stringify({ set_line: { anchor: a, new_text: 'A' } }),
    })
    assert.deepEqual(rules(first), ['json-text', 'wrapped', 'other-name', 'at-path'])
    const operation = { op: 'set_line', anchor: b, text: 'B' }
    const second = await apply.execute({ path: 'a.txt', edits: [operation] })
    assert.deepEqual(rules(second), ['other-name'])
    const third = await apply.execute({
      operations: [{ op: 'set_line', path: 'a.txt', anchor: c, text: 'C' }],
      edits: [],
    })
    assert.equal(third.isError, false)
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'A\nB\nC\n')
  }))

test('regression: a lone surrogate is refused in a result, like other errors', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const anchor = anchorOf((await read.execute({ path: 'a.txt' })).text, 'a')
    const half = '\ud800'
    const line = { op: 'set_line', path: 'a.txt', anchor, text: 'x' }
    const url = pathToFileURL(join(cwd, 'new')).href
    const patches = [
      ...[half, `@${half}`, `@@${half}`, `${url}${half}`].flatMap((path) => [
        { operations: [{ ...line, path }] },
        { operations: [{ op: 'add_file', path, content: 'x' }] },
        { operations: [{ op: 'move_file', path: 'a.txt', to: path }] },
        { operations: [{ op: 'delete_file', path }] },
        { path, operations: [{ ...line, path: undefined }] },
        { path, edits: [{ set_line: { anchor, new_text: 'x' } }] },
        { path: 'a.txt', edits: [], rename: path },
      ]),
      { operations: [{ ...line, anchor: half }] },
      { operations: [{ ...line, text: half }] },
      { operations: [{ op: half, path: 'a.txt' }] },
    ]
    for (const patch of patches) {
      const { text, isError } = await apply.execute(patch)
      assert.match(text, /^Nothing was written\.\n/, JSON.stringify(patch))
      assert.ok(isError)
    }
    assert.deepEqual(readdirSync(cwd), ['a.txt'])
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'a\n')
  }))

test('regression: an operation without its text, or with that of another operation, is refused', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const { text } = await read.execute({ path: 'a.txt' })
    const [anchor, end_anchor] = [anchorOf(text, 'one'), anchorOf(text, 'two')]
    const line = { path: 'a.txt', anchor }
    /** @type {[Record<string, unknown>, RegExp][]} */
    const cases = [
      [
        { op: 'set_line', ...line, text: null, new_text: 'ONE' },
        /\.text is null, .*content of new_text/,
      ],
      [{ op: 'set_line', ...line, content: 'ONE' }, /\.text is missing, .*content of content/],
      [{ op: 'set_line', ...line, text: null }, /\.text is null, .*use delete/],
      [{ op: 'set_line', ...line, text: [] }, /\.text is \[\], .*use delete/],
      [{ op: 'insert_after', ...line, text: null }, /\.text is null/],
      [{ op: 'insert_before', ...line }, /\.text is missing/],
      [
        { op: 'replace_range', path: 'a.txt', start_anchor: anchor, end_anchor, text: null },
        /replace_range needs/,
      ],
      [
        { op: 'set_line', ...line, end_anchor, text: 'x' },
        /set_line, which has no field end_anchor: it belongs to replace_range, delete, move_lines, copy_lines; set_line takes anchor, text$/,
      ],
      [{ op: 'delete', ...line, text: 'x' }, /delete, which has no field text/],
      [{ op: 'set_line', ...line, text: 'x', new_text: 'y' }, /put its text into text$/],
      [{ op: 'set_line', ...line, text: 'x', all: true }, /no field all: .*replace_text/],
      [
        { op: 'replace_text', path: 'a.txt', old_text: 'one', new_text: '', text: 'ONE' },
        /no field text: put its text into new_text/,
      ],
      [{ op: 'add_file', path: 'b', content: '', text: 'x' }, /put its text into content/],
      [{ op: 'delete_file', path: 'a.txt', to: 'b' }, /delete_file takes path alone/],
    ]
    for (const [operation, message] of cases) {
      const refused = await apply.execute({ operations: [operation] })
      assert.match(refused.text, /^Nothing was written\.\napply: /)
      assert.match(refused.text, message)
      assert.deepEqual([refused.isError, refused.structured.code], [true, 'INVALID_ARGUMENT'])
    }
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\ntwo\n')
  }))

test('regression: arguments that are not plain data are refused without an exception', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const tools = toolsOf(cwd, stateDir)
    const thrower = (/** @type {unknown} */ what) => ({
      get path() {
        throw what
      },
    })
    /** @type {any} */
    let deep = []
    for (let depth = 0; depth < 50_000; depth++) deep = [deep]
    /** @type {any} */
    const circle = {}
    circle.self = circle
    const text = `{"operations":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const abort = Object.assign(new Error('x'), { name: 'AbortError' })
    const odd = [
      { operations: [{ op: { toString: 1 }, path: 'a' }] },
      { operations: [{ op: { toString: null } }], pattern: Symbol('x'), path: 1n },
      { operations: deep, path: deep, pattern: deep },
      { operations: [circle], path: circle, pattern: circle },
      thrower('text'),
      thrower(new Error('own')),
      thrower(abort),
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw undefined
          },
        },
      ),
      { operations: [{ path: 'a' }] },
    ]
    for (const args of odd) {
      for (const tool of Object.values(tools)) {
        const result = await tool.execute(args)
        assert.deepEqual([result.isError, result.structured.code], [true, 'INVALID_ARGUMENT'])
        if (tool === tools.apply) assert.match(result.text, /^Nothing was written\.\napply: /)
      }
    }
    assert.match((await tools.apply.execute(text)).text, /^Nothing was written\.\n.*nest deeper/)
  }))

test('regression: every repair is reported, and only names of the schema are suggested', () =>
  withDir({ 'a.txt': 'a\nb\n' }, async (cwd, stateDir) => {
    const { read, search, apply } = toolsOf(cwd, stateDir)
    assert.deepEqual(rules(await read.execute({ path: 'a.txt', max_lines: null })), ['unused'])
    assert.deepEqual(rules(await search.execute({ pattern: 'a', globs: null })), ['unused'])
    for (const paths of [0, false]) {
      const refused = await search.execute({ pattern: 'a', paths })
      assert.match(refused.text, /^search: the field paths is .*: expected an array of strings$/)
    }
    const add = { op: 'insert_after', path: 'a.txt', anchor: 'EOF', text: 'c', verbatim: 'true' }
    const inner = await apply.execute({ operations: { operations: [add] } })
    assert.deepEqual(rules(inner), ['wrapped', 'json-text'])
    const all = { op: 'replace_text', path: 'a.txt', old_text: 'c', new_text: 'd', all: 'false' }
    const twice = await apply.execute({ operations: JSON.stringify(JSON.stringify([all])) })
    assert.deepEqual([twice.isError, rules(twice)], [false, ['json-text', 'json-text']])
    const one = await apply.execute({ operations: [JSON.stringify([add, { ...add, text: 'e' }])] })
    assert.deepEqual([one.isError, one.summary], [false, 'a.txt +2'])
    const shared = { path: 'a.txt', operations: [{ op: 'move_file', to: 'b.txt' }] }
    assert.deepEqual(rules(await apply.execute(shared)), ['move-path'])
    const unknown = await apply.execute({ operations: [{ op: 'write', path: 'b.txt' }] })
    const listed = apply.inputSchema.properties?.operations.items?.properties?.op.enum ?? []
    assert.match(
      unknown.text,
      new RegExp(`unknown op "write": expected one of ${listed.join(', ')}$`),
    )
    const absolute = await read.execute({ path: `@${join(cwd, 'b.txt')}` })
    assert.deepEqual([absolute.isError, rules(absolute)], [false, ['at-path']])
    const url = await read.execute({ path: `@${pathToFileURL(join(cwd, 'b.txt')).href}` })
    assert.deepEqual([url.isError, rules(url)], [false, ['at-path', 'file-url']])
  }))

test('regression: every answer is limited, and a long line is truncated', () =>
  withDir({ 'a.txt': 'a\n', 'long.txt': `x${'y'.repeat(60_000)}\nb\n` }, async (cwd, stateDir) => {
    const { read, search, apply } = toolsOf(cwd, stateDir)
    const many = Array.from({ length: 4000 }, (_, at) => `${'gone'.repeat(20)}${at}`)
    const big = 'z'.repeat(200_000)
    const rows = [
      await read.execute({ path: 'a.txt', more_paths: many }),
      await read.execute({ path: 'a.txt', more_paths: many.map((path) => `@${path}`) }),
      await search.execute({ pattern: 'a', paths: many }),
      await search.execute({ pattern: `(${big}` }),
      await search.execute({ pattern: big, literal: true }),
      await apply.execute(`{"operations": ${big}`),
      await apply.execute({ operations: [{ op: 'set_line', path: big, anchor: big, text: '' }] }),
      await read.execute({ path: big }),
    ]
    for (const { text, summary } of rows) {
      assert.ok(text.split('\n').length <= 2020, `${text.split('\n').length}`)
      assert.ok(Buffer.byteLength(text) <= 51_200 + 3000, `${Buffer.byteLength(text)}`)
      assert.ok(summary.length <= 100)
    }
    await search.execute({ pattern: 'b', paths: ['long.txt'], context: 1 })
    const stale = { op: 'set_line', path: 'long.txt', anchor: '2:zz', text: '' }
    const refused = await apply.execute({ operations: [stale] })
    assert.match(refused.text, /^Nothing was written\./)
    assert.ok(Buffer.byteLength(refused.text) <= 51_200 + 3000)
    const odd = await read.execute({ path: 'a\u001b[2J\u202e\u0007\nb' })
    // No Windows file can have such a name.
    const code = process.platform === 'win32' ? 'INVALID_ARGUMENT' : 'FILE_NOT_FOUND'
    assert.equal(odd.summary, `a [2J b: ${code}`)
  }))

test('regression: a truncated answer keeps the notes on files at its end', () =>
  withDir({ 'big.txt': numbered(3000), 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const { read } = toolsOf(cwd, stateDir)
    const before = Array.from({ length: 12 }, () => 'a.txt')
    const args = { path: 'a.txt', more_paths: [...before, 'big.txt', 'a.txt', 'none.txt'] }
    const { text, structured } = await read.execute(args)
    const rows = text.split('\n')
    assert.ok(rows.length <= 2010, `${rows.length} lines`)
    assert.match(text, /\n\(\d+ lines are omitted here\. Ask for fewer files at once/)
    assert.match(text, /\n\(3000 lines\. Continue from line 1988\.\)\n/)
    assert.match(text, /\n\(Not shown, .*: a\.txt from line 1, none\.txt from line 1\.\)$/)
    assert.equal(structured.truncated, true)
  }))

test('a part of a long line is read by its columns', () =>
  withDir({ 'long.txt': `${'x'.repeat(3000)}end\nb\n` }, async (cwd, stateDir) => {
    const { read } = toolsOf(cwd, stateDir)
    const whole = await read.execute({ path: 'long.txt' })
    assert.match(whole.text, /… \[\+1003 bytes\]\n2\w\w\|b$/)
    const rest = await read.execute({ path: 'long.txt', columns: [2999, 4000], max_lines: 1 })
    assert.match(rest.text, /^1\w\w\|\[2998 bytes\+\] …xxend\n/)
    for (const columns of [[1], [0, 2], [2, 1], 'x', 7]) {
      const { isError, structured } = await read.execute({ path: 'long.txt', columns })
      assert.deepEqual([isError, structured.code], [true, 'INVALID_ARGUMENT'], `${columns}`)
    }
  }))

test('regression: a read that truncates a long line says so', () =>
  withDir({ 'long.txt': 'x'.repeat(60_000) }, async (cwd, stateDir) => {
    const { structured, text } = await toolsOf(cwd, stateDir).read.execute({ path: 'long.txt' })
    assert.match(text, /… \[\+\d+ bytes\]$/)
    assert.equal(structured.truncated, true)
  }))

test('regions have one unchanged line around a change, or the requested number', async () => {
  /** @type {[object, object | undefined, number][]} */
  const cases = [
    [{}, { answer: 'region' }, 1],
    [{ answer: 'region' }, undefined, 1],
    [{ answerContext: 3 }, undefined, 3],
    [{}, { answerContext: 0 }, 0],
    [{ answerContext: 3 }, { answerContext: 2 }, 2],
  ]
  for (const [ofSession, ofTools, around] of cases) {
    await withDir({ 'a.txt': numbered(9) }, async (cwd, stateDir) => {
      const session = new HashSession({ cwd, stateDir, durability: 'process', ...ofSession })
      const { read, apply } = hashTools(session, ofTools)
      const { text } = await read.execute({ path: 'a.txt' })
      const anchor = anchorOf(text, 'line 5')
      const edit = { op: 'set_line', path: 'a.txt', anchor, text: 'new' }
      const done = await apply.execute({ operations: [edit] })
      assert.equal(done.text.split('\n').length, 2 + 2 * around, done.text)
    })
  }
})

test('an answer has only the new anchors, and they can be used', () =>
  withDir({ 'a.txt': numbered(9) }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, durability: 'process' })
    const { read, apply } = hashTools(session)
    const { text } = await read.execute({ path: 'a.txt' })
    const anchor = anchorOf(text, 'line 5')
    const edit = { op: 'set_line', path: 'a.txt', anchor, text: 'one\ntwo' }
    const done = await apply.execute({ operations: [edit] })
    const [one, two] =
      formatHashed('one\ntwo', { startLine: 5, dialect: 'lean' }).match(/^\d+\w\w/gm) ?? []
    const rows = ['1 edit, +2 -1', `5-6: ${one} ${two} (old lines below: +1)`]
    assert.equal(done.text, rows.join('\n'))
    const next = { op: 'delete', path: 'a.txt', anchor: two }
    assert.equal((await apply.execute({ operations: [next] })).isError, false)
  }))

test('wrong options of tools are refused when the tools are created', () => {
  const make = (/** @type {object} */ options) => () => hashTools(new HashSession(), options)
  const code = 'INVALID_ARGUMENT'
  const message = /^options\.answerContext is .+: expected a whole number from 0 to 3$/
  for (const answerContext of [4, -1, 1.5, '1', true]) {
    assert.throws(make({ answerContext }), { code, message })
  }
  const forms = /^options\.answer is .+: expected one of "region", "brief"$/
  for (const answer of ['short', '', 1, true]) {
    assert.throws(make({ answer }), { code, message: forms })
  }
  assert.throws(make({ answercontext: 1 }), { code, message: /unknown name "answercontext"/ })
})

test('tools for JSON documents are created on request', () => {
  const names = (/** @type {object} */ tools) =>
    Object.entries(tools).map(([kind, { name }]) => [kind, name])
  const ofLines = [
    ['read', 'read'],
    ['search', 'search'],
    ['apply', 'apply'],
  ]
  const session = new HashSession()
  for (const options of [undefined, {}, { json: undefined }, { json: false }]) {
    assert.deepEqual(names(hashTools(session, options)), ofLines)
  }
  // @ts-expect-error: missing without the option
  assert.equal(hashTools(session).readJson, undefined)
  const all = [...ofLines, ['readJson', 'read_json'], ['applyJson', 'apply_json']]
  assert.deepEqual(names(hashTools(session, { json: true })), all)
  for (const json of ['yes', 1, {}]) {
    const message = /^options\.json is .+: expected true or false$/
    const make = () => hashTools(session, untyped({ json }))
    assert.throws(make, { code: 'INVALID_ARGUMENT', message })
  }
})

test('a value of a JSON document is read, edited and found in its file', () =>
  withDir({ 'p.json': '{\n  // here\n  "a": 1,\n  "b": [1]\n}\n' }, async (cwd, stateDir) => {
    const { readJson, applyJson, apply } = jsonToolsOf(cwd, stateDir)
    const shown = await readJson.execute({ file_path: '@p.json' })
    assert.deepEqual([shown.isError, shown.summary], [false, 'p.json: 5 lines'])
    const { path, lineCount, startLine, endLine, valueCount, truncated } = shown.structured
    assert.deepEqual(
      [path, lineCount, startLine, endLine, valueCount, truncated],
      ['p.json', 5, 1, 5, 4, false],
    )
    assert.deepEqual(rules(shown), ['other-name', 'at-path'])
    const [anchor] = /\$\.a:\w\w/.exec(shown.text) ?? []
    const set = { op: 'set_path', path: 'p.json', anchor, value: '"A"' }
    const done = await applyJson.execute(JSON.stringify({ operations: [set] }))
    assert.deepEqual([done.isError, done.summary], [false, 'p.json +1 -1'])
    const edited = '{\n  // here\n  "a": "A",\n  "b": [1]\n}\n'
    assert.equal(readFileSync(join(cwd, 'p.json'), 'utf8'), edited)
    assert.deepEqual(
      [done.structured.status, done.structured.files?.map(({ added }) => added)],
      ['applied', [1]],
    )
    const again = await applyJson.execute({ operations: [set] })
    assert.deepEqual(
      [again.structured.status, again.structured.code],
      ['rejected', 'HASH_MISMATCH'],
    )
    const remap = again.structured.remaps?.[String(anchor)]
    assert.ok(again.text.includes(`Updated anchor: ${remap}`), again.text)
    assert.equal(readFileSync(join(cwd, 'p.json'), 'utf8'), edited)
    // An edit of a value shows lines, which can then be edited.
    const line = { op: 'delete', path: 'p.json', anchor: anchorOf(done.text, '  "a": "A",') }
    assert.equal((await apply.execute({ operations: [line] })).isError, false)
    const gone = await readJson.execute({ path: 'none.json' })
    assert.deepEqual([gone.isError, gone.structured.code], [true, 'FILE_NOT_FOUND'])
  }))

test('the data of a call has exactly the fields of its type', () =>
  withDir({ 'a.json': '[1,\n2]\n' }, async (cwd, stateDir) => {
    // The names are taken from the types, by `tsc`.
    const [repairs, code] = [true, true]
    /** @type {Record<keyof ReadData, boolean>} */
    const ofRead = { repairs, code, files: true, truncated: true }
    /** @type {Record<keyof SearchData, boolean>} */
    const ofSearch = {
      ...{ repairs, code, files: true, matchCount: true, filesSearched: true },
      ...{ binarySkipped: true, truncated: true, errors: true, warnings: true },
      ...{ skipped: true, unmatchedGlobs: true, explanation: true, list: true, noDefinition: true },
    }
    /** @type {Record<keyof ReadJsonData, boolean>} */
    const ofReadJson = {
      ...{ repairs, code, path: true, lineCount: true, startLine: true, endLine: true },
      ...{ nextLine: true, truncated: true, valueCount: true, encoding: true, bom: true },
      snapshot: true,
    }
    /** @type {Record<keyof ApplyData, boolean>} */
    const ofApply = {
      ...{ repairs, code, status: true, files: true, relocations: true, warnings: true },
      ...{ noops: true, failures: true, remaps: true },
    }
    const { read, search, apply, readJson, applyJson } = jsonToolsOf(cwd, stateDir)
    const [path, anchor] = ['a.json', '$[0]:b2']
    const value = { op: 'set_path', path, anchor, value: '3' }
    const gone = { path: 'none' }
    /** @type {[HashTool, object, object, string[]][]} the last: fields that may be omitted here */
    const calls = [
      [read, { path }, ofRead, ['code']],
      [read, gone, ofRead, []],
      [search, { pattern: '1' }, ofSearch, ['code', 'explanation', 'list', 'noDefinition']],
      [search, { pattern: 'f(x)' }, ofSearch, ['code', 'list', 'noDefinition']],
      [search, { globs: ['*'] }, ofSearch, ['code', 'explanation', 'noDefinition']],
      [readJson, { path, max_lines: 4 }, ofReadJson, ['code']],
      [readJson, gone, ofReadJson, Object.keys(ofReadJson)],
      [applyJson, { operations: [value] }, ofApply, ['code', 'failures', 'remaps']],
      [applyJson, { operations: [value] }, ofApply, ['files', 'relocations', 'warnings', 'noops']],
      [apply, {}, ofApply, Object.keys(ofApply)],
    ]
    for (const [tool, args, names, missing] of calls) {
      const given = Object.keys((await tool.execute(args)).structured)
      const expected = Object.keys(names).filter((name) => !missing.includes(name))
      assert.deepEqual(
        expected.filter((name) => !given.includes(name)),
        [],
        tool.name,
      )
      assert.deepEqual(
        given.filter((name) => !Object.keys(names).includes(name)),
        [],
        tool.name,
      )
    }
  }))

test('a dry run of an edit of values writes nothing', () =>
  withDir({ 'p.json': '[1]\n' }, async (cwd, stateDir) => {
    const { readJson, applyJson } = jsonToolsOf(cwd, stateDir)
    const [anchor] = /\$\[0\]:\w\w/.exec((await readJson.execute({ path: 'p.json' })).text) ?? []
    const operations = [{ op: 'set_path', path: 'p.json', anchor, value: '2' }]
    const { diff } = await applyJson.execute({ operations }, { dryRun: true })
    assert.match(diff ?? '', /-\[1\]\n\+\[2\]/)
    assert.equal(readFileSync(join(cwd, 'p.json'), 'utf8'), '[1]\n')
  }))

test('tools for JSON documents refer to each other by their configured names', () => {
  const names = { readJson: 'peek_json', applyJson: 'poke_json' }
  const { readJson, applyJson } = hashTools(new HashSession(), { json: true, names })
  assert.deepEqual([readJson.name, applyJson.name], ['peek_json', 'poke_json'])
  const textsOf = (/** @type {HashTool} */ { description, snippet, guidelines }) =>
    [description, snippet, ...guidelines].join('\n')
  assert.match(textsOf(readJson), /poke_json/)
  assert.match(textsOf(applyJson), /peek_json/)
  assert.doesNotMatch(textsOf(readJson) + textsOf(applyJson), /read_json|apply_json/)
})

test('lines that an edit of a JSON document showed are remembered', () =>
  withDir({ 'p.json': '{\n  "a": 1\n}\n' }, async (cwd, stateDir) => {
    const { readJson, applyJson } = jsonToolsOf(cwd, stateDir, { answer: 'region' })
    const fresh = () => new HashSession({ cwd, stateDir, durability: 'process' })
    const query = { path: 'p.json' }
    const { text } = await readJson.execute(query)
    const [anchor] = /\$\.a:\w\w/.exec(text) ?? []
    const patch = { operations: [{ op: 'set_path', ...query, anchor, value: '2' }] }
    const done = await applyJson.execute(patch)
    for (const [tool, name] of /** @type {const} */ ([
      [readJson, 'read_json'],
      [applyJson, 'apply_json'],
    ])) {
      const [args, shown, lines] = tool === readJson ? [query, text, 0] : [patch, done.text, 3]
      assert.equal(remember(fresh(), tool, args, shown), lines)
      assert.equal(remember(fresh(), name, args, shown), lines)
    }
  }))

test('names of missing tools do not conflict', () => {
  const session = new HashSession()
  const names = { read: 'read_json' }
  assert.equal(hashTools(session, { names }).read.name, 'read_json')
  const message =
    'names are read_json, search, apply, read_json and apply_json: expected 5 different ones'
  assert.throws(() => hashTools(session, { names, json: true }), { name: 'TypeError', message })
  assert.throws(() => hashTools(session, { names: { applyJson: 'a b' } }), TypeError)
})

/** All operations. @type {OperationName[]} */
const OPERATIONS = Object.values(hashTools(new HashSession(), { json: true }))
  .flatMap(
    ({ inputSchema }) => inputSchema.properties?.operations?.items?.properties?.op.enum ?? [],
  )
  .map(untyped)

/** All texts of a tool. @param {HashTool} tool */
const textsOf = ({ description, snippet, guidelines, inputSchema }) =>
  JSON.stringify({ description, snippet, guidelines, inputSchema })

test('with some operations, tools do not mention others', () => {
  const session = new HashSession()
  const whole = hashTools(session, { json: true })
  const ofLines = OPERATIONS.filter((name) => !name.endsWith('_path'))
  const ofValues = OPERATIONS.filter((name) => name.endsWith('_path'))
  /** @type {OperationName[][]} */
  const lists = [
    ...ofLines.map((name) => [name, /** @type {const} */ ('set_path')]),
    ...ofValues.map((name) => [/** @type {const} */ ('set_line'), name]),
    ['set_line', 'replace_range', 'insert_at_path', 'delete_path'],
    ['add_file', 'delete_file', 'delete_path'],
  ]
  for (const operations of lists) {
    const tools = hashTools(session, { json: true, operations })
    for (const kind of /** @type {const} */ (['apply', 'applyJson'])) {
      const own = kind === 'apply' ? ofLines : ofValues
      const items = tools[kind].inputSchema.properties?.operations.items
      assert.deepEqual(
        items?.properties?.op.enum,
        own.filter((name) => operations.includes(name)),
      )
      for (const name of OPERATIONS.filter((one) => !operations.includes(one))) {
        // The word delete is also used for lines.
        const words = name === 'delete' ? /\bdelete(, |: |")/ : new RegExp(`\\b${name}\\b`)
        assert.doesNotMatch(textsOf(tools[kind]), words, `${operations}`)
      }
      const known = Object.keys(
        whole[kind].inputSchema.properties?.operations.items?.properties ?? {},
      )
      const fields = Object.keys(items?.properties ?? {})
      assert.deepEqual(
        known.filter((name) => fields.includes(name)),
        fields,
      )
      for (const name of items?.required ?? []) assert.ok(fields.includes(name))
      everywhere(tools[kind].inputSchema, (schema) => {
        for (const word of Object.keys(schema)) assert.ok(GEMINI_WORDS.includes(word), word)
      })
    }
  }
  const all = hashTools(session, { json: true, operations: OPERATIONS })
  assert.deepEqual(Object.values(all).map(textsOf), Object.values(whole).map(textsOf))
})

test('fields, sentences and the example depend on the allowed operations', () => {
  /** @type {[OperationName[], string[], RegExp, RegExp | undefined][]} */
  const cases = [
    [
      ['set_line', 'replace_range'],
      ['op', 'path', 'anchor', 'start_anchor', 'end_anchor', 'block', 'text', 'verbatim'],
      /^Edits files: .*\nset_line: anchor, text\nreplace_range: start_anchor, end_anchor, block, text\n\n/s,
      /\nTo change line 2:\n/,
    ],
    [['delete_file'], ['op', 'path', 'verbatim'], /^Deletes files: .*again\.$/, undefined],
    [
      ['copy_lines', 'add_file'],
      [
        'op',
        'path',
        'anchor',
        'start_anchor',
        'end_anchor',
        'block',
        'content',
        'replace',
        'to',
        'to_anchor',
        'indent',
        'verbatim',
      ],
      /^Edits and creates files: /,
      /\nTo copy the function:\n/,
    ],
    [
      ['replace_text', 'move_file', 'delete_file'],
      ['op', 'path', 'old_text', 'new_text', 'all', 'to', 'verbatim'],
      /^Edits, moves and deletes files: .*\nreplace_text: old_text, new_text, all\nmove_file: to$/s,
      undefined,
    ],
  ]
  for (const [operations, fields, description, example] of cases) {
    const { apply } = hashTools(new HashSession(), { operations })
    const items = apply.inputSchema.properties?.operations.items
    assert.deepEqual(Object.keys(items?.properties ?? {}), fields)
    assert.match(apply.description, description)
    if (example) assert.match(apply.description, example)
    else assert.doesNotMatch(apply.description, /showed of/)
  }
})

/**
 * Each operation in all accepted shapes.
 * @param {string} anchor @param {string} list the anchor of a list in a document
 * @param {string} item the anchor of a value in it
 * @returns {Record<OperationName, object[]>}
 */
const shapes = (anchor, list, item) => {
  const [one, ends] = [{ anchor }, { start_anchor: anchor, end_anchor: anchor }]
  const texts = { old_text: 'one', new_text: 'ONE' }
  const set = { anchor: list, value: 2 }
  return {
    set_line: [
      { op: 'set_line', ...one, text: 'x' },
      { type: 'set_line', ...one, text: 'x' },
      { edits: [{ set_line: { ...one, new_text: 'x' } }] },
      { edits: [{ set_line: { ...one, new_text: 'false' } }] },
      { edits: { set_line: { ...one, newText: 'x' } } },
      { edits: [{ op: 'set', tag: anchor, content: ['x'] }] },
    ],
    replace_range: [
      { op: 'replace_range', ...ends, text: 'x' },
      { edits: [{ replace_lines: { ...ends, new_text: 'x' } }] },
      { edits: JSON.stringify([{ replace_lines: { start_anchor: anchor, new_text: 'x' } }]) },
      { edits: [{ op: 'replace', first: anchor, last: anchor, content: 'x' }] },
    ],
    insert_after: [
      { op: 'insert_after', ...one, text: 'x' },
      { edits: [{ insert_after: { ...one, text: 'x' } }] },
      { edits: [{ op: 'append', content: 'x' }] },
      { edits: [{ op: 'insert', after: anchor, content: 'x' }] },
    ],
    insert_before: [
      { op: 'insert_before', ...one, text: 'x' },
      { edits: [{ op: 'prepend', content: 'x' }] },
      { edits: [{ op: 'insert', before: anchor, content: 'x' }] },
    ],
    delete: [
      { op: 'delete', ...one },
      { op: 'delete', range: `${anchor}-${anchor}` },
      { edits: [{ set_line: { ...one, new_text: '' } }] },
      { edits: [{ replace_lines: { ...ends, new_text: '' } }] },
      { edits: [{ op: 'set', tag: anchor, content: '' }] },
      { edits: [{ op: 'replace', first: anchor, last: anchor, content: '' }] },
    ],
    move_lines: [{ op: 'move_lines', ...one, to_anchor: 'EOF' }],
    copy_lines: [{ op: 'copy_lines', ...one, to_anchor: 'EOF' }],
    replace_text: [
      { op: 'replace_text', ...texts },
      texts,
      { old_string: 'one', new_string: 'ONE' },
      { edits: [texts] },
      { edits: [{ replace: texts }] },
      { edits: [{ op: 'replaceText', ...texts }] },
    ],
    add_file: [{ op: 'add_file', path: 'b', content: '' }],
    move_file: [
      { op: 'move_file', to: 'b' },
      { edits: [], rename: 'b' },
    ],
    delete_file: [{ op: 'delete_file' }, { edits: [], delete: true }],
    set_path: [{ op: 'set_path', ...set }, { edits: [{ set_path: set }] }],
    insert_at_path: [{ op: 'insert_at_path', ...set }, { edits: [{ insert_at_path: set }] }],
    delete_path: [
      { op: 'delete_path', anchor: item },
      { edits: [{ delete_path: { anchor: item } }] },
    ],
  }
}

test('an operation is refused in every shape if it is not allowed, and accepted otherwise', () =>
  withDir({ a: 'one\ntwo\n', 'p.json': '[1]\n' }, async (cwd, stateDir) => {
    const { read, readJson } = jsonToolsOf(cwd, stateDir)
    const anchor = anchorOf((await read.execute({ path: 'a' })).text, 'one')
    const document = (await readJson.execute({ path: 'p.json' })).text
    const [list = '', item = ''] = document.match(/\$.*:\w\w/g) ?? []
    const session = new HashSession({ cwd, stateDir, durability: 'process', unseen: 'match' })
    const all = shapes(anchor, list, item)
    assert.deepEqual(Object.keys(all).sort(), [...OPERATIONS].sort())
    for (const [name, calls] of Object.entries(all)) {
      const own = /** @type {OperationName} */ (name)
      const path = name.endsWith('_path') ? 'p.json' : 'a'
      const others = OPERATIONS.filter((one) => one !== name && !one.endsWith('_path'))
      const lists = { refused: others, taken: [own, .../** @type {const} */ (['add_file'])] }
      for (const call of calls) {
        const args = { path, ...call }
        const refused = hashTools(session, { operations: lists.refused }).apply
        const { text, structured } = await refused.execute(args, { dryRun: true })
        assert.match(text, /^Nothing was written\.\napply: /, JSON.stringify(call))
        const why = ` ${name}, which is not allowed: expected one of ${others.join(', ')}`
        assert.ok(
          text.split('\n').some((line) => line.endsWith(why)),
          text,
        )
        assert.equal(structured.code, 'INVALID_ARGUMENT')
        const taken = hashTools(session, { operations: lists.taken }).apply
        const done = await taken.execute(args, { dryRun: true })
        assert.equal(done.isError, false, `${JSON.stringify(call)}: ${done.text}`)
      }
    }
  }))

test('an unknown operation is refused with the allowed ones', () =>
  withDir({ a: 'one\n' }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, durability: 'process' })
    const { apply } = hashTools(session, { operations: ['set_line'] })
    /** @type {[object, RegExp][]} */
    const cases = [
      [{ operations: [{ op: 'frob' }] }, /unknown op "frob": expected one of set_line$/],
      [{ path: 'a', edits: [{ frob: {} }] }, /edits\[0\] has no known edit: .* of set_line$/],
      [{ path: 'a', edits: [{ op: 'frob' }] }, /edits\[0\] has no known edit: .* of set_line$/],
      [{ operations: [{ op: 'set_line', path: 'a', anchor: '1:00' }] }, /in it\. An empty string/],
      [{ path: 'a', edits: [{ set_line: { anchor: '1:00' } }] }, /new lines in it\.$/],
    ]
    for (const [args, message] of cases) assert.match((await apply.execute(args)).text, message)
    const { applyJson } = hashTools(session, { json: true, operations: ['set_line', 'set_path'] })
    const gone = { op: 'delete_path', path: 'p.json', anchor: '$:00' }
    const { text } = await applyJson.execute({ operations: [gone] })
    assert.match(text, /\[0\] is delete_path, which is not allowed: expected one of set_path$/)
  }))

test('wrong lists of operations are refused when the tools are created', () => {
  const session = new HashSession()
  /** @type {[unknown, RegExp, object?][]} */
  const cases = [
    [[], /^options\.operations: the list is empty: add at least one of set_line, /],
    [['set_line', 'frob'], /^options\.operations: there is no operation "frob": expected some of /],
    [['set_line', 5], /^options\.operations\[1\] is the number 5: expected a string$/],
    ['set_line', /^options\.operations is the string "set_line": expected an array of names of /],
    [{}, /^options\.operations is an object: expected an array of names of operations$/],
    [
      ['set_path'],
      /^options\.operations: no operation of the tool Apply is allowed: add at least one of set_l/,
    ],
    [
      ['set_line'],
      /: no operation of the tool Apply JSON is allowed: add at least one of set_path, /,
      { json: true },
    ],
  ]
  for (const [operations, message, more] of cases) {
    const make = () => hashTools(session, untyped({ ...more, operations }))
    assert.throws(make, { code: 'INVALID_ARGUMENT', message })
  }
  assert.ok(hashTools(session, untyped({ operations: null })).apply)
})

test('a later change of the list of operations has no effect', () =>
  withDir({}, async (cwd, stateDir) => {
    /** @type {OperationName[]} */
    const operations = ['set_line']
    const { apply } = hashTools(new HashSession({ cwd, stateDir }), { operations })
    operations.push('add_file')
    const { text } = await apply.execute({
      operations: [{ op: 'add_file', path: 'a', content: '' }],
    })
    assert.match(text, /add_file, which is not allowed: expected one of set_line$/)
  }))

test('tools need a session, and options may be null', () => {
  assert.throws(() => hashTools(untyped(null)), /session is not a HashSession/)
  assert.throws(() => hashTools(untyped({})), /session is not a HashSession/)
  assert.equal(hashTools(new HashSession(), untyped(null)).read.name, 'read')
})

test('regression: a title takes linear time, with every accepted name', () => {
  const [read, search, apply] = describing
  const throwing = {
    get path() {
      throw undefined
    },
  }
  /** @type {[HashTool, unknown, string][]} */
  const cases = [
    [read, { filePath: 'a' }, 'a'],
    [read, '{"file":"a","offset":3', 'a:3'],
    [read, { paths: ['a', 'b'] }, 'a and 1 more'],
    [search, { pattern: 'x', path: 'src' }, '"x" in src'],
    [apply, { operations: [{ file_path: 'a' }] }, 'a'],
    [apply, { op: 'delete_file', path: 'a' }, 'a'],
    [apply, { op: 'set_line', path: 'a', anchor: '1ab', text: 'x' }, 'a'],
    [apply, { path: 'a', edits: [{}, {}] }, 'a ×2'],
    [read, { path: 'a\u202eb\ud800' }, 'ab'],
    [read, throwing, ''],
    [apply, throwing, ''],
    // Closing all of them at every position would create strings of 40 GB.
    [apply, '['.repeat(200_000), ''],
  ]
  for (const [tool, args, title] of cases) assert.equal(tool.callTitle(args), title)
})

test('regression: the lines of an old call are remembered, however it named its file', () =>
  withDir({ 'a.txt': 'a\nb\n', 'b.txt': 'c\n' }, async (cwd, stateDir) => {
    const tools = toolsOf(cwd, stateDir)
    const url = pathToFileURL(join(cwd, 'a.txt')).href
    const calls = [
      { path: '@a.txt' },
      { file_path: 'a.txt' },
      { path: url },
      { more_paths: ['a.txt'] },
      '{"file":"a.txt"}',
    ]
    for (const args of calls) {
      const { text } = await tools.read.execute(args)
      for (const tool of [tools.read, 'peek']) {
        const session = new HashSession({ cwd, stateDir, durability: 'process' })
        assert.equal(remember(session, tool, args, text), 2, JSON.stringify(args))
        const edit = { op: 'set_line', path: 'a.txt', anchor: anchorOf(text, 'b'), text: 'B' }
        const done = await hashTools(session).apply.execute(
          { operations: [edit] },
          { dryRun: true },
        )
        assert.equal(done.isError, false, done.text)
      }
    }
    const session = new HashSession({ cwd, stateDir })
    const both = { path: 'a.txt', more_paths: ['b.txt'] }
    assert.equal(remember(session, 'read', both, (await tools.read.execute(both)).text), 3)
    const query = { pattern: 'c' }
    const found = await tools.search.execute(query)
    assert.equal(remember(session.fork(), tools.search, query, found.text), 1)
    const stale = { operations: [{ op: 'delete', path: 'a.txt', anchor: '2aa' }] }
    const { text } = await tools.apply.execute(stale)
    assert.equal(remember(new HashSession({ cwd, stateDir }), tools.apply, stale, text), 2)
    assert.equal(remember(session, 'read', undefined, untyped(undefined)), 0)
    assert.equal(remember(session, 'read', '{', 'x'), 0)
  }))

test('regression: invalid names are refused, and the guard always answers', () => {
  const session = new HashSession()
  for (const name of [null, '', 5, 'a b', 'search']) {
    const names = untyped({ read: name })
    assert.throws(() => hashTools(session, { names }), TypeError)
  }
  assert.match(guard('\ud800 cat f; cat g') ?? '', /^Blocked: /)
  assert.doesNotThrow(() => guard('\ud800 cat f'))
  assert.equal(guard(untyped(null)), undefined)
  const tools = untyped({ read: undefined })
  assert.match(guard('cat a.js', { policy: { tools } }) ?? '', /`read`/)
})

test('a name that begins with @ is kept if the file exists', () =>
  withDir({ '@types/a.d.ts': 'a\n', '@b': 'b\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const shown = await read.execute({ path: '@types/a.d.ts', more_paths: ['@b'] })
    assert.deepEqual([shown.isError, rules(shown)], [false, []])
    const operations = [{ op: 'add_file', path: '@types/new.d.ts', content: '' }]
    assert.deepEqual(rules(await apply.execute({ operations })), [])
    mkdirSync(join(cwd, 'src'))
    const other = await apply.execute({
      operations: [{ op: 'add_file', path: '@src/x', content: '' }],
    })
    assert.deepEqual([other.summary, rules(other)], ['src/x created', ['at-path']])
  }))

test('regression: checking for a file with @ in its name does not read the file', () =>
  withDir({ '@a': 'a\n', b: 'b\n' }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, durability: 'process' })
    session.readSync = () => assert.fail('a read')
    const { read } = hashTools(session)
    const shown = await read.execute({ path: '@a', more_paths: ['@b'] })
    assert.deepEqual([shown.isError, rules(shown)], [false, ['at-path']])
    assert.match(shown.text, /^--- @a ---\n.*\n--- b ---\n/)
    assert.equal(existsSync(join(cwd, '@b')), false)
    const outside = await read.execute({ path: '@../x' })
    assert.equal(outside.isError, true)
  }))

test('malformed calls return results with the names of the schema', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const { read, search, apply } = toolsOf(cwd, stateDir)
    const gone = { op: 'delete', path: 'a.txt', anchor: '1ed' }
    /** @type {[HashTool, unknown, RegExp][]} */
    const cases = [
      [read, '{"path":', /^read: the arguments are not valid JSON at /],
      [read, [], /^read: the arguments are an array: expected an object$/],
      [read, undefined, /^read: the field path is missing: expected .* \(fields given: none\)$/],
      [read, { path: 7 }, /^read: the field path is the number 7: expected a string$/],
      [read, { path: 'a.txt', start_line: -1 }, /start_line is the number -1: expected a whole/],
      [
        read,
        { path: 'a.txt', max_lines: 'few' },
        /max_lines is the string "few": expected a whole/,
      ],
      [read, { path: 'file://[' }, /^read: path is the string "file:\/\/\["/],
      [search, { pattern: 'x', literal: 1 }, /literal is the number 1: expected true or false/],
      [search, { pattern: 'x', globs: [1] }, /globs is an array: expected an array of strings/],
      [apply, '', /^Nothing was written\.\napply: the field operations is missing/],
      [apply, { operations: '[{' }, /operations is a string that is not valid JSON at /],
      [apply, { operations: ['x'] }, /^Nothing was written\.\napply: the field operations\[0\]/],
      [
        apply,
        { operations: [7] },
        /^Nothing was written\.\nINVALID_OPERATION: operation 0 is the number 7/,
      ],
      [apply, { operations: [{ op: 'frob', path: 'a' }] }, /unknown op "frob"/],
      [apply, { operations: [{ op: 'move_file', to: 'b' }] }, /operations\[0\]\.path is missing/],
      [
        apply,
        { path: null, operations: [{ ...gone, path: null }] },
        /operations\[0\]\.path is mis/,
      ],
      // The file is never guessed, in whatever form it is named.
      [
        apply,
        { path: ['b.txt'], operations: [gone] },
        /operations\[0\]\.path is "a\.txt", but the/,
      ],
      [
        apply,
        { path: 'b.txt', operations: [{ ...gone, path: ['a.txt'] }] },
        /path is "a\.txt", but/,
      ],
      [apply, { path: 7, operations: [gone] }, /the field path is the number 7: expected a path/],
      [
        apply,
        { path: 'b.txt', operations: { path: 'a.txt', operations: [gone] } },
        /path is "a\.txt"/,
      ],
    ]
    for (const [tool, args, message] of cases) {
      const { text, isError, structured } = await tool.execute(args)
      assert.match(text, message)
      assert.equal(isError, true, text)
      assert.match(String(structured.code), /^INVALID_(ARGUMENT|OPERATION)$/)
    }
  }))

test('only a fired signal throws', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    for (const tool of Object.values(toolsOf(cwd, stateDir))) {
      const call = tool.execute(
        { path: 'a.txt', pattern: 'x', operations: [] },
        { signal: AbortSignal.abort() },
      )
      await assert.rejects(call, { name: 'AbortError' })
    }
  }))

test('tools of a closed session report it', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir })
    const { read } = hashTools(session)
    session.close()
    const { text, isError } = await read.execute({ path: 'a.txt' })
    assert.deepEqual([text, isError], ['INVALID_ARGUMENT: the session is closed', true])
    assert.throws(() => hashTools(session), { code: 'INVALID_ARGUMENT' })
  }))

test('arguments are not modified', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const args = Object.freeze({ more_paths: Object.freeze(['a.txt']) })
    assert.equal((await read.execute(args)).isError, false)
    const operation = Object.freeze({ op: 'move_file', path: 'a.txt', to: 'b.txt', text: null })
    const operations = Object.freeze([operation])
    assert.equal((await apply.execute(Object.freeze({ operations }))).isError, false)
  }))

test('calls reach the session in the order in which they are made', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOf(cwd, stateDir)
    const add = { operations: [{ op: 'insert_after', path: 'a.txt', anchor: 'EOF', text: 'b' }] }
    const [before, , after] = await Promise.all([
      read.execute({ path: 'a.txt' }),
      apply.execute(add),
      read.execute({ path: '@a.txt' }),
    ])
    assert.equal(before.summary, 'a.txt: 1 line')
    assert.equal(after.summary, 'a.txt: 2 lines')
  }))

test('a call has a title, also from partial arguments', () => {
  const [read, search, apply] = describing
  const edit = (/** @type {string} */ path) => ({ op: 'delete', path, anchor: '1:00' })
  /** @type {[HashTool, unknown, string][]} */
  const cases = [
    [read, { path: 'src/a.js' }, 'src/a.js'],
    [read, { path: 'a.js', start_line: 10, more_paths: ['b', 'c'] }, 'a.js:10 and 2 more'],
    [read, '{"path":"src/a.', 'src/a.'],
    [read, '{"path":"a\\', 'a'],
    [read, '{"path":"a","start_line":12,"max_li', 'a:12'],
    [read, '{"pa', ''],
    [read, undefined, ''],
    [search, { pattern: 'a\nb', paths: ['src'] }, '"a\\nb" in src'],
    [search, '{"pattern":"x","paths":["src","te', '"x" in src, te'],
    [apply, { operations: [edit('greet.js'), edit('greet.js')] }, 'greet.js ×2'],
    [apply, { operations: [edit('a'), edit('b'), undefined, {}] }, 'a, b'],
    [apply, { operations: JSON.stringify([edit('a'), edit('a')]) }, 'a ×2'],
    [apply, { operations: [{ op: 'move_file', from: 'a\tb\u001b[2J', to: 'c' }] }, 'a b [2J'],
    [apply, JSON.stringify({ operations: [edit('a'), edit('a')] }).slice(0, -20), 'a ×2'],
    [apply, { operations: 'x' }, ''],
  ]
  for (const [tool, args, title] of cases) assert.equal(tool.callTitle(args), title)
  // At every moment of a stream, without an error.
  const whole = JSON.stringify({ operations: [edit('a"b\\'), edit('c\u00e9')] })
  for (let end = 0; end <= whole.length; end++) {
    assert.ok('a"b\\, cé'.startsWith(apply.callTitle(whole.slice(0, end))), whole.slice(0, end))
  }
})

test('in a dialect without hashes, the tools show tags and accept patches', () =>
  withDir({ 'a.js': 'one\ntwo\nthree\n' }, async (cwd, stateDir) => {
    const { read, search, apply } = toolsOf(cwd, stateDir, { dialect: 'omp18' })
    const shown = await read.execute({ path: 'a.js' })
    const [header, ...rows] = shown.text.split('\n')
    assert.match(header, /^\[a\.js#[0-9A-F]{4}\]$/)
    assert.deepEqual(rows, ['1:one', '2:two', '3:three'])
    const found = await search.execute({ pattern: 'tw' })
    assert.ok(found.text.startsWith(`${header}\n2:two`), found.text)
    assert.deepEqual(Object.keys(apply.inputSchema.properties ?? {}), [
      'patch',
      'path',
      'content',
      'replace',
    ])
    const patch = `${header}\nPUT 2.=2:\n+TWO`
    assert.equal(apply.callTitle({ patch }), 'a.js')
    const done = await apply.execute({ patch })
    assert.match(done.text, /^\[a\.js#[0-9A-F]{4}\]\n\(1 edit, \+1 -1\)\n\(2\)$/)
    const [now] = done.text.split('\n')
    assert.ok(!(await apply.execute({ patch: `${now}\nCUT 2` })).isError)
    const made = { path: 'b.js', content: 'new\n' }
    assert.equal(apply.callTitle(made), 'b.js')
    assert.match((await apply.execute(made)).text, /^\[b\.js#[0-9A-F]{4}\]\n\(created, \+1\)/)
    const operations = [{ op: 'set_line', path: 'a.js', anchor: '2', text: 'x' }]
    const refused = await apply.execute({ operations })
    assert.ok(refused.isError && /expected patch/.test(refused.text), refused.text)
    const said = [read, search, apply].flatMap(({ description, snippet, guidelines }) => [
      description,
      snippet,
      ...guidelines,
    ])
    assert.doesNotMatch(said.join('\n'), /anchor/)
    const session = new HashSession({ cwd, stateDir, dialect: 'omp18' })
    assert.throws(() => hashTools(session, { operations: ['delete'] }), /options\.operations: /)
  }))

test('descriptions have the configured names of tools, and correct anchors', () => {
  const names = { read: 'peek', search: 'seek', apply: 'poke' }
  for (const dialect of /** @type {const} */ (['pi', 'pi26', 'cli', 'omp', 'omp13'])) {
    const tools = hashTools(new HashSession({ dialect }), { names })
    assert.deepEqual(
      Object.values(tools).map(({ name }) => name),
      Object.values(names),
    )
    const texts = Object.values(tools)
      .flatMap(({ description, snippet, guidelines }) => [description, snippet, ...guidelines])
      .join('\n')
    assert.match(texts, /peek.*seek.*poke/s)
    assert.doesNotMatch(texts, /apply|\bread\b(?! again| first)/)
    assert.ok(texts.length < 3000, `${texts.length}`)
    const { description } = tools.apply
    const [, code, call] = /showed of a\.js\n(.*)\nTo .*:\n(\{.*\})$/s.exec(description) ?? []
    const rows = code.split('\n')
    const source = rows.map((row) => row.replace(/^\d+[:#]\w+[|:]/, '')).join('\n')
    assert.deepEqual(rows, formatHashed(source, { dialect }).split('\n'))
    for (const { anchor } of JSON.parse(call).operations) {
      assert.ok(
        rows.some((row) => row.startsWith(anchor)),
        `${anchor} in ${code}`,
      )
    }
  }
})

test('a result with an image is converted into the parts of each vendor', () => {
  const bytes = Buffer.from('GIF')
  const result = {
    text: 'a.gif',
    images: [{ path: 'a.gif', mimeType: /** @type {const} */ ('image/gif'), data: bytes }],
  }
  const data = bytes.toString('base64')
  assert.deepEqual(toOpenAIContent(result), [
    { type: 'text', text: 'a.gif' },
    { type: 'image_url', image_url: { url: `data:image/gif;base64,${data}` } },
  ])
  assert.deepEqual(toAnthropicContent(result), [
    { type: 'text', text: 'a.gif' },
    { type: 'image', source: { type: 'base64', media_type: 'image/gif', data } },
  ])
  assert.deepEqual(toGeminiParts(result), [{ text: 'a.gif' }])
  const [{ path }] = result.images
  const png = {
    text: '',
    images: [{ path, mimeType: /** @type {const} */ ('image/png'), data: bytes }],
  }
  assert.deepEqual(toGeminiParts(png), [{ inlineData: { mimeType: 'image/png', data } }])
  assert.equal(toOpenAIContent(png).length, 1)
  assert.equal(toAnthropicContent(png).length, 1)
})

/** @param {any} schema @param {(schema: any, depth: number) => void} visit */
function everywhere(schema, visit, depth = 0) {
  visit(schema, depth)
  if (schema.items) everywhere(schema.items, visit, depth + 1)
  for (const one of Object.values(schema.properties ?? {})) everywhere(one, visit, depth + 1)
}

/** The keywords of Gemini's function declarations; any other makes it refuse the request. */
const GEMINI_WORDS = ['type', 'description', 'properties', 'required', 'items', 'enum']

test('schemas keep the rules of every vendor at once', () => {
  for (const tool of describingAll) {
    // OpenAI, Anthropic and Gemini accept such names.
    assert.match(tool.name, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
    assert.equal(tool.inputSchema.type, 'object')
    everywhere(tool.inputSchema, (schema, depth) => {
      for (const word of Object.keys(schema)) assert.ok(GEMINI_WORDS.includes(word), word)
      assert.equal(typeof schema.type, 'string')
      if (schema.type === 'array') assert.ok(schema.items)
      if (schema.type === 'object') assert.ok(Object.keys(schema.properties).length > 0)
      if (schema.enum) assert.equal(schema.type, 'string')
      for (const name of schema.required ?? []) assert.ok(Object.hasOwn(schema.properties, name))
      assert.ok(depth <= 4)
    })
    const anthropic = toAnthropic(tool)
    assert.deepEqual(Object.keys(anthropic), ['name', 'description', 'input_schema'])
    assert.deepEqual(anthropic.input_schema, tool.inputSchema)
    const openai = toOpenAI(tool)
    assert.deepEqual(openai.function.parameters, tool.inputSchema)
    assert.equal('strict' in openai.function, false)
  }
})

test("OpenAI's strict mode: every field is required, and optional ones are nullable", () => {
  for (const tool of describingAll) {
    const { parameters, strict } = toOpenAI(tool, { strict: true }).function
    assert.equal(strict, true)
    everywhere(parameters, (schema) => {
      if (![schema.type].flat().includes('object')) return
      assert.equal(schema.additionalProperties, false)
      assert.deepEqual(schema.required, Object.keys(schema.properties))
    })
    const before = Object.entries(tool.inputSchema.properties ?? {})
    for (const [name, { type }] of before) {
      const isRequired = tool.inputSchema.required?.includes(name)
      const strictType = untyped(parameters).properties[name].type
      assert.deepEqual(strictType, isRequired ? type : [type, 'null'])
    }
  }
})

test('calls in strict mode, with null in every unused field, are run', () =>
  withDir({ 'a.txt': 'a\nb\n' }, async (cwd, stateDir) => {
    const { read, search, apply } = toolsOf(cwd, stateDir)
    const nulls = (/** @type {HashTool} */ tool) =>
      Object.fromEntries(Object.keys(tool.inputSchema.properties ?? {}).map((name) => [name, null]))
    const shown = await read.execute({ ...nulls(read), path: 'a.txt' })
    assert.equal(shown.isError, false)
    assert.deepEqual(new Set(rules(shown)), new Set(['unused']))
    assert.equal((await search.execute({ ...nulls(search), pattern: 'b' })).isError, false)
    const fields = Object.keys(apply.inputSchema.properties?.operations.items?.properties ?? {})
    const none = Object.fromEntries(fields.map((name) => [name, null]))
    const operations = [
      { ...none, op: 'set_line', path: 'a.txt', anchor: anchorOf(shown.text, 'a'), text: 'A' },
      { ...none, op: 'delete', path: 'a.txt', anchor: anchorOf(shown.text, 'b') },
      { ...none, op: 'add_file', path: 'c.txt', content: '' },
    ]
    const { text, isError } = await apply.execute({ operations })
    assert.equal(isError, false, text)
    assert.doesNotMatch(text, /null|omitted/)
  }))

test('a Standard Schema accepts every object and returns a copy of the JSON Schema', () => {
  const [read] = describing
  const { '~standard': standard } = toStandardSchema(read)
  assert.deepEqual([standard.version, standard.vendor], [1, 'hashline-native'])
  const value = { path: 'a', extra: 1 }
  assert.deepEqual(standard.validate(value), { value })
  assert.ok('issues' in standard.validate('x'))
  const schema = standard.jsonSchema.input({ target: 'draft-07' })
  assert.deepEqual(schema, read.inputSchema)
  schema.additionalProperties = false
  assert.equal('additionalProperties' in read.inputSchema, false)
})

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

test('the AI SDK gets texts, errors and images as it shows them to a model', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    writeFileSync(join(cwd, 'a.png'), PNG)
    const tools = toAiSdk(toolsOf(cwd, stateDir))
    assert.deepEqual(Object.keys(tools), ['read', 'search', 'apply'])
    const shown = async (/** @type {string} */ path) =>
      tools.read.toModelOutput({ output: await tools.read.execute({ path }) })
    const text = await shown('a.txt')
    assert.ok(text.type === 'text' && /^1\w\w\|a$/.test(text.value), JSON.stringify(text))
    assert.equal((await shown('none.txt')).type, 'error-text')
    const image = await shown('a.png')
    assert.ok(image.type === 'content')
    const [note, file] = image.value
    assert.ok(note.type === 'text' && file.type === 'file')
    assert.deepEqual([file.mediaType, Buffer.from(file.data.data)], ['image/png', PNG])
    const aborted = { abortSignal: AbortSignal.abort() }
    await assert.rejects(tools.read.execute({ path: 'a.txt' }, aborted), { name: 'AbortError' })
  }))

test('a zod shape creates a zod type for each field', () => {
  /** Records the calls of zod. @param {string} text @returns {any} */
  const type = (text) => ({
    text,
    describe: () => type(`${text} described`),
    optional: () => type(`${text}?`),
    int: () => type('integer'),
    strict: () => type(text),
    catch: () => type(text),
  })
  const z = {
    preprocess: (/** @type {any} */ _, /** @type {any} */ inner) => inner,
    string: () => type('string'),
    number: () => type('number'),
    boolean: () => type('boolean'),
    array: (/** @type {any} */ { text }) => type(`[${text}]`),
    object: (/** @type {any} */ fields) => type(`{${Object.keys(fields).slice(0, 2)}}`),
    enum: (/** @type {string[]} */ values) => type(values.join('|')),
  }
  const [read, , apply] = describing
  const texts = (/** @type {HashTool} */ tool) =>
    Object.fromEntries(Object.entries(toZodShape(z, tool)).map(([name, { text }]) => [name, text]))
  assert.deepEqual(texts(read), {
    path: 'string',
    symbol: 'string?',
    start_line: 'integer?',
    max_lines: 'integer?',
    columns: '[integer]? described',
    fold: 'boolean?',
    open: '[string]?',
    encoding: 'string?',
    more_paths: '[string]?',
  })
  assert.deepEqual(texts(apply), { path: 'string? described', operations: '[{op,path}]' })
})

test('the guard names the tool to use, and allows programs', () => {
  assert.match(
    guard('cat greet.js | head') ?? '',
    /^Blocked: .*\n`cat` reads `greet\.js`: .* `read`/,
  )
  assert.match(guard('grep -n x greet.js') ?? '', /`grep` searches `greet\.js`: .* `search`/)
  assert.match(guard("echo 'x' > greet.js") ?? '', /`greet\.js`: .* `apply`/)
  const both = guard('sed -i s/a/b/ a.js && cat a.js', { names: { read: 'peek', apply: 'poke' } })
  assert.match(both ?? '', /`poke`.*\n.*`peek`/)
  for (const command of ['git log | head', 'npm test 2>&1 | tail -20', 'ls -l', '']) {
    assert.equal(guard(command), undefined, command)
  }
  assert.equal(guard('cat a.js', { policy: { reads: false } }), undefined)
  assert.equal(guard('echo "'), undefined)
  assert.match(guard('echo "', { policy: { unparsed: 'write' } }) ?? '', /cannot be parsed/)
  assert.throws(() => guard('ls', { policy: untyped({ write: true }) }), {
    code: 'INVALID_ARGUMENT',
  })
})
