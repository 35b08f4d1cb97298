// The engine whose schemes are measured: the package that is installed next to this one, or the one
// in a given folder. In a clone of the repository it is the clone itself, and nothing else in its
// place: two folders above an installed package is a project of the user.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readJson } from './json.mjs'

/** @typedef {typeof import('../../js/tools.cjs')} Tools */
/**
 * @typedef {object} Engine
 * @property {typeof import('../../index.js')} api
 * @property {Tools} tools
 * @property {string} version
 */

const require = createRequire(import.meta.url)
const clone = fileURLToPath(new URL('../../', import.meta.url))

/**
 * @param {string} [folder] of another version of the package `hashline-native`
 * @returns {Engine}
 */
export function loadEngine(folder) {
  const named = folder === undefined ? undefined : resolve(folder)
  try {
    return named === undefined ? installed() : inFolder(named)
  } catch (error) {
    const where = named === undefined ? 'the package hashline-native' : `the engine in ${named}`
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new Error(`${where} cannot be loaded: ${why}`)
  }
}

function installed() {
  try {
    require.resolve('hashline-native')
  } catch (error) {
    if (nameIn(clone) !== 'hashline-native') throw error
    return inFolder(clone)
  }
  return engineOf(require('hashline-native'), require('hashline-native/tools'))
}

/** The name of a package in a folder. @param {string} folder */
function nameIn(folder) {
  const path = join(folder, 'package.json')
  return existsSync(path) ? readJson(readFileSync(path, 'utf8')).value?.name : undefined
}

/** @param {string} folder */
const inFolder = (folder) => engineOf(require(folder), require(join(folder, 'js', 'tools.cjs')))

/** @param {Engine['api']} api @param {Tools} tools @returns {Engine} */
const engineOf = (api, tools) => ({ api, tools, version: api.version() })
