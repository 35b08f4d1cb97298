// Counts the instructions of the hot paths and compares them with recorded numbers. The count does
// not depend on the load of the machine, so a difference of a few percent comes from the code.
//
// `npm run bench -- instructions` counts under callgrind, and compares with
// bench/instructions.json; `npm run bench -- instructions --arm64` counts under qemu-user, for
// which it installs what it needs from Debian, and compares with bench/instructionsArm64.json. With
// `--write` it records new numbers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { debianPackages, root, run, rustTarget } from './tools.mjs'

/** The largest accepted difference from the recorded count. */
const TOLERANCE = 0.03

/**
 * Counts instructions for one processor.
 * @typedef {object} Counter
 * @property {string} record the file of recorded numbers
 * @property {() => void} build makes the workload
 * @property {() => string} list the names of all workloads, one per row
 * @property {(workload: string[]) => number} count
 */

const BUILD = ['build', '--release', '-p', 'hashline-core', '--example', 'workload']
const counter = chosenCounter()
counter.build()
const counts = countAll()
if (process.argv.includes('--write')) {
  writeFileSync(counter.record, `${JSON.stringify(counts, null, 2)}\n`)
  console.log(`written: ${counter.record}`)
} else {
  compare(counts, JSON.parse(readFileSync(counter.record, 'utf8')))
}

/** @returns {Counter} */
function chosenCounter() {
  return process.argv.includes('--arm64') ? arm64() : x64()
}

/** @returns {Counter} */
function x64() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    skip('the recorded numbers are those of x86-64 Linux')
  }
  if (spawnSync('valgrind', ['--version']).error) {
    skip('valgrind is not installed')
  }
  const triple = 'x86_64-unknown-linux-gnu'
  const program = join(root, 'target', triple, 'release', 'examples', 'workload')
  const options = ['--tool=callgrind', '--callgrind-out-file=/dev/null', program]
  return {
    record: join(root, 'bench', 'instructions.json'),
    build: () => run('cargo', BUILD, { stdio: 'inherit' }),
    // The emulated processor may lack features of the real one.
    list: () => run('valgrind', ['--quiet', '--tool=none', program, '--list']),
    count: (workload) => counted('valgrind', [...options, ...workload], /Collected : (\d+)/),
  }
}

/** @returns {Counter} */
function arm64() {
  const target = 'aarch64-unknown-linux-gnu'
  const program = join(root, 'target', target, 'release', 'examples', 'workload')
  const plugin = join(root, 'target', 'tools', 'countInstructions.so')
  const system = ['-L', '/usr/aarch64-linux-gnu']
  const options = [...system, '-plugin', plugin, '-d', 'plugin', program]
  const compiler = 'aarch64-linux-gnu-gcc'
  const env = {
    ...process.env,
    CC_aarch64_unknown_linux_gnu: compiler,
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: compiler,
  }
  return {
    record: join(root, 'bench', 'instructionsArm64.json'),
    build: () => {
      debianPackages('qemu-user', 'gcc', 'gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross')
      rustTarget(target)
      mkdirSync(join(root, 'target', 'tools'), { recursive: true })
      const source = join(root, 'bench', 'countInstructions.c')
      run('gcc', ['-O2', '-Wall', '-Wextra', '-shared', '-fPIC', '-o', plugin, source])
      run('cargo', [...BUILD, '--target', target], { stdio: 'inherit', env })
    },
    list: () => run('qemu-aarch64', [...system, program, '--list']),
    count: (workload) => counted('qemu-aarch64', [...options, ...workload], /instructions: (\d+)/),
  }
}

function skip(/** @type {string} */ reason) {
  console.log(`SKIPPED: ${reason}. Nothing was counted.`)
  process.exit(0)
}

/**
 * The count that a program reports for another program.
 * @param {string} command
 * @param {string[]} args
 * @param {RegExp} pattern
 */
function counted(command, args, pattern) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  const found = pattern.exec(stderr ?? '')
  assert(status === 0 && found, `${command} ${args.join(' ')}:\n${error ?? stderr}`)
  return Number(found[1])
}

/** The instructions by stage, level and text. */
function countAll() {
  /** @type {Map<string, number>} */
  const baselines = new Map()
  /** @type {Record<string, number>} */
  const counts = {}
  for (const row of counter.list().trim().split('\n')) {
    const [stage, , text] = row.split(' ')
    const count = counter.count(row.split(' '))
    if (stage === 'none') {
      baselines.set(text, count)
    } else {
      const baseline = baselines.get(text)
      assert(baseline !== undefined, `the list has the stage none of ${text} first`)
      counts[row] = count - baseline
    }
  }
  return counts
}

/** The level in the name of a count: stage, level, text. */
function levelOf(/** @type {string} */ name) {
  return name.split(' ')[1]
}

function compare(
  /** @type {Record<string, number>} */ counts,
  /** @type {Record<string, number>} */ recorded,
) {
  const wrong = []
  for (const [name, count] of Object.entries(counts)) {
    if (!(name in recorded)) {
      console.log(`${name.padEnd(34)} ${String(count).padStart(12)} not recorded`)
      continue
    }
    const change = count / recorded[name] - 1
    const verdict = Math.abs(change) <= TOLERANCE ? 'ok' : change > 0 ? 'MORE' : 'FEWER'
    const percent = `${(100 * change).toFixed(1)} %`
    console.log(
      `${name.padEnd(34)} ${String(count).padStart(12)} ${percent.padStart(9)} ${verdict}`,
    )
    if (verdict !== 'ok') {
      wrong.push(name)
    }
  }
  const levels = new Set(Object.keys(counts).map(levelOf))
  for (const name of Object.keys(recorded).filter((name) => !(name in counts))) {
    if (levels.has(levelOf(name))) wrong.push(name)
    const why = levels.has(levelOf(name)) ? 'GONE' : 'SKIPPED: this processor cannot run it'
    console.log(`${name.padEnd(34)} ${why}`)
  }
  if (wrong.length > 0) {
    console.error(`${wrong.length} counts are gone, or differ by more than ${100 * TOLERANCE} %.`)
    console.error('If intended, record the new counts: npm run bench -- instructions --write')
    process.exit(1)
  }
}
