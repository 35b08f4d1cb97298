// Events of a session.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { assertThrows, finished, withDir, withMess } from './support.mjs'

/** @import { HashSessionOptions, Patch, SessionChange } from 'hashline-native' */

const FILES = { 'a.txt': 'one\ntwo\nthree\n' }

/** @param {string} cwd @param {string} stateDir @param {HashSessionOptions} [more] */
const opened = (cwd, stateDir, more) =>
  new HashSession({ cwd, stateDir, durability: 'process', ...more })

/** @param {HashSession} session @param {number} line @param {string} text @returns {Patch} */
const set = (session, line, text) => ({
  operations: [
    {
      op: 'set_line',
      path: 'a.txt',
      anchor: session.readSync('a.txt').text.split('\n')[line - 1],
      text,
    },
  ],
})

/**
 * Resolves after the events of all calls of a session: a read waits for its turn, and its answer is
 * delivered after what was posted before.
 * @param {HashSession} session
 */
const delivered = (session) => session.read('a.txt')

/** Records the changes of a session. @param {HashSession} session */
function recorded(session) {
  /** @type {SessionChange[]} */
  const changes = []
  session.on('change', (change) => changes.push(change))
  return changes
}

/** The new lines of changes. @param {SessionChange[]} changes */
const added = (changes) =>
  changes.map(({ files }) =>
    files.flatMap(({ hunks = [] }) =>
      hunks.flatMap(({ lines }) => lines.filter((line) => line.startsWith('+'))),
    ),
  )

test('a change is reported once for each committed patch, after its answer', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const session = opened(cwd, stateDir)
    /** @type {unknown[]} */
    const log = []
    /** @this {HashSession} @param {SessionChange} change */
    function listener(change) {
      assert.equal(this, session)
      log.push(change)
    }
    assert.equal(session.on('change', listener), session)
    const outcome = await session.apply(set(session, 2, 'TWO'))
    assert.ok(outcome.status === 'applied')
    assert.deepEqual(log, [])
    await delivered(session)
    const { snapshot, hunks } = outcome.files[0]
    assert.deepEqual(log, [
      {
        files: [
          {
            path: join(cwd, 'a.txt'),
            change: 'edited',
            added: 1,
            removed: 1,
            lineCount: 3,
            snapshot,
            hunks,
            document: false,
          },
        ],
      },
    ])
    assert.equal(session.off('change', listener), session)
    await session.apply(set(session, 2, '2'))
    await delivered(session)
    assert.equal(log.length, 1)
  }))

test('every way to apply a patch is reported, in the order of the commits', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const session = opened(cwd, stateDir)
    const changes = recorded(session)
    const { apply } = hashTools(session)
    session.applySync(set(session, 1, 'sync'))
    await (await session.plan(set(session, 1, 'plan'))).apply()
    await apply.execute(JSON.stringify(set(session, 1, 'tool')))
    const approving = hashTools(session, { approve: () => true })
    await approving.apply.execute(set(session, 1, 'approved'))
    const both = [2, 3].map((line) => session.apply(set(session, line, `line ${line}`)))
    session.applySync(set(session, 1, 'last'))
    await Promise.all(both)
    const moved = await session.apply({
      operations: [
        { op: 'move_file', from: 'a.txt', to: 'b.txt' },
        { op: 'add_file', path: 'c.txt', content: 'c\n' },
      ],
    })
    assert.equal(moved.status, 'applied')
    await delivered(session)
    const texts = ['sync', 'plan', 'tool', 'approved', 'line 2', 'line 3', 'last']
    assert.deepEqual(
      added(changes.slice(0, -1)),
      texts.map((text) => [`+${text}`]),
    )
    const { files } = changes[changes.length - 1]
    assert.deepEqual(
      files.map(({ path, from, change }) => [path, from, change]),
      [
        [join(cwd, 'b.txt'), join(cwd, 'a.txt'), 'moved'],
        [join(cwd, 'c.txt'), undefined, 'created'],
      ],
    )
  }))

test('what changes nothing is not reported', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const session = opened(cwd, stateDir)
    const changes = recorded(session)
    const { apply } = hashTools(session)
    const patch = set(session, 2, 'TWO')
    await session.apply(patch, { dryRun: true })
    await session.plan(patch)
    apply.preview(patch)
    await apply.execute(patch, { dryRun: true })
    await session.apply(set(session, 2, 'two'))
    await session.apply({ operations: [{ op: 'delete', path: 'a.txt', anchor: '9zz' }] })
    await hashTools(session, { approve: () => false }).apply.execute(patch)
    await delivered(session)
    assert.deepEqual(changes, [])
  }))

test('a document is reported with the version of its text', async () => {
  const session = new HashSession({ disk: false, cwd: '/nowhere' })
  const changes = recorded(session)
  session.setDocument('a.txt', 'one\ntwo\n', { version: 7 })
  session.applySync(set(session, 1, 'ONE'))
  await delivered(session)
  const { path, document, version } = changes[0].files[0]
  assert.deepEqual([path, document, version], ['/nowhere/a.txt', true, 7])
})

test('listeners are added and removed as those of an emitter of Node', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const session = opened(cwd, stateDir)
    /** @type {string[]} */
    const log = []
    const first = () => log.push('first')
    const second = () => {
      log.push('second')
      session.off('change', first)
    }
    session.on('change', first).on('change', second).on('change', first).on('change', first)
    session.off('change', first).off('change', () => {})
    session.applySync(set(session, 1, 'A'))
    await delivered(session)
    assert.deepEqual(log, ['first', 'second', 'first'])
    session.applySync(set(session, 1, 'B'))
    await delivered(session)
    assert.deepEqual(log.slice(3), ['first', 'second'])
    const any = /** @type {any} */ (session)
    assert.throws(() => any.on('changed', first), /there is no event changed: use 'change'/)
    assert.throws(() => any.on('change', 'text'), TypeError)
    assert.throws(() => any.off('change'), TypeError)
    assert.deepEqual(Object.keys(session), [])
    const closed = opened(cwd, stateDir)
    closed.close()
    assertThrows(() => closed.on('change', first), 'INVALID_ARGUMENT', 'the session is closed')
  }))

test('a fork has its own listeners, and sessions of one store have the same', () =>
  withMess(FILES, async (cwd, stateDir) => {
    const store = { id: 'shared' }
    const one = opened(cwd, stateDir, { store })
    const other = opened(cwd, stateDir, { store })
    const fork = one.fork()
    const alone = opened(cwd, stateDir, { store: { id: 'another' } })
    const [ofOne, ofOther, ofFork, ofAlone] = [one, other, fork, alone].map(recorded)
    one.applySync(set(one, 1, 'A'))
    fork.applySync(set(fork, 2, 'B'))
    other.applySync(set(other, 3, 'C'))
    for (const session of [one, other, fork]) await delivered(session)
    assert.deepEqual(added(ofOne), [['+A'], ['+C']])
    assert.deepEqual(added(ofOther), [['+A'], ['+C']])
    assert.deepEqual(added(ofFork), [['+B']])
    assert.deepEqual(ofAlone, [])
  }))

const INDEX = JSON.stringify(fileURLToPath(new URL('../index.js', import.meta.url)))

/** A script with a session in the directory of its first argument. @param {string} body */
const script = (body) => `
const { HashSession } = require(${INDEX})
const { parentPort, workerData } = require('node:worker_threads')
const [cwd, stateDir] = workerData ?? process.argv.slice(-2)
const session = new HashSession({ cwd, stateDir, durability: 'process' })
const anchor = () => session.readSync('a.txt').text.split('\\n')[0]
const set = (text) => ({ operations: [{ op: 'set_line', path: 'a.txt', anchor: anchor(), text }] })
const log = (...words) => console.log(...words)
${body}`

/** @param {string} body @param {string[]} args */
const run = (body, args) => finished(spawn(process.execPath, ['-e', script(body), '--', ...args]))

test('a listener gets all changes before the process ends, and does not keep it alive', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const sync = "session.on('change', () => log('changed')); session.applySync(set('A'))"
    assert.equal(await run(sync, [cwd, stateDir]), 'changed\n')
    const later = `
      session.on('change', ({ files }) => log(files[0].added))
      const rows = session.readSync('a.txt').text.split('\\n')
      for (const [at, anchor] of rows.entries()) {
        session.apply({ operations: [{ op: 'set_line', path: 'a.txt', anchor, text: 'B' + at }] })
      }`
    assert.equal(await run(later, [cwd, stateDir]), '1\n1\n1\n')
    assert.equal(await run("session.on('change', log)", [cwd, stateDir]), '')
  }))

test('what a listener throws is an uncaught exception, and the answer arrives', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const body = `
      process.on('uncaughtException', (error) => log('uncaught', error.message))
      session.on('change', () => { throw new Error('mine') })
      session.apply(set('A')).then(({ status }) => log(status))`
    assert.equal(await run(body, [cwd, stateDir]), 'applied\nuncaught mine\n')
    const fatal =
      "session.on('change', () => { throw new Error('mine') }); session.applySync(set('B'))"
    await assert.rejects(run(fatal, [cwd, stateDir]), /mine/)
  }))

test(
  'listeners work in worker threads, also for a session of one store',
  {
    skip: process.versions.bun !== undefined && 'Bun does not call the listeners of another thread',
  },
  () =>
    withMess(FILES, async (cwd, stateDir) => {
      const body = `
      const shared = new HashSession({ cwd, stateDir, durability: 'process', store: { id: 's' } })
      for (const [name, one] of Object.entries({ session, shared })) {
        one.on('change', ({ files }) => parentPort.postMessage([name, files[0].change]))
      }
      session.apply(set('A')).then(() => parentPort.postMessage('ready'))
      parentPort.on('message', () => {})`
      const worker = new Worker(script(body), { eval: true, workerData: [cwd, stateDir] })
      /** @type {unknown[]} */
      const messages = []
      const own = opened(cwd, stateDir, { store: { id: 's' } })
      const ofOwn = recorded(own)
      await new Promise((resolve, reject) => {
        worker.on('error', reject)
        worker.on('exit', resolve)
        worker.on('message', (message) => {
          messages.push(message)
          if (message === 'ready') own.applySync(set(own, 2, 'B'))
          if (message[0] === 'shared') worker.terminate()
        })
      })
      assert.deepEqual(
        messages.sort(),
        [['session', 'edited'], ['shared', 'edited'], 'ready'].sort(),
      )
      await delivered(own)
      assert.deepEqual(added(ofOwn), [['+B']])
      // The listeners of the worker are gone.
      own.applySync(set(own, 3, 'C'))
    }),
)

test(
  'a session with listeners that refer to it is collected',
  {
    skip: process.versions.bun !== undefined,
  },
  () =>
    withDir(FILES, async (cwd, stateDir) => {
      const body = `
      let made = 0
      const registry = new FinalizationRegistry(() => { made -= 1 })
      const make = () => {
        const one = new HashSession({ cwd, stateDir, durability: 'process' })
        one.on('change', () => one.close())
        registry.register(one)
        made += 1
      }
      for (let round = 0; round < 50; round += 1) make()
      const wait = (rounds) => {
        gc()
        if (made === 0 || rounds === 0) log(made)
        else setTimeout(() => wait(rounds - 1), 5)
      }
      wait(100)`
      const args = ['--expose-gc', '-e', script(body), '--', cwd, stateDir]
      assert.equal(await finished(spawn(process.execPath, args)), '0\n')
    }),
)

test('the listener of the documentation', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const page = readFileSync(new URL('../docs/lifecycle.md', import.meta.url), 'utf8')
    const code = page.split('```js\n').find((part) => part.startsWith("session.on('change'"))
    assert.ok(code)
    const session = opened(cwd, stateDir)
    /** @type {unknown[]} */
    const rows = []
    const console = { log: (/** @type {unknown[]} */ ...words) => rows.push(words) }
    new Function('session', 'console', code.slice(0, code.indexOf('```')))(session, console)
    session.applySync(set(session, 1, 'A'))
    await delivered(session)
    assert.deepEqual(rows, [['edited', join(cwd, 'a.txt'), 1]])
  }))
