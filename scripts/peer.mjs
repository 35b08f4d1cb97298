// The published package that `hashline-native/omp13` is compared with. npm downloads only its
// archive, once: the module has no imports, but the package has hundreds of dependencies.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PEER = '@oh-my-pi/pi-coding-agent@13.19.0'
const SHA512 =
  'fc6icJozz0aci/Ca9+Hdl/xXOW+4SGJNKkklgIgD0kn9+IfluoOl/DhI6T51jaOQkNb/Rlq9AGXkCOCqDqIbDg=='
const MODULE = 'package/src/patch/hashline.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const directory = join(root, 'target', 'peers', 'pi-coding-agent-13.19.0')

/**
 * The path of the module, TypeScript for Bun. Throws with the reason if it is not available.
 * @returns {string}
 */
export function peerModule() {
  const path = join(directory, MODULE)
  if (existsSync(path)) return path
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const listed = JSON.parse(run('npm', 'pack', PEER, '--json', '--pack-destination', directory))
  const archive = join(directory, listed[0].filename)
  if (createHash('sha512').update(readFileSync(archive)).digest('base64') !== SHA512) {
    throw new Error(`${PEER} has changed: the checksum of its archive differs`)
  }
  run('tar', '-xzf', archive, '-C', directory, MODULE)
  return path
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(peerModule())

/**
 * @param {string} command
 * @param {...string} args
 */
function run(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    timeout: 120_000,
  })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr}`)
  return stdout
}
