// Sessions: they remember what they showed. Each case is a separate session that reads the old
// file; then the file is replaced by the current one, and the session applies the edit.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import native from 'hashline-native'
import { operationsOf } from './plain.mjs'
import { refused } from './subject.mjs'

/** @import { Dialect } from 'hashline-native' */
/** @import { Case } from '../cases.mjs' */
/** @import { Subject } from './subject.mjs' */

/** An addon without sessions does not have this class. */
const { HashSession } = /** @type {Record<string, any>} */ (native)

/**
 * How many lines around each operation are read by the subject that does not read the whole file.
 */
const LINES_AROUND = 30

/**
 * @typedef {object} How
 * @property {Dialect} [dialect]
 * @property {boolean} [hints]
 * @property {boolean} [parts] whether only the lines around the operations are read
 * @property {boolean} [stored] whether another session applies than the one that read, with only
 * the store in common
 */

/**
 * @param {string} name
 * @param {How} [how]
 * @returns {Subject}
 */
function session(name, { dialect = 'pi', hints, parts, stored } = {}) {
  let count = 0
  /** @type {string | undefined} */
  let scratch
  return {
    name,
    pace: name === 'session, pi' ? 'main' : 'usual',
    apply(one) {
      scratch ??= mkdtempSync(join(tmpdir(), 'hashline-misplacement-'))
      const dir = join(scratch, 'files')
      mkdirSync(dir, { recursive: true })
      const path = `file${extname(one.path)}`
      const options = {
        cwd: dir,
        dialect,
        durability: 'process',
        stateDir: join(scratch, 'state'),
        ...(stored && { store: { id: `${++count}` } }),
      }
      writeFileSync(join(dir, path), one.old)
      const reader = new HashSession(options)
      if (parts) readAround(reader, path, one)
      else readAll(reader, path)
      writeFileSync(join(dir, path), one.current)
      const operations = operationsOf(one, { dialect, hints })
      const editor = stored ? new HashSession(options) : reader
      const outcome = editor.applySync({ operations: operations.map((op) => ({ ...op, path })) })
      if (stored) removeStores(options.stateDir)
      if (outcome.status === 'rejected') return refused(outcome.code)
      const text = readFileSync(join(dir, path), 'utf8')
      return { status: 'applied', text, repaired: outcome.repairs.length > 0 }
    },
    end() {
      if (scratch) rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/**
 * Removes the stored sessions; the state directory stays, because creating it waits for the disk.
 * @param {string} stateDir
 */
function removeStores(stateDir) {
  const names = readdirSync(stateDir).filter((name) => name.startsWith('store-'))
  for (const name of names) rmSync(join(stateDir, name), { recursive: true })
}

/**
 * Page by page, because reads are limited.
 * @param {any} reader
 * @param {string} path
 */
function readAll(reader, path) {
  /** @type {number | undefined} */
  let startLine = 1
  while (startLine) {
    /** @type {{ views: { nextLine?: number }[] }} */
    const { views } = reader.readSync([{ path, startLine }])
    startLine = views[0].nextLine
  }
}

/**
 * @param {any} reader
 * @param {string} path
 * @param {Case} one
 */
function readAround(reader, path, { operations, oldLines }) {
  for (const edit of operations) {
    const [first, last] = 'after' in edit ? [edit.after, edit.after] : [edit.first, edit.last]
    let startLine = Math.max(1, first - LINES_AROUND)
    const end = Math.min(oldLines.length, last + LINES_AROUND)
    while (startLine <= end) {
      const request = { path, startLine, maxLines: end - startLine + 1 }
      const { views } = reader.readSync([request])
      startLine = views[0].endLine + 1
    }
  }
}

/** @type {Subject[]} */
export const sessionSubjects = HashSession
  ? [
      session('session, pi'),
      session('session, pi, only lines around read', { parts: true }),
      session('session, pi, through the store', { stored: true }),
      session('session, pi, hints', { hints: true }),
      session('session, pi26', { dialect: 'pi26' }),
      session('session, omp13', { dialect: 'omp13' }),
    ]
  : []
