// Writers without locks, against applyHash in a loop.
// `node stress/writers.mjs [--rounds 2000] [--kinds rename,recreate,inplace]`
//
//   rename    writes a new file and renames it over the old one
//   recreate  deletes the file, and renames a new one to its name
//   inplace   overwrites the content of the file, and keeps its inode
//
// The writer is another thread, so that its writes fall at any point of a call. Each version
// contains its number in every line. In a round it writes one to three versions of two files at
// random moments, while patches change the first line of both files, by anchors that were just
// read. So each content is either a version of the writer, or a patch on such a version. After a
// round, each file must be
//
//   * the last version of the writer, or a patch on that, never a mix of two: another base
//     means that a version was lost;
//   * with a patch that was reported as applied, never one that was reported as refused. A patch
//     may also be partially rolled back: the call reports it in an error, and a recovery finishes.
//
// A call must not report "applied" for a version that was replaced before the call began. All this
// is required for rename and recreate. For inplace it is only measured: such a writer may write
// into a file that a patch has replaced already, and this write is lost. On Windows, which cannot
// exchange two names, losses are measured, and it is required that no content is mixed and nothing
// is left.

import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { applyHashSync, readHashedSync, recoverTransactionsSync } from 'hashline-native'
import { between, counts, leftovers, Tally, withDirs } from './attack.mjs'

/** @import { HashlineError, Operation } from 'hashline-native' */
/** @typedef {'rename' | 'recreate' | 'inplace'} Kind */
/** @typedef {{ kind: Kind, dir: string, shared: SharedArrayBuffer }} WriterData */

const NAMES = ['one.txt', 'two.txt']
/** Enough to write a file in more than one page. */
const LINES = 120

// Shared between the threads: the current round, the last finished round, the duration of a call in
// microseconds, whether the writer failed, and for each file the last version.
const [ROUND, OVER, CALL_US, FAILED, PLACED] = [0, 1, 2, 3, 4]
const CELLS = PLACED + NAMES.length

/** The refusals that a writer may cause. @type {Record<Kind, string[]>} */
const ALLOWED = {
  rename: ['CONCURRENT_CHANGE', 'HASH_MISMATCH'],
  recreate: ['CONCURRENT_CHANGE', 'HASH_MISMATCH', 'FILE_NOT_FOUND'],
  inplace: ['CONCURRENT_CHANGE', 'HASH_MISMATCH', 'LINE_OUT_OF_RANGE'],
}

const isWindows = process.platform === 'win32'
/** Windows also refuses to replace a file that the writer has open. */
const ALLOWED_THERE = isWindows ? ['PERMISSION_DENIED'] : []

async function supervise() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '2000' },
      kinds: { type: 'string', default: 'rename,recreate,inplace' },
    },
  })
  const { rounds } = counts({ rounds: values.rounds })
  /** @type {Kind[]} */
  const required = []
  for (const kind of values.kinds.split(',')) {
    if (kind !== 'rename' && kind !== 'recreate' && kind !== 'inplace') {
      throw new Error(`no such kind of writer: ${kind}`)
    }
    const problems = await fight(kind, rounds)
    for (const problem of problems.slice(0, 20)) console.error(`FAILED: ${problem}`)
    if (problems.length > 0) process.exitCode = 1
    else if (kind === 'inplace')
      console.log('inplace: measured only: the line above shows the losses')
    else required.push(kind)
  }
  if (process.exitCode === undefined && required.length > 0) {
    const what = isWindows ? 'blended or left' : 'lost, blended or left'
    console.log(`ok: nothing was ${what} by ${required.join(' and ')}`)
  }
}

/**
 * @param {Kind} kind
 * @param {number} rounds
 */
function fight(kind, rounds) {
  return withDirs(async (dir, stateDir) => {
    const shared = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
    for (const name of NAMES) writeFileSync(join(dir, name), versionOf(0))
    /** @type {WriterData} */
    const data = { kind, dir, shared }
    const writer = new Worker(fileURLToPath(import.meta.url), { workerData: data })
    const start = performance.now()
    const fighter = new Patcher(kind, dir, stateDir, new Int32Array(shared))
    try {
      for (let round = 1; round <= rounds; round++) fighter.round(round)
    } finally {
      await writer.terminate()
    }
    const seconds = (performance.now() - start) / 1000
    console.log(`${kind}: ${rounds} rounds in ${seconds.toFixed(1)} s: ${fighter.figures}`)
    const left = leftovers(dir, stateDir).filter(
      (name) => !(fighter.mayKeep && name.startsWith('kept/')),
    )
    return [...fighter.problems, ...left.map((name) => `left: ${name}`)]
  })
}

/** The thread that uses applyHash. */
class Patcher {
  figures = new Tally()
  /** @type {string[]} */
  problems = []
  #kind
  #dir
  #stateDir
  #cells
  #patch = 0
  /** @type {Set<number>} */
  #applied = new Set()
  /** @type {Set<number>} */
  #halfUndone = new Set()
  /** The approximate duration of a call. */
  #callUs = 500

  /**
   * @param {Kind} kind
   * @param {string} dir
   * @param {string} stateDir
   * @param {Int32Array} cells
   */
  constructor(kind, dir, stateDir, cells) {
    this.#kind = kind
    this.#dir = dir
    this.#stateDir = stateDir
    this.#cells = cells
  }

  /** @param {number} round */
  round(round) {
    Atomics.store(this.#cells, CALL_US, this.#callUs)
    Atomics.store(this.#cells, ROUND, round)
    Atomics.notify(this.#cells, ROUND)
    const applied = []
    while (Atomics.load(this.#cells, OVER) !== round) {
      // Its error arrives only when this thread waits.
      if (Atomics.load(this.#cells, FAILED)) throw new Error('the writer ended before its time')
      const patch = this.#apply(`round ${round}`)
      if (patch !== undefined) applied.push(patch)
    }
    this.#judge(`round ${round}`, applied)
  }

  /**
   * Applies a patch to both current files; returns its number if it was applied.
   * @param {string} where
   */
  #apply(where) {
    const views = readHashedSync(
      NAMES.map((path) => ({ path, maxLines: 1 })),
      { root: this.#dir },
    )
    if (views.some((view) => view.error || view.text === '')) {
      this.figures.add('reads in vain')
      return undefined
    }
    const patch = ++this.#patch
    const bases = views.map((view) => parse(view.text.replace(/^\d+:..\|/, '')).version)
    /** @type {Operation[]} */
    const operations = views.map((view, at) => ({
      op: 'set_line',
      path: NAMES[at],
      anchor: view.text.split('\n')[0],
      text: `patch ${patch} on version ${bases[at]}`,
    }))
    // A patch based on an older version must not replace one that was in place before the call.
    const placed = NAMES.map((_, at) => Atomics.load(this.#cells, PLACED + at))
    const start = performance.now()
    try {
      const outcome = applyHashSync(
        { operations },
        { root: this.#dir, stateDir: this.#stateDir, durability: 'process', relocate: 'off' },
      )
      if (outcome.status === 'rejected') {
        this.figures.add(outcome.code)
        if (![...ALLOWED[this.#kind], ...ALLOWED_THERE].includes(outcome.code)) {
          this.problems.push(`${where}: ${outcome.failures[0].message}`)
        }
        return undefined
      }
    } catch (thrown) {
      const error = /** @type {HashlineError} */ (thrown)
      if (!error.message.includes('could not be rolled back completely')) {
        this.figures.add(`thrown ${error.code}`)
        this.problems.push(`${where}: patch ${patch} threw ${error.message}`)
        return undefined
      }
      // Reported, and left to a recovery, which may finish it or keep its versions.
      this.figures.add('half undone')
      this.#halfUndone.add(patch)
      recoverTransactionsSync({ stateDir: this.#stateDir })
      return undefined
    } finally {
      this.#callUs = Math.round(this.#callUs * 0.9 + (performance.now() - start) * 100)
    }
    this.figures.add('applied')
    this.#applied.add(patch)
    for (const [at, base] of bases.entries()) {
      if (placed[at] > base) {
        this.figures.add('applied to a version that was gone')
        this.#requireExchange(
          `${where}: patch ${patch} on version ${base}, after version ${placed[at]}`,
        )
      }
    }
    return patch
  }

  /**
   * Checks both files while no thread is writing.
   * @param {string} where
   * @param {number[]} applied the patches of this round
   */
  #judge(where, applied) {
    for (const [at, name] of NAMES.entries()) {
      const content = readFileSync(join(this.#dir, name), 'utf8')
      const last = Atomics.load(this.#cells, PLACED + at)
      const [first] = content.split('\n', 1)
      const { patch, version } = parse(first)
      if (content !== `${first}\n${versionOf(version, 2)}`) {
        this.figures.add('blended')
        this.#require(`${where}: ${name} is a blend: ${JSON.stringify(content.slice(0, 200))}`)
      } else if (version !== last) {
        this.figures.add(applied.length > 0 ? 'lost with a patch' : 'lost with refusals')
        this.#requireExchange(
          `${where}: ${name} has version ${version}, not ${last} (patch ${patch})`,
        )
      } else if (patch !== undefined && !this.#mayBe(patch)) {
        this.figures.add('refused, and there')
        this.#require(`${where}: ${name} has patch ${patch}, which was not reported as applied`)
      } else {
        this.figures.add(patch === undefined ? 'files of the writer' : 'files of a patch')
      }
    }
    const report = recoverTransactionsSync({ stateDir: this.#stateDir })
    if (report.finished.length + report.undone.length + report.failed.length > 0) {
      this.figures.add('journals left')
      this.problems.push(`${where}: there was something to recover: ${JSON.stringify(report)}`)
    }
  }

  /** Whether a patch may be in a file. @param {number} patch */
  #mayBe(patch) {
    return this.#applied.has(patch) || this.#halfUndone.has(patch)
  }

  /** Whether a recovery may have kept versions. */
  get mayKeep() {
    return this.#halfUndone.size > 0
  }

  /** @param {string} problem */
  #require(problem) {
    if (this.#kind !== 'inplace') this.problems.push(problem)
  }

  /**
   * States that cannot occur where two names can be exchanged.
   * @param {string} problem
   */
  #requireExchange(problem) {
    if (!isWindows) this.#require(problem)
  }
}

/**
 * The content of the writer, from a line on.
 * @param {number} version
 */
function versionOf(version, first = 1) {
  let text = ''
  for (let line = first; line <= LINES; line++) text += `version ${version} line ${line}\n`
  return text
}

/**
 * Parses a first line.
 * @param {string} line
 * @returns {{ patch?: number, version: number }}
 */
function parse(line) {
  const [, patch, version] = /^(?:patch (\d+) on )?version (\d+)/.exec(line) ?? []
  return { patch: patch === undefined ? undefined : Number(patch), version: Number(version) }
}

/** The thread that takes no locks. @param {WriterData} data */
function write({ kind, dir, shared }) {
  const cells = new Int32Array(shared)
  const versions = NAMES.map(() => 0)
  for (let round = 1; ; round++) {
    Atomics.wait(cells, ROUND, round - 1)
    const longest = Atomics.load(cells, CALL_US) * 2
    // Prepared before, so that one write can immediately follow another.
    const writes = Array.from({ length: between(1, 3) }, (_, number) => {
      const at = between(0, NAMES.length - 1)
      const version = ++versions[at]
      const prepared = kind === 'inplace' ? undefined : join(dir, `writer-${at}-${version}.tmp`)
      if (prepared) writeFileSync(prepared, versionOf(version))
      const mostUs = number > 0 && Math.random() < 0.5 ? 50 : longest
      return { at, version, path: join(dir, NAMES[at]), prepared, mostUs }
    })
    for (const { at, version, path, prepared, mostUs } of writes) {
      pauseUs(mostUs)
      if (kind === 'recreate') {
        insist(() => rmSync(path))
        if (Math.random() < 0.5) pauseUs(longest / 4)
      }
      if (prepared) insist(() => renameSync(prepared, path))
      else rewrite(path, versionOf(version))
      Atomics.store(cells, PLACED + at, version)
    }
    Atomics.store(cells, OVER, round)
  }
}

/**
 * @param {string} path
 * @param {string} content
 */
function rewrite(path, content) {
  const file = openSync(path, 'r+')
  if (Math.random() < 0.5) pauseUs(100)
  writeSync(file, content, 0)
  ftruncateSync(file, Buffer.byteLength(content))
  closeSync(file)
}

/**
 * Renames a file. Windows refuses that while another process has the file open, so writers retry
 * there, and so does this.
 * @param {() => void} change
 */
function insist(change) {
  for (;;) {
    try {
      return change()
    } catch (error) {
      const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
      if (!isWindows || !['EPERM', 'EACCES', 'EBUSY'].includes(code)) throw error
    }
  }
}

/**
 * Busy-waits for a random time: a sleep takes longer than a call.
 * @param {number} most the maximum, in microseconds
 */
function pauseUs(most) {
  const end = performance.now() + (Math.random() * most) / 1000
  while (performance.now() < end);
}

// At the end, where the class is defined.
if (isMainThread) await supervise()
else {
  try {
    write(workerData)
  } catch (error) {
    Atomics.store(new Int32Array(workerData.shared), FAILED, 1)
    throw error
  }
}
