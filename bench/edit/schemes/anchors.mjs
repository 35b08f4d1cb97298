// The engine's own tools: lines with anchors, and edits by anchors.

import { isObject, readJson } from '../json.mjs'

/** @import { Engine } from '../engine.mjs' */
/** @import { Tool } from '../schemes.mjs' */

/**
 * @param {Engine} engine
 * @param {{ cwd: string, stateDir: string }} place
 * @param {{ dialect?: string }} options of the session
 * @returns {{ tools: Tool[], close: () => void }}
 */
export function anchorTools({ api, tools }, { cwd, stateDir }, options) {
  const session = new api.HashSession({
    cwd,
    stateDir,
    durability: 'process',
    .../** @type {object} */ (options),
  })
  const { read, search, apply } = tools.hashTools(session)
  return {
    tools: [read, search, apply].map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      guidelines: tool.guidelines,
      edits: tool === apply,
      ...(tool === apply && { countOf: operationsIn }),
      execute: async (args) => {
        const { text, isError } = await tool.execute(args)
        return { text, isError }
      },
    })),
    close: () => session.close(),
  }
}

/**
 * How the operations of a call name their target: by anchors, by exact text, or as whole files.
 * @param {unknown} args as the model wrote them
 */
function operationsIn(args) {
  const call = typeof args === 'string' ? readJson(args).value : args
  const listed = isObject(call) ? (call.operations ?? [call]) : []
  const operations = typeof listed === 'string' ? readJson(listed).value : listed
  const ways = [operations].flat().filter(isObject).map(wayOf)
  const count = (/** @type {ReturnType<typeof wayOf>} */ way) =>
    ways.filter((one) => one === way).length
  return { byAnchor: count('anchor'), byText: count('text') }
}

/** @param {Record<string, unknown>} operation */
function wayOf(operation) {
  const names = Object.keys(operation)
  if (names.some((name) => /anchor|range/i.test(name))) return 'anchor'
  return names.some((name) => /^old_?text$/i.test(name)) ? 'text' : 'file'
}
