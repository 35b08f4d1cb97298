// The published packages, installed by npm from files, without a registry: their content, and that
// they work outside of this repository. `npm run stress -- install-test` does the same with a
// registry and all package managers.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  bareEnvironment,
  call,
  checkComplaints,
  endProgram,
  makeProject,
  runExamples,
  runProgram,
  runTypeScript,
} from '../scripts/consumer.mjs'
import { pack } from '../scripts/pack.mjs'
import { addonName, addonPath, programName, programPath, TARGETS } from '../scripts/targets.mjs'
import { root } from '../scripts/tools.mjs'
import { isEmulated } from './support.mjs'

/** @import { Packed } from '../scripts/pack.mjs' */

const require = createRequire(import.meta.url)
const { platformName } = require('../js/platform.cjs')
const { READ, REFUSAL, REPORT } = require('./fixtures/install/listings.cjs')

const skip =
  (isEmulated && 'no npm runs in an emulator') ||
  (process.versions.deno !== undefined && 'Deno has no npm of its own')
const platform = platformName()
const dir = mkdtempSync(join(tmpdir(), 'hashline-install-'))
const consumer = { dir, host: process.execPath, env: bareEnvironment(join(process.execPath, '..')) }
const installed = join(dir, 'node_modules', `hashline-native-${platform}`)
const launcher = join(dir, 'node_modules', 'hashline-native', 'bin', 'hashline.cjs')
/** @type {Packed} */
let main
/** @type {Packed} */
let native

before(() => {
  if (skip) return
  const binaries = {
    [addonName(platform)]: newest('npm run build', addonName(platform), addonPath(platform)),
    [programName(platform)]: slim(newest('npm run build', programPath(platform))),
  }
  ;[main, native] = pack(join(dir, 'packed'), [platform], { [platform]: binaries })
  makeProject(dir)
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, stderr } = call(consumer, 'npm', [
    'install',
    ...flags,
    main.tarball,
    native.tarball,
  ])
  assert.equal(status, 0, stderr)
})

after(() => rmSync(dir, { recursive: true, force: true }))

test('the main package has the files of its folders in git, and no scripts', { skip }, () => {
  const { files } = require('../package.json')
  const listed = [...files, 'LICENSE', 'README.md', 'package.json']
  const tracked = execFileSync('git', ['ls-files', '-z', ...listed], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.deepEqual(
    main.files.map(({ path }) => path).sort(),
    tracked.split('\0').filter(Boolean).sort(),
  )
  const { scripts, dependencies, devDependencies, optionalDependencies, version } = require(
    join(dir, 'node_modules', 'hashline-native', 'package.json'),
  )
  assert.deepEqual([scripts, dependencies, devDependencies], [undefined, undefined, undefined])
  const wanted = Object.keys(TARGETS).map((name) => [`hashline-native-${name}`, version])
  assert.deepEqual(optionalDependencies, Object.fromEntries(wanted))
})

test('the repository folder cannot be published, because its manifest names no platform package', {
  skip,
}, () => {
  const root = require('../package.json')
  assert.deepEqual([root.private, 'optionalDependencies' in root], [true, false])
  const staged = require(join(dir, 'node_modules', 'hashline-native', 'package.json'))
  assert.equal(staged.private, undefined)
})

test('a platform package has an addon, an executable program, and a licence', { skip }, () => {
  assert.deepEqual(
    native.files.map(({ path }) => path).sort(),
    ['LICENSE', 'README.md', addonName(platform), programName(platform), 'package.json'].sort(),
  )
  assert.equal(statSync(join(installed, programName(platform))).mode & 0o111, 0o111)
})

test('every platform package names its files, its system and its processor', () => {
  for (const name of Object.keys(TARGETS)) {
    const manifest = require(`../npm/${name}/package.json`)
    const [system, processor] = name.split('-')
    assert.deepEqual(manifest.files, [addonName(name), programName(name)])
    assert.deepEqual([manifest.os, manifest.cpu], [[system], [processor]])
    assert.equal(manifest.main, addonName(name))
    const libc = { gnu: ['glibc'], musl: ['musl'] }[name.split('-')[2]]
    assert.deepEqual(manifest.libc, libc, name)
  }
})

test("the README's examples run as an ES module and in CommonJS", { skip }, () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  for (const listing of [READ, REPORT, REFUSAL]) assert.ok(readme.includes(listing), listing)
  runExamples(consumer)
})

test('TypeScript finds the declarations with every module resolution', { skip }, () => {
  runTypeScript(consumer, join(root, 'node_modules', 'typescript', 'bin', 'tsc'))
})

test('the program receives arguments and streams, and returns exit codes', { skip }, async () => {
  const bin = join(dir, 'node_modules', '.bin', 'hashline')
  const program = await runProgram(consumer, [bin])
  assert.equal(program, realpathSync(join(installed, programName(platform))))
})

test(
  'a signal to the launcher ends the program',
  {
    skip: skip || (process.platform === 'win32' && 'there are no signals'),
  },
  () => endProgram(consumer, launcher),
)

test('without its platform package it says what to install', { skip }, () => {
  renameSync(installed, `${installed}.away`)
  const says = new RegExp(
    `^hashline-native needs the package hashline-native-${platform} on ${platform}`,
  )
  checkComplaints(consumer, launcher, says, says)
  renameSync(`${installed}.away`, installed)
})

test('the error of an addon that does not load has its reason', { skip }, () => {
  renameSync(installed, `${installed}.away`)
  mkdirSync(installed)
  writeFileSync(
    join(installed, 'package.json'),
    readFileSync(join(`${installed}.away`, 'package.json')),
  )
  writeFileSync(join(installed, addonName(platform)), 'no library')
  const says = `^hashline-native-${platform} is installed, but does not run on this ${platform}: .+ Run npm install `
  checkComplaints(consumer, launcher, new RegExp(says))
  rmSync(installed, { recursive: true })
  renameSync(`${installed}.away`, installed)
})

/**
 * A program without debug information, which takes long to compress. Without `strip` it is
 * unchanged.
 * @param {string} program
 */
function slim(program) {
  const stripped = join(dir, 'stripped')
  return spawnSync('strip', ['-o', stripped, program]).status === 0 ? stripped : program
}

/**
 * The most recent of these files.
 * @param {string} remedy
 * @param {...string} paths
 */
function newest(remedy, ...paths) {
  const there = paths.map((path) => join(root, path)).filter((path) => existsSync(path))
  assert.ok(there.length > 0, `none of ${paths.join(', ')} is there: ${remedy}`)
  const age = (/** @type {string} */ path) => statSync(path).mtimeMs
  return there.reduce((last, path) => (age(path) > age(last) ? path : last))
}
