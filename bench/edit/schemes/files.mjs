// Shared by the tools that edit without the engine: arguments of models, and the files of the task
// in their directory.

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, normalize, sep } from 'node:path'
import { isObject, readJson } from '../json.mjs'

/** A refused call, with a message for the model. */
export class Refusal extends Error {}

/**
 * Wraps a function as `execute` of a tool: refusals become answers.
 * @param {(args: Record<string, unknown>) => string} work returns the answer
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
 * A message for errors of the file system that a model causes, such as a name that is too long. It
 * does not have the paths of this machine.
 * @param {unknown} error
 */
function ofFileSystem(error) {
  const { errno, code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  // Bun does not report the name of the system call.
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
 * @param {string[]} names the first is the one of the schema
 */
export function textOf(from, ...names) {
  const name = names.find((one) => from[one] !== undefined && from[one] !== null)
  const value = name === undefined ? undefined : from[name]
  if (typeof value === 'string') return value
  throw new Refusal(`${names[0]} is ${value === undefined ? 'missing' : 'no string'}.`)
}

/**
 * A file of the task: its text with `\n` terminators, and a function that writes it.
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

/** @param {string} path @returns {string} the same path, if it is below the directory */
function placeBelow(path) {
  const plain = normalize(path.replace(/^@/, ''))
  if (isAbsolute(plain) || plain.split(sep)[0] === '..' || plain.includes('\0')) {
    throw new Refusal(`${path} is outside the working directory: use a relative path.`)
  }
  return plain
}
