// Which of the platform packages belongs to this process, and what to tell a user who lacks it.

'use strict'

const PACKAGE = 'hashline-native'

/** The version of the package. Reading its manifest would take a part of the time of loading. */
const VERSION = '0.1.0'

/** The platforms with a package of their own, by the names that napi-rs gives them. */
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

/** The name of the platform that this process runs on, whether it has a package or not. */
function platformName() {
  const { platform, arch } = process
  if (platform === 'win32') return `win32-${arch}-msvc`
  if (platform !== 'linux') return `${platform}-${arch}`
  const libc = isMusl() ? 'musl' : 'gnu'
  return arch === 'arm' ? `linux-arm-${libc}eabihf` : `linux-${arch}-${libc}`
}

/**
 * Whether the C library of this process is musl: by the dynamic loader that its program asks for,
 * which says more than what else is installed. A report of the process, which takes milliseconds
 * in Node, is for programs that do not name one at their start, and for Bun, which makes one in
 * less time than it takes to load `node:fs` there. Otherwise reports are left alone:
 * Node loads what makes them when it is first asked for.
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
 * The first bytes of a file, as Latin-1. Without `Buffer`, whose functions Node compiles at their
 * first call.
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

/**
 * The error for a process whose platform package is not there, or is no use: in one line, what is
 * missing, where, and what to do.
 * @param {string} name of the platform
 * @param {string} [problem] why what is installed cannot be used
 */
function platformError(name, problem) {
  if (!PLATFORMS.includes(name)) {
    const known = PLATFORMS.join(', ')
    const remedy = 'use one of these, or build it from its sources (npm run build)'
    return new Error(
      `${PACKAGE} has no package for ${name}. It has packages for ${known}: ${remedy}.`,
    )
  }
  const wanted = platformPackage(name)
  if (problem !== undefined) {
    const remedy = `npm install ${wanted}@${VERSION} --force, or build it from its sources`
    return new Error(
      `${wanted} is installed, but does not run on this ${name}: ${problem}. Remedy: ${remedy}.`,
    )
  }
  const remedy =
    'remove node_modules and install again, with optional dependencies and on this platform'
  return new Error(
    `${PACKAGE} needs the package ${wanted} on ${name}, and it is not installed. Remedy: ${remedy}, or npm install ${wanted}@${VERSION}.`,
  )
}

/**
 * Why what is installed cannot be used by this package, if it is of another version: it stays where
 * it was named as a dependency of its own, say.
 * @param {string} version
 */
function versionProblem(version) {
  return version === VERSION ? undefined : `it is version ${version}, ${PACKAGE} is ${VERSION}`
}

module.exports = {
  PLATFORMS,
  VERSION,
  platformError,
  platformName,
  platformPackage,
  versionProblem,
}
