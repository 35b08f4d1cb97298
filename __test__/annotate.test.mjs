// `session.annotate`: the lines that the output of a program names. The forms are tested in
// crates/core/tests/all/annotate.rs.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join, normalize } from 'node:path'
import { test } from 'node:test'
import { HashSession } from 'hashline-native'
import { annotation } from 'hashline-native/tools'
import { assertRejects, withDir } from './support.mjs'

test('the lines that an output names can be edited at once', () =>
  withDir({ 'src/a.js': "const port = 80\nthrow new Error('no')\n" }, async (dir) => {
    const session = new HashSession({ cwd: dir })
    let output
    try {
      execFileSync(process.execPath, [join(dir, 'src/a.js')], { stdio: 'pipe' })
    } catch (error) {
      output = /** @type {{ stderr: Buffer }} */ (error).stderr
    }
    assert.ok(output)
    const { text, views, changed } = await session.annotate(output, { since: Date.now() + 60_000 })
    assert.match(text, /^--- src[/\\]a\.js ---\n2[a-z]+\|throw new Error\('no'\)$/)
    assert.deepEqual([views.length, changed], [1, undefined])
    assert.deepEqual(/** @type {any} */ (views[0]).matchLines, [2])
    const anchor = text.split('\n')[1]
    const operations = [{ op: 'delete', path: 'src/a.js', anchor }]
    const outcome = await session.apply(/** @type {any} */ ({ operations }))
    assert.equal(outcome.status, 'applied', outcome.text)
    const after = session.annotateSync('src/a.js:1:1', { since: 0, context: 1 })
    assert.deepEqual(after.changed, [normalize('src/a.js')])
  }))

test('outputs that are not valid Unicode, and misuse', () =>
  withDir({ 'a.js': 'a\n' }, async (dir) => {
    const session = new HashSession({ cwd: dir })
    const rows = (/** @type {any} */ output) => session.annotateSync(output).views.length
    assert.equal(rows('\ud800 a.js:1'), 1)
    assert.equal(rows(Buffer.from([0xff, 0x20, ...Buffer.from('a.js:1')])), 1)
    assert.equal(rows(''), 0)
    const misuse = /** @type {any[][]} */ ([[1], [undefined], ['', { since: -1 }], ['', { x: 1 }]])
    for (const args of misuse) {
      await assertRejects(() => Reflect.apply(session.annotate, session, args), 'INVALID_ARGUMENT')
    }
    const signal = AbortSignal.abort()
    await assert.rejects(session.annotate('a.js:1', { signal }), { name: 'AbortError' })
  }))

test('the text for a host to append', () =>
  withDir({ 'a.js': 'one\ntwo\n', 'sub/b.js': 'three\n' }, async (dir) => {
    const session = new HashSession({ cwd: dir })
    const shown = /^Lines .*:\n--- a\.js ---\n2[a-z]+\|two$/
    const text = await annotation(session, Buffer.from('a.js:2: error'))
    assert.match(text, shown)
    const anchor = text.split('\n')[2]
    const outcome = await session.apply({ operations: [{ op: 'delete', path: 'a.js', anchor }] })
    assert.equal(outcome.status, 'applied')
    for (const options of [{ command: 'cd sub && make' }, { cwd: join(dir, 'sub') }]) {
      assert.match(await annotation(session, 'b.js:1: error', options), /--- sub[/\\]b\.js ---/)
    }
    assert.match(await annotation(session, 'a.js:1: error', { since: 0 }), /changed after/)
    for (const output of ['', 'fine', 'b.js:1: error', 'a.js:99: error']) {
      assert.equal(await annotation(session, output), '')
    }
    // The output shows the line itself.
    const { text: rows } = await session.read('a.js')
    assert.equal(await annotation(session, `${rows}\na.js:1: error\n`), '')
    for (const args of [
      [1, 'a'],
      [session, 5],
      [session, '', { x: 1 }],
      [session, '', { cwd: 1 }],
    ]) {
      await assert.rejects(Reflect.apply(annotation, undefined, args))
    }
    const signal = AbortSignal.abort()
    await assert.rejects(annotation(session, 'a.js:1', { signal }), { name: 'AbortError' })
  }))
