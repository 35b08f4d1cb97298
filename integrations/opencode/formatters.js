// Runs the formatters that opencode's configuration names. opencode runs its formatters only in its
// own tools, and its interface has no call for that. It does not return the commands of the
// formatters that it knows itself, so only those with a `command` run.

import { spawn } from 'node:child_process'
import { extname } from 'node:path'

/**
 * @import { AfterWrite } from 'hashline-native/tools'
 *
 * @typedef {{ name: string, command: string[], extensions: string[], environment: Record<string, string> }} Formatter
 */

/** The longest part of an output that is reported. */
const MAX_OUTPUT = 500

/** How long one formatter may run, as `hashline --after` by default. */
const LIMIT_MS = 30_000

/**
 * The formatters that a configuration gives with a command and extensions.
 * @param {{ formatter?: boolean | { [name: string]: Partial<Formatter> & { disabled?: boolean } } }} config
 * @returns {Formatter[]}
 */
export function formattersOf({ formatter }) {
  if (typeof formatter !== 'object') return []
  return Object.entries(formatter).flatMap(([name, given]) => {
    const { command = [], extensions = [], environment = {}, disabled } = given
    const isUsable = !disabled && command.length > 0 && extensions.length > 0
    return isUsable ? [{ name, command, extensions, environment }] : []
  })
}

/**
 * What formats the files of an edit. A formatter that fails is reported to the model, and the others
 * run anyway.
 * @param {Formatter[]} formatters
 * @param {string} cwd
 * @param {number} [limitMs] for each run
 * @returns {AfterWrite}
 */
export const formatting =
  (formatters, cwd, limitMs = LIMIT_MS) =>
  async (files, { signal }) => {
    const failures = []
    for (const { path, change } of files) {
      if (change === 'deleted') continue
      for (const formatter of formatters) {
        if (!formatter.extensions.includes(extname(path))) continue
        const failure = await format(formatter, path, { cwd, signal, timeout: limitMs })
        if (failure !== undefined) failures.push(`${formatter.name}: ${failure}`)
      }
    }
    if (failures.length > 0) throw new Error(failures.join('\n'))
  }

/**
 * @param {Formatter} formatter
 * @param {string} path
 * @param {{ cwd: string, signal: AbortSignal, timeout: number }} options
 * @returns {Promise<string | undefined>} why it failed
 */
const format = ({ command, environment }, path, options) =>
  new Promise((resolve) => {
    const [program, ...args] = command.map((word) => word.replaceAll('$FILE', path))
    const env = { ...process.env, ...environment }
    const child = spawn(program, args, {
      ...options,
      env,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr.on('data', (text) => {
      output = (output + text).slice(0, MAX_OUTPUT)
    })
    child.on('error', ({ message }) => resolve(message))
    child.on('close', (code, killed) => {
      const end = killed
        ? `ended by ${killed}, after at most ${options.timeout} ms`
        : `exit code ${code}`
      resolve(code === 0 ? undefined : `${end}. ${output}`.trim())
    })
  })
