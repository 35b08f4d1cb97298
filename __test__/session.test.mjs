import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatHashed, HashSession } from 'hashline-native'
import { assertRejects, assertThrows, isEmulated, untyped, withDir } from './support.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const numbered = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

/** The first row of a text with this end. */
const row = (/** @type {string} */ text, /** @type {string} */ end) => {
  const found = text.split('\n').find((one) => one.endsWith(end))
  assert.ok(found, `${end} in ${text}`)
  return found
}

const session = (/** @type {string} */ cwd, /** @type {string} */ stateDir, more = {}) =>
  new HashSession({ cwd, stateDir, durability: 'process', ...more })

test('an anchor means the line that was shown', () =>
  withDir({ 'a.txt': numbered(30) }, async (cwd, stateDir) => {
    const file = join(cwd, 'a.txt')
    const one = session(cwd, stateDir)
    const { text, views, images, next } = await one.read('a.txt')
    assert.equal(views[0].lineCount, 30)
    assert.deepEqual([images, next], [[], undefined])
    writeFileSync(file, `new\n${numbered(30)}`)
    const anchor = row(text, '|line 10').split('|')[0]
    const outcome = await one.apply({
      operations: [{ op: 'set_line', path: 'a.txt', anchor, text: 'ten' }],
    })
    assert.equal(outcome.status, 'applied')
    assert.equal(readFileSync(file, 'utf8'), `new\n${numbered(30).replace('line 10\n', 'ten\n')}`)
    const [change] = outcome.files
    assert.match(change.diff ?? '', /^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -8,7 \+8,7 @@\n/)
    assert.deepEqual(change.hunks?.[0].lines.slice(3, 5), ['-line 10', '+ten'])
    // A line that another process changed is refused, with both versions.
    writeFileSync(file, readFileSync(file, 'utf8').replace('line 20\n', 'twenty\n'))
    const stale = row(text, '|line 20').split('|')[0]
    const refused = one.applySync({
      operations: [{ op: 'delete', path: 'a.txt', anchor: stale }],
    })
    assert.equal(refused.status, 'rejected')
    assert.equal(refused.code, 'HASH_MISMATCH')
    assert.match(refused.text, /- 20\w\w\|line 20/)
    assert.match(refused.text, /21\w\w\|twenty/)
  }))

test('lines that were never shown are refused, or matched on request', () =>
  withDir({ 'a.txt': numbered(50) }, async (cwd, stateDir) => {
    const anchor = row(session(cwd, stateDir).readSync('a.txt').text, '|line 40')
    const patch = { operations: [/** @type {const} */ ({ op: 'delete', path: 'a.txt', anchor })] }
    const one = session(cwd, stateDir)
    one.readSync({ path: 'a.txt', maxLines: 10 })
    const refused = one.applySync(patch)
    assert.ok(refused.status === 'rejected' && refused.code === 'NOT_SHOWN', refused.text)
    const other = session(cwd, stateDir, { unseen: 'match' })
    assert.equal(other.applySync(patch, { dryRun: true }).status, 'applied')
    // A refusal shows the lines, so they are known now.
    assert.equal(one.applySync(patch).status, 'applied')
  }))

test('calls take effect in the order in which they are made', () =>
  withDir({ 'a.txt': 'a\nb\n\n}\n' }, async (cwd, stateDir) => {
    const one = session(cwd, stateDir)
    const rows = one.readSync('a.txt').text.split('\n')
    const count = isEmulated ? 40 : 400
    const calls = Array.from({ length: count }, (_, n) =>
      one.apply({
        operations: [
          { op: 'insert_after', path: 'a.txt', anchor: rows[n % 4], text: `${n % 4}: ${n}` },
        ],
      }),
    )
    const outcomes = await Promise.all(calls)
    assert.deepEqual([...new Set(outcomes.map((one) => one.status))], ['applied'])
    const expected = ['a', 'b', '', '}'].flatMap((line, at) => {
      const mine = Array.from({ length: count / 4 }, (_, n) => `${at}: ${n * 4 + at}`)
      return [line, ...mine.reverse()]
    })
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), `${expected.join('\n')}\n`)
  }))

test('a read stays within its limits and says how to continue; images are bytes', () =>
  withDir({ 'a.txt': numbered(8), 'b.txt': numbered(8), empty: '' }, (cwd, stateDir) => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    writeFileSync(join(cwd, 'c.png'), png)
    const one = session(cwd, stateDir, { limits: { maxLines: 12 } })
    const report = one.readSync(['a.txt', 'b.txt', 'c.png'])
    assert.deepEqual(report.next, [
      { path: 'b.txt', startLine: 5 },
      { path: 'c.png', startLine: 1 },
    ])
    assert.match(report.text, /^--- a\.txt ---\n1\w\w\|.*\n--- b\.txt ---\n1\w\w\|/s)
    const { text, images } = one.readSync('c.png')
    assert.equal(text, `(image, image/png, ${png.length} bytes)`)
    assert.deepEqual([images[0].mimeType, Buffer.from(images[0].data)], ['image/png', png])
    assert.equal(one.readSync('empty').text, '(empty file)')
    assert.match(one.readSync({ path: 'a.txt', search: 'zebra' }).text, /^\(no match for zebra/)
  }))

test('paths start in the working directory, and root and readRoots limit them', () =>
  withDir({ 'sub/a.txt': 'a\n', 'lib/b.txt': 'b\n' }, (dir, stateDir) => {
    const cwd = join(dir, 'sub')
    const one = session(cwd, stateDir, { readRoots: join(dir, 'lib') })
    const path = join(dir, 'lib/b.txt')
    const { text, views } = one.readSync(['a.txt', path])
    assert.deepEqual(
      views.map((view) => view.error),
      [undefined, undefined],
    )
    const anchor = row(text, '|b')
    const patch = { operations: [/** @type {const} */ ({ op: 'delete', path, anchor })] }
    const refused = one.applySync(patch)
    assert.ok(refused.status === 'rejected' && refused.code === 'OUTSIDE_ROOT')
    mkdirSync(join(dir, 'other'))
    const free = session(join(dir, 'other'), stateDir, { root: false })
    free.readSync('../lib/b.txt')
    const edit = { op: 'set_line', path: '../lib/b.txt', anchor, text: 'B' }
    assert.equal(free.applySync({ operations: [untyped(edit)] }).status, 'applied')
    assert.equal(readFileSync(path, 'utf8'), 'B\n')
  }))

test('changes of other processes are reported once, after the call that detected them', () =>
  withDir({ 'a.txt': 'one\n', 'b.txt': 'two\n' }, async (cwd, stateDir) => {
    const one = session(cwd, stateDir)
    await one.read('a.txt')
    assert.deepEqual(one.changedFiles(), [])
    writeFileSync(join(cwd, 'a.txt'), 'by another\n')
    await one.read('b.txt')
    assert.deepEqual([one.changedFiles(), one.changedFiles()], [['a.txt'], []])
    one.close()
    assert.throws(() => one.changedFiles(), /the session is closed/)
  }))

test('a session can be forked, forget, and learn from an old result', () =>
  withDir({ 'a.txt': numbered(5) }, (cwd, stateDir) => {
    const one = session(cwd, stateDir)
    const found = one.searchSync({ search: 'line 3' })
    const anchor = row(found.text, '|line 3')
    const fork = one.fork()
    const patch = { operations: [/** @type {const} */ ({ op: 'delete', path: 'a.txt', anchor })] }
    assert.ok(one.memoryBytes > 0)
    one.forget()
    assert.equal(one.memoryBytes, 0)
    assert.equal(one.applySync(patch, { dryRun: true }).status, 'rejected')
    assert.equal(fork.applySync(patch, { dryRun: true }).status, 'applied')
    const later = session(cwd, stateDir)
    assert.equal(later.observe(found.text), 1)
    assert.equal(later.observe('5aa|line 5\nnot a row', 'a.txt'), 0)
    assert.equal(later.applySync(patch).status, 'applied')
  }))

test('a cancelled call ends, and later calls continue', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const one = session(cwd, stateDir)
    const [anchor] = one.readSync('a.txt').text.split('\n')
    const patch = (/** @type {string} */ text) => ({
      operations: [/** @type {const} */ ({ op: 'insert_after', path: 'a.txt', anchor, text })],
    })
    const controller = new AbortController()
    const aborted = one.apply(patch('x'), { signal: controller.signal })
    controller.abort()
    const next = one.apply(patch('y'))
    const outcome = await aborted.catch((error) => error)
    assert.ok(outcome.status === 'applied' || outcome.name === 'AbortError', outcome)
    assert.equal((await next).status, 'applied')
  }))

test('regression: lines of a cancelled read do not count as shown', () =>
  withDir({ 'a.txt': numbered(2000) }, async (cwd, stateDir) => {
    const [, anchor] = session(cwd, stateDir).readSync('a.txt').text.split('\n')
    const operations = [/** @type {const} */ ({ op: 'set_line', path: 'a.txt', anchor, text: 'x' })]
    // The signal fires before, during and after the work, at varying times.
    for (let spins = 0; spins < 60; spins++) {
      const one = session(cwd, stateDir)
      const controller = new AbortController()
      const read = one.read('a.txt', { signal: controller.signal })
      for (let spin = 0; spin < spins ** 3; spin++) Math.sqrt(spin)
      controller.abort()
      const isShown = await read.then(
        () => true,
        () => false,
      )
      const { status } = one.applySync({ operations }, { dryRun: true })
      assert.equal(status, isShown ? 'applied' : 'rejected')
    }
  }))

test('a call may be made while another one reads its signal', () =>
  withDir({ 'a.txt': 'a\nb\n' }, async (cwd, stateDir) => {
    const one = session(cwd, stateDir)
    const [first, second] = one.readSync('a.txt').text.split('\n')
    const set = (/** @type {string} */ anchor, /** @type {string} */ text) => ({
      operations: [/** @type {const} */ ({ op: 'set_line', path: 'a.txt', anchor, text })],
    })
    /** @type {string[]} */
    const inner = []
    const signal = untyped({
      get aborted() {
        inner.push(inner.length ? 'again' : one.applySync(set(first, 'A')).status)
        return false
      },
      addEventListener() {},
      removeEventListener() {},
    })
    const outer = await one.apply(set(second, 'B'), { signal })
    assert.deepEqual([inner[0], outer.status], ['applied', 'applied'])
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'A\nB\n')
  }))

test('a stored session is shared with other processes', () =>
  withDir({ 'a.txt': numbered(9) }, async (cwd, stateDir) => {
    const store = { id: 'one', dir: join(stateDir, 'sessions') }
    const code = `
      const { HashSession } = require('hashline-native')
      const one = new HashSession(${JSON.stringify({ cwd, stateDir, store })})
      process.stdout.write(one.readSync('a.txt').text)`
    const child = spawnSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' })
    const anchor = row(child.stdout, '|line 5')
    writeFileSync(join(cwd, 'a.txt'), `new\n${numbered(9)}`)
    const patch = {
      operations: [/** @type {const} */ ({ op: 'set_line', path: 'a.txt', anchor, text: 'five' })],
    }
    assert.equal(session(cwd, stateDir).applySync(patch).status, 'rejected')
    const one = session(cwd, stateDir, { store })
    assert.equal(one.applySync(patch).status, 'applied')
    assert.deepEqual(one.notes, [])
    assert.equal(
      readFileSync(join(cwd, 'a.txt'), 'utf8'),
      `new\n${numbered(9).replace('line 5', 'five')}`,
    )
    const message = 'options.store.id is undefined: expected a string'
    assert.throws(() => session(cwd, stateDir, { store: {} }), { message })
    assert.throws(() => session(cwd, stateDir, { store: { id: '' } }), { message: /1 to 200/ })
  }))

test('forgotten lines are removed from the disk', () =>
  withDir({ '.env': 'TOKEN=hunter2\n' }, async (cwd, stateDir) => {
    const one = session(cwd, stateDir, { store: { id: 'one' } })
    const { text } = one.readSync('.env')
    const stored = () =>
      readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
        .map((name) => join(stateDir, name))
        .filter((path) => statSync(path).isFile())
        .map((path) => readFileSync(path, 'utf8'))
    assert.ok(stored().some((content) => content.includes('hunter2')))
    one.forget('.env')
    assert.ok(!stored().some((content) => content.includes('hunter2')))
    const later = session(cwd, stateDir, { store: { id: 'one' } })
    const outcome = later.applySync({
      operations: [{ op: 'delete', path: '.env', anchor: row(text, '|TOKEN=hunter2') }],
    })
    assert.equal(outcome.status === 'rejected' && outcome.code, 'NOT_SHOWN')
  }))

test('regression: with any limit, a refused edit passes when it is repeated', () =>
  withDir({ 'a.txt': numbered(9) }, async (cwd, stateDir) => {
    const { text } = session(cwd, stateDir).readSync('a.txt')
    const one = session(cwd, stateDir, { memory: { maxBytes: 1, maxFiles: 1, maxVersions: 1 } })
    const operations = [
      /** @type {const} */ ({ op: 'delete', path: 'a.txt', anchor: row(text, '|line 4') }),
    ]
    assert.equal(one.applySync({ operations }).status, 'rejected')
    assert.equal(one.applySync({ operations }).status, 'applied')
    for (const name of ['maxBytes', 'maxFiles', 'maxVersions']) {
      const misuse = () => session(cwd, stateDir, { memory: { [name]: 0 } })
      assert.throws(misuse, { message: `options.memory.${name} is 0: expected at least 1` })
    }
  }))

test('misuse is refused with the reason', () =>
  withDir({ 'a.txt': 'a\n' }, async (cwd, stateDir) => {
    const make = (/** @type {object} */ options) => () => new HashSession(untyped(options))
    assert.throws(make({ cwd: 7 }), {
      code: 'INVALID_ARGUMENT',
      message: /options\.cwd is the number 7/,
    })
    assert.throws(make({ cwd, root: true }), { message: /options\.root .*a directory, or false/ })
    assert.throws(make({ cwd, limits: { lines: 1 } }), {
      message: /options\.limits has the unknown name/,
    })
    assert.throws(make({ cwd, unseen: 'guess' }), { message: /"refuse", "match"/ })
    assert.throws(() => session(join(cwd, 'missing'), stateDir), {
      code: 'INVALID_ARGUMENT',
      message: /^cwd .*missing cannot be the directory of relative paths/,
    })
    const one = session(cwd, stateDir)
    await assertRejects(() => one.read(untyped(5)), 'INVALID_ARGUMENT', 'requests')
    const refused = one.applySync(untyped({ operations: [{ op: 'frob' }] }))
    assert.equal(refused.status, 'rejected')
  }))

test('JSON documents are read and edited by path in a session', () =>
  withDir({ 'a.json': '{"version": "1.0.0"}\n' }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, durability: 'process' })
    const { text } = await session.readJson('a.json')
    const anchor = /\$\.version:\w+/.exec(text)?.[0] ?? assert.fail(text)
    const patch = { path: 'a.json', edits: [{ set_path: { anchor, value: '2.0.0' } }] }
    const tried = session.applyJsonSync(patch, { dryRun: true })
    assert.match(tried.files?.[0].diff ?? '', /^\+\{"version": "2\.0\.0"\}$/m)
    assert.equal((await session.applyJson(patch)).status, 'applied')
    assert.match(session.readJsonSync({ path: 'a.json' }).text, /"2\.0\.0"/)
    await assertRejects(() => session.readJson('b.json'), 'FILE_NOT_FOUND')
  }))

test('a closed session refuses calls, and earlier calls finish', () =>
  withDir({ 'a.txt': '}\n' }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir })
    const fork = session.fork()
    const reading = session.read('a.txt')
    session.close()
    session.close()
    assert.equal((await reading).text, formatHashed('}', { dialect: 'lean' }))
    const closed = 'the session is closed'
    await assertRejects(() => session.read('a.txt'), 'INVALID_ARGUMENT', closed)
    for (const use of [() => session.fork(), () => session.notes, () => session.forget()])
      assertThrows(use, 'INVALID_ARGUMENT', closed)
    assert.equal(fork.readSync('a.txt').text, formatHashed('}', { dialect: 'lean' }))
  }))
