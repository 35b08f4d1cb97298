// Copies the program `hashline` into the platform package in npm/, next to the addon. The launcher
// starts it from there. `npm run build` and `npm run build:release` call this for this machine
// (`--release`), `npm run build:all` for each platform.

import { chmodSync, copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programName, programPath, rustTriple, TARGETS } from './targets.mjs'
import { root } from './tools.mjs'

const { platformName } = createRequire(import.meta.url)('../js/platform.cjs')

/**
 * @param {string} name of the target
 * @param {string} output the build directory of the program
 */
export function putProgram(name, output) {
  const path = join(root, programPath(name))
  mkdirSync(dirname(path), { recursive: true })
  // A running program cannot be overwritten.
  copyFileSync(join(output, programName(name)), `${path}.new`)
  chmodSync(`${path}.new`, 0o755)
  renameSync(`${path}.new`, path)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const name = platformName()
  if (!(name in TARGETS)) throw new Error(`there is no package for ${name}`)
  const profile = process.argv.includes('--release') ? 'release' : 'debug'
  putProgram(name, join(root, 'target', rustTriple(name).triple, profile))
  console.log(programPath(name))
}
