// Documents of a session, and tools over files that the host holds.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { assertThrows, untyped, withDir } from './support.mjs'

/** @import { HostFiles } from 'hashline-native/tools' */

const ROOT = '/nowhere/project'

const inMemory = () => new HashSession({ root: ROOT, disk: false })

/** The row of a text with this end. */
const row = (/** @type {string} */ text, /** @type {string} */ end) => {
  const found = text.split('\n').find((one) => one.endsWith(`|${end}`))
  assert.ok(found, `${end} in ${text}`)
  return found
}

/** @param {string} path @param {string} anchor @param {string} text */
const setLine = (path, anchor, text) => ({
  operations: [{ op: /** @type {const} */ ('set_line'), path, anchor, text }],
})

test('a document is edited in place of its file, and the outcome says how', () =>
  withDir({ 'a.txt': 'saved\n' }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir })
    session.setDocument('a.txt', 'one\r\n😀 two\r\n', { version: 3 })
    assert.deepEqual(session.documents(), [{ path: 'a.txt', version: 3 }])
    const { text } = await session.read('a.txt')
    const outcome = await session.apply(setLine('a.txt', row(text, '😀 two'), '2'))
    assert.ok(outcome.status === 'applied')
    const [{ document, content, textEdits, version }] = outcome.files
    assert.deepEqual([document, content, version], [true, 'one\r\n2\r\n', 3])
    assert.deepEqual(textEdits, [
      {
        range: { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } },
        newText: '2\r\n',
      },
    ])
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'saved\n')
    assert.deepEqual(
      [session.closeDocument('a.txt'), session.closeDocument('a.txt')],
      [true, false],
    )
    assert.match(session.readSync('a.txt').text, /\|saved$/)
    // A file has none of these fields.
    const saved = row(session.readSync('a.txt').text, 'saved')
    const ofFile = session.applySync(setLine('a.txt', saved, 'new'))
    assert.ok(ofFile.status === 'applied')
    const fields = Object.keys(ofFile.files[0]).filter((name) =>
      /document|content|textEdits/.test(name),
    )
    assert.deepEqual(fields, [])
  }))

test('bytes stay bytes', async () => {
  const session = inMemory()
  session.setDocument('a.txt', Buffer.from('\ufeffb\n', 'utf16le'))
  const { text, views } = await session.read('a.txt')
  assert.equal(views[0].encoding, 'utf-16le')
  const outcome = await session.apply(setLine('a.txt', row(text, 'b'), 'ü'))
  assert.ok(outcome.status === 'applied')
  const [{ content, textEdits }] = outcome.files
  assert.ok(content instanceof Uint8Array)
  assert.equal(Buffer.from(content).toString('utf16le'), '\ufeffü\n')
  assert.deepEqual(textEdits, [])
})

test('the example of a harness in the documentation runs', async () => {
  const page = readFileSync(new URL('../docs/documents.md', import.meta.url), 'utf8')
  const code = page.split('```js\n').find((part) => part.startsWith('import assert'))
  assert.ok(code)
  const body = code.slice(0, code.indexOf('```')).replace(/^import .*$/gm, '')
  const AsyncFunction = (async () => {}).constructor
  await AsyncFunction('assert', 'HashSession', 'hashTools', body)(assert, HashSession, hashTools)
})

test('wrong arguments are refused', () => {
  const session = inMemory()
  const set = untyped(session)
  assertThrows(
    () => set.setDocument('a', 1),
    'INVALID_ARGUMENT',
    'text is the number 1: expected a string or a Uint8Array',
  )
  assertThrows(() => set.setDocument('a', '\ud800'), 'UNENCODABLE_TEXT', 'lone surrogate')
  assertThrows(() => set.setDocument('a', 'b', { version: 'x' }), 'INVALID_ARGUMENT', 'version')
  assertThrows(() => set.setDocument('a', 'b', { other: 1 }), 'INVALID_ARGUMENT', 'other')
  assertThrows(() => session.setDocument('../a', 'b'), 'OUTSIDE_ROOT')
  assertThrows(
    () => new HashSession({ disk: false, store: { id: 'a' } }),
    'INVALID_ARGUMENT',
    'disk is false',
  )
  assert.deepEqual(session.documents(), [])
})

/**
 * A host that keeps files in memory, and a log of the calls to it.
 * @param {Record<string, string | Uint8Array>} contents
 * @param {Partial<HostFiles>} [more]
 */
function hostOf(contents, more) {
  const files = new Map(Object.entries(contents).map(([name, text]) => [`${ROOT}/${name}`, text]))
  /** @type {string[]} */
  const log = []
  /** @type {HostFiles} */
  const host = {
    read: async (path) => files.get(path) ?? null,
    write: async (path, content) => {
      log.push(`write ${path.slice(ROOT.length + 1)}`)
      files.set(path, content)
    },
    remove: async (path) => {
      log.push(`remove ${path.slice(ROOT.length + 1)}`)
      files.delete(path)
    },
    ...more,
  }
  const text = (/** @type {string} */ name) => files.get(`${ROOT}/${name}`)
  return { files, host, log, text }
}

/** @param {HostFiles} host */
const toolsOf = (host, session = inMemory()) => ({
  session,
  ...hashTools(session, { files: host }),
})

describe('tools over files of the host', () => {
  test('read, edit, create, move and delete them', async () => {
    const { host, log, text } = hostOf({ 'src/a.ts': 'one\ntwo\n', 'b.ts': 'x\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'src/a.ts' })
    const result = await apply.execute({
      operations: [
        { op: 'set_line', path: 'src/a.ts', anchor: row(shown.text, 'two'), text: '2' },
        { op: 'add_file', path: 'c.ts', content: 'new\n' },
        { op: 'move_file', path: 'b.ts', to: 'd.ts' },
      ],
    })
    assert.equal(result.isError, false, result.text)
    assert.deepEqual(['src/a.ts', 'b.ts', 'c.ts', 'd.ts'].map(text), [
      'one\n2\n',
      undefined,
      'new\n',
      'x\n',
    ])
    assert.deepEqual(log, ['write src/a.ts', 'write c.ts', 'write d.ts', 'remove b.ts'])
    assert.match(result.diff ?? '', /^\+2$/m)
    assert.match((await read.execute({ path: 'nothing' })).text, /FILE_NOT_FOUND/)
  })

  test('see what the user typed since, and refuse what was changed', async () => {
    const { files, host, text } = hostOf({ 'a.ts': 'one\ntwo\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a.ts' })
    files.set(`${ROOT}/a.ts`, 'zero\none\ntwo\n')
    const edit = (/** @type {string} */ line) =>
      apply.execute({
        path: 'a.ts',
        operations: [{ op: 'set_line', anchor: row(shown.text, line), text: 'new' }],
      })
    assert.equal((await edit('two')).isError, false)
    assert.equal(text('a.ts'), 'zero\none\nnew\n')
    files.set(`${ROOT}/a.ts`, 'zero\nuno\nnew\n')
    const refused = await edit('one')
    assert.ok(refused.isError && /\|uno/.test(refused.text), refused.text)
  })

  test('a write that fails is undone, and the session remembers nothing of it', async () => {
    const { host, log, text } = hostOf({ 'a.ts': 'one\n', 'b.ts': 'two\n' })
    let fails = true
    const write = host.write
    host.write = async (path, content, context) => {
      await write(path, content, context)
      if (fails && path.endsWith('b.ts') && content === 'new\n') throw new Error('the disk is full')
    }
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a.ts', more_paths: ['b.ts'] })
    const operations = ['a.ts', 'b.ts'].map((path, at) => ({
      op: 'set_line',
      path,
      anchor: row(shown.text, ['one', 'two'][at]),
      text: 'new',
    }))
    const refused = await apply.execute({ operations })
    assert.ok(refused.isError)
    assert.equal(refused.structured.code, 'IO')
    assert.match(
      refused.text,
      /b\.ts: the host cannot write it: the disk is full\. Written back: .*b\.ts, .*a\.ts\./,
    )
    assert.deepEqual([text('a.ts'), text('b.ts')], ['one\n', 'two\n'])
    assert.deepEqual(log, ['write a.ts', 'write b.ts', 'write b.ts', 'write a.ts'])
    // The same anchors are still right.
    fails = false
    assert.equal((await apply.execute({ operations })).isError, false)
    assert.deepEqual([text('a.ts'), text('b.ts')], ['new\n', 'new\n'])
  })

  test('regression: a step that failed without effect is not undone', async () => {
    const { host, log, text } = hostOf({ 'a.ts': 'one\n', 'b.ts': 'two\n' })
    const { write } = host
    host.write = async (path, content, context) => {
      if (path.endsWith('b.ts')) throw new Error('it is locked')
      await write(path, content, context)
    }
    host.remove = () => {
      throw new Error('it is locked')
    }
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a.ts', more_paths: ['b.ts'] })
    const operations = ['a.ts', 'b.ts'].map((path, at) => ({
      op: 'set_line',
      path,
      anchor: row(shown.text, ['one', 'two'][at]),
      text: 'new',
    }))
    const refused = await apply.execute({ operations })
    assert.match(refused.text, /cannot write it: it is locked\. Written back: \S*a\.ts\.$/)
    assert.deepEqual(log, ['write a.ts', 'write a.ts'])
    const kept = await apply.execute({ operations: [{ op: 'delete_file', path: 'a.ts' }] })
    assert.match(kept.text, /cannot remove it: it is locked\.$/)
    assert.equal(log.length, 2)
    assert.deepEqual([text('a.ts'), text('b.ts')], ['one\n', 'two\n'])
  })

  test('regression: the functions of a host keep their this', async () => {
    class Host {
      texts = new Map([[`${ROOT}/a.ts`, 'one\n']])
      /** @param {string} path */
      read(path) {
        return this.texts.get(path) ?? null
      }
      /** @param {string} path @param {any} text */
      write(path, text) {
        this.texts.set(path, text)
      }
      /** @param {string} path */
      remove(path) {
        this.texts.delete(path)
      }
      /** @param {string} from @param {string} to */
      rename(from, to) {
        this.texts.set(to, this.texts.get(from) ?? '')
        this.texts.delete(from)
      }
      list() {
        return [...this.texts.keys()]
      }
    }
    const host = new Host()
    const { search, apply } = toolsOf(host)
    assert.match((await search.execute({ pattern: 'one' })).text, /\|one$/)
    const move = { op: 'move_file', from: 'a.ts', to: 'b.ts' }
    assert.equal((await apply.execute({ operations: [move] })).isError, false)
    const remove = { op: 'delete_file', path: 'b.ts' }
    assert.equal((await apply.execute({ operations: [remove] })).isError, false)
    assert.deepEqual(host.list(), [])
  })

  test('what the host formats is followed', async () => {
    const { files, host } = hostOf({ 'a.ts': 'one\ntwo\n' })
    host.write = async (path, content) => {
      files.set(path, `// formatted\n${content}`)
    }
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a.ts' })
    const edit = (/** @type {string} */ text) =>
      apply.execute({
        path: 'a.ts',
        operations: [{ op: 'set_line', anchor: row(shown.text, 'two'), text }],
      })
    const first = await edit('2')
    assert.match(first.text, /\(The host changed .*a\.ts further, such as by a formatter\./)
    const now = await read.execute({ path: 'a.ts' })
    assert.match(now.text, /\|\/\/ formatted\n2\w\w\|one\n3\w\w\|2$/)
  })

  test('searches use the list of the host, or say that there is none', async () => {
    const { files, host } = hostOf({ 'a.ts': 'needle\n', 'sub/b.ts': 'needle\n' })
    const without = await toolsOf(host).search.execute({ pattern: 'needle' })
    assert.match(
      without.text,
      /no match.*\n\(Searched only files that were read before: the host cannot list files\.\)$/s,
    )
    /** @type {any} */
    let query
    host.list = (given) => {
      query = given
      return [...files.keys()]
    }
    const { session, search } = toolsOf(host)
    const found = await search.execute({ pattern: 'needle', paths: ['sub'], globs: ['*.ts'] })
    assert.match(found.text, /^--- sub\/b\.ts ---\n1\w\w\|needle$/)
    assert.deepEqual([query.paths, query.globs], [[`${ROOT}/sub`], ['*.ts']])
    assert.deepEqual(session.documents(), [])
  })

  test('regression: one file that cannot be read does not make a search fail', async () => {
    const names = ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts', 'f.ts']
    const { files, host } = hostOf(Object.fromEntries(names.map((name) => [name, 'needle\n'])))
    host.list = () => [...files.keys()]
    const { read } = host
    host.read = (path, context) => {
      if (path.endsWith('b.ts')) return read(path, context)
      throw new Error('it is locked')
    }
    const { session, search } = toolsOf(host)
    const found = await search.execute({ pattern: 'needle' })
    assert.equal(found.isError, false)
    const failures = ['a.ts', 'c.ts', 'd.ts'].map(
      (name) => `(Not read: ${ROOT}/${name}: the host cannot read it: it is locked.)`,
    )
    const others = '(2 more files were not read: name fewer paths or globs.)'
    assert.ok(found.text.endsWith(['|needle', ...failures, others].join('\n')), found.text)
    assert.deepEqual(session.documents(), [])
  })

  test('a host without remove offers no deletion', () => {
    const { host } = hostOf({})
    delete host.remove
    const names = (/** @type {HostFiles} */ files) => {
      const { apply } = toolsOf(files)
      return /** @type {any} */ (apply.inputSchema).properties.operations.items.properties.op.enum
    }
    assert.ok(!names(host).includes('delete_file') && !names(host).includes('move_file'))
    host.rename = () => undefined
    assert.ok(!names(host).includes('delete_file') && names(host).includes('move_file'))
    assert.throws(
      () => hashTools(inMemory(), untyped({ files: { read() {} } })),
      /options\.files\.write is not a function/,
    )
  })

  test('a host that never answers can be left', async () => {
    const { host } = hostOf({ 'a.ts': 'one\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a.ts' })
    host.write = () => new Promise(() => {})
    const controller = new AbortController()
    const edit = {
      path: 'a.ts',
      operations: [{ op: 'set_line', anchor: row(shown.text, 'one'), text: 'x' }],
    }
    const running = apply.execute(edit, { signal: controller.signal })
    setImmediate(() => controller.abort())
    await assert.rejects(running, { name: 'AbortError' })
    const aborted = AbortSignal.abort()
    await assert.rejects(read.execute({ path: 'a.ts' }, { signal: aborted }), {
      name: 'AbortError',
    })
  })

  test('what a host throws or returns wrongly is reported to the model', async () => {
    const { host } = hostOf({})
    const { read } = toolsOf(host)
    host.read = () => {
      throw new Error('not connected')
    }
    const thrown = await read.execute({ path: 'a.ts' })
    assert.ok(thrown.isError)
    assert.match(thrown.text, /^IO: .*a\.ts: the host cannot read it: not connected$/)
    host.read = untyped(async () => 5)
    assert.match((await read.execute({ path: 'a.ts' })).text, /the host read number/)
  })

  test('calls made at once run one after the other', async () => {
    const { host, text } = hostOf({ 'a.ts': 'one\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a.ts' })
    const insert = (/** @type {string} */ text) =>
      apply.execute({
        path: 'a.ts',
        operations: [{ op: 'insert_after', anchor: row(shown.text, 'one'), text }],
      })
    const results = await Promise.all(['2', '3', '4'].map(insert))
    assert.ok(results.every(({ isError }) => !isError))
    assert.equal(text('a.ts'), 'one\n4\n3\n2\n')
  })

  test('a session with a disk is refused', () =>
    withDir({}, (cwd, stateDir) => {
      const session = new HashSession({ cwd, stateDir })
      const { host } = hostOf({})
      assert.throws(() => hashTools(session, { files: host }), /needs a session with disk: false/)
    }))

  for (const renames of [false, true]) {
    test(`moves form chains and swaps ${renames ? 'with' : 'without'} rename`, async () => {
      /** @param {string} from @param {string} to */
      const move = (from, to) => ({ op: 'move_file', from, to })
      const add = (/** @type {string} */ path) => ({ op: 'add_file', path, content: 'new\n' })
      const gone = (/** @type {string} */ path) => ({ op: 'delete_file', path })
      /** @type {[object[], Record<string, string>][]} */
      const cases = [
        [[move('a', 'b'), move('b', 'a')], { a: 'B\n', b: 'A\n', c: 'C\n' }],
        [[move('a', 'b'), move('b', 'd')], { b: 'A\n', d: 'B\n', c: 'C\n' }],
        [[move('a', 'b'), move('b', 'c'), move('c', 'a')], { b: 'A\n', c: 'B\n', a: 'C\n' }],
        [[move('a', 'b'), gone('b')], { b: 'A\n', c: 'C\n' }],
        [[add('b'), gone('b')], { a: 'A\n', b: 'new\n', c: 'C\n' }],
        [[add('a'), move('a', 'd')], { a: 'new\n', d: 'A\n', b: 'B\n', c: 'C\n' }],
        [[move('a', 'sub/d')], { 'sub/d': 'A\n', b: 'B\n', c: 'C\n' }],
      ]
      for (const [operations, expected] of cases) {
        const { files, host } = hostOf({ a: 'A\n', b: 'B\n', c: 'C\n' })
        if (renames) {
          host.rename = (from, to) => {
            files.set(to, files.get(from) ?? '')
            files.delete(from)
          }
        }
        const { session, apply } = toolsOf(host)
        const result = await apply.execute({ operations })
        assert.equal(result.isError, false, result.text)
        const now = Object.fromEntries(
          [...files].map(([path, text]) => [path.slice(ROOT.length + 1), text]),
        )
        assert.deepEqual(now, expected, JSON.stringify(operations))
        const open = session.documents().map(({ path }) => path.slice(ROOT.length + 1))
        assert.deepEqual(
          open.sort(),
          Object.keys(expected)
            .filter((name) => open.includes(name))
            .sort(),
        )
      }
    })
  }

  test('regression: a text that cannot be encoded is not edited', async () => {
    const { files, host, text } = hostOf({ a: 'one\ntwo\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    files.set(`${ROOT}/a`, 'one\ntwo\nuser typed \ud83d here\n')
    const again = await read.execute({ path: 'a' })
    assert.ok(again.isError)
    assert.match(again.text, /lone surrogate/)
    const edit = { op: 'set_line', path: 'a', anchor: row(shown.text, 'two'), text: 'TWO' }
    assert.ok((await apply.execute({ operations: [edit] })).isError)
    assert.equal(text('a'), 'one\ntwo\nuser typed \ud83d here\n')
  })

  test('regression: a file that became a directory, and the reverse', async () => {
    const { files, host } = hostOf({ a: 'file\n' })
    const { read } = toolsOf(host)
    await read.execute({ path: 'a' })
    files.delete(`${ROOT}/a`)
    files.set(`${ROOT}/a/b`, 'inner\n')
    assert.match((await read.execute({ path: 'a/b' })).text, /\|inner$/)
    files.delete(`${ROOT}/a/b`)
    files.set(`${ROOT}/a`, 'file\n')
    assert.match((await read.execute({ path: 'a' })).text, /\|file$/)
  })

  test('regression: a patch in the language of oh-my-pi loads the files that it names in any way', async () => {
    const { files, host, text } = hostOf({ a: 'one\ntwo\n', b: 'kept\n' })
    const session = new HashSession({ root: ROOT, disk: false, dialect: 'omp18' })
    const { read, apply } = toolsOf(host, session)
    const shown = await read.execute({ path: 'a' })
    const tag = /#(\w+)\]/.exec(shown.text)?.[1]
    files.set(`${ROOT}/a`, 'zero\none\ntwo\n')
    for (const header of [`[a #${tag}]`, `["a"#${tag}]`]) {
      await apply.execute({ patch: `${header}\nPUT 2.=2:\n+TWO` })
      assert.match(String(text('a')), /^zero\none\n/)
    }
    const now = /#(\w+)\]/.exec((await read.execute({ path: 'a' })).text)?.[1]
    for (const to of [' b', '\tb', '  "b"']) {
      const result = await apply.execute({ patch: `[a#${now}]\nMV ${to}` })
      assert.ok(result.isError, result.text)
    }
    assert.equal(text('b'), 'kept\n')
  })

  test('regression: what others wrote is not undone', async () => {
    const { files, host, text } = hostOf({ a: 'one\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    const edit = { op: 'set_line', path: 'a', anchor: row(shown.text, 'one'), text: 'ONE' }
    host.write = () => {
      files.set(`${ROOT}/a`, 'one\ntyped during the review\n')
      throw new Error('the user rejected it')
    }
    const rejected = await apply.execute({ operations: [edit] })
    assert.match(
      rejected.text,
      /the user rejected it\. Has another text meanwhile, so it was left: \S*a\.$/,
    )
    assert.equal(text('a'), 'one\ntyped during the review\n')
    host.write = (path) => {
      files.set(path, 'made by the user\n')
      throw new Error('EEXIST')
    }
    await apply.execute({ operations: [{ op: 'add_file', path: 'b', content: 'new\n' }] })
    assert.equal(text('b'), 'made by the user\n')
  })

  test('regression: sessions over one host take turns', async () => {
    const { host, text } = hostOf({ a: 'one\ntwo\nthree\n' })
    const { session, read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    const child = toolsOf(host, session.fork())
    const edit = (/** @type {string} */ line) => ({
      operations: [
        { op: 'set_line', path: 'a', anchor: row(shown.text, line), text: line.toUpperCase() },
      ],
    })
    const results = await Promise.all([
      apply.execute(edit('one')),
      child.apply.execute(edit('three')),
    ])
    assert.ok(results.every(({ isError }) => !isError))
    assert.equal(text('a'), 'ONE\ntwo\nTHREE\n')
  })

  test('regression: a call made together with a read does not mean what the read shows', async () => {
    const { files, host, text } = hostOf({ a: 'foo\nx = 1\nbar\n' })
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    files.set(`${ROOT}/a`, 'other\nx = 1\nsomething\nfoo\nx = 1\nbar\n')
    const anchor = row(shown.text, 'x = 1').split('|')[0]
    const edit = { op: 'set_line', path: 'a', anchor, text: 'x = 99' }
    await Promise.all([read.execute({ path: 'a' }), apply.execute({ operations: [edit] })])
    assert.equal(text('a'), 'other\nx = 1\nsomething\nfoo\nx = 99\nbar\n')
  })

  test('regression: a host that hangs in a write does not block the next call', async (context) => {
    const { host, text } = hostOf({ a: 'one\n' })
    const { write } = host
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    const edit = { op: 'set_line', path: 'a', anchor: row(shown.text, 'one'), text: 'ONE' }
    const controller = new AbortController()
    const begun = new Promise((resolve) => {
      host.write = () => {
        resolve(undefined)
        return new Promise(() => {})
      }
    })
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const running = apply.execute({ operations: [edit] }, { signal: controller.signal })
    await begun
    controller.abort()
    await assert.rejects(running, { name: 'AbortError' })
    host.write = write
    const next = apply.execute({ operations: [edit] })
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      context.mock.timers.tick(3_000)
    }
    assert.equal((await next).isError, false)
    assert.equal(text('a'), 'ONE\n')
  })

  test('regression: a write that ends after the signal is undone', async () => {
    const { files, host, text } = hostOf({ a: 'one\n' })
    const { write } = host
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    const controller = new AbortController()
    host.write = async (path, content) => {
      controller.abort()
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      files.set(path, content)
      host.write = write
    }
    const edit = { op: 'set_line', path: 'a', anchor: row(shown.text, 'one'), text: 'ONE' }
    const running = apply.execute({ operations: [edit] }, { signal: controller.signal })
    await assert.rejects(running, { name: 'AbortError' })
    assert.match((await read.execute({ path: 'a' })).text, /\|one$/)
    assert.equal(text('a'), 'one\n')
  })

  test('regression: a host that sets documents by itself', async () => {
    const { files, host, text } = hostOf({ a: 'one\n' })
    const session = inMemory()
    const { read, apply } = toolsOf(host, session)
    host.write = (path, content) => {
      files.set(path, content)
      session.setDocument(path, content)
    }
    const shown = await read.execute({ path: 'a' })
    const edit = { op: 'insert_after', path: 'a', anchor: row(shown.text, 'one'), text: 'two' }
    const result = await apply.execute({ operations: [edit] })
    assert.equal(result.isError, false, result.text)
    assert.equal(text('a'), 'one\ntwo\n')
  })

  test('regression: a host that sets and closes the documents of new and moved files', async () => {
    const { files, host, log, text } = hostOf({ a: 'one\n' })
    const session = inMemory()
    const { apply } = toolsOf(host, session)
    host.write = (path, content) => {
      files.set(path, content)
      session.setDocument(path, content)
    }
    host.remove = (path) => {
      files.delete(path)
      session.closeDocument(path)
    }
    const operations = [
      { op: 'add_file', path: 'new', content: 'new\n' },
      { op: 'move_file', from: 'a', to: 'b' },
    ]
    const result = await apply.execute({ operations })
    assert.equal(result.isError, false, result.text)
    assert.deepEqual([text('new'), text('a'), text('b'), log], ['new\n', undefined, 'one\n', []])
    const paths = session.documents().map(({ path }) => path.slice(ROOT.length + 1))
    assert.deepEqual(paths.sort(), ['b', 'new'])
  })

  test('regression: a forked session does not keep files that the host removed', async () => {
    const { files, host } = hostOf({ a: 'one\n' })
    const { session, read } = toolsOf(host)
    await read.execute({ path: 'a' })
    const child = toolsOf(host, session.fork())
    files.delete(`${ROOT}/a`)
    assert.equal((await child.read.execute({ path: 'a' })).structured.code, 'FILE_NOT_FOUND')
  })

  test('regression: a file is not renamed if the user has changed it meanwhile', async () => {
    const { files, host, text } = hostOf({ a: 'one\n', z: 'last\n' })
    host.rename = (from, to) => {
      files.set(to, files.get(from) ?? '')
      files.delete(from)
      files.set(`${ROOT}/z`, 'typed\n')
    }
    const { apply } = toolsOf(host)
    const operations = [
      { op: 'move_file', from: 'a', to: 'b' },
      { op: 'move_file', from: 'z', to: 'y' },
    ]
    const result = await apply.execute({ operations })
    assert.match(result.text, /z: was changed by the host meanwhile/)
    assert.deepEqual(['a', 'b', 'z', 'y'].map(text), ['one\n', undefined, 'typed\n', undefined])
  })

  test('regression: a host that reports its documents a little later', async () => {
    for (let turns = 0; turns < 6; turns += 1) {
      const { files, host, text } = hostOf({ a: 'one\n' })
      const session = inMemory()
      const { apply } = toolsOf(host, session)
      host.write = (path, content) => {
        files.set(path, content)
        const report = async () => {
          for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
          if (turns % 2 === 0) session.setDocument(path, `typed\n${content}`)
          else session.closeDocument(path)
        }
        void report()
      }
      const edit = { op: 'replace_text', path: 'a', old_text: 'one', new_text: '1' }
      const result = await apply.execute({ operations: [edit] })
      assert.equal(result.isError, false, result.text)
      assert.equal(text('a'), '1\n')
    }
  })

  test('regression: what is written is undone if the session is closed meanwhile', async () => {
    const { files, host, text } = hostOf({ a: 'one\n' })
    const session = inMemory()
    const { apply } = toolsOf(host, session)
    host.write = (path, content) => {
      files.set(path, content)
      session.close()
    }
    const edit = { op: 'replace_text', path: 'a', old_text: 'one', new_text: '1' }
    const result = await apply.execute({ operations: [edit] })
    assert.match(result.text, /session is closed.*Written back: .*\/a\./s)
    assert.equal(text('a'), 'one\n')
  })

  test('regression: a host that changes its bytes in place', async () => {
    const [a, b] = ['one\n', 'two\n'].map((text) => Buffer.from(text))
    const { host } = hostOf({ a, b })
    const { write } = host
    const { apply } = toolsOf(host)
    host.write = (path, content, context) => {
      if (path.endsWith('/b')) throw new Error('full')
      a.set(Buffer.from(content))
      return write(path, a, context)
    }
    const operations = [
      { op: 'replace_text', path: 'a', old_text: 'one', new_text: 'uno' },
      { op: 'replace_text', path: 'b', old_text: 'two', new_text: 'dos' },
    ]
    const result = await apply.execute({ operations })
    assert.match(result.text, /full\. Written back: .*\/a\./)
    assert.deepEqual([a, b].map(String), ['one\n', 'two\n'])
  })

  test('regression: JSON is read as it is now, however its path is spelled', async () => {
    const { files, host } = hostOf({ 'b.json': '{"k":"old"}\n' })
    const { readJson } = hashTools(inMemory(), { files: host, json: true })
    await readJson.execute({ path: 'b.json' })
    files.set(`${ROOT}/b.json`, '{"k":"new"}\n')
    assert.match((await readJson.execute({ path: '@b.json' })).text, /"new"/)
  })

  test('regression: what a formatter made of a text is undone after the signal', async () => {
    const { files, host, text } = hostOf({ a: 'one\n' })
    const { read, apply } = toolsOf(host)
    const controller = new AbortController()
    host.write = async (path, content) => {
      controller.abort()
      await new Promise(setImmediate)
      files.set(path, String(content).replace('uno', 'uno;'))
    }
    const operations = [{ op: 'replace_text', path: 'a', old_text: 'one', new_text: 'uno' }]
    const running = apply.execute({ operations }, { signal: controller.signal })
    await assert.rejects(running, { name: 'AbortError' })
    await read.execute({ path: 'a' })
    assert.equal(text('a'), 'one\n')
  })

  test('regression: a text that cannot be restored exactly is reported', async () => {
    const { files, host } = hostOf({ a: 'one \n', b: 'two\n' })
    const { apply } = toolsOf(host)
    host.write = (path, content) => {
      if (path.endsWith('/b')) throw new Error('full')
      files.set(path, String(content).replace(/ +$/gm, ''))
    }
    const operations = [
      { op: 'replace_text', path: 'a', old_text: 'one', new_text: 'uno' },
      { op: 'replace_text', path: 'b', old_text: 'two', new_text: 'dos' },
    ]
    const result = await apply.execute({ operations })
    assert.match(result.text, /full\. Written back, and changed by the host: .*\/a\./)
  })

  test('regression: a document that the host set stays set', async () => {
    const { files, host } = hostOf({ a: 'mine\n' })
    const session = inMemory()
    session.setDocument(`${ROOT}/a`, 'mine\n', { version: 4 })
    host.list = () => [...files.keys()]
    const { search } = toolsOf(host, session)
    await search.execute({ pattern: 'mine' })
    assert.deepEqual(session.documents(), [{ path: `${ROOT}/a`, version: 4 }])
  })

  test('regression: searches show what the host has now', async () => {
    const { files, host } = hostOf({ a: 'needle\n', b: 'needle\n' })
    const { session, read, search } = toolsOf(host)
    await read.execute({ path: 'a', more_paths: ['b'] })
    files.delete(`${ROOT}/b`)
    files.set(`${ROOT}/a`, 'other needle\n')
    const without = await search.execute({ pattern: 'needle' })
    assert.match(without.text, /^--- a ---\n1\w\w\|other needle\n\(Searched only/)
    files.set(`${ROOT}/c`, 'needle in c\n')
    assert.match((await search.execute({ pattern: 'in c', paths: ['c'] })).text, /\|needle in c\n/)
    // Paths that no call can reach are not read; relative ones are of the root.
    /** @type {string[]} */
    const asked = []
    const plain = host.read
    host.read = (path, context) => {
      asked.push(path)
      return plain(path, context)
    }
    host.list = () => ['a', '/etc/passwd', `${ROOT}/c`]
    session.setDocument('own', 'needle of the host\n', { version: 3 })
    const found = await search.execute({ pattern: 'needle' })
    assert.match(found.text, /--- a ---.*--- c ---/s)
    assert.ok(!asked.includes('/etc/passwd'))
    assert.deepEqual(session.documents().find(({ path }) => path === 'own')?.version, 3)
    assert.doesNotMatch((await read.execute({ path: 'a' })).text, /changed since/)
  })

  test('regression: a tool that a function of the host calls is refused', async () => {
    const { host } = hostOf({ a: 'one\n', b: 'two\n' })
    const plain = host.read
    const { read } = toolsOf(host)
    /** @type {string | undefined} */
    let inner
    host.read = async (path, context) => {
      inner ??= (await read.execute({ path: 'b' })).text
      return plain(path, context)
    }
    assert.match((await read.execute({ path: 'a' })).text, /\|one$/)
    assert.match(String(inner), /a function of the host called a tool that waits for this function/)
  })

  test('regression: an edit that is written is reported, even if the signal fires then', async () => {
    const { files, host, text } = hostOf({ a: 'one\n' })
    const controller = new AbortController()
    const { read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    const edit = { op: 'set_line', path: 'a', anchor: row(shown.text, 'one'), text: 'ONE' }
    const plain = host.read
    host.write = (path, content) => {
      files.set(path, content)
      host.read = (path, context) => {
        controller.abort()
        return plain(path, context)
      }
    }
    const result = await apply.execute({ operations: [edit] }, { signal: controller.signal })
    assert.equal(result.isError, false, result.text)
    assert.equal(text('a'), 'ONE\n')
  })

  test('regression: arguments count as they were, and a closed session is an answer', async () => {
    const { host, text } = hostOf({ a: 'one\n' })
    const { session, read, apply } = toolsOf(host)
    const shown = await read.execute({ path: 'a' })
    const edit = { op: 'set_line', path: 'a', anchor: row(shown.text, 'one'), text: 'ONE' }
    const running = apply.execute({ operations: [edit] })
    edit.text = 'changed later'
    await running
    assert.equal(text('a'), 'ONE\n')
    session.close()
    assert.match((await read.execute({ path: 'a' })).text, /the session is closed/)
  })
})
