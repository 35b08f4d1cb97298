// `hashline-native/tools`: a session as the tools of an agent, for any framework.

'use strict'

const addon = require('./addon.cjs')
const { hookOf } = require('./tools/after.cjs')
const { guard } = require('./tools/guard.cjs')
const { toolNames } = require('./tools/names.cjs')
const { kindOf, makeTool } = require('./tools/tool.cjs')
const vendors = require('./tools/vendors.cjs')

/** @import { HashSession } from '..' */
/** @import { HashToolsOptions, HostFiles, OperationName } from './tools.cjs' */
/** @import { Kind } from './tools/tool.cjs' */

/**
 * The types declare which options create which tools.
 * @param {HashSession} session
 * @param {HashToolsOptions} [options]
 * @returns {any}
 */
function hashTools(session, options) {
  checkSession(session)
  const { names: given, files, approve, afterWrite, afterWriteTimeoutMs, ...own } = options ?? {}
  const names = toolNames(given, own)
  // A later change of the caller's array must not change the tools.
  if (Array.isArray(own.operations)) own.operations = [...own.operations]
  if (files !== undefined) {
    // Otherwise files that the host does not have would be those of this machine.
    if (session.disk) throw new TypeError('options.files needs a session with disk: false')
    own.operations = possible(checkFiles(files), own.operations)
  }
  if (approve !== undefined && typeof approve !== 'function') {
    throw new TypeError('options.approve is not a function: approve(plan) is needed')
  }
  const hook = hookOf(afterWrite, afterWriteTimeoutMs)
  const functions = { files, approve, hook }
  const tool = (/** @type {Kind} */ kind) => makeTool(session, names, kind, own, functions)
  return {
    read: tool('read'),
    search: tool('search'),
    apply: tool('apply'),
    ...(own.json && { readJson: tool('read_json'), applyJson: tool('apply_json') }),
    ...(own.undo && { undo: tool('undo') }),
  }
}

const FUNCTIONS = { read: true, write: true, remove: false, rename: false, list: false }

/**
 * @param {HostFiles} files
 * @returns {HostFiles}
 */
function checkFiles(files) {
  for (const [name, isRequired] of Object.entries(FUNCTIONS)) {
    const given = /** @type {any} */ (files)?.[name]
    if (typeof given === 'function' || (given === undefined && !isRequired)) continue
    throw new TypeError(`options.files.${name} is not a function: ${name}(path, …) is needed`)
  }
  return files
}

/**
 * The operations that the host can apply, among those that are allowed.
 * @param {HostFiles} files
 * @param {readonly OperationName[]} [allowed]
 */
function possible({ remove, rename }, allowed) {
  if (remove !== undefined) return allowed
  const missing = rename === undefined ? ['delete_file', 'move_file'] : ['delete_file']
  const all = allowed ?? /** @type {OperationName[]} */ (addon.tools.operations())
  return all.filter((name) => !missing.includes(name))
}

/** @type {typeof import('./tools.cjs').annotation} */
async function annotation(session, output, options) {
  checkSession(session)
  return addon.tools.annotation(session, output, options)
}

/** @type {typeof import('./tools.cjs').remember} */
function remember(session, tool, args, text) {
  checkSession(session)
  if (typeof text !== 'string') return 0
  return addon.tools.remember(session, kindOf(tool), args, text)
}

/** @param {unknown} session */
function checkSession(session) {
  if (!(session instanceof addon.HashSession)) {
    throw new TypeError('session is not a HashSession: pass one of hashline-native')
  }
}

/** @type {typeof import('./tools.cjs')} */
module.exports = { annotation, guard, hashTools, remember, ...vendors }
