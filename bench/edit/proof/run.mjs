// `npm run bench -- edit-bench-proof`: the long test of the benchmark without a model. A scripted
// model on loopback does the fixed set with known mistakes, through both interfaces; the figures
// must match. Then runs are killed after a number of requests, and must continue to the same
// result.
//
// --tasks N   tasks of the fixed set: 300
// --kills N   runs that are killed: 20

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readRun } from '../record.mjs'
import { resultOf } from '../result.mjs'
import { fixedTasks } from '../tasks/fixed.mjs'
import { WIRES } from '../wire.mjs'
import { checkEntries, checkFigures, EVEN_RATES, timeless } from './check.mjs'
import { withPlayer } from './player.mjs'

const CLI = fileURLToPath(new URL('../cli.mjs', import.meta.url))
const { values } = parseArgs({
  options: { tasks: { type: 'string', default: '300' }, kills: { type: 'string', default: '20' } },
})

const { tasks, missing } = fixedTasks({ count: Number(values.tasks), isWanted: () => true })
for (const why of missing) console.error(`Skipped: ${why}`)
const dir = mkdtempSync(join(tmpdir(), 'hashline-bench-proof-'))
const file = join(dir, 'tasks.jsonl')
writeFileSync(file, tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
try {
  await withoutSlips()
  for (const api of Object.keys(WIRES)) await withSlips(api)
  await killed(Number(values.kills))
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** A model without mistakes solves everything with each scheme: prints the cost. */
function withoutSlips() {
  return withPlayer(tasks, {}, async ({ url, played }) => {
    const run = await done(url, 'openai', 'without')
    checkEntries(run.entries, tasks, played)
    checkFigures(resultOf(run), tasks, played)
    const tokens = run.entries.reduce((sum, { usage }) => sum + usage.input + usage.output, 0)
    const each = Math.round(tokens / run.entries.length)
    console.log(`without mistakes: all of ${run.entries.length} solved, about ${each} tokens each`)
  })
}

/** @param {string} api */
function withSlips(api) {
  const options = { rates: EVEN_RATES, failureRate: 0.05 }
  return withPlayer(tasks, options, async ({ url, played, faults }) => {
    const run = await done(url, api, `slips-${api}`)
    assert.deepEqual(faults, [])
    checkEntries(run.entries, tasks, played)
    checkFigures(resultOf(run), tasks, played)
    console.log(`${api}: the figures of ${run.entries.length} attempts are what was put in`)
  })
}

/** @param {number} kills */
async function killed(kills) {
  const whole = await withPlayer(tasks, { rates: EVEN_RATES }, ({ url }) =>
    done(url, 'openai', 'whole'),
  )
  const step = Math.floor(whole.entries.length / (kills + 1))
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  for (let at = 0; at < kills; at++) {
    const onAnswer = (/** @type {number} */ count) => {
      if (count === step + at) child?.kill('SIGKILL')
    }
    await withPlayer(tasks, { rates: EVEN_RATES, onAnswer }, async ({ url }) => {
      child = start(url, 'openai', 'killed')
      await ended(child)
    })
  }
  const last = await withPlayer(tasks, { rates: EVEN_RATES }, ({ url }) =>
    done(url, 'openai', 'killed'),
  )
  assert.deepEqual(timeless(resultOf(last)), timeless(resultOf(whole)))
  console.log(`killed ${kills} times: the result is the same`)
}

/** @param {string} url @param {string} api @param {string} name */
async function done(url, api, name) {
  const code = await ended(start(url, api, name))
  assert.equal(code, 0)
  return readRun(join(dir, name))
}

/** @param {string} url @param {string} api @param {string} name */
function start(url, api, name) {
  const args = ['--model', 'scripted', '--base-url', url + (api === 'openai' ? '/v1' : '')]
  const more = [
    '--api',
    api,
    '--task-file',
    file,
    '--out',
    join(dir, name),
    '--budget',
    '1000000000',
  ]
  return spawn(process.execPath, [CLI, ...args, ...more], { stdio: 'ignore' })
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<number | null>} */
function ended(child) {
  return new Promise((resolve) => child.on('exit', resolve))
}
