// `npm run bench`: every figure of bench/benchmarks.md, measured side by side with its peer.
// `npm run bench -- read search` measures only these groups and prints them, and writes nothing.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addonName, rustTriple } from '../scripts/targets.mjs'
import { corpora } from './corpora.mjs'
import { peerModule, ripgrepVersion } from './peers.mjs'
import { printRow, writeReport } from './report.mjs'

/** @import { Corpora } from './corpora.mjs' */
/** @import { Sample } from './measure.mjs' */

/**
 * What the cases are given.
 * @typedef {object} Bench
 * @property {Corpora} corpora
 * @property {string} cacheDir kept from run to run
 * @property {string} scratchDir gone afterwards
 * @property {string} peer the path of the peer's module
 * @property {string} bun the program
 * @property {number[]} growthMib sizes of files, each twice the one before
 */

/**
 * A measurement: times in nanoseconds, or values of another unit.
 * @typedef {object} Row
 * @property {string} id a key of the goals
 * @property {string} ours
 * @property {string} peer
 * @property {{ ours: Sample, peer: Sample }} [samples]
 * @property {{ ours: number, peer: number }} [values] in bytes
 * @property {string} [note]
 * @property {string} [cannot] why this machine could not measure it; then there is nothing else
 */

const { platformName } = createRequire(import.meta.url)('../js/platform.cjs')
const root = fileURLToPath(new URL('..', import.meta.url))

/** A package of its own, so that nobody but this command installs what it needs. */
const packagesDir = fileURLToPath(new URL('packages/', import.meta.url))

/** @type {Record<string, () => Promise<(bench: Bench) => Promise<Row[]> | AsyncGenerator<Row>>>} */
const GROUPS = {
  hash: async () => (await import('./cases/hash.mjs')).hashRows,
  read: async () => (await import('./cases/read.mjs')).readRows,
  memory: async () => (await import('./cases/memory.mjs')).memoryRows,
  dropin: async () => (await import('./cases/dropin.mjs')).dropinRows,
  script: async () => (await import('./cases/script.mjs')).scriptRows,
  search: async () => (await import('./cases/search.mjs')).searchRows,
  apply: async () => (await import('./cases/apply.mjs')).applyRows,
  session: async () => (await import('./cases/session.mjs')).sessionRows,
  load: async () => (await import('./cases/load.mjs')).loadRows,
  ffi: async () => (await import('./cases/ffi.mjs')).ffiRows,
  cli: async () => (await import('./cases/cli.mjs')).cliRows,
  growth: async () => (await import('./cases/growth.mjs')).growthRows,
}

/** Fails unless the addon is the one that packages have. */
function requireRelease() {
  const addon = readFileSync(join(root, addonName(platformName())))
  const { triple } = rustTriple(platformName())
  const names = ['libhashline_native.so', 'libhashline_native.dylib', 'hashline_native.dll']
  const released = names
    .map((name) => join(root, 'target', triple, 'release', name))
    .filter(existsSync)
  if (released.some((path) => addon.equals(readFileSync(path)))) return
  throw new Error('what is measured is what packages have: npm run build:release')
}

/** @returns {Bench} */
function prepare() {
  requireRelease()
  if (!existsSync(join(packagesDir, 'node_modules'))) {
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: packagesDir, stdio: 'inherit' })
  }
  const { missing } = ripgrepVersion()
  if (missing) throw new Error(`ripgrep is needed beside ours: ${missing}`)
  const cacheDir = join(tmpdir(), 'hashline-bench')
  mkdirSync(cacheDir, { recursive: true })
  return {
    corpora: corpora(join(packagesDir, 'node_modules'), cacheDir),
    cacheDir,
    scratchDir: mkdtempSync(join(cacheDir, 'scratch-')),
    get peer() {
      return peerModule()
    },
    bun: fileURLToPath(new URL('../node_modules/.bin/bun', import.meta.url)),
    growthMib: [64, 128, 256, 512, 1024],
  }
}

const bench = prepare()
const wanted = process.argv.slice(2)
try {
  const rows = []
  for (const [name, load] of Object.entries(GROUPS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    for await (const row of await (await load())(bench)) {
      printRow(row)
      rows.push(row)
    }
  }
  if (wanted.length === 0) await writeReport(rows)
} finally {
  rmSync(bench.scratchDir, { recursive: true, force: true })
}
