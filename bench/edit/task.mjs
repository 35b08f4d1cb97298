// A task: files, what is to be made of them, and the words for it. And the place where one is done.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isAlikeFormatted } from './tasks/formatters.mjs'

/** @import { Edit } from './history/text.mjs' */

/**
 * @typedef {object} TaskFile
 * @property {string} path
 * @property {string} before what the model reads
 * @property {string} [changed] the same once somebody else has changed it, between the read and the edit
 * @property {string} wanted
 * @property {Edit[]} edits what is to be done, by the lines before
 */
/**
 * @typedef {object} Task
 * @property {string} id
 * @property {string} language
 * @property {string} kind of change
 * @property {string} source where it is from, in a few words
 * @property {number} lines of its longest file
 * @property {string} instruction
 * @property {TaskFile[]} files
 * @property {string} [formatter] results are compared once this has formatted them
 */

/** Sizes of files, by their lines. */
export const SIZES = ['under 300 lines', '300 to 999 lines', '1,000 lines and more']

/** @param {Task} task */
export const sizeOf = ({ lines }) => SIZES[lines < 300 ? 0 : lines < 1000 ? 1 : 2]

/** Whether somebody else changes a file of the task meanwhile. @param {Task} task */
export const isMoving = ({ files }) => files.some(({ changed }) => changed !== undefined)

/**
 * A directory of its own with the files of a task.
 * @param {Task} task
 */
export function placeFor(task) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-bench-'))
  const cwd = join(dir, 'project')
  const { files, formatter } = task
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  for (const { path, before } of files) put(path, before)
  const bytesOf = (/** @type {TaskFile} */ { path }) => readFileSync(join(cwd, path), 'utf8')
  let isMoved = false
  return {
    cwd,
    stateDir: join(dir, 'state'),
    /** What somebody else does, once. */
    move() {
      if (isMoved) return
      isMoved = true
      for (const { path, changed } of files) if (changed !== undefined) put(path, changed)
    },
    /** Whether the files are what they were to become. */
    isWanted: () =>
      files.every((file) => isAlikeFormatted(bytesOf(file), file.wanted, file.path, formatter)),
    /** Whether nothing but what somebody else did was done. */
    isUntouched: () =>
      files.every((file) => {
        const text = bytesOf(file)
        return text === file.before || text === file.changed
      }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** @typedef {ReturnType<typeof placeFor>} Place */
