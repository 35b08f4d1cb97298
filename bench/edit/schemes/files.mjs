// What the tools share that edit without the engine: arguments as models write them, and the files
// of the task, in whose directory all happens.

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, normalize, sep } from 'node:path'
import { isObject, readJson } from '../json.mjs'

/** A call that comes to nothing, with words for the model. */
export class Refusal extends Error {}

/**
 * A tool's work as `execute` of a tool: refusals become answers.
 * @param {(args: Record<string, unknown>) => string} work gives the answer
 */
export const refusing = (work) => async (/** @type {unknown} */ args) => {
  try {
    return { text: work(objectOf(args)), isError: false }
  } catch (error) {
    const why = error instanceof Refusal ? error.message : ofFileSystem(error)
    if (why === undefined) throw error
    return { text: `Nothing was written. ${why}`, isError: true }
  }
}

/**
 * What the file system says of what a model asks for, such as a name that is too long. The paths of
 * this machine are not in it.
 * @param {unknown} error
 */
function ofFileSystem(error) {
  const { errno, code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  // Bun does not say which call it was.
  if (typeof errno !== 'number' || code === undefined) return undefined
  return `The file system says: ${message.split(',')[0]}.`
}

/** @param {unknown} args an object, or its JSON text @returns {Record<string, unknown>} */
function objectOf(args) {
  const { value, why } = typeof args === 'string' ? readJson(args) : { value: args }
  if (why !== undefined) throw new Refusal(`The arguments are not JSON: ${why}`)
  if (isObject(value)) return value
  throw new Refusal('The arguments are not an object.')
}

/**
 * The value of a field, under any of its names.
 * @param {Record<string, unknown>} from
 * @param {string[]} names the first is the one that the schema has
 */
export function textOf(from, ...names) {
  const name = names.find((one) => from[one] !== undefined && from[one] !== null)
  const value = name === undefined ? undefined : from[name]
  if (typeof value === 'string') return value
  throw new Refusal(`${names[0]} is ${value === undefined ? 'missing' : 'no string'}.`)
}

/**
 * A file of the task: its text with lines that end by `\n`, and how to write another.
 * @param {string} cwd
 * @param {string} path as the model wrote it
 */
export function fileAt(cwd, path) {
  const full = join(cwd, placeBelow(path))
  if (!isFile(full)) {
    throw new Refusal(`There is no file ${path}.`)
  }
  const bytes = readFileSync(full, 'utf8')
  const eol = bytes.includes('\r\n') ? '\r\n' : '\n'
  return {
    text: bytes.replaceAll('\r\n', '\n'),
    write: (/** @type {string} */ text) => writeFileSync(full, text.replaceAll('\n', eol)),
  }
}

/** @param {string} path */
function isFile(path) {
  try {
    return statSync(path).isFile()
  } catch (error) {
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
    if (['ENOENT', 'ENOTDIR'].includes(code)) return false
    throw error
  }
}

/** @param {string} path @returns {string} the same, where it leads to a place below the directory */
function placeBelow(path) {
  const plain = normalize(path.replace(/^@/, ''))
  if (isAbsolute(plain) || plain.split(sep)[0] === '..' || plain.includes('\0')) {
    throw new Refusal(`${path} is outside the working directory: use a relative path.`)
  }
  return plain
}
