// Builds the program `hashline` for the platform packages, beside whose addons it rides.
// `npm run build:release` builds it for this machine; `npm run build:all` calls `buildProgram`.

import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programName, programPath, TARGETS } from './targets.mjs'
import { root } from './tools.mjs'

const { platformName } = createRequire(import.meta.url)('../js/platform.cjs')

/**
 * Builds the program of a target and puts it below npm/.
 * @param {string} name
 * @param {object} how
 * @param {string[]} how.command what builds for that target: `['cargo', 'build']`, or
 *   `['cargo', 'zigbuild', '--target', …]`
 * @param {string} how.output the directory where that puts a program
 * @param {Record<string, string>} [how.env]
 */
export function buildProgram(name, { command: [command, ...words], output, env }) {
  const args = [...words, '--release', '--package', 'hashline-cli', '--bin', 'hashline']
  const options = { cwd: root, env: { ...process.env, ...env } }
  const { status, error } = spawnSync(command, args, { ...options, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? `exit code ${status}`}`)
  const path = join(root, programPath(name))
  mkdirSync(dirname(path), { recursive: true })
  // One that runs cannot be written over.
  copyFileSync(join(output, programName(name)), `${path}.new`)
  chmodSync(`${path}.new`, 0o755)
  renameSync(`${path}.new`, path)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const name = platformName()
  if (!(name in TARGETS)) throw new Error(`there is no package for ${name}`)
  const output = join(root, 'target', 'release')
  buildProgram(name, { command: ['cargo', 'build'], output })
  console.log(programPath(name))
}
