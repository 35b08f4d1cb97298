// The names of the tools.

'use strict'

/** @import { ToolNames } from '../tools.cjs' */

/**
 * @param {ToolNames | undefined} names
 * @param {boolean} [json] whether the tools for JSON documents exist
 * @returns {Required<ToolNames>}
 */
function toolNames(names, json) {
  const { read = 'read', search = 'search', apply = 'apply_hash' } = names ?? {}
  const { readJson = 'read_json', applyJson = 'apply_json' } = names ?? {}
  const all = { read, search, apply, readJson, applyJson }
  for (const [kind, name] of Object.entries(all)) {
    if (typeof name === 'string' && /^[^\s\p{C}]{1,128}$/u.test(name)) continue
    const what = typeof name === 'string' ? JSON.stringify(name) : String(name)
    throw new TypeError(`names.${kind} is ${what}: expected a name without spaces`)
  }
  const used = json ? Object.values(all) : [read, search, apply]
  if (new Set(used).size < used.length) {
    const list = `${used.slice(0, -1).join(', ')} and ${used.at(-1)}`
    throw new TypeError(`names are ${list}: expected ${json ? 'five' : 'three'} different ones`)
  }
  return all
}

module.exports = { toolNames }
