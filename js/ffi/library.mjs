// Where the binary is that Node would load: its C interface is opened instead.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import platform from '../platform.cjs'

const { platformError, platformName, platformPackage } = platform

/** The path of the binary for this process, by the same rules as in `../addon.cjs`. */
export function binaryPath() {
  const chosen = process.env.NAPI_RS_NATIVE_LIBRARY_PATH
  if (chosen) return chosen
  const name = platformName()
  const file = `hashline-native.${name}.node`
  const builtHere = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  if (existsSync(builtHere)) return builtHere
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage(name)}/${file}`)
  } catch {
    throw platformError(name)
  }
}
