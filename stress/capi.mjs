// `npm run stress -- c-check [--rounds 200]`: the C interface under AddressSanitizer and valgrind.
//
// Three runs: the tests of crates/capi, fully built with AddressSanitizer (by a nightly compiler);
// stress/capi.c built with the C compiler's AddressSanitizer, against the addon; the same program
// under valgrind. Each fails on an invalid access, an invalid free, or a memory leak.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { binaryPath } from '../js/ffi/library.cjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    only: { type: 'string', default: 'rust,c,valgrind' },
  },
})
const rounds = Number(values.rounds)
if (!(rounds > 0)) throw new Error('--rounds must be a number above 0')
const only = values.only.split(',')
const OUTPUT_LIMIT = 4000
const scratch = mkdtempSync(join(tmpdir(), 'hashline-capi-'))

/**
 * @param {string} what
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function run(what, command, args, env = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  const output = `${stdout}${stderr}`
  // Long reports have the important part at the end.
  if (status !== 0) throw new Error(`${what}: ${error?.message ?? output.slice(-OUTPUT_LIMIT)}`)
  return output
}

/** @param {string} name @param {string[]} flags */
function compiled(name, ...flags) {
  const program = join(scratch, name)
  const sources = ['-std=c11', '-g', '-Iinclude', 'stress/capi.c', binaryPath(), '-lpthread']
  run('cc', 'cc', [...flags, ...sources, '-o', program])
  return program
}

/** Creates the directory that the program expects. */
function directory() {
  const dir = join(scratch, 'files')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'a.txt'), 'one\ntwo\n')
  return dir
}

try {
  if (only.includes('rust')) {
    const target = ['--target', 'x86_64-unknown-linux-gnu']
    const args = ['+nightly', 'test', '-p', 'hashline-capi', '--test', 'all', ...target]
    const output = run('tests in Rust, AddressSanitizer', 'cargo', args, {
      RUSTFLAGS: '-Zsanitizer=address',
      CARGO_TARGET_DIR: join(root, 'target', 'asan'),
    })
    console.log(`tests in Rust, AddressSanitizer: ${/test result: .*/.exec(output)?.[0]}`)
  }
  if (only.includes('c')) {
    const program = compiled('asan', '-fsanitize=address', '-fno-omit-frame-pointer')
    run('C program, AddressSanitizer', program, [directory(), `${rounds}`])
    console.log(`C program, AddressSanitizer: ${rounds} rounds on 4 threads, nothing found`)
  }
  if (only.includes('valgrind')) {
    const checks = ['--leak-check=full', '--errors-for-leak-kinds=definite', '--error-exitcode=9']
    const fewer = Math.max(1, Math.round(rounds / 20))
    const args = [...checks, compiled('plain'), directory(), `${fewer}`]
    const output = run('C program, valgrind', 'valgrind', args)
    const summary = output.split('\n').filter((line) => /ERROR SUMMARY|lost:/.test(line))
    const words = summary.map((line) => line.replace(/^==\d+==\s*/, '').replace(/\s+/g, ' '))
    console.log(`C program, valgrind: ${fewer} rounds on 4 threads; ${words.join('; ')}`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
