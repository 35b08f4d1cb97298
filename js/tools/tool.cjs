// The addon's tools as objects with promises. The addon writes everything that a model reads.

'use strict'

const addon = require('../addon.cjs')
const { executeWithHook } = require('./after.cjs')
const { executeApproved } = require('./approval.cjs')
const { executeOn } = require('./files.cjs')
const { preview } = require('./preview.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { Hook } from './after.cjs'
 * @import { Approve, ExecuteOptions, HashTool, HashToolsOptions, HostFiles, PreviewOptions, ToolNames, ToolResult } from '../tools.cjs'
 *
 * @typedef {'read' | 'search' | 'apply' | 'read_json' | 'apply_json' | 'undo'} Kind
 * @typedef {Omit<HashToolsOptions, 'names' | 'files' | 'approve' | 'afterWrite' | 'afterWriteTimeoutMs'>} OwnOptions
 * @typedef {{ files?: HostFiles | undefined, approve?: Approve | undefined, hook?: Hook | undefined }} Functions of the host
 * @typedef {Omit<ToolResult<any>, 'structured'> & { structured: string }} Answer of the addon
 * @typedef {{ session: HashSession, names: string[], kind: Kind, answer: Omit<OwnOptions, 'json'> }} Called
 * @typedef {ExecuteOptions & { settles?: boolean }} CallOptions with `settles`, an edit is answered
 *   once its files are formatted
 */

/**
 * The kinds of the tools that were created, for functions that receive a tool.
 * @type {WeakMap<object, Kind>}
 */
const KINDS = new WeakMap()

/** The kinds of tools that change files. @type {Set<Kind>} */
const WRITING = new Set(['apply', 'apply_json', 'undo'])

/**
 * @param {HashSession} session
 * @param {Required<ToolNames>} names
 * @param {Kind} kind
 * @param {OwnOptions} [options]
 * @param {Functions} [functions]
 * @returns {HashTool<any>}
 */
function makeTool(
  session,
  { read, search, apply, readJson, applyJson, undo: undoName },
  kind,
  options = {},
  { files, approve, hook } = {},
) {
  const names = [read, search, apply, readJson, applyJson, undoName]
  const { json, undo, ...answer } = options
  const called = { session, names, kind, answer }
  const tool = {
    ...JSON.parse(addon.tools.definition(session, names, kind, options)),
    callTitle: (/** @type {unknown} */ args) => addon.tools.title(kind, args),
    execute: (/** @type {unknown} */ args, /** @type {ExecuteOptions} */ given) => {
      const options = given ?? {}
      const call = (
        /** @type {unknown} */ args,
        /** @type {CallOptions} */ options,
        /** @type {unknown} */ mark,
      ) => execute(called, args, options, mark)
      if (files !== undefined) {
        const refusal = (/** @type {string} */ code, /** @type {string} */ message) =>
          result(addon.tools.refusal(names, kind, code, message))
        const settle = settleWith(called)
        const over = { session, files, approve, hook, kind, run: call, settle, refusal }
        return executeOn(over, args, options).catch((error) => refusedBy(error, options, refusal))
      }
      const isWritten = WRITING.has(kind)
      const asks = approve !== undefined && isWritten && !options.dryRun && !options.plan
      const run = (/** @type {ExecuteOptions} */ options) => {
        if (hook === undefined) return execute(called, args, options)
        const callable = { session, writes: isWritten, args, call, settle: settleWith(called) }
        return executeWithHook(callable, hook, options)
      }
      return asks ? executeApproved(approve, run, options) : run(options)
    },
  }
  if (kind === 'apply' || kind === 'apply_json') {
    const of = { session, kind, options, isOfHost: files !== undefined }
    Object.assign(tool, {
      preview: (/** @type {unknown} */ args, /** @type {PreviewOptions} */ given) =>
        preview(of, args, given),
    })
  }
  KINDS.set(tool, kind)
  return tool
}

/**
 * Runs a call. It throws only when the signal fires. It calls the session before it awaits
 * anything, so the session receives calls in the order in which they are made.
 * @param {Called} tool
 * @param {unknown} args
 * @param {CallOptions} given
 * @param {unknown} [mark] when the model made the call
 * @returns {Promise<any>} the result; with `settles` what was written, if there is any
 */
async function execute({ session, names, kind, answer }, args, given, mark) {
  const { signal, dryRun, plan, settles } = given
  try {
    const more = { ...(plan !== undefined && { plan }), ...(settles && { settles }) }
    const options = { ...answer, signal, dryRun, ...more }
    const answered = await addon.tools.call(session, names, kind, args, options, mark)
    return answered.written === undefined ? result(answered) : answered
  } catch (error) {
    return refusedBy(error, { signal }, (code, message) =>
      result(addon.tools.refusal(names, kind, code, message)),
    )
  }
}

/**
 * Answers an edit once its files are formatted.
 * @param {Called} called
 * @returns {import('./after.cjs').Callable['settle']}
 */
function settleWith({ session, names }) {
  return async (written, returned, note) =>
    result(await addon.tools.settle(session, names, written, returned, note))
}

/**
 * The result of a call that failed here. It throws only when the signal fires.
 * @param {unknown} error a getter of the caller may have thrown any value
 * @param {ExecuteOptions} options
 * @param {(code: string, message: string) => ToolResult<any>} refusal
 */
function refusedBy(error, { signal }, refusal) {
  const { name, code, message } = Object(error)
  if (name === 'AbortError' && signal?.aborted) throw error
  if (signal?.aborted && error === signal.reason) throw error
  return refusal(code, message)
}

/**
 * @param {Answer} answer
 * @returns {ToolResult<any>}
 */
function result(answer) {
  const structured = JSON.parse(answer.structured)
  for (const file of structured.files ?? []) {
    if (file.contentBase64 === undefined) continue
    file.content = Buffer.from(file.contentBase64, 'base64')
    delete file.contentBase64
  }
  return { ...answer, structured }
}

/**
 * The kind of a tool that was created here.
 * @param {unknown} tool
 */
const kindOf = (tool) => (typeof tool === 'object' && tool !== null ? KINDS.get(tool) : undefined)

module.exports = { kindOf, makeTool }
