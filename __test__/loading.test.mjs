// How the addon is found, and the errors if it is missing.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TARGETS } from '../scripts/targets.mjs'

const require = createRequire(import.meta.url)
const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const { PLATFORMS, VERSION, platformError, platformName } = require('../js/platform.cjs')

test('the exports are the functions of the addon and of the declarations', () => {
  const exported = Object.keys(require('../index.js')).sort()
  // The functions of `omp` are only for js/hashline, those of `tools` for js/tools, and those of
  // `events` for js/events.cjs.
  const { omp, tools, events, ...functions } = /** @type {any} */ (require('../js/addon.cjs'))
  for (const inner of [omp, tools, events]) assert.equal(typeof inner, 'object')
  assert.deepEqual(exported, Object.keys(functions).sort())
  const declarations = readFileSync(path('index.d.ts'), 'utf8')
  const declared = declarations.matchAll(/^export declare (?:function|class|const) (\w+)/gm)
  assert.deepEqual(exported, [...new Set([...declared].map(([, name]) => name))].sort())
})

test('all lists of platforms are equal', () => {
  assert.deepEqual(PLATFORMS, Object.keys(TARGETS).sort())
  assert.deepEqual(PLATFORMS, readdirSync(path('npm')).sort())
  const loader = readFileSync(path('js/addon.cjs'), 'utf8')
  for (const pattern of [/hashline-native\.([\w-]+)\.node'\)/g, /'hashline-native-([\w-]+)'\)/g]) {
    assert.deepEqual(
      [...loader.matchAll(pattern)].map(([, name]) => name),
      PLATFORMS,
    )
  }
})

test('the version in the loader is that of all packages', () => {
  assert.equal(VERSION, require('../package.json').version)
  for (const name of PLATFORMS)
    assert.equal(VERSION, require(`../npm/${name}/package.json`).version)
})

test('the error on a platform without a package is one line with the other platforms', () => {
  const { message } = platformError('freebsd-x64')
  assert.match(message, /^hashline-native has no package for freebsd-x64\. .*linux-x64-gnu/)
  assert.doesNotMatch(message, /\n/)
})

for (const [platform, arch, name] of [
  ['sunos', 'x64', 'sunos-x64'],
  ['linux', 's390x', 'linux-s390x-'],
  ['win32', 'ia32', 'win32-ia32-msvc'],
]) {
  test(`on ${platform} ${arch} loading reports that there is no package`, () => {
    const pretend = `Object.defineProperties(process, {
      platform: { value: ${JSON.stringify(platform)} }, arch: { value: ${JSON.stringify(arch)} } })`
    const call = `try { require(${JSON.stringify(path('index.js'))}) } catch (e) { console.log(e.message) }`
    const addon = run(['-e', `${pretend}; ${call}`])
    assert.match(addon.stdout, new RegExp(`^hashline-native has no package for ${name}[^\\n]*\\n$`))
  })
}

const named = process.platform === 'linux' && !process.versions.bun && namesLoader()

test('no process report is made if the program names a loader', {
  skip: !named && 'for a host on Linux whose program names one',
}, () => {
  const pretend = `Object.defineProperty(process, 'report', {
    get: () => { throw new Error('a report') } })`
  const call = `console.log(require(${JSON.stringify(path('js/platform.cjs'))}).platformName())`
  const { stdout, stderr } = run(['-e', `${pretend}; ${call}`])
  assert.equal(stdout, `${platformName()}\n`, stderr)
})

/** Whether the program of this process names the dynamic loader at its start. */
function namesLoader() {
  const [file, head] = [openSync('/proc/self/exe', 'r'), Buffer.alloc(4096)]
  readSync(file, head)
  closeSync(file)
  return /\/ld-(?:linux|musl-)/.test(head.toString('latin1'))
}

/** @param {string[]} args */
function run(args) {
  // Under Deno, a child inherits variables that its environment omits.
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: '' }
  return spawnSync(process.execPath, args, { encoding: 'utf8', env })
}
