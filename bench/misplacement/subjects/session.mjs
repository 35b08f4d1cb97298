// Sessions: they remember what they showed. A session reads the old file; then the file is replaced
// by the current one, and a fork of the session applies the edit. So the cases of one old text
// share a read.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import native from 'hashline-native'
import { operationsOf } from './plain.mjs'

/** @import { Dialect } from 'hashline-native' */
/** @import { Case } from '../cases.mjs' */
/** @import { Result, Subject } from './subject.mjs' */

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
  /** The session that read the text of the last case. @type {Shown | undefined} */
  let last
  const close = () => {
    last?.reader.close()
    last = undefined
  }
  /** @param {Case} one @param {string} file @param {string} path @param {object} options */
  const shownTo = (one, file, path, options) => {
    if (last?.lines === one.oldLines && last.path === path && !parts && !stored) return last.reader
    close()
    writeFileSync(file, one.old)
    const reader = new HashSession(options)
    if (parts) readAround(reader, path, one)
    else readAll(reader, path)
    last = { reader, lines: one.oldLines, path }
    return reader
  }
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
      const reader = shownTo(one, join(dir, path), path, options)
      writeFileSync(join(dir, path), one.current)
      const operations = operationsOf(one, { dialect, hints })
      const editor = stored ? new HashSession(options) : reader.fork()
      const outcome = editor.applySync({ operations: operations.map((op) => ({ ...op, path })) })
      // Collection of garbage comes too late for the memory of thousands of sessions.
      editor.close()
      if (stored) removeStores(options.stateDir)
      return resultOf(outcome, () => readFileSync(join(dir, path), 'utf8'))
    },
    end() {
      close()
      if (scratch) rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/**
 * The same by documents: the host holds the text, and nothing is on the disk. Each result must be
 * that of files.
 * @param {Subject} ofFiles
 * @returns {Subject}
 */
function documents(ofFiles) {
  return {
    name: 'session, documents',
    pace: 'usual',
    apply(one) {
      const path = `file${extname(one.path)}`
      const editor = new HashSession({ root: '/project', disk: false, dialect: 'pi' })
      editor.setDocument(path, one.old)
      readAll(editor, path)
      editor.setDocument(path, one.current)
      const operations = operationsOf(one, { dialect: 'pi' })
      const outcome = editor.applySync({ operations: operations.map((op) => ({ ...op, path })) })
      editor.close()
      const result = resultOf(outcome, () => outcome.files?.[0]?.content ?? one.current)
      assert.deepEqual(result, ofFiles.apply?.(one))
      return result
    },
    end: () => ofFiles.end?.(),
  }
}

/** @typedef {{ reader: any, lines: string[], path: string }} Shown */

/** A line with its anchor in a refusal; those as they were begin with `- `. */
const ROW = /^ *(\d+)[:#]?[\p{L}\d]+(?:@\w+)?[|:]/gmu

/**
 * @param {any} outcome
 * @param {() => string} current reads the file
 * @returns {Result}
 */
export function resultOf(outcome, current) {
  if (outcome.status === 'rejected') {
    const shown = Array.from(outcome.text.matchAll(ROW), ([, number]) => Number(number))
    return { status: 'refused', code: outcome.code, shown: new Set(shown) }
  }
  const remarks = [
    ...outcome.repairs.map((/** @type {{ rule: string }} */ { rule }) => `repair ${rule}`),
    ...outcome.warnings.map((/** @type {{ code: string }} */ { code }) => `warning ${code}`),
  ]
  return { status: 'applied', text: current(), repaired: outcome.repairs.length > 0, remarks }
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
      documents(session('session, pi')),
    ]
  : []
