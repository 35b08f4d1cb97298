// Shared by several test files.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { leftovers } from '../stress/attack.mjs'

/** @import { HashlineError } from 'hashline-native' */

/** A state directory for calls that must not reach the point of using one. */
export const UNUSED_STATE = join(tmpdir(), 'hashline-test-unused-state')

/**
 * Whether the tests run in an emulator (`npm run stress -- smoke`). Calls are many times slower
 * there, so loops are shorter.
 */
export const isEmulated = process.env.HASHLINE_EMULATOR !== undefined

/**
 * Runs `body` with a new directory that has `files`, and a path for a state directory other than
 * the user's, and removes both afterwards. Nothing else of a patch may remain: no temporary file,
 * no journal, no lock.
 * @template T
 * @param {Record<string, string | Uint8Array>} files contents by name
 * @param {(dir: string, stateDir: string) => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export function withDir(files, body) {
  return withMess(files, async (dir, stateDir) => {
    const result = await body(dir, stateDir)
    assert.deepEqual(leftovers(dir, stateDir), [])
    return result
  })
}

/**
 * As `withDir`, for a body that leaves files on purpose.
 * @template T
 * @param {Record<string, string | Uint8Array>} files contents by name
 * @param {(dir: string, stateDir: string) => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function withMess(files, body) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-test-'))
  const stateDir = `${dir}-state`
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), content)
    }
    return await body(dir, stateDir)
  } finally {
    // A hook of an agent that was killed may still write a file.
    const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
    for (const made of [dir, stateDir]) rmSync(made, options)
  }
}

/**
 * Runs one of the long tests in `stress` for a short time, and checks that it succeeds.
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<string>} its output
 */
export async function runScript(name, ...args) {
  const script = fileURLToPath(new URL(`../stress/${name}`, import.meta.url))
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  assert.equal(code, 0, output)
  return output
}

/**
 * The rows of a file with recorded results.
 * @param {string} name
 * @returns {any[]}
 */
export function vectors(name) {
  const text = readFileSync(new URL(`../vectors/${name}.jsonl`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => JSON.parse(row))
}

/**
 * Options without type checks.
 * @param {unknown} value
 * @returns {any}
 */
export const untyped = (value) => value

/**
 * Checks that `call` throws an error with a code, and a message that has all `parts`.
 * @param {() => unknown} call
 * @param {string} code
 * @param {...string} parts
 */
export function assertThrows(call, code, ...parts) {
  assert.throws(call, (error) => isError(error, code, parts))
}

/**
 * Checks that `call` does not throw but returns a promise that rejects with such an error.
 * @param {() => Promise<unknown>} call
 * @param {string} code
 * @param {...string} parts
 */
export async function assertRejects(call, code, ...parts) {
  const promise = call()
  assert.ok(promise instanceof Promise)
  await assert.rejects(promise, (error) => isError(error, code, parts))
}

/**
 * @param {unknown} value
 * @param {string} code
 * @param {string[]} parts
 */
function isError(value, code, parts) {
  const error = /** @type {HashlineError} */ (value)
  assert.ok(error instanceof Error, `not an Error: ${value}`)
  assert.equal(error.code, code, error.message)
  for (const part of parts) {
    assert.ok(error.message.includes(part), `${JSON.stringify(part)} not in: ${error.message}`)
  }
  return true
}

/**
 * Options that every function refuses: `[options, …parts of the message]`.
 * @type {[unknown, ...string[]][]}
 */
export const MISUSED_OPTIONS = [
  ['pi', 'options is the string "pi"', 'expected an object with dialect'],
  [[], 'options is an array'],
  [() => {}, 'options is a function'],
  [{ dialect: 'hex' }, 'options.dialect', '"hex"', 'pi, pi26, cli, omp, omp13'],
  [{ dialect: 1 }, 'options.dialect is the number 1', 'the name of a dialect'],
  [{ dialekt: 'pi' }, 'unknown name "dialekt"', 'dialect'],
]

/**
 * Values that are not counts, and how messages describe them.
 * @type {[unknown, string][]}
 */
export const NO_COUNTS = [
  [-1, 'the number -1'],
  [1.5, 'the number 1.5'],
  [Number.NaN, 'the number NaN'],
  [Number.POSITIVE_INFINITY, 'the number Infinity'],
  [2 ** 53, 'the number 9007199254740992'],
  ['10', 'the string "10"'],
  [10n, 'a bigint'],
  [true, 'true'],
  [{}, 'an object'],
]

/**
 * Waits until a process has succeeded, and returns its output from both streams.
 * @param {import('node:child_process').ChildProcess} child
 */
export async function finished(child) {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(code, 0, output)
  return output
}
