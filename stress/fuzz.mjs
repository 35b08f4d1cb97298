// Runs the fuzz targets of fuzz/, one after the other. Fails at the first finding.
//
//   npm run stress -- fuzz                       every target for 60 seconds
//   npm run stress -- fuzz --seconds 600 edit    one of them for ten minutes
//
// Needs two tools that nothing else in this repository does, and reports if they are missing:
//
//   rustup toolchain install nightly --profile minimal
//   cargo install cargo-fuzz
//
// Inputs with new coverage are stored in fuzz/corpus/<target> and used by the next run; a failing
// input is stored in fuzz/artifacts/<target>, and libFuzzer prints how to run it.
// fuzz/seeds/<target> has the initial inputs; the target of the guard also starts with the commands
// of vectors/commands.jsonl.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Targets that measure the cost of an input, which a sanitizer multiplies. */
const MEASURED = ['command']

/** A separate build tree: nothing else is built with these flags. */
const BUILD = ['--features', 'run', '--target-dir', join('fuzz', 'target')]

/** The profile of packages takes minutes, and its findings have no line numbers. */
const PROFILE = {
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_PROFILE_RELEASE_DEBUG: 'line-tables-only',
  CARGO_PROFILE_RELEASE_LTO: 'false',
  CARGO_PROFILE_RELEASE_STRIP: 'none',
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const known = readdirSync(join(root, 'fuzz', 'targets')).map((name) => name.replace('.rs', ''))

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '60' } },
  allowPositionals: true,
})
const seconds = Number(values.seconds)
const targets = positionals.length > 0 ? positionals : known
const problem = whatIsWrong()
if (problem) {
  console.error(`fuzz: ${problem}`)
  process.exit(1)
}

for (const target of targets) {
  console.log(`\n== ${target}, ${seconds} s ==`)
  const [corpus, seeds] = ['corpus', 'seeds'].map((dir) => join('fuzz', dir, target))
  mkdirSync(join(root, corpus), { recursive: true })
  if (target === 'command') addCommands(join(root, corpus))
  const limits = [`-max_total_time=${seconds}`, '-timeout=10', '-print_final_stats=1']
  const sanitizer = MEASURED.includes(target) ? ['--sanitizer', 'none'] : []
  const { status, error } = spawnSync(
    'cargo',
    ['+nightly', 'fuzz', 'run', ...BUILD, ...sanitizer, target, corpus, seeds, '--', ...limits],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...PROFILE } },
  )
  if (error) throw error
  if (status !== 0) {
    console.error(`fuzz: ${target} failed; the input is in fuzz/artifacts/${target}`)
    process.exit(status ?? 1)
  }
}

/**
 * The commands with known verdicts are seeds, too.
 * @param {string} corpus
 */
function addCommands(corpus) {
  const table = readFileSync(join(root, 'vectors', 'commands.jsonl'), 'utf8')
  for (const [at, line] of table.split('\n').filter(Boolean).entries()) {
    const { command } = JSON.parse(line)
    // The target treats an input that starts with a letter as text.
    const text = /^[A-Za-z]/.test(command) ? command : `true; ${command}`
    writeFileSync(join(corpus, `command-${at}`), text)
  }
}

/** @returns {string | undefined} */
function whatIsWrong() {
  if (!Number.isInteger(seconds) || seconds < 1) return '--seconds must be a whole number above 0'
  const unknown = targets.find((target) => !known.includes(target))
  if (unknown) return `there is no target ${unknown}: the targets are ${known.join(', ')}`
  if (!runs('cargo', '--version')) return 'there is no cargo: install Rust'
  if (!runs('cargo', '+nightly', '--version')) {
    return 'there is no nightly toolchain: run `rustup toolchain install nightly --profile minimal`'
  }
  if (!runs('cargo', 'fuzz', '--version')) {
    return 'there is no cargo-fuzz: run `cargo install cargo-fuzz`'
  }
  return undefined
}

/**
 * @param {string} command
 * @param {...string} args
 */
function runs(command, ...args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
