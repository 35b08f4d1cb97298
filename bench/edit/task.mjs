// A task: files, the wanted result, and the instruction. And the directory where an attempt works
// on it.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, win32 } from 'node:path'
import { isAlikeFormatted, isFormatting } from './tasks/formatters.mjs'

/** @import { Edit } from './history/text.mjs' */
/** @import { Formatting } from './tasks/formatters.mjs' */

/**
 * @typedef {object} TaskFile
 * @property {string} path
 * @property {string} before the content that the model reads
 * @property {string} [changed] the content after a change of others, between the read and the edit
 * @property {string} wanted
 * @property {boolean} [near] whether that change is next to the requested one
 * @property {Formatting} [formatter] results are formatted with it before the comparison
 * @property {Edit[]} edits the requested edits, by line numbers of `before`
 */
/**
 * @typedef {object} Task
 * @property {string} id
 * @property {string} language
 * @property {string} kind of change
 * @property {string} source its origin, in a few words
 * @property {number} lines of its longest file
 * @property {string} instruction
 * @property {TaskFile[]} files
 */

const MEDIUM_LINES = 300
const LARGE_LINES = 1000

/** The sizes of files, by line count. */
export const SIZES = ['under 300 lines', '300 to 999 lines', '1,000 lines and more']

/** @param {number} lines of a file */
export const isLarge = (lines) => lines >= LARGE_LINES

/** @param {Task} task */
export const sizeOf = ({ lines }) => SIZES[isLarge(lines) ? 2 : lines < MEDIUM_LINES ? 0 : 1]

/** Whether others change a file of the task meanwhile. @param {Task} task */
export const isMoving = ({ files }) => files.some(({ changed }) => changed !== undefined)

/** Whether they change it next to the requested edit. @param {Task} task */
export const isNear = ({ files }) => files.some(({ near }) => near === true)

/**
 * Whether a task has no effect: some commits change only what a formatter normalizes.
 * @param {Task} task
 */
export async function isDoneBefore({ files }) {
  const alike = files.map(async ({ path, before, changed = before, wanted, formatter }) =>
    Promise.all([before, changed].map((text) => isAlikeFormatted(text, wanted, path, formatter))),
  )
  return (await Promise.all(alike)).some((both) => both.includes(true))
}

/**
 * Checks a task of a file, which may come from another author: the fields that are used must be
 * present, and paths must not lead out of the directory.
 * @param {any} value
 * @param {string} where the place for messages
 * @returns {Task}
 */
export function checkedTask(value, where) {
  const refuse = (/** @type {string} */ why) => new Error(`${where} is not a task: ${why}`)
  const texts = ['id', 'language', 'kind', 'source', 'instruction']
  const missing = texts.find((name) => typeof value?.[name] !== 'string')
  if (missing !== undefined) throw refuse(`${missing} is not a string`)
  if (!Array.isArray(value.files) || value.files.length === 0) throw refuse('it has no files')
  for (const file of value.files) {
    if (!isPathBelow(file?.path)) {
      throw refuse(`the path ${JSON.stringify(file?.path)} is not relative to a directory`)
    }
    const isWhole = ['before', 'wanted'].every((name) => typeof file[name] === 'string')
    if (!isWhole || !['string', 'undefined'].includes(typeof file.changed)) {
      throw refuse(`a text of ${file.path} is missing`)
    }
    if (file.formatter !== undefined && !isFormatting(file.formatter)) {
      throw refuse(`the formatter of ${file.path} is unknown`)
    }
  }
  return value
}

/** @param {unknown} path with `/` between its parts, as git writes it */
const isPathBelow = (path) =>
  typeof path === 'string' &&
  !/[\\\0]/.test(path) &&
  !posix.isAbsolute(path) &&
  !win32.isAbsolute(path) &&
  !/^[A-Za-z]:/.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/**
 * A separate directory with the files of a task.
 * @param {Task} task
 * @param {string} [parent]
 */
export function placeFor(task, parent = tmpdir()) {
  const dir = mkdtempSync(join(parent, 'hashline-bench-'))
  const cwd = join(dir, 'project')
  const { files } = task
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  mkdirSync(cwd)
  for (const { path, before } of files) put(path, before)
  let isMoved = false
  /**
   * Whether the directory has exactly the files of the task, each with the given text.
   * @param {(file: TaskFile, text: string) => boolean | Promise<boolean>} isFit
   */
  const hasAll = async (isFit) => {
    const there = textsIn(cwd)
    if (there.size !== files.length) return false
    for (const file of files) {
      const text = there.get(file.path)
      if (text === undefined || !(await isFit(file, text))) return false
    }
    return true
  }
  return {
    cwd,
    stateDir: join(dir, 'state'),
    /** The number of files of the task. */
    files: files.length,
    /** Makes the change of others, once. Deleted files are skipped. */
    move() {
      if (isMoved) return
      isMoved = true
      const there = textsIn(cwd)
      for (const { path, changed } of files) {
        if (changed !== undefined && there.has(path)) put(path, changed)
      }
    },
    /** Whether the files are as wanted, and there are no others. */
    isWanted: () =>
      hasAll((file, text) => isAlikeFormatted(text, file.wanted, file.path, file.formatter)),
    /** Whether only the change of others was made. */
    isUntouched: () => hasAll((file, text) => text === file.before || text === file.changed),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/**
 * The content of a directory, by paths with `/`. Invalid UTF-8, and entries that are neither a file
 * nor a directory, have no text.
 * @param {string} dir
 * @param {string} [prefix]
 * @returns {Map<string, string | undefined>}
 */
function textsIn(dir, prefix = '') {
  const found = readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const [full, path] = [join(dir, entry.name), prefix + entry.name]
    if (entry.isDirectory()) return [...textsIn(full, `${path}/`)]
    return [/** @type {const} */ ([path, entry.isFile() ? textOf(full) : undefined])]
  })
  return new Map(found)
}

/** @param {string} path */
function textOf(path) {
  try {
    return UTF8.decode(readFileSync(path))
  } catch {
    return undefined
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @typedef {ReturnType<typeof placeFor>} Place */
