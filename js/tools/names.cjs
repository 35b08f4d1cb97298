// The names of the tools.

'use strict'

/** @import { ToolNames } from '../tools.cjs' */

/**
 * @param {ToolNames | undefined} names
 * @param {{ json?: boolean | undefined, undo?: boolean | undefined }} [created] which further tools
 *   exist
 * @returns {Required<ToolNames>}
 */
function toolNames(names, { json, undo: hasUndo } = {}) {
  const { read = 'read', search = 'search', apply = 'apply' } = names ?? {}
  const { readJson = 'read_json', applyJson = 'apply_json', undo = 'undo_edit' } = names ?? {}
  const all = { read, search, apply, readJson, applyJson, undo }
  for (const [kind, name] of Object.entries(all)) {
    if (typeof name === 'string' && /^[^\s\p{C}]{1,128}$/u.test(name)) continue
    const what = typeof name === 'string' ? JSON.stringify(name) : String(name)
    throw new TypeError(`names.${kind} is ${what}: expected a name without spaces`)
  }
  const used = [
    read,
    search,
    apply,
    ...(json ? [readJson, applyJson] : []),
    ...(hasUndo ? [undo] : []),
  ]
  if (new Set(used).size < used.length) {
    const list = `${used.slice(0, -1).join(', ')} and ${used.at(-1)}`
    throw new TypeError(`names are ${list}: expected ${used.length} different ones`)
  }
  return all
}

module.exports = { toolNames }
