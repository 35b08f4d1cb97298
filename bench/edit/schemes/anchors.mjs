// The engine's own tools: lines with anchors, and edits by them.

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
      execute: async (args) => {
        const { text, isError } = await tool.execute(args)
        return { text, isError }
      },
    })),
    close: () => session.close(),
  }
}
