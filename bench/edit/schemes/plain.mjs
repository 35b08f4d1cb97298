// Reading and searching without anchors. The engine still reads and searches, within the same
// limits, but only the numbers of anchors are shown, as many agents show lines. The descriptions of
// the tools are the engine's, without anchors.

/** @import { Engine } from '../engine.mjs' */
/** @import { Tool } from '../schemes.mjs' */

/** The row of a line: number, hash, text. */
const ROW = /^(\d+):[^|\n]*\|/gm

const DESCRIPTIONS = {
  read: 'Reads files. Each line comes as its number, a tab and its text. A source beyond 2,000 lines and 50 KB is folded: its definitions, and rows like 14-80 … 67 lines, which open shows.',
  search:
    'Searches files for lines that match a regular expression, ignored and binary ones left out. Lines come as number, tab and text.',
}
const GUIDELINES = {
  read: 'Read files with read rather than cat, head, tail or sed.',
  search: 'Search with search rather than grep, rg or find.',
}

/**
 * @param {Engine} engine
 * @param {{ cwd: string, stateDir: string }} place
 * @returns {Tool[]}
 */
export function plainTools({ api, tools }, { cwd, stateDir }) {
  // A session per call, so that the memory of anchors does not influence answers.
  const fresh = () => {
    const session = new api.HashSession({ cwd, stateDir, durability: 'process', dialect: 'pi' })
    return { session, tools: tools.hashTools(session) }
  }
  const describing = fresh()
  const made = /** @type {const} */ (['read', 'search']).map((kind) => ({
    name: describing.tools[kind].name,
    description: DESCRIPTIONS[kind],
    inputSchema: describing.tools[kind].inputSchema,
    guidelines: [GUIDELINES[kind]],
    edits: false,
    execute: async (/** @type {unknown} */ args) => {
      const { session, tools } = fresh()
      const { text, isError } = await tools[kind].execute(args)
      session.close()
      return { text: text.replace(ROW, '$1\t'), isError }
    },
  }))
  describing.session.close()
  return made
}
