// Installs the packages as a user does, with every package manager, from a registry on loopback
// into empty directories, and uses them there.
// `npm run stress -- install-test [npm pnpm yarn1 yarn4 yarn4-pnp bun]`
//
// PATH has only one JavaScript host and one package manager: no Rust, no compiler. Install scripts
// are disabled. Each manager starts with an empty cache. The package of this machine's platform has
// the addon of `npm run build` (or `build:all`) and the program of `npm run build:release`; those
// of other platforms have the files that exist. Needs a network the first time, for the package
// managers and the registry.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkPackages } from './check-packages.mjs'
import {
  bareEnvironment,
  call,
  checkComplaints,
  endProgram,
  makeProject,
  runExamples,
  runProgram,
  runTypeScript,
} from './consumer.mjs'
import { EXTRA_FOLDERS, oversized, pack } from './pack.mjs'
import { startRegistry } from './registry.mjs'
import { addonName, addonPath, programPath, TARGETS } from './targets.mjs'
import { npmPackage, root, run } from './tools.mjs'

/** @import { Consumer } from './consumer.mjs' */

/**
 * A package manager.
 * @typedef {object} Manager
 * @property {() => string} program
 * @property {boolean} [bun] whether it is Bun, which works without Node
 * @property {(cache: string) => string[]} install
 * @property {string[]} start the command that starts the program `hashline`
 * @property {(url: string) => Record<string, string>} [files] its settings
 * @property {string[]} [host] the command that runs a script, instead of Node
 */

const require = createRequire(import.meta.url)
const { platformName } = require('../js/platform.cjs')
const platform = platformName()
const work = join(root, 'target', 'install-test')

const npmCli = () => realpathSync(run('sh', ['-c', 'command -v npm']).trim())
const script =
  (/** @type {string} */ name, /** @type {string} */ version, /** @type {string} */ file) => () =>
    join(npmPackage(name, version), file)
const yarn4Script = script('@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js')

/** @type {Record<string, Manager>} */
const MANAGERS = {
  npm: {
    program: npmCli,
    install: (cache) => ['install', 'hashline-native', '--ignore-scripts', '--cache', cache],
    start: ['npm', 'exec', '--', 'hashline'],
    files: (url) => ({ '.npmrc': `registry=${url}\naudit=false\n` }),
  },
  pnpm: {
    program: script('pnpm', '10.34.8', 'bin/pnpm.cjs'),
    install: (cache) => ['add', 'hashline-native', '--ignore-scripts', '--store-dir', cache],
    start: ['pnpm', 'exec', 'hashline'],
    files: (url) => ({ '.npmrc': `registry=${url}\n` }),
  },
  yarn1: {
    program: script('yarn', '1.22.22', 'bin/yarn.js'),
    install: (cache) => ['add', 'hashline-native', '--ignore-scripts', '--cache-folder', cache],
    start: ['yarn1', '--silent', 'hashline'],
    files: (url) => ({ '.npmrc': `registry=${url}\n` }),
  },
  yarn4: {
    program: yarn4Script,
    install: () => ['add', 'hashline-native'],
    start: ['yarn4', 'hashline'],
    // Without a lock file it uses a parent folder as the project.
    files: (url) => ({ '.yarnrc.yml': yarnSettings(url, 'node-modules'), 'yarn.lock': '' }),
  },
  'yarn4-pnp': {
    program: yarn4Script,
    install: () => ['add', 'hashline-native'],
    start: ['yarn4-pnp', 'hashline'],
    files: (url) => ({ '.yarnrc.yml': yarnSettings(url, 'pnp'), 'yarn.lock': '' }),
    host: ['--require', './.pnp.cjs', '--loader', './.pnp.loader.mjs', '--no-warnings'],
  },
  bun: {
    program: () => join(root, 'node_modules', 'bun', 'bin', 'bun.exe'),
    bun: true,
    install: () => ['add', 'hashline-native', '--ignore-scripts'],
    start: ['bun', 'x', 'hashline'],
    files: (url) => ({ 'bunfig.toml': `[install]\nregistry = "${url}"\n` }),
  },
}

const { positionals } = parseArgs({ allowPositionals: true })
const unknown = positionals.find((name) => !(name in MANAGERS))
if (unknown)
  throw new Error(`no such package manager: ${unknown}; there are ${Object.keys(MANAGERS)}`)
const names = positionals.length > 0 ? positionals : Object.keys(MANAGERS)

const packages = pack(
  join(root, 'target', 'packages'),
  Object.keys(TARGETS),
  hostBinaries(),
  EXTRA_FOLDERS,
)
for (const problem of oversized(packages)) console.log(`over the size limit: ${problem}`)
checkPackages(packages.filter(({ files }) => files.some(({ path }) => /\.(node|js)$/.test(path))))
const registry = await startRegistry(join(work, 'registry'))
try {
  for (const { tarball } of packages) registry.publish(tarball)
  const rows = []
  for (const name of names) rows.push(await tryManager(name))
  await tryWithoutPlatform()
  const [main, native] = ['hashline-native', `hashline-native-${platform}`].map((name) => {
    const { size, unpackedSize } = /** @type {any} */ (packages.find((one) => one.name === name))
    return `${name}: ${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked`
  })
  console.log(`\n${main}\n${native}\n`)
  const head = ['by', 'command', 'time', 'installed', 'first call']
  const table = [head, head.map(() => '---'), ...rows]
  console.log(table.map((row) => `| ${row.join(' | ')} |`).join('\n'))
} finally {
  await registry.stop()
}

/**
 * Installs with one manager in an empty directory, and tests everything.
 * @param {string} name
 */
async function tryManager(name) {
  const manager = MANAGERS[name]
  const consumer = newConsumer(name, manager)
  const words = manager.install(join(work, name, 'cache'))
  const start = performance.now()
  const done = call(consumer, name, words)
  const milliseconds = performance.now() - start
  assert.equal(done.status, 0, `${name} ${words.join(' ')}\n${done.stdout}${done.stderr}`)
  const size = sizeOf(consumer.dir)
  makeProject(consumer.dir, { keepManifest: true })
  const first = performance.now()
  const ran = call(consumer, consumer.host, [...(consumer.before ?? []), 'common.cjs'])
  assert.equal(ran.status, 0, ran.stderr)
  const call1 = performance.now() - first
  runExamples(consumer)
  // Only Yarn's own compiler finds packages without node_modules.
  if (name !== 'yarn4-pnp') {
    runTypeScript(consumer, join(root, 'node_modules', 'typescript', 'bin', 'tsc'))
    const old = join(npmPackage('typescript', '5.9.3'), 'bin', 'tsc')
    runTypeScript(consumer, old, { node10: true })
  }
  const program = await runProgram(consumer, manager.start)
  assert.match(program, new RegExp(`hashline-native-${platform}`), program)
  if (manager.bun) compile(consumer)
  const launcher = join(consumer.dir, 'node_modules', 'hashline-native', 'bin', 'hashline.cjs')
  if (existsSync(launcher)) {
    await endProgram(consumer, launcher)
    pretendAnother(consumer, launcher, manager)
  }
  const shown = words.filter((word) => !/^--(?:cache|store)|\//.test(word)).join(' ')
  const command = `${name.replace(/\d.*/, '')} ${shown}`
  const times = [milliseconds, call1].map((time) => `${(time / 1000).toFixed(1)} s`)
  console.log(`${name}: installed in ${times[0]}, ${megabytes(size)}, and used`)
  return [name, `\`${command}\``, times[0], megabytes(size), times[1]]
}

/** A project where npm omitted the platform package reports what is missing. */
async function tryWithoutPlatform() {
  const manager = MANAGERS.npm
  const consumer = newConsumer('without', manager, 'npm')
  const words = [...manager.install(join(work, 'without', 'cache')), '--omit=optional']
  const done = call(consumer, 'npm', words)
  assert.equal(done.status, 0, done.stderr)
  const launcher = join(consumer.dir, 'node_modules', 'hashline-native', 'bin', 'hashline.cjs')
  const says = new RegExp(
    `needs the package hashline-native-${platform} on ${platform}, which is not installed\\. Remove `,
  )
  checkComplaints(consumer, launcher, says, says)
  console.log('without the platform package: reported')
}

/**
 * Checks the error on a platform without a package.
 * @param {Consumer} consumer
 * @param {string} launcher
 * @param {Manager} manager
 */
function pretendAnother(consumer, launcher, { bun }) {
  const pretend = join(consumer.dir, 'pretend.cjs')
  writeFileSync(
    pretend,
    `for (const [name, value] of [['platform', 'sunos'], ['arch', 'sparc']]) Object.defineProperty(process, name, { value })\n`,
  )
  const before = [bun ? '--preload' : '--require', pretend]
  const says =
    /^hashline-native has no package for sunos-sparc\. It has packages for .*linux-x64-gnu.*: use one/
  checkComplaints({ ...consumer, before }, launcher, says, says)
}

/**
 * Bun embeds the addon in an executable, which works without the packages.
 * @param {Consumer} consumer
 */
function compile(consumer) {
  const alone = join(work, 'alone')
  rmSync(alone, { recursive: true, force: true })
  mkdirSync(alone, { recursive: true })
  const made = call(consumer, 'bun', [
    'build',
    '--compile',
    'module.mjs',
    '--outfile',
    join(alone, 'app'),
  ])
  assert.equal(made.status, 0, made.stderr)
  const { stdout, stderr } = spawnSync(join(alone, 'app'), { cwd: alone, encoding: 'utf8' })
  assert.equal(stdout, 'ES module\n', stderr)
}

/**
 * An empty directory with settings for a manager, and an environment with the manager and one host.
 * @param {string} name
 * @param {Manager} manager
 * @param {string} [command] the name of the manager
 * @returns {Consumer}
 */
function newConsumer(name, manager, command = name) {
  const [dir, bin, home] = ['project', 'bin', 'home'].map((part) => join(work, name, part))
  rmSync(join(work, name), { recursive: true, force: true })
  for (const made of [dir, bin, home]) mkdirSync(made, { recursive: true })
  for (const tool of ['sh', 'env', 'sed', 'dirname', 'basename', 'uname']) {
    const path = `/usr/bin/${tool}`
    if (existsSync(path)) symlinkSync(path, join(bin, tool))
  }
  if (!manager.bun) symlinkSync(process.execPath, join(bin, 'node'))
  const program = manager.program()
  if (manager.bun) symlinkSync(program, join(bin, command))
  else
    writeFileSync(join(bin, command), `#!/bin/sh\nexec node '${program}' "$@"\n`, { mode: 0o755 })
  for (const [file, text] of Object.entries(manager.files?.(registry.url) ?? {})) {
    writeFileSync(join(dir, file), text)
  }
  writeFileSync(join(dir, 'package.json'), '{ "private": true }\n')
  const env = { ...bareEnvironment(), HOME: home, PATH: bin, XDG_CACHE_HOME: join(home, 'cache') }
  const found = spawnSync('sh', ['-c', 'command -v cargo rustc cc'], { env, encoding: 'utf8' })
  assert.equal(found.stdout, '', 'a compiler is on PATH')
  return { dir, host: manager.bun ? program : process.execPath, before: manager.host, env }
}

/**
 * @param {string} url
 * @param {string} linker
 */
function yarnSettings(url, linker) {
  const settings = {
    nodeLinker: linker,
    pnpEnableEsmLoader: linker === 'pnp',
    npmRegistryServer: url,
    unsafeHttpWhitelist: ['127.0.0.1'],
    enableScripts: false,
    enableTelemetry: false,
    enableGlobalCache: false,
    enableImmutableInstalls: false,
    npmMinimalAgeGate: 0,
  }
  return `${JSON.stringify(settings)}\n`
}

/** The binaries for this machine, wherever they were built. */
function hostBinaries() {
  const addon = [addonPath(platform), addonName(platform)].find((path) =>
    existsSync(join(root, path)),
  )
  assert.ok(addon, 'there is no addon: npm run build')
  assert.ok(existsSync(join(root, programPath(platform))), 'no program: npm run build:release')
  const files = {
    [addonName(platform)]: addon,
    [programPath(platform).split('/')[2]]: programPath(platform),
  }
  const paths = Object.entries(files).map(([name, path]) => [name, join(root, path)])
  return { [platform]: Object.fromEntries(paths) }
}

/**
 * The total size of all files below a directory.
 * @param {string} dir
 * @returns {number}
 */
function sizeOf(dir) {
  return readdirSync(dir, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(dir, entry.name)
    return sum + (entry.isDirectory() ? sizeOf(path) : lstatSync(path).size)
  }, 0)
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`
}
