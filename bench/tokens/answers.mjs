// What a model gets back after an edit, in each scheme: the words of the tool itself, when the file
// is as the model has read it.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { installPackages, laterNode } from '../../scripts/packages.mjs'

/**
 * An edit as it is called: the file as it was read, lines `from` to `to` of it, and the arguments.
 * @typedef {{ path: string, old: string, from: number, to: number, args: string }} Call
 * @typedef {(calls: Call[]) => string[] | Promise<string[]>} Answers
 */

const MAX_OUTPUT = 1 << 28
const root = fileURLToPath(new URL('../../', import.meta.url))
const worker = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))

/** @type {Answers} */
export const ofOurTools = (calls) =>
  inScratch(async (dir) => {
    const answers = []
    for (const [at, { path, old, from, to, args }] of calls.entries()) {
      const cwd = join(dir, `${at}`)
      put(cwd, path, old)
      const stateDir = join(dir, 'state')
      const tools = hashTools(new HashSession({ cwd, stateDir, durability: 'process' }))
      await tools.read.execute({ path, start_line: from, max_lines: to - from + 1 })
      answers.push((await tools.apply.execute(args)).text)
    }
    return answers
  })

/** The edit tool of pi, which replaces exact text. @type {Answers} */
export const ofPi = (calls) =>
  inScratch((dir) => {
    const agent = join(root, 'integrations/pi/agent')
    const reason = installPackages(agent)
    if (reason !== undefined) throw new Error(reason)
    return ofWorker(laterNode(agent), [worker('pi-worker.mjs'), agent, dir], calls)
  })

/** The program `patch`. @type {Answers} */
export const ofPatch = (calls) =>
  inScratch((dir) =>
    calls.map(({ path, old, args }, at) => {
      const cwd = join(dir, `${at}`)
      put(cwd, path, old)
      const flags = ['--force', '--binary', path]
      const options = {
        cwd,
        input: JSON.parse(args).patch,
        encoding: /** @type {const} */ ('utf8'),
      }
      const { stdout, stderr } = spawnSync('patch', flags, options)
      return `${stdout}${stderr}`.trimEnd()
    }),
  )

/**
 * The package `@oh-my-pi/hashline`: its header and its preview of the diff.
 * @param {string} packages the folder that it is installed in
 * @returns {Answers}
 */
export const ofPublishedIn = (packages) => (calls) =>
  ofWorker(join(root, 'node_modules/.bin/bun'), [worker('published-worker.mjs'), packages], calls)

/**
 * @param {string} command
 * @param {string[]} args
 * @param {Call[]} calls
 * @returns {string[]}
 */
function ofWorker(command, args, calls) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-tokens-'))
  try {
    // Not by a pipe, since a process may find that one not ready.
    const file = join(dir, 'calls.json')
    writeFileSync(file, JSON.stringify(calls))
    const done = spawnSync(command, [...args, file], { encoding: 'utf8', maxBuffer: MAX_OUTPUT })
    if (done.status === 0) return JSON.parse(done.stdout)
    throw new Error(`${args[0]} failed: ${done.stderr || done.error?.message}`)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** @param {string} cwd @param {string} path @param {string} text */
export function put(cwd, path, text) {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}

/**
 * @template T
 * @param {(dir: string) => T | Promise<T>} body
 */
async function inScratch(body) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-tokens-'))
  try {
    return await body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
