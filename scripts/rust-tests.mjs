// The Rust tests of the core, built for another platform.

import { join } from 'node:path'
import { rustTriple } from './targets.mjs'
import { root, run, rustTarget, zigEnvironment } from './tools.mjs'

/** The profile of releases, without its slowest settings. */
const QUICK = {
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_PROFILE_RELEASE_OPT_LEVEL: '1',
}

/**
 * Builds the test programs: that of the library, named `lib`, and those in `tests`.
 * @param {string} target
 * @param {string[]} [names] the ones to build; by default all
 * @returns {{ name: string, program: string }[]}
 */
export function rustTests(target, names) {
  const { triple, zigTriple } = rustTriple(target)
  rustTarget(triple)
  const where = ['--target', zigTriple, '--target-dir', join(root, 'target', 'cross')]
  const chosen = names?.flatMap((name) => (name === 'lib' ? ['--lib'] : ['--test', name]))
  const flags = ['--no-run', '--release', '--message-format=json']
  const tests = ['test', '-p', 'hashline-core', ...(chosen ?? ['--lib', '--tests'])]
  const messages = run('cargo-zigbuild', [...tests, ...flags, ...where], {
    env: { ...process.env, ...zigEnvironment(), ...QUICK },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return messages
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ executable, profile }) => executable && profile?.test)
    .map(({ executable, target: { name, kind } }) => {
      return { name: kind.includes('test') ? name : 'lib', program: executable }
    })
}
