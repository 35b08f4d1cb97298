// Reading: one page, one large file, a batch of files.

import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHashed, readHashedSync } from 'hashline-native'
import { compare } from '../measure.mjs'
import { runOnce, startWorker } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function readRows(bench) {
  const { large, mixed } = bench.corpora
  return [
    await page(bench),
    ...(await wholeFile('read-large', large)),
    ...(await wholeFile('read-mixed', mixed)),
    ...(await batch(bench)),
    ...(await twoThreads(bench)),
    await arithmetic(),
  ]
}

/** @param {Bench} bench @returns {Promise<Row>} */
async function page({ corpora: { page } }) {
  const samples = await compare({
    own: () => readHashedSync(page),
    peer: () => readFileSync(page, 'utf8'),
  })
  return { id: 'read-page', own: 'readHashedSync', peer: 'fs.readFileSync', samples }
}

/** @param {string} id @param {string} path @returns {Promise<Row[]>} */
async function wholeFile(id, path) {
  const samples = await compare(
    { own: () => readHashed(path), peer: () => readFileSync(path, 'utf8') },
    { seconds: 60 },
  )
  const size = statSync(path).size
  const grown = async (/** @type {string} */ way) =>
    (await runOnce('node', 'cases/memory-worker.mjs', { path, way })).grown
  const memory = { own: await grown('own'), peer: await grown('peer') }
  return [
    { id, own: 'readHashed', peer: 'fs.readFileSync', samples },
    {
      id: `${id}-memory`,
      own: 'readHashed',
      peer: 'the file',
      values: { own: memory.own, peer: size },
      note: `fs.readFileSync: ${(memory.peer / size).toFixed(2)} × the file`,
    },
  ]
}

/** @param {Bench} bench @returns {Promise<Row[]>} */
async function batch({ corpora, cacheDir, peer, bun }) {
  const list = join(cacheDir, 'batch.json')
  writeFileSync(list, JSON.stringify(corpora.batch))
  const start = (
    /** @type {string} */ runtime,
    /** @type {string} */ kind,
    { alone = false, dialect = 'pi' } = {},
  ) => startWorker(runtime, 'cases/batch-worker.mjs', { kind, list, peer, dialect }, { alone })
  const workers = {
    two: await start('node', 'own'),
    one: await start('node', 'own', { alone: true }),
    wasm: await start('node', 'wasm'),
    peer: await start(bun, 'peer'),
    bun: await start(bun, 'own', { dialect: 'omp13' }),
  }
  assertAlike(await workers.two.work(), await workers.wasm.work())
  assertAlike(await workers.bun.work(), await workers.peer.work())
  const {
    two,
    one,
    wasm,
    peer: rival,
    bun: underBun,
  } = await compare(
    {
      two: () => workers.two.work(),
      one: () => workers.one.work(),
      wasm: () => workers.wasm.work(),
      peer: () => workers.peer.work(),
      bun: () => workers.bun.work(),
    },
    { seconds: 120 },
  )
  for (const worker of Object.values(workers)) await worker.stop()
  return [
    {
      id: 'batch-cores',
      own: 'two threads',
      peer: 'one thread',
      samples: { own: two, peer: one },
    },
    {
      id: 'batch-wasm',
      own: 'readHashed',
      peer: 'xxhash-wasm',
      samples: { own: two, peer: wasm },
    },
    {
      id: 'batch-peer',
      own: 'readHashed (Bun)',
      peer: 'peer (Bun)',
      samples: { own: underBun, peer: rival },
    },
  ]
}

/**
 * One large file, read by a process with both processors and by one with a single processor:
 * repeated reads, and reads after the last text was collected, as in a process that reads once. V8
 * holds only one external text of this length at a time.
 * @param {Bench} bench @returns {Promise<Row[]>}
 */
async function twoThreads({ corpora: { large }, cacheDir }) {
  const list = join(cacheDir, 'large.json')
  writeFileSync(list, JSON.stringify([large]))
  const task = { kind: 'own', list, dialect: 'pi' }
  const start = (/** @type {boolean} */ alone) =>
    startWorker('node', 'cases/batch-worker.mjs', task, { alone, collects: true })
  const [one, two] = [await start(true), await start(false)]
  assertAlike(await one.work(), await two.work())
  const contestants = { own: () => two.work(), peer: () => one.work() }
  const before = { own: () => two.collect(), peer: () => one.collect() }
  const collected = await compare(contestants, { before })
  const following = await compare(contestants)
  for (const worker of [one, two]) await worker.stop()
  const row = { own: 'two threads', peer: 'one thread' }
  return [
    { ...row, id: 'large-cores', samples: collected },
    { ...row, id: 'large-cores-following', samples: following },
  ]
}

/** The speedup of two threads over one on this machine. @returns {Promise<Row>} */
async function arithmetic() {
  const start = (/** @type {number} */ threads) =>
    startWorker('node', 'cases/spin-worker.mjs', { threads })
  const [one, two] = [await start(1), await start(2)]
  const samples = await compare({ own: () => two.work(), peer: () => one.work() })
  for (const worker of [one, two]) await worker.stop()
  return { id: 'cores', own: 'two threads', peer: 'one thread', samples }
}

/**
 * The total length of all views; carriage returns and byte order marks, which the peers show, make
 * a small difference.
 * @param {number} own
 * @param {number} peers
 */
function assertAlike(own, peers) {
  assert.ok(
    Math.abs(own - peers) < peers / 1000,
    `${own} and ${peers} are different amounts of work`,
  )
}
