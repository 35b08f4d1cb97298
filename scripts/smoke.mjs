// The JavaScript suite with the addon of a platform, under every host of that platform that can
// be had on Linux for x86-64: of its own, under qemu-user, under Wine.
// `npm run smoke -- TARGET [--hosts node22,deno] [--files worker,writers] [--seconds 300]`
//
// The addon is the one that `npm run build:all` has put below npm/; the hosts come from npm and
// PyPI, the emulators from Debian. Each test file is a process of its own with a limit of time.
// What an emulator cannot do, tests skip and say why; they know it by HASHLINE_EMULATOR. The
// results are kept in target/smoke, for the table of `npm run build:all`.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { hostsOf } from './hosts.mjs'
import { runGroup } from './processGroup.mjs'
import { addonPath, chosen } from './targets.mjs'
import { root } from './tools.mjs'

/** @import { Host } from './hosts.mjs' */
/** @typedef {{ name: string, reason: string }} Remark */
/** @typedef {{ passed: number, failed: Remark[], skipped: Remark[] }} Result */

const results = join(root, 'target', 'smoke')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    hosts: { type: 'string' },
    files: { type: 'string' },
    seconds: { type: 'string', default: '300' },
  },
})
const seconds = Number(values.seconds)
if (!(seconds > 0)) throw new Error('--seconds must be a number above 0')
if (positionals.length !== 1) throw new Error('usage: npm run smoke -- TARGET [--hosts …]')
const [target] = chosen(positionals)
mkdirSync(results, { recursive: true })
const addon = join(root, addonPath(target))
if (!existsSync(addon)) throw new Error(`${addon} is not there: npm run build:all -- ${target}`)

/** Stops the test file that runs. @type {AbortController | undefined} */
let running
let interrupted = false
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  // Test files are groups of their own, which a signal to this one does not reach.
  process.on(signal, () => {
    interrupted = true
    if (running === undefined) process.exit(1)
    running.abort()
  })
}

for (const host of hostsOf(target, values.hosts?.split(','))) {
  const ready = host.prepare()
  const total = {
    passed: 0,
    failed: /** @type {Remark[]} */ ([]),
    skipped: /** @type {Remark[]} */ ([]),
  }
  for (const file of files()) {
    const { passed, failed, skipped } = await runFile(ready, file)
    total.passed += passed
    total.failed.push(...failed)
    total.skipped.push(...skipped)
    const counts = `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`
    console.log(`${target} ${host.name} ${file}: ${counts}`)
    for (const { name, reason } of failed) console.log(`  FAILED ${name}\n${indented(reason)}`)
    for (const { name, reason } of skipped) console.log(`  skipped ${name}: ${reason}`)
  }
  const { passed, failed, skipped } = total
  console.log(
    `${target} ${host.name}: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  )
  if (failed.length > 0) process.exitCode = 1
  if (values.files === undefined) {
    const sha256 = createHash('sha256').update(readFileSync(addon)).digest('hex')
    const record = { target, host: host.name, sha256, ...total }
    const path = join(results, `${target}.${host.name}.json`)
    writeFileSync(path, `${JSON.stringify(record, undefined, 2)}\n`)
  }
}

/** The test files that were asked for. */
function files() {
  const wanted = values.files?.split(',').map((name) => `${name}.test.mjs`)
  const all = readdirSync(join(root, '__test__')).filter((name) => name.endsWith('.test.mjs'))
  const unknown = wanted?.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new Error(`no such test file: ${unknown}`)
  return wanted ?? all.sort()
}

/**
 * @param {import('./hosts.mjs').Ready} host
 * @param {string} file
 * @returns {Promise<Result>}
 */
async function runFile(host, file) {
  // Of its own, since several of these may run at once.
  const report = join(results, `report-${process.pid}`)
  rmSync(report, { force: true })
  const { command, args } = host.command(`__test__/${file}`, report)
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: host.path(addon), ...host.env }
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), seconds * 1000)
  running = stop
  const run = await runGroup(command, args, { cwd: root, env }, stop.signal)
  clearTimeout(timer)
  if (stop.signal.aborted) host.end?.()
  if (interrupted) process.exit(1)
  const text = existsSync(report) ? readFileSync(report, 'utf8') : run.stdout
  rmSync(report, { force: true })
  const result = host.format === 'junit' ? fromJunit(text) : fromTap(text)
  if (stop.signal.aborted) {
    result.failed.push({ name: file, reason: `no end within ${seconds} s` })
  } else if (run.code !== 0 && result.failed.length === 0) {
    const reason = `ended with ${run.signal ?? run.code}\n${run.stderr}${text}`
    result.failed.push({ name: file, reason })
  }
  return result
}

/**
 * @param {string} text
 * @returns {Result}
 */
function fromTap(text) {
  /** @type {Result} */
  const result = { passed: 0, failed: [], skipped: [] }
  const points = text.split(/^(?=(?:not )?ok \d)/m)
  for (const point of points) {
    const found = /^(not )?ok \d+(?: - )?(.*?)(?: # (SKIP|TODO) ?(.*))?$/m.exec(point)
    if (!found || !point.startsWith(found[0])) continue
    const [all, not, name, directive, reason] = found
    // Node 18 counts a file as a test of its own.
    if (basename(name).endsWith('.test.mjs')) continue
    if (directive !== undefined) result.skipped.push({ name, reason: reason || 'no reason given' })
    else if (not) result.failed.push({ name, reason: point.slice(all.length).trim() })
    else result.passed++
  }
  return result
}

/**
 * @param {string} text
 * @returns {Result}
 */
function fromJunit(text) {
  /** @type {Result} */
  const result = { passed: 0, failed: [], skipped: [] }
  for (const [, attributes, body = ''] of text.matchAll(
    /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const name = /name="([^"]*)"/.exec(attributes)?.[1] ?? ''
    if (body.includes('<failure')) result.failed.push({ name, reason: body.trim() })
    else if (body.includes('<skipped')) {
      const reason = /message="([^"]*)"/.exec(body)?.[1] ?? 'the file says why'
      result.skipped.push({ name, reason })
    } else result.passed++
  }
  return result
}

/** @param {string} text */
function indented(text) {
  return text.slice(0, 3000).replace(/^/gm, '    ')
}
