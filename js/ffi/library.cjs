// Finds the binary that Node would load, in order to open its C interface.

'use strict'

const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { platformError, platformName, platformPackage } = require('../platform.cjs')

/** The path of the binary for this process, by the same rules as in `../addon.cjs`. */
function binaryPath() {
  const chosen = process.env.NAPI_RS_NATIVE_LIBRARY_PATH
  if (chosen) return chosen
  const name = platformName()
  const file = `hashline-native.${name}.node`
  const builtHere = join(__dirname, '../..', file)
  if (existsSync(builtHere)) return builtHere
  try {
    return require.resolve(`${platformPackage(name)}/${file}`)
  } catch {
    throw platformError(name)
  }
}

module.exports = { binaryPath }
