// What an old call showed → the memory of a session, to go on where a conversation ended.

'use strict'

const { isObject, takeObject } = require('./arguments.cjs')
const { operations } = require('./operations.cjs')
const { OTHER_NAMES, requests } = require('./read.cjs')

/** @import { HashSession } from '../..' */

/** @type {typeof import('../tools.cjs').remember} */
function remember(session, tool, args, text) {
  if (typeof text !== 'string') return 0
  const path = pathOf(session, kindOf(tool, args), args)
  return path === undefined ? session.observe(text) : session.observe(text, path)
}

/** @param {unknown} tool @param {unknown} args */
function kindOf(tool, args) {
  const properties = isObject(tool) && isObject(tool.inputSchema) && tool.inputSchema.properties
  const fields = isObject(properties) ? properties : objectOf(args)
  if ('operations' in fields || 'edits' in fields || 'op' in fields) return 'apply'
  return 'pattern' in fields || 'query' in fields ? 'search' : 'read'
}

/** @param {unknown} args @returns {Record<string, unknown>} */
function objectOf(args) {
  try {
    return takeObject(args, {}, [], []).values
  } catch {
    return {}
  }
}

/**
 * The one file of a call. Answers about several have headers, as those of searches always have.
 * @param {HashSession} session
 * @param {string} kind
 * @param {unknown} args
 */
function pathOf(session, kind, args) {
  if (kind === 'search') return undefined
  try {
    const given = takeObject(args, kind === 'read' ? OTHER_NAMES : {}, [], [])
    const paths = kind === 'read' ? requests(session, given) : operations(session, given)
    const [first, ...others] = new Set(paths.map((one) => isObject(one) && (one.path ?? one.from)))
    return typeof first === 'string' && others.length === 0 ? first : undefined
  } catch {
    // A call that was malformed showed nothing, or what has headers.
    return undefined
  }
}

module.exports = { remember }
