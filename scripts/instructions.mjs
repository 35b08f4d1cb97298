// Counts the instructions of the hot paths under callgrind and compares them with the numbers
// in bench/instructions.json. A count does not depend on what else the machine does, so a
// change of a few percent is a change of the code.
//
// `npm run instructions` compares; `npm run instructions -- --write` records new numbers.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)))
const RECORD = join(REPOSITORY, 'bench', 'instructions.json')
const WORKLOAD = join(REPOSITORY, 'target', 'release', 'examples', 'workload')

/** How far a count may lie from the recorded one. */
const TOLERANCE = 0.03

if (process.platform !== 'linux' || process.arch !== 'x64') {
  skip('the recorded numbers are those of x86-64 Linux')
}
if (spawnSync('valgrind', ['--version']).error) {
  skip('valgrind is not installed')
}
build()
const counts = countAll()
if (process.argv.includes('--write')) {
  writeFileSync(RECORD, `${JSON.stringify(counts, null, 2)}\n`)
  console.log(`written: ${RECORD}`)
} else {
  compare(counts, JSON.parse(readFileSync(RECORD, 'utf8')))
}

function skip(/** @type {string} */ reason) {
  console.log(`SKIPPED: ${reason}. Nothing was counted.`)
  process.exit(0)
}

function build() {
  const command = ['build', '--release', '-p', 'hashline-core', '--example', 'workload']
  execFileSync('cargo', command, { cwd: REPOSITORY, stdio: 'inherit' })
}

/** Instructions by stage, level and text. */
function countAll() {
  const rows = execFileSync(WORKLOAD, ['--list'], { encoding: 'utf8' }).trim().split('\n')
  /** @type {Map<string, number>} */
  const baselines = new Map()
  /** @type {Record<string, number>} */
  const counts = {}
  for (const row of rows) {
    const [stage, , text] = row.split(' ')
    const count = countOne(row.split(' '))
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

function countOne(/** @type {string[]} */ workload) {
  const options = ['--tool=callgrind', '--callgrind-out-file=/dev/null', WORKLOAD, ...workload]
  const { status, stderr } = spawnSync('valgrind', options, { encoding: 'utf8' })
  const collected = /Collected : (\d+)/.exec(stderr)
  assert(status === 0 && collected, `valgrind ${options.join(' ')}:\n${stderr}`)
  return Number(collected[1])
}

/** Of the name of a count: stage, level, text. */
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
    console.error('If that is meant, record the new ones: npm run instructions -- --write')
    process.exit(1)
  }
}
