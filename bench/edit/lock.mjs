// Locks a run: for one process at a time, because two would pay twice. Each process first writes a
// file of its own and then checks for files of others, so at least one of two processes sees the
// other. Files of ended processes are removed; their names contain the start time and are never
// reused, so a new file is not mistaken for an old one.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'

const PREFIX = 'lock.'

/** The locks of this process, because on some systems only its id is known. @type {Set<string>} */
const own = new Set()

/**
 * @param {string} dir
 * @returns {() => void} releases the lock
 */
export function lock(dir) {
  const path = join(dir, nameOf(process.pid))
  if (own.has(path)) throw new Error(`this process already uses the run in ${dir}.`)
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

/** @param {string} path the file of another process, which is removed if the process has ended */
function passOrThrow(path) {
  const [, pid] = basename(path).split('.')
  const host = hostOf(path)
  if (host === undefined) return
  // Processes of another host or container are not visible here.
  if (host !== hostname()) {
    throw new Error(
      `process ${pid} of ${host} uses this run. Wait for it, or remove ${path} if it has ended.`,
    )
  }
  if (isAlive(Number(pid)) && nameOf(Number(pid)) === basename(path)) {
    throw new Error(`process ${pid} uses this run (${path}). Wait for it, or end it.`)
  }
  rmSync(path, { force: true })
}

/** @param {string} path @returns {string | undefined} undefined if the file is gone */
function hostOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * The name of the file of a process. It contains the start time, if the system reports it, because
 * process ids are reused.
 * @param {number} pid
 */
const nameOf = (pid) => `${PREFIX}${pid}.${beginOf(pid).replace(/\W+/g, '-')}`

/** @param {number} pid */
function beginOf(pid) {
  try {
    if (process.platform === 'linux') {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
      // The name of the program, in parentheses, may contain spaces.
      const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/s)
      return `${boot}-${rest.split(' ')[BEGIN_FIELD]}`
    }
    if (process.platform !== 'win32') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }).trim()
    }
  } catch {}
  // Not empty: on some systems a name cannot end with a dot.
  return '0'
}

/** The index of the start time after the program name in /proc/PID/stat. */
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
