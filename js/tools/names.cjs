// What the tools are called.

'use strict'

/** @import { ToolNames } from '../tools.cjs' */

/**
 * @param {ToolNames | undefined} names
 * @returns {Required<ToolNames>}
 */
function toolNames(names) {
  const { read = 'read', search = 'search', apply = 'apply_hash' } = names ?? {}
  const all = { read, search, apply }
  for (const [kind, name] of Object.entries(all)) {
    if (typeof name === 'string' && /^[^\s\p{C}]{1,128}$/u.test(name)) continue
    const what = typeof name === 'string' ? JSON.stringify(name) : String(name)
    throw new TypeError(`names.${kind} is ${what}: expected a name without spaces`)
  }
  if (new Set(Object.values(all)).size < 3) {
    throw new TypeError(`names are ${read}, ${search} and ${apply}: expected three different ones`)
  }
  return all
}

module.exports = { toolNames }
