// `hashline-native/tools`: a session as the tools of an agent, for any framework.

'use strict'

const addon = require('./addon.cjs')
const { guard } = require('./tools/guard.cjs')
const { toolNames } = require('./tools/names.cjs')
const { kindOf, makeTool } = require('./tools/tool.cjs')
const vendors = require('./tools/vendors.cjs')

/** @type {typeof import('./tools.cjs').hashTools} */
function hashTools(session, options) {
  checkSession(session)
  const { names: given, ...answer } = options ?? {}
  const names = toolNames(given)
  return {
    read: makeTool(session, names, 'read', answer),
    search: makeTool(session, names, 'search', answer),
    apply: makeTool(session, names, 'apply', answer),
  }
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
    throw new TypeError('the session is none: expected a HashSession of hashline-native')
  }
}

/** @type {typeof import('./tools.cjs')} */
module.exports = { guard, hashTools, remember, ...vendors }
