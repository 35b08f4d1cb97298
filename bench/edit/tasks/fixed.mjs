// The fixed set: tasks that set.json names by package, version, file and seed. They are generated
// from packages of the registries, and must be identical every time.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../history/random.mjs'
import { decoded } from '../history/text.mjs'
import { languageOf } from './languages.mjs'
import { checksum, movingChange, mutatedChange, taskOf } from './make.mjs'
import { CACHE, isThere, packageDir, Unavailable } from './registries.mjs'

/** @import { Task } from '../task.mjs' */
/** @import { Package } from './registries.mjs' */

/**
 * @typedef {object} Named a task by its name
 * @property {string} package `npm:rxjs@7.8.0`
 * @property {string} file
 * @property {string} sha256 of the file
 * @property {number} seed
 * @property {string} kind
 * @property {boolean} moving
 * @property {string} task its id, which is a part of its checksum
 */

/** @returns {Named[]} in an order in which every beginning is a balanced sample */
export const fixedSet = () => JSON.parse(readFileSync(new URL('set.json', import.meta.url), 'utf8'))

/** @param {string} text @returns {Package} */
export function packageNamed(text) {
  const found = /^(?<registry>\w+):(?<name>.+)@(?<version>[^@]+)$/.exec(text)?.groups
  if (found === undefined) throw new Error(`${text} names no package`)
  const { registry, name, version } = found
  return { registry, name, version }
}

/**
 * @param {Omit<Named, 'sha256' | 'task'>} named
 * @param {Uint8Array} bytes of the file
 * @returns {Task | undefined} undefined if such a task cannot be made of the file
 */
export function taskOfFile({ package: source, file, seed, kind, moving }, bytes) {
  const text = decoded(bytes)
  const language = languageOf(file)
  if (text === undefined || language === undefined) return undefined
  const random = randomFrom(seed, `${source} ${file} ${kind}`)
  const path = shortPath(file)
  const still = mutatedChange(path, text.lines, kind, random)
  const change = still && moving ? movingChange(still, random) : still
  if (change === undefined) return undefined
  return taskOf({ changes: [{ ...change, text }], language, kind, source: `${source} ${file}` })
}

/**
 * The last parts of a path: files are nested deeper in a package than in a project.
 * @param {string} file
 */
const shortPath = (file) => file.split('/').slice(-2).join('/')

/**
 * The first tasks of the set in some languages, as far as their packages are available.
 * @param {{ count: number, isWanted: (language: string) => boolean, cache?: string, onFetch?: (name: string) => void }} which
 * @returns {{ tasks: Task[], missing: string[] }} and the reasons for missing ones
 */
export function fixedTasks({ count, isWanted, cache = CACHE, onFetch }) {
  const named = fixedSet().filter(({ file }) => isWanted(languageOf(file) ?? ''))
  /** @type {Task[]} */
  const tasks = []
  /** @type {Map<string, string>} */
  const missing = new Map()
  for (const one of named) {
    if (tasks.length === count) break
    if (missing.has(one.package)) continue
    try {
      if (!isThere(packageNamed(one.package), cache)) onFetch?.(one.package)
      tasks.push(fixedTask(one, cache))
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      missing.set(one.package, `${one.package}: ${error.message}`)
    }
  }
  return { tasks, missing: [...missing.values()] }
}

/** @param {Named} named @param {string} cache @returns {Task} */
export function fixedTask(named, cache) {
  const dir = packageDir(packageNamed(named.package), cache)
  const path = join(dir, named.file)
  const bytes = existsSync(path) ? readFileSync(path) : undefined
  if (bytes === undefined || checksum(bytes) !== named.sha256) {
    throw new Error(`${path} is not the file that it must be: remove ${dir}, to fetch it again.`)
  }
  const task = taskOfFile(named, bytes)
  if (task?.id === named.task) return task
  throw new Error(
    `the task ${named.task} of ${named.package} ${named.file} comes out as another one`,
  )
}
