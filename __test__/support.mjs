// What several test files need.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** @import { HashlineError } from 'hashline-native' */

/**
 * Runs `body` with a new directory that holds `files`, and removes it afterwards.
 * @template T
 * @param {Record<string, string | Uint8Array>} files contents by name
 * @param {(dir: string) => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function withDir(files, body) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-test-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), content)
    }
    return await body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * The rows of a file of recorded results.
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
 * Options as a caller without types may give them.
 * @param {unknown} value
 * @returns {any}
 */
export const untyped = (value) => value

/**
 * Checks that `call` throws a real error with a code, and a message that has all `parts`.
 * @param {() => unknown} call
 * @param {string} code
 * @param {...string} parts
 */
export function assertThrows(call, code, ...parts) {
  assert.throws(call, (error) => isError(error, code, parts))
}

/**
 * Checks that `call` does not throw but returns a promise that is rejected with such an error.
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
 * What every function refuses in its options: `[options, …parts of the message]`.
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
 * Values that are no count, and how a message calls them.
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
