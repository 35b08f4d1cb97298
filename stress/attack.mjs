// Shared by the tests that attack transactions: child processes, directories that are checked for
// leftovers, and counters.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs `body` with a new directory for files and one for state, and removes both afterwards.
 * @template T
 * @param {(dir: string, stateDir: string) => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function withDirs(body) {
  const base = mkdtempSync(join(tmpdir(), 'hashline-attack-'))
  try {
    return await body(mkdtempSync(join(base, 'files-')), join(base, 'state'))
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/**
 * The paths of remaining temporary files, journals, locks and kept versions.
 * @param {string} dir
 * @param {string} stateDir
 */
export function leftovers(dir, stateDir) {
  const below = (/** @type {string} */ from) =>
    existsSync(from) ? readdirSync(from, { recursive: true, encoding: 'utf8' }) : []
  const state = ['journals', 'locks', 'kept'].flatMap((name) =>
    below(join(stateDir, name)).map((file) => `${name}/${file}`),
  )
  return [...below(dir).filter((name) => name.includes('.hashline-')), ...state]
}

/**
 * Starts a script of this folder in a child process. Its result is the last line that it prints, as
 * JSON.
 * @param {string} script
 * @param {string} role
 * @param {object} work the argument of `workOf`
 */
export function startChild(script, role, work) {
  const args = [script, '--role', role, '--work', JSON.stringify(work)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  /** @type {Promise<any>} */
  const result = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const last = output.trimEnd().split('\n').at(-1) ?? ''
      if (code === 0) resolve(last === '' ? undefined : JSON.parse(last))
      else reject(new Error(`${role} ended with ${signal ?? `exit code ${code}`}\n${output}`))
    })
  })
  return { child, result }
}

/** Counts by name. */
export class Tally {
  /** @type {Map<string, number>} */
  #counts = new Map()

  /** @param {string} name */
  add(name, by = 1) {
    this.#counts.set(name, this.get(name) + by)
  }

  /** @param {string} name */
  get(name) {
    return this.#counts.get(name) ?? 0
  }

  /** @param {Record<string, number>} counts */
  addAll(counts) {
    for (const [name, count] of Object.entries(counts)) this.add(name, count)
  }

  toJSON() {
    return Object.fromEntries([...this.#counts].sort())
  }

  toString() {
    const list = [...this.#counts].sort().map(([name, count]) => `${count} ${name}`)
    return list.join(', ') || 'none'
  }
}

/**
 * A whole number from `min` to `max`.
 * @param {number} min
 * @param {number} max
 */
export function between(min, max) {
  return min + Math.floor(Math.random() * (max - min + 1))
}

/**
 * Parses command-line options that are positive integers.
 * @template {string} K
 * @param {Record<K, string | undefined>} values
 * @returns {Record<K, number>}
 */
export function counts(values) {
  const read = Object.entries(values).map(([name, value]) => {
    const count = Number(value)
    if (!Number.isInteger(count) || count < 1)
      throw new Error(`--${name} must be a positive integer; got ${value}`)
    return [name, count]
  })
  return Object.fromEntries(read)
}
