// Runs programs, and ends them with all their child processes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * @typedef {object} Ended
 * @property {number | null} code
 * @property {string | null} signal
 * @property {string} stdout
 * @property {string} stderr
 */

/**
 * Runs a program as the leader of a new process group. When it has ended, or `stop` is aborted,
 * every process that is still in the group is killed, so processes that a test started do not run
 * during the next one.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @param {AbortSignal} stop
 * @returns {Promise<Ended>}
 */
export async function runGroup(command, args, options, stop) {
  const child = spawn(command, args, { ...options, detached: true, stdio: 'pipe' })
  const closed = once(child, 'close')
  const killAll = () => {
    if (child.pid !== undefined) killGroup(child.pid)
  }
  child.on('exit', killAll)
  stop.addEventListener('abort', killAll)
  if (stop.aborted) killAll()
  child.stdin?.end()
  const texts = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      texts[name] += text
    })
  }
  try {
    const [code, signal] = await closed
    return { code, signal, ...texts }
  } finally {
    stop.removeEventListener('abort', killAll)
  }
}

/** @param {number} leader */
function killGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // The whole group has ended already.
  }
}
