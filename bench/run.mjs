// `npm run bench`: measures every figure of bench/benchmarks.md side by side with its peer. `npm
// run bench -- read search` only measures these groups and prints them. `npm run bench -- NAME
// [ARGUMENT…]` runs one of the other benchmarks. An unknown name lists all.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuse, runProgram } from '../scripts/programs.mjs'
import { addonName, rustTriple } from '../scripts/targets.mjs'
import { corpora } from './corpora.mjs'
import { peerModule, ripgrepVersion } from './peers.mjs'
import { printRow, writeReport } from './report.mjs'

/** @import { Corpora } from './corpora.mjs' */
/** @import { Program } from '../scripts/programs.mjs' */
/** @import { Sample } from './measure.mjs' */

/**
 * The inputs of the cases.
 * @typedef {object} Bench
 * @property {Corpora} corpora
 * @property {string} cacheDir kept between runs
 * @property {string} scratchDir removed afterwards
 * @property {string} peer the path of the peer's module
 * @property {string} bun the program
 * @property {number[]} growthMib doubling sizes of files
 */

/**
 * A measurement: times in nanoseconds, or values of another unit.
 * @typedef {object} Row
 * @property {string} id a key of the goals
 * @property {string} own
 * @property {string} peer
 * @property {{ own: Sample, peer: Sample }} [samples]
 * @property {{ own: number, peer: number }} [values] in bytes
 * @property {string} [note]
 * @property {string} [cannot] why this machine could not measure it; the other fields are then
 * missing
 */

const { platformName } = createRequire(import.meta.url)('../js/platform.cjs')
const root = fileURLToPath(new URL('..', import.meta.url))

/** A separate package, so that only this command installs its dependencies. */
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
  tools: async () => (await import('./cases/tools.mjs')).toolRows,
  load: async () => (await import('./cases/load.mjs')).loadRows,
  ffi: async () => (await import('./cases/ffi.mjs')).ffiRows,
  cli: async () => (await import('./cases/cli.mjs')).cliRows,
  growth: async () => (await import('./cases/growth.mjs')).growthRows,
}

/** @type {Record<string, Program>} */
const OTHERS = {
  misplacement: {
    run: 'node bench/misplacement/run.mjs',
    does: '[[NAME=]REPOSITORY…]: how often an edit by old anchors lands on a wrong place; writes bench/misplacement.md',
    needs: 'the addon, git, python3; network and 3 GB of disk the first time',
  },
  slips: {
    run: 'node bench/slips/run.mjs',
    does: '[NAME=]REPOSITORY…: what a session reports for edits with the mistakes of models, and for correct ones; --write writes bench/slips.md',
    needs: 'the addon, git',
    takes: 'minutes',
  },
  tokens: {
    run: 'node bench/tokens/run.mjs',
    does: '[NAME=]REPOSITORY…: tokens that a model reads and writes for whole tasks, in several ways of editing; --outputs plays only those that start from the output of a tool; --write writes bench/tokens.md',
    needs: 'the addon, git, patch, diff; network and 400 MB the first time',
    takes: '10 minutes for 200 commits',
  },
  pairs: {
    run: 'node scripts/pairs.mjs',
    does: 'fails if the hashes of dialect lean are not the pairs of letters that four tokenizers have as tokens; --write writes them',
    needs: 'network the first time',
    takes: '10 s',
  },
  'edit-bench': {
    run: 'node bench/edit/cli.mjs',
    does: '--model NAME --base-url URL: by which way of editing a model edits best (docs/bench.md), with the engine of the clone; the package hashline-bench',
    needs: 'the addon, a model; npm, cargo and pip for the tasks, and network the first time',
  },
  'edit-bench-proof': {
    run: 'node bench/edit/proof/run.mjs',
    does: 'checks the figures of edit-bench with a scripted model; --tasks 30, --kills 5 for less',
    needs: 'the addon; npm, cargo, pip, and network the first time',
    takes: '5 minutes',
  },
  'compare:omp': {
    run: 'node integrations/omp/compare.mjs',
    does: 'the extension in the real oh-my-pi and its own tools; --write writes integrations/omp/report.md',
    needs: 'what test:omp needs; Linux, root',
    takes: '10 minutes',
  },
  instructions: {
    run: 'node scripts/instructions.mjs',
    does: 'instructions of hashing and rendering; fails if a count differs by more than 3 % from bench/instructions.json; --write records them; --arm64 counts under qemu-user, which it installs from Debian 12 as root',
    needs: 'valgrind on x86-64 Linux; skipped without it',
  },
}

/** Fails unless the addon is a release build, as in packages. */
function requireRelease() {
  const addon = readFileSync(join(root, addonName(platformName())))
  const { triple } = rustTriple(platformName())
  const names = ['libhashline_native.so', 'libhashline_native.dylib', 'hashline_native.dll']
  const released = names
    .map((name) => join(root, 'target', triple, 'release', name))
    .filter(existsSync)
  if (released.some((path) => addon.equals(readFileSync(path)))) return
  throw new Error('the addon is not a release build. Run npm run build:release.')
}

/** @returns {Bench} */
function prepare() {
  requireRelease()
  if (!existsSync(join(packagesDir, 'node_modules'))) {
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: packagesDir, stdio: 'inherit' })
  }
  const { missing } = ripgrepVersion()
  if (missing) throw new Error(`ripgrep is missing: ${missing}`)
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

/**
 * Measures groups, and writes the report if all groups are measured.
 * @param {string[]} wanted names of groups; by default all
 */
async function measureGroups(wanted) {
  const bench = prepare()
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
}

const names = process.argv.slice(2)
const unknown = names.find((name) => !Object.hasOwn(GROUPS, name))
if (unknown === undefined) await measureGroups(names)
else if (Object.hasOwn(OTHERS, names[0])) runProgram(OTHERS[names[0]], names.slice(1))
else refuse(`${unknown} is not a group (${Object.keys(GROUPS).join(', ')})`, OTHERS)
