// Installs the development dependencies, unless node_modules already matches package-lock.json.
// With `--addon` it first checks that there is an addon to test. It needs no installed packages.
// npm runs no lifecycle script of this package on `npm ci`, so scripts of package.json can call
// this without recursion.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (process.argv.includes('--addon')) requireAddon()
const stale = whyStale()
if (stale) {
  console.log(`npm ci: ${stale}`)
  process.exit(npm('ci'))
}

/** Fails in one line if no addon loads: tests would each fail, and building takes minutes. */
function requireAddon() {
  try {
    createRequire(import.meta.url)('../js/addon.cjs')
  } catch (error) {
    // The remedy in the error is for users of the package.
    const [reason] = /** @type {Error} */ (error).message.split('. ')
    console.error(`Run \`npm run build\` first: ${reason}.`)
    process.exit(1)
  }
}

/**
 * The first difference between node_modules and package-lock.json.
 *
 * npm stores a lock file of the installed packages in node_modules. That file lacks the optional
 * packages for other platforms.
 * @returns {string | undefined}
 */
function whyStale() {
  const wanted = packagesOf('package-lock.json')
  const installed = packagesOf('node_modules/.package-lock.json')
  if (!wanted) return 'no package-lock.json'
  if (!installed) return 'nothing is installed'
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    if (path === '') continue
    const found = installed[path]
    if (!found && optional) continue
    if (found?.version !== version || found?.integrity !== integrity) {
      return `${path} is not at ${version}`
    }
    if (!existsSync(join(root, path, 'package.json'))) return `${path} is missing`
  }
  for (const [path, { os, cpu }] of Object.entries(installed)) {
    if (!wanted[path]) return `${path} is not in package-lock.json`
    if (!allows(os, process.platform) || !allows(cpu, process.arch)) {
      return `${path} is for another platform`
    }
  }
  return undefined
}

/**
 * @typedef {{version?: string, integrity?: string, optional?: boolean, os?: string[], cpu?: string[]}} Entry
 * @param {string} lockFile
 * @returns {Record<string, Entry> | undefined}
 */
function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), 'utf8')).packages
  } catch {
    return undefined
  }
}

/**
 * Whether an `os` or `cpu` field of a manifest (`["linux"]`, `["!win32"]`) allows a value.
 * @param {string[] | undefined} list
 * @param {string} value
 */
function allows(list, value) {
  if (!list || list.length === 0) return true
  if (list.includes(`!${value}`)) return false
  return list.includes(value) || list.every((entry) => entry.startsWith('!'))
}

/**
 * Runs the npm that runs this script, otherwise the one on PATH.
 * @param {...string} args
 * @returns {number} exit code
 */
function npm(...args) {
  const cli = process.env.npm_execpath
  const viaNode = cli !== undefined && basename(cli) === 'npm-cli.js'
  const { status, error } = viaNode
    ? spawnSync(process.execPath, [cli, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, {
        cwd: root,
        stdio: 'inherit',
        shell: process.platform === 'win32',
      })
  if (error) console.error(error.message)
  return status ?? 1
}
