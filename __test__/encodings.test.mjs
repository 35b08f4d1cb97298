// Files that are not UTF-8, in sessions and tools. The cases are in
// crates/core/tests/all/encodings.rs and crates/tools/tests/all/encodings.rs.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HashSession, readHashedSync } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { withDir } from './support.mjs'

const SENTENCE = Buffer.from('93fa967b8cea82cc95b68fcd82c582b781420a', 'hex')
const VALUE = Buffer.from('926c0a', 'hex')

test('regression: a session reads, searches and edits a file in its encoding', () =>
  withDir({ 'a.txt': SENTENCE }, async (dir) => {
    const session = new HashSession({ cwd: dir })
    const { text, views } = await session.read('a.txt')
    const [view] = views
    assert.ok(view.kind === 'text')
    assert.deepEqual([view.encoding, view.lossy], ['shift_jis', false])
    assert.match(text, /日本語の文章です。\n\(encoding: Shift_JIS; edits keep it\)$/)
    /** @type {import('hashline-native').SearchQuery} */
    const query = { search: '日本語', encoding: 'shift_jis' }
    assert.equal(session.searchSync(query).matchCount, 1)
    const [found] = session.searchSync({ search: '日本語' }).files
    assert.equal(found.encoding, 'shift_jis')
    const patch = { operations: [{ op: 'insert_after', path: 'a.txt', anchor: 'EOF', text: '値' }] }
    const outcome = await session.apply(/** @type {any} */ (patch))
    assert.equal(outcome.status, 'applied', outcome.text)
    assert.deepEqual(readFileSync(join(dir, 'a.txt')), Buffer.concat([SENTENCE, VALUE]))
    // Without a session, nothing is guessed.
    const plain = readHashedSync(join(dir, 'a.txt'))[0]
    assert.ok(plain.kind === 'text')
    assert.deepEqual([plain.encoding, plain.lossy], ['utf-8', true])
  }))

test('the read tool lists an encoding, and the edit tool accepts one', () =>
  withDir({ 'a.txt': Buffer.from([0xd4, 0x0a]) }, async (dir) => {
    const { read, apply } = hashTools(new HashSession({ cwd: dir }))
    const { properties } = /** @type {any} */ (read.inputSchema)
    assert.equal(properties.encoding.type, 'string')
    const shown = await read.execute({ path: 'a.txt', encoding: 'windows-1251' })
    assert.match(shown.text, /\|Ф$/)
    const operations = [{ op: 'add_file', path: 'b.txt', content: '値\n' }]
    const done = await apply.execute({ encoding: 'shift_jis', operations })
    assert.equal(done.isError, false, done.text)
    assert.deepEqual(readFileSync(join(dir, 'b.txt')), VALUE)
  }))
