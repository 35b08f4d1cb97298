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

const isWindows = process.platform === 'win32'

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
        const failure = await format(formatter, path, { cwd, signal, limitMs })
        if (failure !== undefined) failures.push(`${formatter.name}: ${failure}`)
      }
    }
    if (failures.length > 0) throw new Error(failures.join('\n'))
  }

/**
 * @param {Formatter} formatter
 * @param {string} path
 * @param {{ cwd: string, signal: AbortSignal, limitMs: number }} options
 * @returns {Promise<string | undefined>} why it failed
 */
const format = ({ command, environment }, path, { cwd, signal, limitMs }) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve('aborted')
    const [program, ...args] = command.map((word) => word.replaceAll('$FILE', path))
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...environment },
      // A formatter may be the child of a shell or of npx, and is ended with it.
      detached: !isWindows,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let [output, end] = ['', '']
    /** @param {string} why */
    const stop = (why) => {
      end = why
      killAll(child)
    }
    const timer = setTimeout(() => stop(`took longer than ${limitMs} ms`), limitMs)
    const abort = () => stop('aborted')
    signal.addEventListener('abort', abort)
    /** @param {string | undefined} failure */
    const settle = (failure) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      resolve(failure)
    }
    child.stderr.on('data', (text) => {
      output = (output + text).slice(0, MAX_OUTPUT)
    })
    child.on('error', ({ message }) => settle(message))
    child.on('close', (code, killed) => {
      end ||= killed ? `ended by ${killed}` : `exit code ${code}`
      settle(code === 0 ? undefined : `${end}. ${output}`.trim())
    })
  })

/** Ends a program and the programs that it started. @param {import('node:child_process').ChildProcess} child */
function killAll({ pid }) {
  if (pid === undefined) return
  if (isWindows) {
    spawn('taskkill', ['/T', '/F', '/PID', `${pid}`], { stdio: 'ignore' }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}
