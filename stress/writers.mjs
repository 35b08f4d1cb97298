// Writers that take no locks, against applyHash in a loop.
// `node stress/writers.mjs [--rounds 2000] [--kinds rename,recreate,inplace]`
//
//   rename    writes a new file and renames it over the old one
//   recreate  deletes the file, and renames a new one to its name
//   inplace   writes over the content of the file, whose inode stays
//
// The writer is another thread, so that its writes fall anywhere into our calls. Each version it
// writes says its number in every line. In a round it writes one to three versions of two files
// at random moments, while patches change the first line of both files, by anchors that were
// just read. So each content says what it is: a version of the writer ("theirs"), or a patch on
// such a version ("ours"). When a round is over, each file must be
//
//   * the last version of the writer, or a patch on that, never a blend of two: another base
//     means that a version was lost;
//   * with a patch that was reported as applied, never one that was reported as refused. A patch
//     may also be half undone: the call says so in an error, and a recovery clears it up.
//
// And no call may say "applied" for a version that was gone before the call began. All this is
// required of rename and recreate. Of inplace it is measured: such a writer may write into a file
// that a patch has replaced already, and what it writes then is lost. On Windows, which cannot
// exchange two names, it is measured what is lost, and required that nothing is blended or left.

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
/** Enough for a file to be written in more than one page. */
const LINES = 120

// What both threads see: the round that is on, the round that is over, how long a call takes in
// microseconds, whether the writer failed, and for each file the version put in place last.
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
      console.log('inplace: measured, nothing required: the line above says what was lost')
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
    for (const name of NAMES) writeFileSync(join(dir, name), theirs(0))
    /** @type {WriterData} */
    const data = { kind, dir, shared }
    const writer = new Worker(fileURLToPath(import.meta.url), { workerData: data })
    const start = performance.now()
    const fighter = new Fighter(kind, dir, stateDir, new Int32Array(shared))
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

/** The side that uses applyHash. */
class Fighter {
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
  /** How long a call takes, about. */
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
   * Applies a patch to both files as they are; returns its number when it was applied.
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
    // What was put in place before the call began must not be displaced by a patch on less.
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
      // Told, and left to a recovery, which may finish it or keep its versions aside.
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
   * Looks at both files when nobody is at work.
   * @param {string} where
   * @param {number[]} applied the patches of this round
   */
  #judge(where, applied) {
    for (const [at, name] of NAMES.entries()) {
      const content = readFileSync(join(this.#dir, name), 'utf8')
      const last = Atomics.load(this.#cells, PLACED + at)
      const [first] = content.split('\n', 1)
      const { patch, version } = parse(first)
      if (content !== `${first}\n${theirs(version, 2)}`) {
        this.figures.add('blended')
        this.#require(`${where}: ${name} is a blend: ${JSON.stringify(content.slice(0, 200))}`)
      } else if (version !== last) {
        this.figures.add(applied.length > 0 ? 'lost beside a patch' : 'lost beside refusals')
        this.#requireExchange(
          `${where}: ${name} has version ${version}, not ${last} (patch ${patch})`,
        )
      } else if (patch !== undefined && !this.#mayBe(patch)) {
        this.figures.add('refused, and there')
        this.#require(`${where}: ${name} has patch ${patch}, which was not reported as applied`)
      } else {
        this.figures.add(patch === undefined ? 'files theirs' : 'files ours')
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
   * What cannot be where two names are exchanged.
   * @param {string} problem
   */
  #requireExchange(problem) {
    if (!isWindows) this.#require(problem)
  }
}

/**
 * What the writer writes, from a line on.
 * @param {number} version
 */
function theirs(version, first = 1) {
  let text = ''
  for (let line = first; line <= LINES; line++) text += `version ${version} line ${line}\n`
  return text
}

/**
 * What a first line says.
 * @param {string} line
 * @returns {{ patch?: number, version: number }}
 */
function parse(line) {
  const [, patch, version] = /^(?:patch (\d+) on )?version (\d+)/.exec(line) ?? []
  return { patch: patch === undefined ? undefined : Number(patch), version: Number(version) }
}

/** The side that takes no locks. @param {WriterData} data */
function write({ kind, dir, shared }) {
  const cells = new Int32Array(shared)
  const versions = NAMES.map(() => 0)
  for (let round = 1; ; round++) {
    Atomics.wait(cells, ROUND, round - 1)
    const longest = Atomics.load(cells, CALL_US) * 2
    // Made before, so that one can follow at once on another.
    const writes = Array.from({ length: between(1, 3) }, (_, number) => {
      const at = between(0, NAMES.length - 1)
      const version = ++versions[at]
      const prepared = kind === 'inplace' ? undefined : join(dir, `writer-${at}-${version}.tmp`)
      if (prepared) writeFileSync(prepared, theirs(version))
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
      else rewrite(path, theirs(version))
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
 * Changes a name. Windows refuses that as long as somebody has the file open, so what writes
 * files there tries again, as this does.
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

/** Up to so many microseconds, awake: a sleep takes longer than a call. @param {number} most */
function pauseUs(most) {
  const end = performance.now() + (Math.random() * most) / 1000
  while (performance.now() < end);
}

// At the end, when the class is there.
if (isMainThread) await supervise()
else {
  try {
    write(workerData)
  } catch (error) {
    Atomics.store(new Int32Array(workerData.shared), FAILED, 1)
    throw error
  }
}
