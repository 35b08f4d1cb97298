// The directory of a run: its settings (run.json), its tasks (tasks.jsonl), and a line for each
// finished attempt (attempts.jsonl). An incomplete line does not count, so a run that was
// interrupted at any point can continue.

import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { isObject, readJson } from './json.mjs'
import { lock } from './lock.mjs'
import { checkedTask } from './task.mjs'

/** @import { Attempt } from './attempt.mjs' */
/** @import { Task } from './task.mjs' */

/** The format of the files of a run, and of submitted results. */
export const FORMAT = 2

const PACKAGE = new URL('package.json', import.meta.url)

/** The version of the benchmark. */
export const BENCH = JSON.parse(readFileSync(PACKAGE, 'utf8')).version

/**
 * @typedef {object} About
 * @property {number} format
 * @property {string} model
 * @property {string} api
 * @property {string} bench the version of this package
 * @property {string} engine its version
 * @property {string} address of the endpoint: host and path, without secret or variable parts
 * @property {'fixed' | 'own'} set whether the tasks are of the fixed set
 * @property {number} limit tokens of an answer
 * @property {Record<string, unknown>} extra
 * @property {string} started day
 * @property {Record<string, { system: string, tools: unknown[] }>} schemes the prompts for the
 * model
 */
/** @typedef {{ task: string, scheme: string, run: number, seconds: number } & Omit<Attempt, 'lostMs'>} Entry */
/** @typedef {{ task: string, scheme: string, run: number }} Job */

/** @param {Job} job */
export const keyOf = ({ task, scheme, run }) => `${task} ${scheme} ${run}`

/** The fields that must be equal when a run continues. */
const FIXED = /** @type {const} */ ([
  ...['format', 'bench', 'model', 'api', 'address', 'engine', 'limit', 'extra', 'set'],
])

/** @param {string} dir */
const paths = (dir) => ({
  about: join(dir, 'run.json'),
  tasks: join(dir, 'tasks.jsonl'),
  attempts: join(dir, 'attempts.jsonl'),
  places: join(dir, 'places'),
})

/**
 * Starts or continues a run. It is locked until it is closed.
 * @param {string} dir
 * @param {About} about
 * @param {Task[]} tasks
 */
export function openRun(dir, about, tasks) {
  mkdirSync(dir, { recursive: true })
  const { attempts } = paths(dir)
  const release = lock(dir)
  try {
    const before = existsSync(paths(dir).about) ? readRun(dir) : undefined
    writeWhole(
      paths(dir).about,
      `${JSON.stringify(merged(before?.about, about, dir), undefined, 2)}\n`,
    )
    const all = union(before?.tasks ?? [], tasks, dir)
    writeWhole(paths(dir).tasks, all.map((task) => `${JSON.stringify(task)}\n`).join(''))
    if (!existsSync(attempts)) writeFileSync(attempts, '')
    // Not opened for appending: such a file cannot be truncated on every system.
    const file = openSync(attempts, 'r+')
    let { end } = readAttempts(attempts)
    ftruncateSync(file, end)
    const entries = before?.entries ?? []
    const places = freshPlaces(paths(dir).places)
    return {
      entries,
      places,
      /** @param {Entry} entry */
      add(entry) {
        const bytes = Buffer.from(`${JSON.stringify(entry)}\n`)
        writeAll(file, bytes, end)
        fsyncSync(file)
        end += bytes.length
        entries.push(entry)
      },
      close() {
        closeSync(file)
        removePlaces(paths(dir).places)
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * A directory for those of the attempts. Its path is recorded, so that it can be removed after the
 * run was killed.
 * @param {string} note
 */
function freshPlaces(note) {
  removePlaces(note)
  const places = mkdtempSync(join(tmpdir(), PLACES))
  writeFileSync(note, places)
  return places
}

const PLACES = 'hashline-bench-run-'

/** @param {string} note */
function removePlaces(note) {
  const places = existsSync(note) ? readFileSync(note, 'utf8') : ''
  // Only such a path: the record may come from another machine.
  if (dirname(places) === tmpdir() && /^\w{6}$/.test(basename(places).replace(PLACES, ''))) {
    rmSync(places, { recursive: true, force: true })
  }
  rmSync(note, { force: true })
}

/** @param {number} file @param {Buffer} bytes @param {number} from */
function writeAll(file, bytes, from) {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(file, bytes, at, bytes.length - at, from + at)
  }
}

/** @param {string} path @param {string} text */
function writeWhole(path, text) {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** @param {About | undefined} before @param {About} about @param {string} dir @returns {About} */
function merged(before, about, dir) {
  if (before === undefined) return about
  for (const name of FIXED) {
    const [was, is] = [before[name], about[name]].map((value) => JSON.stringify(value))
    if (was !== is) {
      throw new Error(`${dir} has a run with ${name} ${was}, not ${is}. Use another --out.`)
    }
  }
  for (const [name, told] of Object.entries(about.schemes)) {
    const known = before.schemes[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(told)) {
      throw new Error(`${dir} has a run with another prompt for ${name}. Use another --out.`)
    }
  }
  return { ...before, schemes: { ...before.schemes, ...about.schemes } }
}

/** @param {Task[]} before @param {Task[]} tasks @param {string} dir */
function union(before, tasks, dir) {
  const all = new Map(before.map((task) => [task.id, task]))
  for (const task of tasks) {
    const known = all.get(task.id)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(task)) {
      throw new Error(`${dir} has another task ${task.id}. Use another --out.`)
    }
    all.set(task.id, task)
  }
  return [...all.values()]
}

/**
 * @param {string} dir
 * @returns {{ about: About, tasks: Task[], entries: Entry[] }}
 */
export function readRun(dir) {
  const { about, tasks, attempts } = paths(dir)
  if (!existsSync(about)) throw new Error(`${dir} has no run: ${about} is missing.`)
  const { value, why = 'no object' } = readJson(readFileSync(about, 'utf8'))
  if (!isObject(value)) throw new Error(`${about} is not a file of a run: ${why}`)
  if (value.format !== FORMAT) {
    throw new Error(
      `${dir} has a run of format ${value.format}, not ${FORMAT}. Use another version of hashline-bench.`,
    )
  }
  return {
    about: /** @type {any} */ (value),
    tasks: readTasks(tasks),
    entries: latest(readAttempts(attempts).entries),
  }
}

/** The latest entry of each job. @param {Entry[]} entries */
const latest = (entries) => [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()]

/** @param {string} path a file with a task per line */
export const readTasks = (path) =>
  [...linesIn(path)].flatMap(({ text }, at) => {
    const where = `${path}:${at + 1}`
    return text.trim() === '' ? [] : [checkedTask(jsonIn(text, where), where)]
  })

/**
 * The attempts of a file. An incomplete line at its end does not count.
 * @param {string} path
 */
function readAttempts(path) {
  /** @type {Entry[]} */
  const entries = []
  let end = 0
  for (const line of existsSync(path) ? linesIn(path) : []) {
    if (!line.isWhole) break
    entries.push(jsonIn(line.text, `${path}:${entries.length + 1}`))
    end = line.end
  }
  return { entries, end }
}

/** @param {string} text @param {string} where */
function jsonIn(text, where) {
  const { value, why } = readJson(text)
  if (why !== undefined) throw new Error(`${where} is not JSON: ${why}`)
  return value
}

const CHUNK_BYTES = 1 << 16

/**
 * The lines of a file, which may be larger than a string can be.
 * @param {string} path
 * @returns {Generator<{ text: string, end: number, isWhole: boolean }>} `end`: the offset after it
 */
function* linesIn(path) {
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    /** @type {Buffer[]} */
    let begun = []
    let end = 0
    for (;;) {
      const count = readSync(file, chunk)
      if (count === 0) break
      // A copy, because the next read overwrites the chunk.
      const pieces = splitAt(Buffer.from(chunk.subarray(0, count)), 10)
      for (const [at, piece] of pieces.entries()) {
        begun.push(piece)
        if (at === pieces.length - 1) break
        const line = Buffer.concat(begun)
        end += line.length + 1
        yield { text: line.toString('utf8').replace(/^\uFEFF/, ''), end, isWhole: true }
        begun = []
      }
    }
    const rest = Buffer.concat(begun)
      .toString('utf8')
      .replace(/^\uFEFF/, '')
    if (rest !== '') yield { text: rest, end, isWhole: false }
  } finally {
    closeSync(file)
  }
}

/** @param {Buffer} bytes @param {number} mark @returns {Buffer[]} the parts between the marks */
function splitAt(bytes, mark) {
  const pieces = []
  let from = 0
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, from)) {
    pieces.push(bytes.subarray(from, at))
    from = at + 1
  }
  return [...pieces, bytes.subarray(from)]
}
