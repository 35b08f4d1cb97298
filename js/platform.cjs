// The platform package of this process, and the error for a user who lacks it.

'use strict'

const PACKAGE = 'hashline-native'

/** The version of the package. Reading it from the manifest would slow down loading. */
const VERSION = '0.1.0'

/** The platforms that have a package, by their napi-rs names. */
const PLATFORMS = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm-gnueabihf',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
  'win32-arm64-msvc',
  'win32-x64-msvc',
]

/** The name of this process's platform, whether it has a package or not. */
function platformName() {
  const { platform, arch } = process
  if (platform === 'win32') return `win32-${arch}-msvc`
  if (platform !== 'linux') return `${platform}-${arch}`
  const libc = isMusl() ? 'musl' : 'gnu'
  return arch === 'arm' ? `linux-arm-${libc}eabihf` : `linux-${arch}-${libc}`
}

/**
 * Whether the C library of this process is musl: by the dynamic loader that its program names,
 * which is more reliable than what else is installed. The process report is used only for programs
 * that do not name a loader at their start, and in Bun. In Node it takes milliseconds and loads
 * more code; in Bun it is faster than loading `node:fs`.
 */
function isMusl() {
  const head = process.versions.bun && process.report ? '' : headOf('/proc/self/exe')
  if (head.includes('/ld-musl-')) return true
  if (head.includes('/ld-linux')) return false
  const report = /** @type {any} */ (process.report)
  if (!report) return false
  const { excludeNetwork } = report
  report.excludeNetwork = true
  const { header } = report.getReport()
  report.excludeNetwork = excludeNetwork
  return header !== undefined && header.glibcVersionRuntime === undefined
}

/**
 * The first bytes of a file, as Latin-1. Avoids `Buffer`, whose functions Node compiles on first
 * use.
 * @param {string} path
 */
function headOf(path) {
  const { closeSync, openSync, readSync } = require('node:fs')
  try {
    const file = openSync(path, 'r')
    try {
      const bytes = new Uint8Array(4096)
      const head = bytes.subarray(0, readSync(file, bytes))
      return Reflect.apply(String.fromCharCode, null, head)
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

/** @param {string} name */
const platformPackage = (name) => `${PACKAGE}-${name}`

/** What builds the addon and the program in a clone. */
const BUILD = 'npm ci and npm run build'

/** Whether this is a clone of the repository, in which no package is installed. */
function isClone() {
  const { existsSync } = require('node:fs')
  const { join } = require('node:path')
  try {
    return existsSync(join(__dirname, '..', 'Cargo.toml'))
  } catch {
    // Bundlers may omit `__dirname`.
    return false
  }
}

/**
 * The error for a process whose platform package is missing or unusable: one line with the problem,
 * the place, and the remedy.
 * @param {string} name of the platform
 * @param {string} [problem] why the installed package cannot be used
 */
function platformError(name, problem) {
  const wanted = platformPackage(name)
  const clone = isClone()
  if (!PLATFORMS.includes(name)) {
    const known = PLATFORMS.join(', ')
    const remedy = `use one of these, or build it in a clone: ${BUILD}`
    return new Error(
      `${PACKAGE} has no package for ${name}. It has packages for ${known}: ${remedy}.`,
    )
  }
  if (clone && problem === undefined) {
    return new Error(`${PACKAGE} is not built for ${name} in this clone. Run ${BUILD}.`)
  }
  if (problem !== undefined) {
    const install = `npm install ${wanted}@${VERSION} --force, or build it from source`
    return new Error(
      `${wanted} is installed, but does not run on this ${name}: ${problem}. Run ${clone ? BUILD : install}.`,
    )
  }
  const remedy =
    'Remove node_modules and install again on this platform, with optional dependencies'
  return new Error(
    `${PACKAGE} needs the package ${wanted} on ${name}, which is not installed. ${remedy}, or run npm install ${wanted}@${VERSION}.`,
  )
}

/**
 * Why an installed platform package of another version cannot be used. Such a package remains, for
 * example, if the project itself depends on it.
 * @param {string} version
 */
function versionProblem(version) {
  return version === VERSION
    ? undefined
    : `its version is ${version}, but that of ${PACKAGE} is ${VERSION}`
}

module.exports = {
  BUILD,
  PLATFORMS,
  VERSION,
  isClone,
  platformError,
  platformName,
  platformPackage,
  versionProblem,
}
