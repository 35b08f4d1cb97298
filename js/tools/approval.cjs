// Approval of edits: a person sees the plan of an edit, and only that plan is applied.

'use strict'

const addon = require('../addon.cjs')

/**
 * @import { Approve, ExecuteOptions, ToolResult } from '../tools.cjs'
 *
 * @typedef {(options: ExecuteOptions) => Promise<ToolResult<any>>} Run
 */

/**
 * Applies an edit once it is approved.
 * @param {Approve} approve
 * @param {Run} run
 * @param {ExecuteOptions} options
 */
async function executeApproved(approve, run, options) {
  const planned = await run({ ...options, dryRun: true })
  if (planned.isError) return planned
  const declined = await asked(approve, planned, options.signal)
  return declined ?? (await run({ ...options, plan: planned.plan }))
}

/**
 * Asks for approval of a planned edit. Returns the answer for the model if it was not approved.
 * @param {Approve} approve
 * @param {ToolResult<any>} planned
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<ToolResult<any> | undefined>}
 */
async function asked(approve, planned, signal) {
  const { diff = '', summary, structured } = planned
  const plan = { files: structured.files ?? [], diff, summary }
  // An edit that changes nothing needs no approval.
  if (plan.files.length === 0) return undefined
  let answer
  try {
    answer = await abortable(Promise.resolve(approve(plan, { signal })), signal)
  } catch (error) {
    signal?.throwIfAborted()
    answer = messageOf(error)
  }
  if (answer === true) return undefined
  const refused = addon.tools.declined(typeof answer === 'string' ? answer : '')
  return { ...refused, structured: JSON.parse(refused.structured), diff }
}

/**
 * What was thrown, in words. It may be any value.
 * @param {unknown} error
 */
function messageOf(error) {
  try {
    return (error instanceof Error ? error.message : String(error)) || 'unknown error'
  } catch {
    return 'unknown error'
  }
}

/**
 * Rejects when the signal fires, even if the promise never settles.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @param {() => boolean} [isAbortable]
 * @returns {Promise<T>}
 */
function abortable(promise, signal, isAbortable = () => true) {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = () => isAbortable() && reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    const done = () => signal.removeEventListener('abort', abort)
    promise.finally(done).then(resolve, reject)
  })
}

module.exports = { abortable, asked, executeApproved, messageOf }
