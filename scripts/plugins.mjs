// Installs the plug-ins for agents as their users do: from tarballs, together with the main
// package, in a directory outside of this repository. `npm run plugin -- NAME DIR` does this in a
// clone.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { call } from './consumer.mjs'
import { PLUGINS, pack, pluginFolder } from './pack.mjs'
import { addonName, addonPath, programName, programPath } from './targets.mjs'
import { root, run } from './tools.mjs'

const require = createRequire(import.meta.url)

/**
 * Packs a plug-in, checks the content of its package, and installs it.
 * @param {string} name the name of its folder in integrations/
 * @param {string} dir an empty directory
 * @param {{ program?: string, extra?: string[] }} [options] `program`: the program `hashline`, for
 * the platform package; `extra`: other packages to install
 * @returns {string} the directory of the installed plug-in
 */
export function installPlugin(name, dir, { program, extra = [] } = {}) {
  const packages = packPlugin(name, join(dir, 'packed'), program)
  const plugin = packages[2]
  checkContents(name, plugin)
  const home = join(dir, 'home')
  mkdirSync(home)
  writeFileSync(join(dir, 'package.json'), '{ "private": true }\n')
  // As pi installs: packages that the agent provides are not resolved.
  const flags = ['--offline', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
  const tarballs = packages.map(({ tarball }) => tarball)
  const consumer = { dir, host: process.execPath, env: { ...process.env, HOME: home } }
  const done = call(consumer, 'npm', ['install', ...flags, ...tarballs, ...extra])
  assert.equal(done.status, 0, done.stderr)
  return join(dir, 'node_modules', plugin.name)
}

/**
 * Packs a plug-in, preceded by the main package and that of this platform.
 * @param {string} name the name of its folder in integrations/
 * @param {string} out the directory for the packages
 * @param {string} [program] the program `hashline`, for the platform package
 */
function packPlugin(name, out, program) {
  const { platformName } = require('../js/platform.cjs')
  const platform = platformName()
  const addon = [addonName(platform), addonPath(platform)].find((path) =>
    existsSync(join(root, path)),
  )
  assert.ok(addon, 'there is no addon: npm run build')
  const binaries = {
    [addonName(platform)]: join(root, addon),
    ...(program && { [programName(platform)]: program }),
  }
  return pack(out, [platform], { [platform]: binaries }, [pluginFolder(name)])
}

/**
 * Installs a plug-in for a user, with the build of this clone.
 * @param {string} name the name of its folder in integrations/
 * @param {string} dir
 */
function usePlugin(name, dir) {
  const { platformName } = require('../js/platform.cjs')
  mkdirSync(dir, { recursive: true })
  const manifest = join(dir, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
  const program = join(programDirectory(), programName(platformName()))
  const packages = packPlugin(name, join(dir, 'packed', name), program)
  const tarballs = packages.map(({ tarball }) => tarball)
  // Packages that the agent provides are not resolved.
  const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
  run('npm', ['install', '--prefix', dir, ...flags, ...tarballs])
  return join(dir, 'node_modules', packages[2].name)
}

/** The directory of the program `hashline`. */
export function programDirectory() {
  const { HASHLINE_PROGRAM_DIR: known } = process.env
  if (known) return known
  const { platformName } = require('../js/platform.cjs')
  const program = join(root, programPath(platformName()))
  assert.ok(existsSync(program), 'there is no program: npm run build')
  return dirname(program)
}

/**
 * A package has its files in git, a licence and a page, and a manifest that names the module and
 * fits the main package.
 * @param {string} name
 * @param {import('./pack.mjs').Packed} packed
 */
function checkContents(name, packed) {
  const folder = join('integrations', name)
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const listed = [...manifest.files, 'LICENSE', 'README.md', 'package.json']
  const tracked = execFileSync('git', ['ls-files', '-z', ...listed], {
    cwd: join(root, folder),
    encoding: 'utf8',
  })
  assert.deepEqual(
    packed.files.map(({ path }) => path).sort(),
    tracked.split('\0').filter(Boolean).sort(),
  )
  const { version } = require('../package.json')
  const { dependencies, peerDependencies } = manifest
  assert.equal({ ...dependencies, ...peerDependencies }['hashline-native'], `^${version}`)
  assert.equal(manifest.license, 'MIT')
  assert.ok(manifest.keywords.includes('hashline') && manifest.engines.node, folder)
  assert.deepEqual([manifest.scripts, manifest.devDependencies], [undefined, undefined])
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [name, dir] = process.argv.slice(2)
  if (!PLUGINS.includes(name) || dir === undefined) {
    console.error(`usage: npm run plugin -- ${PLUGINS.join('|')} DIRECTORY`)
    process.exit(2)
  }
  console.log(usePlugin(name, resolve(dir)))
}
