// Runs the cases of vectors/tools.jsonl through the addon's tools.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HashSession } from 'hashline-native'
import { toolNames } from '../../js/tools/names.cjs'
import { makeTool } from '../../js/tools/tool.cjs'

/**
 * @typedef {import('./toolCalls.mjs').ToolCall} ToolCall
 *
 * @typedef {object} ToolAnswer
 * @property {string} text
 * @property {boolean} isError
 * @property {Record<string, string | null>} [changed] the files that differ afterwards; null for
 * deleted ones
 */

const NAMES = toolNames({ apply: 'apply' })

/**
 * The addon's answer to a call in a fresh directory, whose path is replaced by `<dir>`.
 * @param {Record<string, string>} files
 * @param {Record<string, unknown>} shown the arguments of an earlier read
 * @param {ToolCall} call
 * @param {(text: string) => unknown} [given] converts the arguments' text
 * @returns {Promise<ToolAnswer>}
 */
export async function answerOf(files, shown, { tool, arguments: args }, given = JSON.parse) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'tools-')))
  const cwd = join(home, 'files')
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true })
      writeFileSync(join(cwd, name), content)
    }
    const session = new HashSession({ cwd, stateDir: join(home, 'state'), durability: 'process' })
    await makeTool(session, NAMES, 'read').execute(shown)
    const own = makeTool(session, NAMES, /** @type {any} */ (tool))
    const result = await own.execute(given(args.replaceAll('<dir>', cwd)))
    const text = result.text.replaceAll(cwd, '<dir>')
    return { text, isError: result.isError, ...changes(files, cwd) }
  } finally {
    rmSync(home, { recursive: true })
  }
}

/** @param {Record<string, string>} files @param {string} cwd */
function changes(files, cwd) {
  const entries = readdirSync(cwd, { recursive: true, withFileTypes: true })
  const there = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(cwd.length + 1))
  /** @type {Record<string, string | null>} */
  const changed = {}
  for (const name of [...new Set([...Object.keys(files), ...there])].sort()) {
    const now = there.includes(name) ? readFileSync(join(cwd, name), 'utf8') : null
    if (now !== files[name]) changed[name] = now
  }
  return Object.keys(changed).length > 0 ? { changed } : {}
}
