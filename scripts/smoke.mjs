// Runs the JavaScript tests with the addon of a platform, under every host of that platform that
// runs on x86-64 Linux: natively, under qemu-user or under Wine.
// `npm run stress -- smoke TARGET [--hosts node22,deno] [--files worker,writers] [--seconds 300]
// [--rust]`
//
// With --rust it runs the Rust tests of the core instead, built for the platform and started by the
// emulator of the first host.
//
// The addon is the one that `npm run build:all` has built in npm/; the hosts come from npm and
// PyPI, the emulators from Debian. Each test file is a process of its own with a time limit. Tests
// that an emulator cannot run are skipped with a reason; they detect it by HASHLINE_EMULATOR. The
// results are stored in target/smoke, for the table of `npm run build:all`.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { hostsOf } from './hosts.mjs'
import { runGroup } from './processGroup.mjs'
import { fromJunit, fromLibtest, fromTap } from './reports.mjs'
import { rustTests } from './rust-tests.mjs'
import { addonPath, chosen } from './targets.mjs'
import { root } from './tools.mjs'

/** @import { Ready } from './hosts.mjs' */
/** @import { Result } from './reports.mjs' */

const results = join(root, 'target', 'smoke')
const SUFFIX = '.test.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    hosts: { type: 'string' },
    files: { type: 'string' },
    rust: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '300' },
  },
})
const seconds = Number(values.seconds)
if (!(seconds > 0)) throw new Error('--seconds must be a number above 0')
if (positionals.length !== 1) throw new Error('usage: npm run stress -- smoke TARGET [--hosts …]')
const [target] = chosen(positionals)
mkdirSync(results, { recursive: true })
const addon = join(root, addonPath(target))

/** Stops the running test file. @type {AbortController | undefined} */
let running
let interrupted = false
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  // Test files run in process groups of their own, which a signal to this one does not reach.
  process.on(signal, () => {
    interrupted = true
    if (running === undefined) process.exit(1)
    running.abort()
  })
}

const hosts = hostsOf(target, values.hosts?.split(','))
if (values.rust) {
  const [{ name, prepare }] = hosts
  const ready = prepare()
  await runAll(`rust-${name}`, rustTests(target, values.files?.split(',')), ({ program }) => {
    const [command, ...args] = [...ready.starter, program]
    return runOne(ready, { command, args }, fromLibtest)
  })
} else {
  if (!existsSync(addon)) throw new Error(`${addon} is not there: npm run build:all -- ${target}`)
  for (const host of hosts) {
    const ready = host.prepare()
    await runAll(host.name, chosenOf(testFiles()), ({ name }) => runFile(ready, name))
  }
}

/**
 * Runs tests one after the other, prints each result, and stores all of them.
 * @template {{ name: string }} Test
 * @param {string} host
 * @param {Test[]} tests
 * @param {(test: Test) => Promise<Result>} runTest
 */
async function runAll(host, tests, runTest) {
  /** @type {Result} */
  const total = { passed: 0, failed: [], skipped: [] }
  const counts = (/** @type {Result} */ { passed, failed, skipped }) =>
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`
  for (const test of tests) {
    const result = await runTest(test)
    total.passed += result.passed
    total.failed.push(...result.failed)
    total.skipped.push(...result.skipped)
    console.log(`${target} ${host} ${test.name}: ${counts(result)}`)
    for (const { name, reason } of result.failed) {
      console.log(`  FAILED ${name}\n${indented(reason)}`)
    }
    for (const { name, reason } of result.skipped) console.log(`  skipped ${name}: ${reason}`)
  }
  console.log(`${target} ${host}: ${counts(total)}`)
  if (total.failed.length > 0) process.exitCode = 1
  if (values.files !== undefined) return
  const sha256 = values.rust ? undefined : checksum(addon)
  const path = join(results, `${target}.${host}.json`)
  writeFileSync(path, `${JSON.stringify({ target, host, sha256, ...total }, undefined, 2)}\n`)
}

function testFiles() {
  const names = readdirSync(join(root, '__test__')).filter((name) => name.endsWith(SUFFIX))
  return names.sort().map((name) => ({ name: name.slice(0, -SUFFIX.length) }))
}

/**
 * The requested tests.
 * @template {{ name: string }} Test
 * @param {Test[]} all
 */
function chosenOf(all) {
  const wanted = values.files?.split(',')
  const unknown = wanted?.find((name) => !all.some((test) => test.name === name))
  if (unknown !== undefined) throw new Error(`no such test: ${unknown}`)
  return all.filter(({ name }) => wanted?.includes(name) ?? true)
}

/**
 * @param {Ready} host
 * @param {string} name the name of a test file
 * @returns {Promise<Result>}
 */
async function runFile(host, name) {
  // A separate file, because several of these may run at once.
  const report = join(results, `report-${process.pid}`)
  rmSync(report, { force: true })
  const program = host.command(`__test__/${name}${SUFFIX}`, report)
  const result = await runOne(host, program, host.format === 'junit' ? fromJunit : fromTap, report)
  rmSync(report, { force: true })
  return result
}

/**
 * Runs a test program with a time limit.
 * @param {Ready} host
 * @param {{ command: string, args: string[] }} program
 * @param {(text: string) => Result} parse
 * @param {string} [report] the path of its report
 * @returns {Promise<Result>}
 */
async function runOne(host, { command, args }, parse, report) {
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: host.path(addon), ...host.env }
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), seconds * 1000)
  running = stop
  const run = await runGroup(command, args, { cwd: root, env }, stop.signal)
  clearTimeout(timer)
  if (stop.signal.aborted) host.end?.()
  if (interrupted) process.exit(1)
  const text = report && existsSync(report) ? readFileSync(report, 'utf8') : run.stdout
  const result = parse(text)
  const name = basename(args.at(-1) ?? command)
  if (stop.signal.aborted) {
    result.failed.push({ name, reason: `no end within ${seconds} s` })
  } else if (run.code !== 0 && result.failed.length === 0) {
    const reason = `ended with ${run.signal ?? run.code}\n${run.stderr}${text}`
    result.failed.push({ name, reason })
  }
  return result
}

/** @param {string} path */
function checksum(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** @param {string} text */
function indented(text) {
  return text.slice(0, 3000).replace(/^/gm, '    ')
}
