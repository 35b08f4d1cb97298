// Shared by the plug-ins for pi and oh-my-pi: tools over a session that remembers what the
// conversation has shown, the guard of the shell, and the stored details of a result.

import { resolve } from 'node:path'
import { HashSession } from 'hashline-native'
import { annotation, guard, remember } from 'hashline-native/tools'
import { powershellGuard } from './powershell.js'

/**
 * @import { CommandPolicy, Dialect, HashSessionOptions } from 'hashline-native'
 * @import { HashTool, HashTools, ToolData, ToolNames, ToolResult } from 'hashline-native/tools'
 *
 * @typedef {{ summary: string, isError: boolean, diff?: string, paths?: string[] }} Details
 *   `paths` are the files that a call read or wrote
 *
 * @typedef {object} Message the part of a conversation's message that is used
 * @property {string} role
 * @property {any} [content]
 * @property {string} [toolName]
 * @property {string} [toolCallId]
 * @property {unknown} [details]
 *
 * @typedef {object} ShellResult the part of the result of a tool that is used
 * @property {string} toolName
 * @property {string} toolCallId
 * @property {Record<string, unknown>} input
 * @property {any[]} content
 *
 * @typedef {{ type: string, message?: Message }} Entry one of a conversation
 * @typedef {{ read: Set<string>, edited: Set<string> }} FileOps
 */

/** The tools of the agents, and of other extensions, that edit files. */
export const EDIT_TOOLS = ['edit', 'write', 'apply_patch', 'ast_edit']

/** The tools of the agents that run commands. */
const SHELLS = ['bash', 'powershell']

/**
 * A session for a conversation. Like the agents' own tools, it can access all files that the user
 * may read and write. Answers show the changed lines, so that `remember` can find them.
 * @param {HashSessionOptions} [options]
 */
export function newSession(options = {}) {
  return new HashSession({ root: false, dialect: dialect(), answer: 'region', ...options })
}

/**
 * The dialect of anchors: `pi`, or the value of the variable `HASHLINE_DIALECT`.
 * @returns {Dialect}
 */
function dialect() {
  return /** @type {Dialect} */ (process.env.HASHLINE_DIALECT || 'pi')
}

/**
 * Makes a session remember what the current branch of a conversation has shown.
 * @param {HashSession} session
 * @param {Iterable<Entry>} branch
 * @param {HashTools} tools the tools whose results are used
 */
export function rememberBranch(session, branch, tools) {
  /** @type {Map<unknown, unknown>} */
  const calls = new Map()
  for (const { message } of branch) {
    if (message?.role === 'assistant') {
      for (const part of message.content) {
        if (part.type === 'toolCall') calls.set(part.id, part.arguments)
      }
    }
    const tool = toolOf(tools, message)
    const isOfShell = message?.role === 'toolResult' && SHELLS.includes(message.toolName ?? '')
    if (tool === undefined && !isOfShell) continue
    const call = calls.get(message?.toolCallId)
    for (const part of message?.content ?? []) {
      if (part.type !== 'text') continue
      if (tool !== undefined) remember(session, tool, call, part.text)
      // The lines that were appended have headers, which name their files.
      else session.observe(part.text)
    }
  }
}

/**
 * The tool of this extension whose result a message is.
 * @param {HashTools} tools
 * @param {Message} [message]
 */
function toolOf(tools, message) {
  if (message?.role !== 'toolResult') return undefined
  return Object.values(tools).find(({ name }) => name === message.toolName)
}

/**
 * Why a call of a shell must be blocked.
 * @param {string} toolName
 * @param {object} input
 * @param {HashTools} tools
 * @param {CommandPolicy | undefined} policy undefined if nothing is blocked
 */
export function reasonAgainst(toolName, input, tools, policy) {
  if (policy === undefined || !SHELLS.includes(toolName)) return undefined
  const command = 'command' in input ? input.command : undefined
  if (typeof command !== 'string') return 'Blocked: the command is not a string.'
  const names = namesOf(tools)
  if (toolName === 'bash') return guard(command, { names, policy })
  return powershellGuard(command, { names, guard, policy })
}

/**
 * The directory in which a command runs.
 * @param {object} input
 * @param {string} cwd
 */
export function directoryOf(input, cwd) {
  return 'cwd' in input && typeof input.cwd === 'string' ? resolve(cwd, input.cwd) : cwd
}

/** Appends the lines that the output of a shell call names, with anchors. */
export class Annotator {
  /** When the calls that are running began. @type {Map<string, number>} */
  #begun = new Map()

  /** Records that a call begins. @param {{ toolName: string, toolCallId: string }} call */
  begin({ toolName, toolCallId }) {
    if (!SHELLS.includes(toolName) || !isAnnotating()) return
    // A call that was aborted has no result.
    const [oldest] = this.#begun.keys()
    if (this.#begun.size >= MAX_RUNNING) this.#begun.delete(oldest)
    this.#begun.set(toolCallId, Date.now())
  }

  /**
   * The content of a result with the lines; undefined if it stays as it is.
   * @param {ShellResult} result
   * @param {HashSession} session
   * @param {string} cwd the directory of the conversation
   * @param {AbortSignal} [signal]
   */
  async content({ toolName, toolCallId, input, content }, session, cwd, signal) {
    const since = this.#begun.get(toolCallId)
    this.#begun.delete(toolCallId)
    if (!SHELLS.includes(toolName) || !isAnnotating()) return undefined
    const output = content.map(({ text }) => text ?? '').join('\n')
    const command = typeof input.command === 'string' ? { command: input.command } : {}
    const directory = directoryOf(input, cwd)
    const options = { ...command, cwd: directory, ...(since !== undefined && { since }), signal }
    // The command has run: its result must not be lost.
    const text = await annotation(session, output, options).catch(() => '')
    return text === ''
      ? undefined
      : [...content, { type: /** @type {const} */ ('text'), text: `\n${text}` }]
  }
}

/** More calls than an agent runs at once. */
const MAX_RUNNING = 100

/**
 * Whether lines are appended to outputs: as the variable `HASHLINE_ANNOTATE` says (`on`, `off`), by
 * default where the guard is on.
 */
function isAnnotating() {
  const given = process.env.HASHLINE_ANNOTATE
  return given === 'on' || (given !== 'off' && process.env.HASHLINE_GUARD !== 'off')
}

/**
 * The output to show instead of running a command that the user typed after `!`, and whose output
 * the model would see; undefined for a command that may run.
 * @param {string} command
 * @param {HashTools} tools
 * @param {CommandPolicy | undefined} policy undefined if nothing is blocked
 */
export function insteadOfTyped(command, tools, policy) {
  const reason = reasonAgainst('bash', { command }, tools, policy)
  return reason && `${reason}\nType !! instead of ! to run it without showing it to the model.`
}

/** @param {HashTools} tools */
const namesOf = ({ read, search, apply }) => ({
  read: read.name,
  search: search.name,
  apply: apply.name,
})

/**
 * The policy for commands: files of the project, and the value of the variable `HASHLINE_GUARD`, a
 * `CommandPolicy` as JSON; undefined if it is `off`.
 * @param {string} root of the project
 * @param {string} [cwd] where the command runs
 * @returns {CommandPolicy | undefined}
 */
export function guardPolicy(root, cwd = root) {
  const given = process.env.HASHLINE_GUARD
  if (given === 'off') return undefined
  return { roots: [root], cwd, checkFiles: true, ...(given ? JSON.parse(given) : {}) }
}

/**
 * The details that are stored with the text of a result.
 * @param {ToolResult<ToolData & { files?: { from?: string, path: string, error?: unknown }[] }>} result
 * @returns {Details}
 */
export function detailsOf(result) {
  const { summary, isError, diff } = result
  return { summary, isError, paths: pathsOf(result), ...(diff !== undefined && { diff }) }
}

/**
 * The files of a call that were read or written, as named in the result.
 * @param {ToolResult<ToolData & { files?: { from?: string, path: string, error?: unknown }[] }>} result
 * @returns {string[]}
 */
function pathsOf({ structured, isError }) {
  if (isError) return []
  return (structured.files ?? [])
    .filter(({ error }) => error === undefined)
    .flatMap(({ from, path }) => [from, path])
    .filter((path) => typeof path === 'string')
}

/**
 * Adds the files that the messages of a conversation have read and edited to those that a summary
 * names.
 * @param {Iterable<Message>} messages
 * @param {HashTools} tools
 * @param {FileOps} fileOps
 */
export function addFiles(messages, tools, fileOps) {
  for (const message of messages) {
    const tool = toolOf(tools, message)
    // A refused call did not access its files.
    if (tool === undefined || !isDetails(message.details) || message.details.isError) continue
    for (const path of message.details.paths ?? []) {
      if (tool === tools.apply) fileOps.edited.add(path)
      if (tool === tools.read) fileOps.read.add(path)
    }
  }
}

/** @param {unknown} details @returns {details is Details} */
export const isDetails = (details) =>
  typeof details === 'object' && details !== null && 'isError' in details && 'summary' in details
