// Detects shell commands that bypass the tools: those that read or write files.

'use strict'

const { checkCommand } = require('../../index.js')
const { toolNames } = require('./names.cjs')

/** @import { CommandPolicy } from '../..' */

/** @type {typeof import('../tools.cjs').guard} */
function guard(command, options) {
  const { names, policy } = options ?? {}
  const { read, search, apply } = toolNames(names)
  const named = Object.entries(policy?.tools ?? {}).filter(([, name]) => name !== undefined)
  const tools = { read, search, edit: apply, ...Object.fromEntries(named) }
  const { verdict, findings } = checked(command, { ...policy, tools })
  if (verdict === 'allow' || verdict === 'unparsed') return undefined
  const reasons = findings.map(({ message }) => message)
  // A policy may refuse commands that cannot be parsed.
  if (reasons.length === 0)
    reasons.push('The command cannot be parsed. Write it in a simpler form.')
  return ['Blocked: the command was not run.', ...new Set(reasons)].join('\n')
}

/**
 * As `checkCommand`, but a command that is not a string counts as unparsed. Misuse of the policy
 * throws.
 * @param {unknown} command
 * @param {CommandPolicy} policy
 */
function checked(command, policy) {
  if (typeof command === 'string')
    return checkCommand(command.replace(/\p{Cs}/gu, '\ufffd'), policy)
  checkCommand('', policy)
  const verdict = policy.unparsed === 'write' ? 'write' : 'unparsed'
  return { verdict, findings: [] }
}

module.exports = { guard }
