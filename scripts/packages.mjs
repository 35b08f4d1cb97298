// Installs the packages of a folder that has a package.json and a lock file of its own, and links
// this package beside them, for tests that need other people's packages.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Makes sure that what the lock file of a folder says is installed. Install scripts are not run.
 * @param {string} folder
 * @returns {string | undefined} why it cannot be: packages cannot be had here and now
 */
export function installPackages(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const stamp = join(folder, 'node_modules', '.installed-lock.json')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return undefined
  console.log(`npm install in ${folder}`)
  // The packages are large, and downloads: what fails is tried once more.
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
  // Not `npm ci`: that fails where a registry lacks what is optional for other platforms.
  return spawnSync('npm', ['install', '--no-save', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
}

/**
 * Puts a plug-in of this repository among the packages of a folder, with the files that npm would
 * publish.
 * @param {string} plugin the folder of the plug-in
 * @param {string} folder
 * @returns {string} where it is then
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
 * Installs for a test, and tells what to give as `skip` to tests that need the packages. Where `CI` is
 * set, tests must run, so that it throws there.
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
 * A Node of version 22 or later, which some agents need: this one, or the one among the packages of
 * a folder.
 * @param {string} folder
 */
export function laterNode(folder) {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const path = join(folder, 'node_modules', name, 'bin', 'node')
  return existsSync(path) ? path : process.execPath
}
