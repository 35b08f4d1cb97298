// `hashline-native/tools`: a session as the tools of an agent, for any framework.

'use strict'

const { applyTool } = require('./tools/apply.cjs')
const { guard } = require('./tools/guard.cjs')
const { readTool } = require('./tools/read.cjs')
const { remember } = require('./tools/remember.cjs')
const { searchTool } = require('./tools/search.cjs')
const { toolNames } = require('./tools/tool.cjs')
const { toAnthropic, toOpenAI, toStandardSchema, toZodShape } = require('./tools/vendors.cjs')

/** @type {typeof import('./tools.cjs').hashTools} */
function hashTools(session, options) {
  if (typeof session?.read !== 'function') {
    throw new TypeError('the session is none: expected a HashSession of hashline-native')
  }
  const names = toolNames(options?.names)
  return {
    read: readTool(session, names),
    search: searchTool(session, names),
    apply: applyTool(session, names),
  }
}

/** @type {typeof import('./tools.cjs')} */
module.exports = { guard, hashTools, remember, toAnthropic, toOpenAI, toStandardSchema, toZodShape }
