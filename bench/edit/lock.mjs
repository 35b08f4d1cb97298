// Who has a run: one process at a time, since two would pay twice. Each that wants it writes a file of
// its own first, and looks for those of others then, so of two at least one sees the other. Files
// whose process has ended are removed; their names, which have the time when it began, never come
// again, so nobody's new file is taken for an old one.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'

const PREFIX = 'lock.'

/** What this process has: on some systems its number is all that is known of it. @type {Set<string>} */
const own = new Set()

/**
 * @param {string} dir
 * @returns {() => void} what gives it back
 */
export function lock(dir) {
  const path = join(dir, nameOf(process.pid))
  if (own.has(path)) throw new Error(`this process is at the run in ${dir} already.`)
  writeFileSync(path, hostname())
  own.add(path)
  const release = () => {
    own.delete(path)
    rmSync(path, { force: true })
  }
  try {
    for (const name of readdirSync(dir)) {
      if (name.startsWith(PREFIX) && name !== basename(path)) passOrThrow(join(dir, name))
    }
  } catch (error) {
    release()
    throw error
  }
  return release
}

/** @param {string} path of another's file, which is removed if its process has ended */
function passOrThrow(path) {
  const [, pid] = basename(path).split('.')
  const host = hostOf(path)
  if (host === undefined) return
  // Processes elsewhere, as in another container, are not seen from here.
  if (host !== hostname()) {
    throw new Error(
      `process ${pid} of ${host} is at this run: wait for it, or remove ${path} if it has ended.`,
    )
  }
  if (isAlive(Number(pid)) && nameOf(Number(pid)) === basename(path)) {
    throw new Error(`process ${pid} is at this run: wait for it, or end it (${path}).`)
  }
  rmSync(path, { force: true })
}

/** @param {string} path @returns {string | undefined} undefined once it is gone */
function hostOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * The name of the file of a process, which has the time when it began, as far as the system tells it:
 * a number of a process may come again.
 * @param {number} pid
 */
const nameOf = (pid) => `${PREFIX}${pid}.${beginOf(pid).replace(/\W+/g, '-')}`

/** @param {number} pid */
function beginOf(pid) {
  try {
    if (process.platform === 'linux') {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
      // The name of the program, in parentheses, may have blanks in it.
      const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/s)
      return `${boot}-${rest.split(' ')[BEGIN_FIELD]}`
    }
    if (process.platform !== 'win32') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }).trim()
    }
  } catch {}
  // Not empty: a name does not end in a dot everywhere.
  return '0'
}

/** Of what follows the name of the program in /proc/PID/stat. */
const BEGIN_FIELD = 19

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}
