// The tools of the addon as objects with promises. All that a model reads is written there.

'use strict'

const addon = require('../addon.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { ExecuteOptions, HashTool, HashToolsOptions, ToolNames, ToolResult } from '../tools.cjs'
 *
 * @typedef {'read' | 'search' | 'apply' | 'read_json' | 'apply_json'} Kind
 * @typedef {Omit<HashToolsOptions, 'names'>} OwnOptions
 * @typedef {Omit<ToolResult<any>, 'structured'> & { structured: string }} Answer of the addon
 */

/**
 * The tools of which objects were made, for those who hand them back.
 * @type {WeakMap<object, Kind>}
 */
const KINDS = new WeakMap()

/**
 * @param {HashSession} session
 * @param {Required<ToolNames>} names
 * @param {Kind} kind
 * @param {OwnOptions} [options]
 * @returns {HashTool<any>}
 */
function makeTool(session, { read, search, apply, readJson, applyJson }, kind, options) {
  const names = [read, search, apply, readJson, applyJson]
  const { json, ...answer } = options ?? {}
  const tool = {
    ...JSON.parse(addon.tools.definition(session, names, kind, options)),
    callTitle: (/** @type {unknown} */ args) => addon.tools.title(kind, args),
    execute: (/** @type {unknown} */ args, /** @type {ExecuteOptions} */ options) =>
      execute({ session, names, kind, answer }, args, options ?? {}),
  }
  KINDS.set(tool, kind)
  return tool
}

/**
 * Carries out a call. Only a fired signal makes it throw. Nothing is waited for before the session
 * is called: so it hears of calls in the order in which they are made.
 * @param {{ session: HashSession, names: string[], kind: Kind, answer: Omit<OwnOptions, 'json'> }} tool
 * @param {unknown} args
 * @param {ExecuteOptions} options
 * @returns {Promise<ToolResult<any>>}
 */
async function execute({ session, names, kind, answer }, args, { signal, dryRun }) {
  try {
    const options = { ...answer, signal, dryRun }
    return result(await addon.tools.call(session, names, kind, args, options))
  } catch (error) {
    // A getter of theirs may have thrown anything.
    const { name, code, message } = Object(error)
    if (name === 'AbortError' && signal?.aborted) throw error
    return result(addon.tools.refusal(names, kind, code, message))
  }
}

/**
 * @param {Answer} answer
 * @returns {ToolResult<any>}
 */
const result = (answer) => ({ ...answer, structured: JSON.parse(answer.structured) })

/**
 * The kind of a tool that was made here.
 * @param {unknown} tool
 */
const kindOf = (tool) => (typeof tool === 'object' && tool !== null ? KINDS.get(tool) : undefined)

module.exports = { kindOf, makeTool }
