// Installs the packages of a folder with its own package.json and lock file, and links this package
// next to them, for tests that need third-party packages.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Installs the packages of the folder's lock file. Install scripts do not run.
 * @param {string} folder
 * @returns {string | undefined} why the packages cannot be installed here
 */
export function installPackages(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const stamp = join(folder, 'node_modules', '.installed-lock.json')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return undefined
  console.log(`npm install in ${folder}`)
  // The downloads are large, so a failure is retried once.
  const first = npmInstall(folder)
  const { status, stderr, error } = first.status === 0 ? first : npmInstall(folder)
  if (status !== 0) return `npm install failed in ${folder}: ${error?.message ?? stderr}`
  const link = join(folder, 'node_modules', 'hashline-native')
  rmSync(link, { recursive: true, force: true })
  symlinkSync(root, link, 'junction')
  writeFileSync(stamp, lock)
  return undefined
}

/** @param {string} folder */
function npmInstall(folder) {
  // `npm ci` fails if a registry lacks optional packages for other platforms.
  return spawnSync('npm', ['install', '--no-save', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
}

/**
 * Copies a plug-in of this repository into the packages of a folder, with the files that npm would
 * publish.
 * @param {string} plugin the folder of the plug-in
 * @param {string} folder
 * @returns {string} its path
 */
export function placePlugin(plugin, folder) {
  const { name, files } = JSON.parse(readFileSync(join(plugin, 'package.json'), 'utf8'))
  const place = join(folder, 'node_modules', name)
  rmSync(place, { recursive: true, force: true })
  for (const file of ['package.json', ...files]) {
    cpSync(join(plugin, file), join(place, file), { recursive: true })
  }
  return place
}

/**
 * Installs for a test, and returns the value of `skip` for tests that need the packages. With `CI`
 * set, tests must run, so it throws instead.
 * @param {string} folder
 * @returns {string | false}
 */
export function skipWithout(folder) {
  const reason = installPackages(folder)
  if (reason === undefined) return false
  if (process.env.CI) throw new Error(reason)
  console.error(`SKIPPED: ${reason}`)
  return reason
}

/**
 * A Node of version 22 or later, which some agents need: this one, or the one in the packages of a
 * folder.
 * @param {string} folder
 */
export function laterNode(folder) {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const path = join(folder, 'node_modules', name, 'bin', 'node')
  return existsSync(path) ? path : process.execPath
}
