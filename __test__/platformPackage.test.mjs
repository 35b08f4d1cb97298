// How the loader and the launcher handle a wrong platform package, and how the launcher ends. The
// packages are in a temporary directory; the addon and the program of the platform are replaced by
// fakes of a few lines.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withDir } from './support.mjs'

const require = createRequire(import.meta.url)
const { platformName } = require('../js/platform.cjs')
const { version } = require('../package.json')

const root = fileURLToPath(new URL('..', import.meta.url))
const platform = platformName()
const main = join('node_modules', 'hashline-native')
const native = join('node_modules', `hashline-native-${platform}`)
const RIGHT = `exports.HashSession = class {}\nexports.version = () => '${version}'`
const LOAD = `try { console.log(require('hashline-native').version()) }
  catch (error) { console.log(error.message) }`
const noShell =
  (process.platform === 'win32' && 'there are no signals, nor scripts of a shell') ||
  (process.versions.deno !== undefined && 'Deno starts no launcher')

/**
 * Installs the main package next to a platform package.
 * @param {{ addon?: string, program?: string, has?: string }} platformPackage the content of its
 * fake addon and program, and its version
 * @param {(dir: string) => unknown} body
 */
function beside({ addon = RIGHT, program = '', has = version }, body) {
  const manifest = JSON.stringify({ version: has, main: 'addon.cjs' })
  const files = {
    [join(native, 'package.json')]: manifest,
    [join(native, 'addon.cjs')]: addon,
    [join(native, 'hashline')]: `#!/bin/sh\n${program}\n`,
  }
  return withDir(files, async (dir) => {
    for (const name of ['bin', 'js', 'index.js', 'package.json']) {
      cpSync(join(root, name), join(dir, main, name), { recursive: true })
    }
    chmodSync(join(dir, native, 'hashline'), 0o755)
    await body(dir)
  })
}

/**
 * The output when the addon is loaded.
 * @param {string} cwd
 * @param {string} [chosen] the addon that the environment variable names
 */
function loaded(cwd, chosen = '') {
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: chosen }
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', LOAD], {
    cwd,
    env,
    encoding: 'utf8',
  })
  return stdout || stderr
}

/** @param {string} problem */
const unfit = (problem) =>
  `hashline-native-${platform} is installed, but does not run on this ${platform}: ${problem}. ` +
  `Run npm install hashline-native-${platform}@${version} --force, or build it from source.\n`

test('an addon of the same version is loaded', () =>
  beside({}, (dir) => assert.equal(loaded(dir), `${version}\n`)))

test('an addon of another version is refused', () =>
  beside({ addon: "exports.version = () => '0.0.1'" }, (dir) =>
    assert.equal(
      loaded(dir),
      unfit(`its version is 0.0.1, but that of hashline-native is ${version}`),
    ),
  ))

test('a value that a bundler has put in place of the addon is refused', () =>
  beside({ addon: "module.exports = './hashline-native-4XK2.node'" }, (dir) =>
    assert.equal(loaded(dir), unfit('it is not an addon of hashline-native')),
  ))

test('a clone without an addon names what builds it there', () =>
  beside({ addon: RIGHT, has: '0.0.1' }, (dir) => {
    writeFileSync(join(dir, main, 'Cargo.toml'), '')
    rmSync(join(dir, native), { recursive: true })
    assert.match(
      loaded(dir),
      new RegExp(
        `hashline-native is not built for ${platform} in this clone. Run npm ci and npm run build.\\n`,
      ),
    )
  }))

test('an error of the addon in the environment variable names the variable', () =>
  beside({}, (dir) => {
    const addon = join(dir, 'addon.cjs')
    writeFileSync(addon, RIGHT)
    assert.equal(loaded(dir, addon), `${version}\n`)
    writeFileSync(addon, 'exports.transform = () => {}')
    const says = (/** @type {string} */ text) =>
      new RegExp(`^NAPI_RS_NATIVE_LIBRARY_PATH names .*${text}[^\\n]*\\. Unset it[^\\n]*\\n$`)
    assert.match(loaded(dir, addon), says('it is not an addon of hashline-native'))
    assert.match(loaded(dir, join(dir, 'none.node')), says('Cannot find module'))
  }))

test('a module that a bundler omitted counts as missing', () =>
  beside({}, (dir) => {
    const loader = join(dir, main, 'js', 'addon.cjs')
    const leftOut = `function leftOut() {
      throw new ReferenceError('require is not defined in ES module scope, you can use import instead')
    }\n`
    const text = readFileSync(loader, 'utf8').replaceAll("require('../", "leftOut('../")
    writeFileSync(loader, leftOut + text)
    assert.equal(loaded(dir), `${version}\n`)
  }))

test('a program of another version is not started', { skip: noShell }, () =>
  beside({ program: 'echo started', has: '0.0.1' }, (dir) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [launcher(dir)], {
      encoding: 'utf8',
    })
    assert.equal(stderr, unfit(`its version is 0.0.1, but that of hashline-native is ${version}`))
    assert.deepEqual([status, stdout], [2, ''])
  }),
)

test(
  'a clone starts the program that was built in it, or says how to build it',
  {
    skip: noShell,
  },
  () =>
    beside({ program: 'echo installed' }, (dir) => {
      const start = () => spawnSync(process.execPath, [launcher(dir)], { encoding: 'utf8' })
      assert.equal(start().stdout, 'installed\n')
      rmSync(join(dir, native), { recursive: true })
      writeFileSync(join(dir, main, 'Cargo.toml'), '')
      const { status, stderr } = start()
      const remedy = 'hashline: the program is not built. Run npm ci and npm run build.\n'
      assert.deepEqual([status, stderr], [2, remedy])
      const built = join(dir, main, 'npm', platform)
      mkdirSync(built, { recursive: true })
      writeFileSync(join(built, 'hashline'), '#!/bin/sh\necho built\n', { mode: 0o755 })
      assert.equal(start().stdout, 'built\n')
    }),
)

test('SIGINT that is sent only to the launcher reaches the program', { skip: noShell }, () => {
  // A child that shares the input of the program, so that both end with it.
  const program = `trap 'exit 130' INT\nexec 3<&0\ncat <&3 >/dev/null &\necho ready\nwait $!`
  return beside({ program }, async (dir) => {
    const child = spawn(process.execPath, [launcher(dir)])
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const [code, signal] = await ended
    child.stdin.destroy()
    assert.deepEqual([code, signal], [130, null])
  })
})

for (const signal of /** @type {const} */ (['SIGUSR1', 'SIGPIPE', 'SIGKILL'])) {
  test(`a program that ends by ${signal} has failed`, { skip: noShell }, () =>
    beside({ program: `kill -${signal.slice(3)} $$` }, (dir) => {
      const ended = spawnSync(process.execPath, [launcher(dir)])
      // A host that does not end by the signal itself ends with the exit code of shells for it.
      const code = ended.status ?? 128 + constants.signals[ended.signal ?? signal]
      assert.equal(code, 128 + constants.signals[signal])
    }),
  )
}

/** @param {string} dir */
function launcher(dir) {
  return join(dir, main, 'bin', 'hashline.cjs')
}
