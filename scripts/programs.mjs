// Programs that share one npm script, each under its own name: `npm run stress -- NAME
// [ARGUMENT…]`.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './tools.mjs'

/**
 * @typedef {object} Program
 * @property {string} run its command; `node` and `bun` are those of this clone
 * @property {string} does
 * @property {string} [needs]
 * @property {string} [takes]
 */

/** Bun's path on every platform. */
const HOSTS = { node: process.execPath, bun: join(root, 'node_modules', 'bun', 'bin', 'bun.exe') }

/**
 * Runs a program in the root of the repository, and exits with its code.
 * @param {Program} program
 * @param {string[]} args
 */
export function runProgram({ run }, args) {
  const [name, ...fixed] = run.split(' ')
  const command = /** @type {Record<string, string>} */ (HOSTS)[name] ?? name
  const child = spawn(command, [...fixed, ...args], { cwd: root, stdio: 'inherit' })
  // A terminal sends its signal to the program as well, which may have to clean up first.
  process.on('SIGINT', () => {})
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal))
  }
  child.on('error', ({ message }) => {
    console.error(message)
    process.exitCode = 1
  })
  child.on('close', (code) => {
    process.exitCode = code ?? 1
  })
}

/**
 * The programs as a table for people.
 * @param {Record<string, Program>} programs
 */
export function tableOf(programs) {
  const width = Math.max(...Object.keys(programs).map((name) => name.length))
  const rows = Object.entries(programs).map(([name, { does, needs, takes }]) => {
    const rest = [needs && `needs ${needs}`, takes && `takes ${takes}`].filter(Boolean)
    return `  ${name.padEnd(width)}  ${[does, ...rest].join('; ')}`
  })
  return rows.join('\n')
}

/**
 * Exits with an error that lists the programs.
 * @param {string} problem
 * @param {Record<string, Program>} programs
 */
export function refuse(problem, programs) {
  console.error(`${problem}. Use one of these:\n\n${tableOf(programs)}`)
  process.exitCode = 2
}
