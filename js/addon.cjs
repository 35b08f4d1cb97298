// Loads the addon: the one that was built in this folder, otherwise that of the platform package.

'use strict'

const { platformError, platformName, versionProblem } = require('./platform.cjs')

/** The variable that names another addon; every napi-rs addon reads it. */
const CHOICE = 'NAPI_RS_NATIVE_LIBRARY_PATH'
const UNRESOLVED = /^(?:Cannot (?:find|require) module|require is not defined)/
const OTHER_ADDON = 'it is not an addon of hashline-native'

module.exports = load()

function load() {
  const chosen = process.env[CHOICE]
  if (chosen) return named(chosen)
  const name = platformName()
  const built = builtHere(name)
  if (built !== undefined) return built
  const addon = installed(name)
  if (addon === undefined) throw platformError(name)
  const problem = isHashlineAddon(addon) ? versionProblem(addon.version()) : OTHER_ADDON
  if (problem !== undefined) throw platformError(name, problem)
  return addon
}

/**
 * The addon that the environment variable names.
 * @param {string} path
 */
function named(path) {
  let problem = OTHER_ADDON
  try {
    const addon = require(path)
    if (isHashlineAddon(addon)) return addon
  } catch (error) {
    problem = firstLine(error)
  }
  const remedy = 'Unset it, or set it to the addon of this package'
  throw new Error(`${CHOICE} names ${path}, which cannot be used: ${problem}. ${remedy}.`)
}

/**
 * Whether this is an addon of this package: bundlers may replace it by a path.
 * @param {any} addon
 */
function isHashlineAddon(addon) {
  return typeof addon?.version === 'function'
}

// Bundlers (and `bun build --compile`) pack modules named in literal calls of `require`, and ignore
// missing ones if the call is directly in a `try`. Hence two lists of names instead of a loop.

/**
 * The addon that `npm run build` has put into this folder.
 * @param {string} name of the platform
 */
function builtHere(name) {
  try {
    switch (name) {
      case 'darwin-arm64':
        return require('../hashline-native.darwin-arm64.node')
      case 'darwin-x64':
        return require('../hashline-native.darwin-x64.node')
      case 'linux-arm-gnueabihf':
        return require('../hashline-native.linux-arm-gnueabihf.node')
      case 'linux-arm64-gnu':
        return require('../hashline-native.linux-arm64-gnu.node')
      case 'linux-arm64-musl':
        return require('../hashline-native.linux-arm64-musl.node')
      case 'linux-x64-gnu':
        return require('../hashline-native.linux-x64-gnu.node')
      case 'linux-x64-musl':
        return require('../hashline-native.linux-x64-musl.node')
      case 'win32-arm64-msvc':
        return require('../hashline-native.win32-arm64-msvc.node')
      case 'win32-x64-msvc':
        return require('../hashline-native.win32-x64-msvc.node')
    }
  } catch (error) {
    // An addon that exists but does not load is an error: using another one would hide the problem.
    if (!isMissing(error)) throw error
  }
  return undefined
}

/**
 * The addon of the platform package.
 * @param {string} name of the platform
 */
function installed(name) {
  try {
    switch (name) {
      case 'darwin-arm64':
        return require('hashline-native-darwin-arm64')
      case 'darwin-x64':
        return require('hashline-native-darwin-x64')
      case 'linux-arm-gnueabihf':
        return require('hashline-native-linux-arm-gnueabihf')
      case 'linux-arm64-gnu':
        return require('hashline-native-linux-arm64-gnu')
      case 'linux-arm64-musl':
        return require('hashline-native-linux-arm64-musl')
      case 'linux-x64-gnu':
        return require('hashline-native-linux-x64-gnu')
      case 'linux-x64-musl':
        return require('hashline-native-linux-x64-musl')
      case 'win32-arm64-msvc':
        return require('hashline-native-win32-arm64-msvc')
      case 'win32-x64-msvc':
        return require('hashline-native-win32-x64-msvc')
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw platformError(name, firstLine(error))
  }
  return undefined
}

/**
 * Whether a module is missing, rather than unusable. In the output of `bun build`, `require` of a
 * missing module throws an error without a code; in an ES module from `ncc`, `require` itself is
 * missing.
 * @param {unknown} error
 */
function isMissing(error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  return code === 'MODULE_NOT_FOUND' || UNRESOLVED.test(message)
}

/** @param {unknown} error */
function firstLine(error) {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0].replace(/\.$/, '')
}
