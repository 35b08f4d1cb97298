// Packs the published packages: the main one, one per platform, the plug-ins, and the benchmark of
// edit schemes.
// `npm run pack [-- --all]`
//
// The manifest of the main package omits development fields and lists the platform packages as
// optional dependencies. With --all, a missing addon or program, or one for another platform, is an
// error; otherwise a platform without binaries gets a package with only a manifest. The tarballs
// are written to target/packages.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { addonName, addonPath, programName, programPath, TARGETS } from './targets.mjs'
import { root, run } from './tools.mjs'

/** The plug-ins that are packages, by the names of their folders in integrations/. */
export const PLUGINS = ['claude-code', 'opencode', 'pi']

/** The folder of a plug-in. @param {string} name */
export const pluginFolder = (name) => join('integrations', name)

/** The folders of the other published packages. */
export const EXTRA_FOLDERS = [...PLUGINS.map(pluginFolder), join('bench', 'edit')]

/** The size limits: of a platform's addon, and of its whole package, compressed. */
export const ADDON_GOAL_BYTES = 4_000_000
export const PLATFORM_GOAL_BYTES = 4_000_000

/**
 * @typedef {object} Packed
 * @property {string} name
 * @property {string} tarball its path
 * @property {number} size of the tarball, in bytes
 * @property {number} unpackedSize
 * @property {{ path: string, size: number, mode: number }[]} files
 */

/**
 * Packs the main package, those of some platforms, and some others.
 * @param {string} out the directory for the tarballs; its content is removed
 * @param {string[]} platforms
 * @param {Record<string, Record<string, string>>} [binaries] files to use instead of those in npm/,
 * by platform and name
 * @param {string[]} [extra] the folders of other packages
 * @returns {Packed[]}
 */
export function pack(out, platforms, binaries = {}, extra = []) {
  rmSync(out, { recursive: true, force: true })
  const staged = join(out, 'staged')
  const folders = [stageMain(join(staged, 'main'))]
  for (const name of platforms) {
    folders.push(stagePlatform(name, join(staged, name), binaries[name] ?? binariesOf(name)))
  }
  folders.push(...extra.map((source, at) => stageExtra(source, join(staged, `extra-${at}`))))
  const flags = ['--json', '--ignore-scripts', '--pack-destination', out]
  const packed = run('npm', ['pack', ...flags, ...folders], { shell: process.platform === 'win32' })
  rmSync(staged, { recursive: true })
  return JSON.parse(packed).map((/** @type {any} */ { name, filename, ...rest }) => ({
    ...rest,
    name,
    tarball: join(out, filename),
  }))
}

/** @param {string} folder */
function stageMain(folder) {
  const manifest = readManifest('.')
  const {
    scripts: _,
    devDependencies: _1,
    overrides: _2,
    allowScripts: _3,
    napi: _4,
    private: _5,
    ...rest
  } = manifest
  const platforms = Object.keys(TARGETS).map((name) => [
    `${manifest.name}-${name}`,
    manifest.version,
  ])
  mkdirSync(folder, { recursive: true })
  for (const file of [...manifest.files, 'README.md', 'LICENSE']) {
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
  writeManifest(folder, { ...rest, optionalDependencies: Object.fromEntries(platforms) })
  return folder
}

/**
 * @param {string} name
 * @param {string} folder
 * @param {Record<string, string>} binaries
 */
function stagePlatform(name, folder, binaries) {
  const manifest = manifestBeside(join('npm', name))
  mkdirSync(folder, { recursive: true })
  for (const [file, path] of Object.entries(binaries)) {
    copyFileSync(path, join(folder, file))
    // Archives of artifacts may drop permissions.
    chmodSync(join(folder, file), file === programName(name) ? 0o755 : 0o644)
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(root, 'npm', name, 'README.md'), join(folder, 'README.md'))
  writeManifest(folder, manifest)
  return folder
}

/**
 * @param {string} source
 * @param {string} folder
 */
function stageExtra(source, folder) {
  const manifest = manifestBeside(source)
  mkdirSync(folder, { recursive: true })
  for (const file of [...manifest.files, 'README.md', 'LICENSE']) {
    cpSync(join(root, source, file), join(folder, file), { recursive: true })
  }
  writeManifest(folder, manifest)
  return folder
}

/**
 * The manifest of a package that is published with the main one: with the same version and
 * repository.
 * @param {string} folder
 */
function manifestBeside(folder) {
  const manifest = readManifest(folder)
  const { version, repository } = readManifest('.')
  if (manifest.version !== version) {
    throw new Error(`${folder} is ${manifest.version}, the main package ${version}`)
  }
  return repository ? { ...manifest, repository } : manifest
}

/**
 * The existing files for a platform, by their names in the package.
 * @param {string} name
 * @returns {Record<string, string>}
 */
function binariesOf(name) {
  const files = [
    [addonName(name), addonOf(name)],
    [programName(name), join(root, programPath(name))],
  ]
  return Object.fromEntries(files.filter(([, path]) => existsSync(path)))
}

/**
 * The addon of a platform: in its package, or as `npm run build` leaves it for this machine.
 * @param {string} name
 */
function addonOf(name) {
  const path = join(root, addonPath(name))
  return existsSync(path) ? path : join(root, addonName(name))
}

/**
 * The problems of a release: missing files, or files for another system or processor.
 * @returns {string[]}
 */
export function lacking() {
  return Object.keys(TARGETS).flatMap((name) =>
    [addonPath(name), programPath(name)].flatMap((path) => {
      if (!existsSync(join(root, path))) return [`${path} is missing`]
      const kind = kindOf(readFileSync(join(root, path)))
      const { triple } = TARGETS[name]
      return kind === wantedKind(triple) ? [] : [`${path} is ${kind}, not ${wantedKind(triple)}`]
    }),
  )
}

/** @param {string} triple */
function wantedKind(triple) {
  const [processor] = triple.split('-')
  const format = triple.includes('windows') ? 'PE' : triple.includes('apple') ? 'Mach-O' : 'ELF'
  return `${format} for ${processor.replace('armv7', 'arm')}`
}

/**
 * The format of a program or library and its processor, from its first bytes.
 * @param {Buffer} bytes
 */
function kindOf(bytes) {
  if (bytes.readUInt32BE(0) === 0x7f454c46) {
    const processors = { 62: 'x86_64', 183: 'aarch64', 40: 'arm' }
    return `ELF for ${name(processors, bytes.readUInt16LE(0x12))}`
  }
  if (bytes.readUInt32LE(0) === 0xfeedfacf) {
    return `Mach-O for ${name({ 16777223: 'x86_64', 16777228: 'aarch64' }, bytes.readUInt32LE(4))}`
  }
  if (bytes.readUInt16BE(0) === 0x4d5a) {
    const machine = bytes.readUInt16LE(bytes.readUInt32LE(0x3c) + 4)
    return `PE for ${name({ 34404: 'x86_64', 43620: 'aarch64' }, machine)}`
  }
  return 'no library or program'

  /**
   * @param {Record<number, string>} names
   * @param {number} number
   */
  function name(names, number) {
    return names[number] ?? `processor ${number}`
  }
}

/** @param {string} folder */
function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/**
 * @param {string} folder
 * @param {object} manifest
 */
function writeManifest(folder, manifest) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/**
 * The packages that exceed their size limit.
 * @param {Packed[]} packages
 */
export function oversized(packages) {
  return packages.flatMap(({ name, size, files }) => {
    const addon = files.find(({ path }) => path.endsWith('.node'))
    const problems = []
    if (addon && addon.size > ADDON_GOAL_BYTES)
      problems.push(`${addon.path} has ${addon.size} bytes`)
    if (size > PLATFORM_GOAL_BYTES) problems.push(`${name} has ${size} bytes, compressed`)
    return problems
  })
}

function main() {
  const { values } = parseArgs({ options: { all: { type: 'boolean' } } })
  const missing = values.all ? lacking() : []
  if (missing.length > 0) throw new Error(`a release is not complete:\n${missing.join('\n')}`)
  const packages = pack(join(root, 'target', 'packages'), Object.keys(TARGETS), {}, EXTRA_FOLDERS)
  for (const { tarball, size, files } of packages) {
    const binaries = files.filter(({ path }) => /\.node$|^hashline(\.exe)?$/.test(path))
    const sizes = binaries.map(({ path, size }) => `${path} ${(size / 1e6).toFixed(2)} MB`)
    const contents = sizes.join(', ') || `${files.length} files`
    console.log(`${relative(root, tarball)}: ${(size / 1e6).toFixed(2)} MB (${contents})`)
  }
  for (const problem of oversized(packages)) console.log(`over the size limit: ${problem}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
