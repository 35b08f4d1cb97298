// Work of the host between the write of an edit and its answer: a formatter, a linter, a language
// server.

'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')

const addon = require('../addon.cjs')
const { abortable, messageOf } = require('./approval.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { AfterWrite, ExecuteOptions, ToolResult, WrittenFile } from '../tools.cjs'
 *
 * @typedef {object} Hook
 * @property {AfterWrite} afterWrite
 * @property {number} limitMs
 *
 * @typedef {object} Running a function that runs
 * @property {HashSession} session
 * @property {boolean} isRunning
 * @property {Running | undefined} outer the function that made the call for which it runs
 *
 * What an edit has written, before it is answered.
 * @typedef {{ files: string, written: unknown }} Written
 *
 * A call of a tool.
 * @typedef {object} Callable
 * @property {HashSession} session
 * @property {boolean} writes whether it is a tool that edits
 * @property {unknown} args
 * @property {(args: unknown, options: ExecuteOptions & { settles?: boolean }, mark?: unknown) => Promise<any>} call
 * @property {(written: unknown, returned: string | undefined, note: string | undefined) => Promise<ToolResult<any>>} settle
 */

/** The default of the option `afterWriteTimeoutMs`. */
const LIMIT_MS = 10_000

/** A longer time is not supported by timers. */
const MAX_LIMIT_MS = 2 ** 31 - 1

/** The start of a note in the answer. */
const FAILED = 'The edit is written, but afterWrite failed'

/**
 * The last edit of each session whose function may still run. Other calls wait for it: a formatter
 * would overwrite an edit that is made while it runs.
 * @type {WeakMap<HashSession, Promise<unknown>>}
 */
const QUEUES = new WeakMap()

/**
 * The function that is running. A call that it makes does not wait for it.
 * @type {AsyncLocalStorage<Running>}
 */
const RUNNING = new AsyncLocalStorage()

/**
 * Runs a call once no function of an earlier edit runs.
 * @param {Callable} callable
 * @param {Hook} hook
 * @param {ExecuteOptions} options
 * @returns {Promise<ToolResult<any>>}
 */
function executeWithHook(callable, hook, options) {
  const { session, writes, args, call } = callable
  // A call of the function itself: neither waits for it nor calls it again.
  if (isRunning(session)) return call(args, options)
  const before = QUEUES.get(session)
  const isEdit = writes && !options.dryRun
  const run = (/** @type {Callable} */ callable, /** @type {unknown} */ mark) =>
    isEdit ? edit(callable, hook, options, mark) : call(callable.args, options, mark)
  const made =
    before === undefined ? run(callable, undefined) : runAfter(before, callable, options, run)
  if (!isEdit) return made
  const ended = made.catch(() => undefined)
  QUEUES.set(session, ended)
  ended.then(() => QUEUES.get(session) === ended && QUEUES.delete(session))
  return made
}

/**
 * Whether a function for this session runs that made this call, directly or not.
 * @param {HashSession} session
 */
function isRunning(session) {
  for (let one = RUNNING.getStore(); one !== undefined; one = one.outer) {
    if (one.isRunning && one.session === session) return true
  }
  return false
}

/**
 * @param {Promise<unknown>} before
 * @param {Callable} callable
 * @param {ExecuteOptions} options
 * @param {(callable: Callable, mark: unknown) => Promise<ToolResult<any>>} run
 */
async function runAfter(before, callable, { signal }, run) {
  // What the model has read now counts, and the arguments as they are now.
  const mark = addon.tools.mark(callable.session)
  const made = { ...callable, args: copied(callable.args) }
  try {
    await abortable(before, signal)
    return await run(made, mark)
  } finally {
    addon.tools.unmark(mark)
  }
}

/**
 * @param {Callable} callable
 * @param {Hook} hook
 * @param {ExecuteOptions} options
 * @param {unknown} mark
 */
async function edit({ session, args, call, settle }, hook, options, mark) {
  const answer = await call(args, { ...options, settles: true }, mark)
  if (answer.written === undefined) return answer
  const { returned, note } = await called(session, hook, answer.files, options.signal)
  return await settle(answer.written, returned, note)
}

/**
 * Calls the function of the host. Returns what it returned, as JSON, or why it failed. The edit is
 * written, so nothing is thrown.
 * @param {HashSession} session
 * @param {Hook} hook
 * @param {string} files
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<{ returned?: string | undefined, note?: string | undefined }>}
 */
async function called(session, { afterWrite, limitMs }, files, signal) {
  if (signal?.aborted) return { note: `${FAILED}: the call was cancelled` }
  const running = { session, isRunning: true, outer: RUNNING.getStore() }
  const controller = new AbortController()
  const stopped = stop(controller, limitMs, signal)
  try {
    const result = RUNNING.run(running, async () =>
      afterWrite(/** @type {WrittenFile[]} */ (JSON.parse(files)), { signal: controller.signal }),
    )
    return { returned: JSON.stringify(await Promise.race([result, stopped.promise])) }
  } catch (error) {
    return { note: `${FAILED}: ${messageOf(error)}` }
  } finally {
    stopped.release()
    running.isRunning = false
  }
}

/**
 * A promise that rejects at the limit of time, or when the signal of the call fires. Then the
 * controller is aborted.
 * @param {AbortController} controller
 * @param {number} limitMs
 * @param {AbortSignal | undefined} signal
 */
function stop(controller, limitMs, signal) {
  /** @type {(error: Error) => void} */
  let reject = () => {}
  const promise = /** @type {Promise<never>} */ (
    new Promise((_, rejected) => {
      reject = rejected
    })
  )
  const cancelled = () => {
    reject(new Error('the call was cancelled'))
    controller.abort(signal?.reason)
  }
  const timer = setTimeout(() => {
    const error = new Error(`it took longer than ${limitMs} ms`)
    reject(error)
    controller.abort(error)
  }, limitMs)
  signal?.addEventListener('abort', cancelled, { once: true })
  const release = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancelled)
  }
  return { promise, release }
}

/** @param {unknown} args */
function copied(args) {
  try {
    return structuredClone(args)
  } catch {
    // It is not data. The call reports it.
    return args
  }
}

/**
 * The option `afterWrite` with its limit of time.
 * @param {unknown} afterWrite
 * @param {unknown} [limitMs]
 * @returns {Hook | undefined}
 */
function hookOf(afterWrite, limitMs = LIMIT_MS) {
  if (typeof limitMs !== 'number' || !(limitMs > 0 && limitMs <= MAX_LIMIT_MS)) {
    throw new TypeError(
      `options.afterWriteTimeoutMs is ${String(limitMs)}: expected a number from 1 to ${MAX_LIMIT_MS}`,
    )
  }
  if (afterWrite === undefined) return undefined
  if (typeof afterWrite !== 'function') {
    throw new TypeError('options.afterWrite is not a function: afterWrite(files) is needed')
  }
  return { afterWrite: /** @type {AfterWrite} */ (afterWrite), limitMs }
}

module.exports = { called, copied, executeWithHook, hookOf }
