// Long views in answers of many are, in Node, strings whose characters stay where they were made.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readHashed, readHashedSync } from 'hashline-native'
import { withDir } from './support.mjs'

/** A line of each kind of string: ASCII, Latin-1, two bytes a unit, surrogate pairs. */
const KINDS = ['const value = compute(12)', 'const größe = 1', '请选择一个文件', 'a🎉b']
/** So many that answers are built at once. */
const FILES = 40

/** @param {number} file @param {number} lines */
function content(file, lines) {
  const line = KINDS[file % KINDS.length]
  return Array.from({ length: lines }, (_, at) => `${line} ${at} of ${file}`)
}

/**
 * @param {(root: string, files: string[], texts: string[][]) => void | Promise<void>} body
 */
function withFiles(body) {
  const texts = Array.from({ length: FILES }, (_, file) => content(file, 1000))
  const named = texts.map((lines, file) => [`${file}.txt`, `${lines.join('\n')}\n`])
  const files = named.map(([name]) => name)
  return withDir(Object.fromEntries(named), (root) => body(root, files, texts))
}

/** @returns {() => void} */
function collector() {
  const { Bun } = /** @type {{ Bun?: { gc(force: boolean): void } }} */ (globalThis)
  if (Bun) return () => Bun.gc(true)
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

/** @param {string} text @param {string[]} lines */
function assertShows(text, lines) {
  const shown = text.split('\n').map((line) => line.slice(line.indexOf('|') + 1))
  assert.deepEqual(shown, lines)
}

test('long views of every kind show their lines, also after collections', () =>
  withFiles(async (root, files, texts) => {
    const collect = collector()
    const kept = []
    for (let round = 0; round < 4; round++) {
      kept.push(readHashedSync(files, { root }), await readHashed(files, { root }))
      // The first views are given up while the others stay.
      if (round > 0) kept.splice(0, 1)
      collect()
    }
    for (const [file, { text }] of kept.flatMap((views) => [...views.entries()])) {
      assertShows(text, texts[file])
    }
  }))

test('long views are ordinary strings', () =>
  withFiles((root, files) => {
    for (const { text } of readHashedSync(files, { root })) {
      const copy = Buffer.from(text).toString()
      assert.equal(text, copy)
      assert.equal(JSON.parse(JSON.stringify(text)), copy)
      assert.equal(structuredClone(text), copy)
      assert.deepEqual(Object.keys({ [text]: 1 }), [copy])
      assert.equal(`${text}${text}`.indexOf(copy, 1), text.length)
      assert.equal(text.toUpperCase(), copy.toUpperCase())
    }
  }))

test('a single long view of every kind', () =>
  withDir({}, async (root) => {
    for (let file = 0; file < KINDS.length; file++) {
      const lines = content(file, 60_000)
      writeFileSync(join(root, 'a.txt'), lines.join('\n'))
      assertShows(readHashedSync('a.txt', { root })[0].text, lines)
      assertShows((await readHashed('a.txt', { root }))[0].text, lines)
    }
  }))

test('the memory of views that nobody has any more is given back', () =>
  withFiles(async (root, files) => {
    const collect = collector()
    const size = readHashedSync(files, { root }).reduce((sum, { text }) => sum + text.length, 0)
    const round = async () => {
      for (let time = 0; time < 10; time++) await readHashed(files, { root })
      collect()
      return process.memoryUsage().rss
    }
    await round()
    const before = await round()
    for (let time = 0; time < 4; time++) await round()
    const grown = (await round()) - before
    // Fifty times the size of the views were read meanwhile.
    assert.ok(grown < 15 * size, `${grown} bytes more for views of ${size}`)
  }))

test('views pile up neither where nobody collects nor where nobody waits', () =>
  withFiles((root, files) => {
    const views = readHashedSync(files, { root })
    const size = views.reduce((sum, { text }) => sum + text.length, 0)
    let most = 0
    for (let time = 0; time * size < 1e9; time++) {
      readHashedSync(files, { root })
      if (time % 16 === 0) most = Math.max(most, process.memoryUsage().rss)
    }
    // A gigabyte was read.
    assert.ok(most < 5e8, `${most} bytes at once`)
  }))

test('a worker that alone loaded the addon ends with views in its hands', () =>
  withFiles((root, files) => {
    const worker = `
      const { readHashedSync } = require(process.argv[2])
      globalThis.views = readHashedSync(JSON.parse(process.argv[3]), { root: process.argv[4] })
      if (globalThis.views.some(({ error }) => error)) process.exit(3)`
    const main = `
      const { Worker } = require('node:worker_threads')
      const start = (left) => {
        if (left === 0) return console.log('ended')
        const worker = new Worker(${JSON.stringify(worker)}, { eval: true, argv: process.argv.slice(1) })
        worker.on('exit', (code) => code === 0 ? start(left - 1) : process.exit(code))
      }
      start(3)`
    const module = new URL('../index.js', import.meta.url).pathname
    const args = ['-e', main, module, JSON.stringify(files), root]
    const ended = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.deepEqual([ended.status, ended.stdout.trim()], [0, 'ended'], ended.stderr)
  }))
