// The edit schemes that are compared: each is a set of tools for a directory. The engine provides
// the dialects and forms of anchors.

import { anchorTools } from './schemes/anchors.mjs'
import { diffTool } from './schemes/diff.mjs'
import { exactTool } from './schemes/exact.mjs'
import { plainTools } from './schemes/plain.mjs'

/** @import { HashTool } from '../../js/tools.d.cts' */
/** @import { Engine } from './engine.mjs' */

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {HashTool['inputSchema']} inputSchema
 * @property {readonly string[]} guidelines
 * @property {boolean} edits whether it edits files
 * @property {(args: unknown) => { byAnchor: number, byText: number }} [countOf] the operations of a
 * call
 * @property {(args: unknown) => Promise<{ text: string, isError: boolean }>} execute
 */
/**
 * @typedef {object} Scheme
 * @property {string} name
 * @property {boolean} isEngines whether its edits are the engine's
 * @property {(place: { cwd: string, stateDir: string }) => { tools: Tool[], close: () => void }} open
 */

export const DEFAULT_SCHEMES = 'exact,diff,hashline'

/** The dialect of a session by default. */
export const DEFAULT_DIALECT = 'lean'

/** @type {Record<string, (cwd: string) => Tool>} */
const PLAIN = { exact: exactTool, diff: diffTool }

/**
 * @param {string} names separated by commas
 * @param {Engine} engine
 * @returns {Scheme[]}
 */
export function schemesNamed(names, engine) {
  const list = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (list.length === 0) throw new Error('--schemes names none')
  // A scheme with several names is listed once.
  const schemes = list.map((name) => schemeNamed(name, engine))
  return [...new Map(schemes.map((scheme) => [scheme.name, scheme])).values()]
}

/** @param {string} name @param {Engine} engine @returns {Scheme} */
function schemeNamed(name, engine) {
  if (Object.hasOwn(PLAIN, name)) return plainScheme(name, engine)
  const dialect = name === 'hashline' ? DEFAULT_DIALECT : dialectOf(name, engine)
  const isDefault = dialect === DEFAULT_DIALECT
  const options = isDefault ? {} : { dialect }
  return {
    name: isDefault ? 'hashline' : `hashline-${dialect}`,
    isEngines: true,
    open: (place) => anchorTools(engine, place, options),
  }
}

/** @param {string} name @param {Engine} engine @returns {Scheme} */
const plainScheme = (name, engine) => ({
  name,
  isEngines: false,
  open: (place) => ({
    tools: [...plainTools(engine, place), PLAIN[name](place.cwd)],
    close: () => {},
  }),
})

/**
 * The options of the engine for `hashline-NAME`, or `NAME`.
 * @param {string} name
 * @param {Engine} engine
 */
function dialectOf(name, engine) {
  const dialect = name.replace(/^hashline-/, '')
  try {
    engine.api.hashLines('', { dialect: /** @type {any} */ (dialect) })
    return dialect
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const own = Object.keys(PLAIN).join(', ')
    throw new Error(
      `there is no scheme ${JSON.stringify(name)}: expected ${own}, hashline, or hashline- and a dialect of the engine ${engine.version}, which says: ${said}`,
    )
  }
}
