// Which shell commands go past the tools: those that read or write files.

'use strict'

const { checkCommand } = require('../../index.js')
const { toolNames } = require('./tool.cjs')

/** @type {typeof import('../tools.cjs').guard} */
function guard(command, { names, policy } = {}) {
  const { read, search, apply } = toolNames(names)
  const tools = { read, search, edit: apply, ...policy?.tools }
  const { verdict, findings } = checkCommand(command, { ...policy, tools })
  if (verdict === 'allow' || verdict === 'unparsed') return undefined
  const reasons = findings.map(({ message }) => message)
  // A policy may refuse what does not parse.
  if (reasons.length === 0) reasons.push('It cannot be parsed: write it in a simpler way.')
  return ['Blocked: the command was not run.', ...new Set(reasons)].join('\n')
}

module.exports = { guard }
