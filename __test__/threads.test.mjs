// Threads: none available, all busy, and the end of an environment.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { applyHash, readHashed, readHashedSync, searchHashed } from 'hashline-native'
import { leftovers } from '../stress/attack.mjs'
import { withDir, withMess } from './support.mjs'

const module = fileURLToPath(new URL('../index.js', import.meta.url))

// Runs until a signal says that it may not create threads, and again when it may.
const threadless = `
  const [addon, root, stateDir] = process.argv.slice(-3)
  const { readHashed, readHashedSync, searchHashedSync, applyHash } = require(addon)
  const names = ['a.txt', 'b.txt', 'c.txt']
  async function round(number) {
    const operations = names.map((path) => ({ op: 'add_file', path: path + number, content: 'x\\n' }))
    const outcome = await applyHash({ operations }, { root, stateDir, durability: 'process' })
    const views = [...readHashedSync(names, { root }), ...(await readHashed(names, { root }))]
    const found = searchHashedSync({ search: '}' }, { root })
    return [outcome.status, views.map((view) => view.text), found.matchCount]
  }
  process.stdin.once('data', async () => {
    console.log(JSON.stringify(await round(1)))
    process.stdin.once('data', async () => {
      console.log(JSON.stringify(await round(2)))
      process.exit()
    })
  })
  console.log('ready')
`

/**
 * Lets a process read, search and edit, first without permission to create threads. Returns false
 * if the process aborted, which Bun sometimes does when it needs a thread of its own.
 * @param {string} root
 * @param {string} stateDir
 */
async function worksWithoutThreads(root, stateDir) {
  // The limit does not apply to the superuser.
  const isRoot = process.getuid?.() === 0
  if (isRoot) spawnSync('chmod', ['777', root])
  const state = isRoot ? join(root, '.state') : stateDir
  const as = isRoot ? { uid: 65534, gid: 65534 } : {}
  const child = spawn(process.execPath, ['-e', threadless, module, root, state], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...as,
  })
  const ended = once(child, 'exit')
  const lines = child.stdout.setEncoding('utf8').iterator()
  const line = async () => `${(await lines.next()).value}`.trim()
  assert.equal(await line(), 'ready')
  // As the same user: in a container the superuser may not be allowed to set limits of others.
  const prlimit = (/** @type {string[]} */ ...args) => {
    const set = spawnSync('prlimit', [`--pid=${child.pid}`, ...args], { encoding: 'utf8', ...as })
    assert.equal(set.status, 0, set.stderr)
    return set.stdout.trim()
  }
  const before = prlimit('--nproc', '--output=SOFT', '--noheadings')
  for (const limit of ['1', before]) {
    prlimit(`--nproc=${limit}:`)
    child.stdin.write('go\n')
    const answer = await line()
    if (process.versions.bun && answer === 'undefined') {
      await ended
      return false
    }
    assert.deepEqual(JSON.parse(answer), ['applied', Array(6).fill('1:18|}'), 3])
  }
  assert.equal((await ended)[0], 0)
  return true
}

test('a process without permission for threads works on its only thread, and tries again later', async (t) => {
  if (spawnSync('prlimit', ['--version']).error) return t.skip('there is no prlimit')
  // An abort caused by the addon would occur every time.
  for (let attempt = 1; attempt <= 3; attempt++) {
    const works = await withMess(
      { 'a.txt': '}\n', 'b.txt': '}\n', 'c.txt': '}\n' },
      worksWithoutThreads,
    )
    if (works) return
  }
  assert.fail('the process was aborted three times')
})

/**
 * Locks a path like another process that edits it; undefined if no program on this system can.
 * @param {string} dir a directory for the lock file
 * @param {string} stateDir
 * @param {string} path
 */
async function holdLock(dir, stateDir, path) {
  if (spawnSync('flock', ['--version']).error) return undefined
  const key = join(dir, 'key')
  writeFileSync(key, `path ${path}`)
  const [view] = await readHashed(key)
  const lock = join(stateDir, 'locks', `${view?.snapshot}.lock`)
  const script = 'echo held; cat; rm "$0"'
  const child = spawn('flock', ['--exclusive', lock, 'sh', '-c', script, lock], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return () => child.stdin.end()
}

test('calls that wait for a lock block no other calls', (t) =>
  withDir({ 'a.txt': '}\n', 'b.txt': '}\n' }, async (dir, stateDir) => {
    const root = realpathSync(dir)
    const operation = (/** @type {number} */ number) =>
      /** @type {const} */ ({
        op: 'insert_after',
        path: 'a.txt',
        anchor: '1:18',
        text: `${number}`,
      })
    const options = { root, stateDir, durability: /** @type {const} */ ('process') }
    // Creates the state directories.
    await applyHash({ operations: [operation(0)] }, options)
    const release = await holdLock(dir, stateDir, join(root, 'a.txt'))
    if (!release) return t.skip('there is no flock')
    try {
      // More than there are threads in the host's pool, or processors.
      const waiting = Array.from({ length: 40 }, (_, number) =>
        applyHash({ operations: [operation(number + 1)] }, { ...options, lockTimeoutMs: 600_000 }),
      )
      await Promise.all(Array.from({ length: 40 }, () => readFile(join(root, 'b.txt'))))
      for (const [view] of await Promise.all(
        Array.from({ length: 40 }, () => readHashed('b.txt', { root })),
      )) {
        assert.equal(view?.text, '1:18|}')
      }
      release()
      for (const outcome of await Promise.all(waiting)) assert.equal(outcome.status, 'applied')
    } finally {
      release()
    }
    const lines = readFileSync(join(root, 'a.txt'), 'utf8').split('\n')
    assert.equal(new Set(lines).size, 43)
  }))

test('an aborted call that has not started ends at once', () =>
  withDir({ 'a.txt': `${'a'.repeat(200_000)}\n` }, async (root) => {
    // Each blocks a thread for longer than the test, unless it is cancelled.
    const slow = new AbortController()
    const search = '(?:(?=.*!)|a)*!'
    const searches = Array.from({ length: 80 }, () =>
      searchHashed({ search, regex: true }, { root, signal: slow.signal }),
    )
    const controller = new AbortController()
    const reading = readHashed('a.txt', { root, signal: controller.signal })
    controller.abort('enough')
    await assert.rejects(reading, { name: 'AbortError', code: 'ABORTED', cause: 'enough' })
    slow.abort()
    for (const ended of await Promise.allSettled(searches)) assert.equal(ended.status, 'rejected')
  }))

test('synchronous calls with many files do not wait for running calls', () =>
  withDir({ 'a.txt': `${'a'.repeat(200_000)}\n`, 'b.txt': '}\n' }, async (root) => {
    const controller = new AbortController()
    const names = Array(64).fill('a.txt')
    const request = (/** @type {string} */ path) => ({
      path,
      search: '(?:(?=.*!)|a)*!',
      regex: true,
    })
    const busy = Array.from({ length: 4 }, () =>
      readHashed(names.map(request), { root, signal: controller.signal }),
    )
    const views = readHashedSync(Array(10).fill('b.txt'), { root })
    assert.ok(views.every((view) => view.text === '1:18|}'))
    controller.abort()
    for (const ended of await Promise.allSettled(busy)) assert.equal(ended.status, 'rejected')
  }))

const leaving = `
  const [addon, root, stateDir, when] = process.argv.slice(-4)
  const { applyHash } = require(addon)
  const operations = Array.from({ length: 40 }, (_, n) => ({ op: 'add_file', path: n + '.txt', content: 'x' }))
  applyHash({ operations }, { root, stateDir, durability: 'process' })
  setTimeout(() => process.exit(7), Number(when))
`

test('a process that exits leaves no partial patch', (t) =>
  withDir({}, async (root, stateDir) => {
    if (process.versions.bun) return t.skip('Bun leaves without asking; a recovery does the rest')
    if (process.platform !== 'linux') return t.skip('only on Linux a process waits')
    for (const when of ['0', '1', '2', '3', '5', '8']) {
      const args = ['-e', leaving, module, root, stateDir, when]
      const child = spawnSync(process.execPath, args, { encoding: 'utf8' })
      assert.equal(child.status, 7, child.stderr)
      assert.deepEqual(leftovers(root, stateDir), [])
      const names = readdirSync(root)
      assert.ok(names.length === 0 || names.length === 40, `${names}`)
      for (const name of names) rmSync(join(root, name))
    }
  }))

const inWorker = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { searchHashed, applyHash } = require(workerData.module)
  const { root, stateDir } = workerData
  for (let n = 0; n < 20; n++) {
    searchHashed({ search: '(?:(?=.*!)|a)*!', regex: true }, { root }).catch(() => {})
    const operations = [{ op: 'add_file', path: n + '.txt', content: 'x' }]
    applyHash({ operations }, { root, stateDir, durability: 'process' }).catch(() => {})
  }
  parentPort.postMessage('busy')
`

test('a terminated worker stops its calls, and leaves no partial patch', () =>
  withDir({ 'a.txt': `${'a'.repeat(200_000)}\n` }, async (root, stateDir) => {
    for (let round = 0; round < 3; round++) {
      const worker = new Worker(inWorker, { eval: true, workerData: { module, root, stateDir } })
      await new Promise((resolve) => worker.once('message', resolve))
      await worker.terminate()
      // Deno reports the end of a worker before its environment has ended, which ends the calls.
      while (process.versions.deno && leftovers(root, stateDir).length > 0) await pause(1)
      assert.deepEqual(leftovers(root, stateDir), [])
      for (const name of readdirSync(root)) if (name !== 'a.txt') rmSync(join(root, name))
    }
  }))
