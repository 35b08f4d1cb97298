// oh-my-pi for tests and comparisons: its place, and a run in a directory of its own, with a
// scripted model.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { finished, withMess } from '../../__test__/support.mjs'
import { startModelServer } from '../../scripts/modelServer.mjs'
import { installPackages, placePlugin } from '../../scripts/packages.mjs'
import { root } from '../../scripts/tools.mjs'
import { MODEL_FLAGS, modelsFile } from '../stage.mjs'

/** @import { Step, Turn } from '../../scripts/modelServer.mjs' */

const FOLDER = dirname(fileURLToPath(import.meta.url))

/** For oh-my-pi without the extension. @type {string[]} */
export const OWN_FLAGS = []

/** Where oh-my-pi is installed: 1.1 GB. */
export const AGENT = join(FOLDER, 'agent')
const BUN = join(root, 'node_modules/.bin/bun')
const PROGRAM = join(AGENT, 'node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js')
/** Ignores the user's configuration and requests no title. */
const FLAGS = ['--no-skills', '--no-rules', '--no-title', ...MODEL_FLAGS]

/** No questions at the start, and subagents whose results are awaited. */
const CONFIG = `startup: { setupWizard: false, checkUpdate: false }
async: { enabled: false }
compaction: { keepRecentTokens: 1, methodOrder: [soft] }
`

/** Installs the extension next to the agent, as npm would. */
function placeExtension() {
  assert.equal(installPackages(AGENT), undefined)
  return placePlugin(join(FOLDER, '../pi'), AGENT)
}

/**
 * The fixture of a test of oh-my-pi.
 * @typedef {object} Stage
 * @property {string} dir
 * @property {string} cwd
 * @property {Turn[]} turns
 * @property {string[]} command the program and the arguments of each run
 * @property {Record<string, string | undefined>} env
 * @property {(...args: string[]) => Promise<string>} run
 */

/**
 * Prepares oh-my-pi in a directory of its own.
 * @param {Record<string, string | Buffer>} files
 * @param {Step[] | Step} steps
 * @param {(stage: Stage) => Promise<void>} body
 * @param {() => string[]} [flags] returns the flags that load the extension
 */
export const withAgent = (files, steps, body, flags = () => ['-e', placeExtension()]) =>
  withMess(files, async (dir, stateDir) => {
    const server = await startModelServer(steps)
    const extension = flags()
    const [cwd, agentDir] = [join(dir, 'work'), join(dir, 'omp')]
    for (const one of [cwd, agentDir]) mkdirSync(one, { recursive: true })
    writeFileSync(join(agentDir, 'models.json'), modelsFile(server.url))
    writeFileSync(join(agentDir, 'config.yml'), CONFIG)
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      XDG_STATE_HOME: stateDir,
      PI_CODING_AGENT_DIR: agentDir,
    }
    const command = [BUN, PROGRAM, ...FLAGS, ...extension]
    const run = (/** @type {string[]} */ ...args) =>
      finished(
        spawn(command[0], [...command.slice(1), '--mode', 'json', '-p', ...args], {
          cwd,
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
    try {
      await body({ dir, cwd, turns: server.turns, command, env, run })
    } finally {
      server.close()
      // A failed step explains more than the result of the run.
      assert.deepEqual(server.faults, [])
    }
  })
