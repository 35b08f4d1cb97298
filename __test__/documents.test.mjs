// Documents of a session, and tools over files that the host holds.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
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
      (name) => `(Not searched: ${ROOT}/${name}: the host cannot read it: it is locked.)`,
    )
    const others = '(2 more files were not searched: name fewer paths or globs.)'
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

  test('with a disk, files that the host does not have are read from it', () =>
    withDir({ 'a.txt': 'on disk\n' }, async (cwd, stateDir) => {
      const session = new HashSession({ cwd, stateDir })
      const { read } = hashTools(session, { files: { read: () => null, write() {} } })
      assert.match((await read.execute({ path: 'a.txt' })).text, /\|on disk$/)
      writeFileSync(join(cwd, 'b.txt'), 'more\n')
      assert.match((await read.execute({ path: 'b.txt' })).text, /\|more$/)
    }))
})
