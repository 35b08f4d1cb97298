// An agent for editors, with `@agentclientprotocol/sdk`: it speaks the Agent Client Protocol over
// standard input and output. The editor runs `node acp.mjs` with OPENAI_MODEL, and if needed
// OPENAI_BASE_URL and OPENAI_API_KEY.

import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { toOpenAI } from 'hashline-native/tools'
import { editorTools } from './acpTools.mjs'

/**
 * @import { AgentContext, ContentBlock, FileSystemCapabilities } from '@agentclientprotocol/sdk'
 * @import { PermissionOption, SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
 * @import { ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'
 * @import { DiffHunk, FileChange } from 'hashline-native'
 * @import { Approve, HashTool } from 'hashline-native/tools'
 *
 * @typedef {object} ResultFile a file in a result
 * @property {string} path
 * @property {string} [change]
 * @property {DiffHunk[]} [hunks]
 * @property {number[]} [matchLines]
 * @property {number} [startLine]
 *
 * @typedef {{ messages: any[], tools: object[], signal: AbortSignal }} ModelRequest
 * @typedef {{ message: any, finish_reason: string }} Choice of OpenAI's chat completions
 * @typedef {(request: ModelRequest) => Promise<Choice>} Model
 *
 * @typedef {{ toolCallId: string, title: string, kind: ToolKind }} CurrentCall
 *
 * @typedef {object} Chat one session of the protocol
 * @property {string} sessionId
 * @property {string} cwd
 * @property {AgentContext} client
 * @property {Model} model
 * @property {HashTool[]} tools
 * @property {any[]} messages
 * @property {string} mode
 * @property {number} calls how many the model has made
 * @property {CurrentCall} [call] the last one
 * @property {AbortController} [turn] while a prompt is answered
 */

const MAX_REQUESTS = 100

const MODES = [
  { id: 'ask', name: 'Ask', description: 'Ask before each edit' },
  { id: 'edit', name: 'Edit', description: 'Edit without asking' },
]

/** @type {PermissionOption[]} */
const ANSWERS = [
  { optionId: 'once', kind: 'allow_once', name: 'Allow' },
  { optionId: 'always', kind: 'allow_always', name: 'Allow all edits' },
  { optionId: 'never', kind: 'reject_once', name: 'Reject' },
]

/** @type {Record<string, StopReason>} */
const STOP_REASONS = { length: 'max_tokens', content_filter: 'refusal' }

/** @type {Record<string, ToolKind>} */
const KINDS = { read: 'read', search: 'search', apply: 'edit' }

/** @type {Record<string, ToolKind>} */
const KINDS_OF_CHANGES = { moved: 'move', deleted: 'delete' }

const CANCELLED = 'The user cancelled this call.'

/**
 * A model that speaks OpenAI's chat completions.
 * @param {{ baseURL: string, model: string, apiKey?: string }} options
 * @returns {Model}
 */
export const chatCompletions =
  ({ baseURL, model, apiKey }) =>
  async ({ messages, tools, signal }) => {
    const authorization = `Bearer ${apiKey ?? 'none'}`
    const headers = { 'content-type': 'application/json', authorization }
    const body = JSON.stringify({ model, messages, tools })
    const request = { method: 'POST', headers, body, signal }
    const response = await fetch(`${baseURL}/chat/completions`, request)
    if (!response.ok) {
      const reason = (await response.text()).slice(0, 1000)
      throw new Error(`the model answered ${response.status}: ${reason}`)
    }
    const { choices } = /** @type {any} */ (await response.json())
    return choices[0]
  }

/** The agent of one connection. @param {Model} model */
export function acpAgent(model) {
  /** @type {Map<string, Chat>} */
  const chats = new Map()
  /** @type {FileSystemCapabilities} */
  let fs = {}
  const chatOf = (/** @type {string} */ sessionId) => {
    const chat = chats.get(sessionId)
    if (chat === undefined) throw RequestError.sessionNotFound(sessionId)
    return chat
  }
  return agent({ name: 'hashline' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      fs = params.clientCapabilities?.fs ?? {}
      const agentCapabilities = { promptCapabilities: { embeddedContext: true } }
      return { protocolVersion: PROTOCOL_VERSION, agentCapabilities }
    })
    .onRequest(methods.agent.session.new, ({ params: { cwd }, client }) => {
      if (!isAbsolute(cwd) || !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
        throw RequestError.invalidParams({ cwd }, 'cwd must be the absolute path of a directory')
      }
      const sessionId = `session_${chats.size + 1}`
      /** @type {Approve} */
      const approve = (plan, { signal }) => isApproved(chatOf(sessionId), plan, signal)
      const tools = editorTools({ client, sessionId, fs, cwd, approve })
      const guidelines = tools.flatMap((tool) => tool.guidelines).join('\n')
      const messages = [{ role: 'system', content: guidelines }]
      const editor = { client, sessionId, cwd, mode: 'ask' }
      chats.set(sessionId, { ...editor, model, tools, messages, calls: 0 })
      return { sessionId, modes: { currentModeId: 'ask', availableModes: MODES } }
    })
    .onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
      if (!MODES.some(({ id }) => id === modeId)) throw RequestError.invalidParams({ modeId })
      chatOf(sessionId).mode = modeId
    })
    .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, signal }) => {
      const chat = chatOf(sessionId)
      if (chat.turn) throw RequestError.invalidRequest({ sessionId }, 'a prompt is being answered')
      const turn = new AbortController()
      chat.turn = turn
      signal.addEventListener('abort', () => turn.abort())
      try {
        return { stopReason: await answer(chat, prompt, turn.signal) }
      } catch (error) {
        if (turn.signal.aborted) return { stopReason: 'cancelled' }
        throw error
      } finally {
        chat.turn = undefined
      }
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => {
      chats.get(params.sessionId)?.turn?.abort()
    })
}

/**
 * Asks the model and runs the calls that it makes, until it makes none.
 * @param {Chat} chat
 * @param {ContentBlock[]} prompt
 * @param {AbortSignal} signal
 * @returns {Promise<StopReason>}
 */
async function answer(chat, prompt, signal) {
  const { messages, model } = chat
  const tools = chat.tools.map((tool) => toOpenAI(tool))
  messages.push({ role: 'user', content: prompt.map(textOf).join('\n') })
  for (let count = 0; count < MAX_REQUESTS; count++) {
    const { message, finish_reason } = await model({ messages, tools, signal })
    messages.push(message)
    if (message.content) {
      const content = { type: /** @type {const} */ ('text'), text: message.content }
      await update(chat, { sessionUpdate: 'agent_message_chunk', content })
    }
    if (!message.tool_calls?.length) return STOP_REASONS[finish_reason] ?? 'end_turn'
    for (const { id, function: call } of message.tool_calls) {
      // Also after a cancellation: without results, the next request would be refused.
      const content = await runCall(chat, call, signal)
      messages.push({ role: 'tool', tool_call_id: id, content })
    }
  }
  return 'max_turn_requests'
}

/** A part of the prompt, for the model. @param {ContentBlock} block */
function textOf(block) {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return block.uri
  if (block.type !== 'resource') return `(${block.type}: not supported)`
  const { resource } = block
  return 'text' in resource ? `${resource.uri}:\n${resource.text}` : resource.uri
}

/**
 * Runs a call and reports it to the editor.
 * @param {Chat} chat
 * @param {{ name: string, arguments: string }} call
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the result for the model
 */
async function runCall(chat, { name, arguments: args }, signal) {
  const tool = chat.tools.find((one) => one.name === name)
  if (tool === undefined) return 'No such tool.'
  // The ids of a model may repeat.
  const toolCallId = `call_${++chat.calls}`
  const title = `${tool.title} ${tool.callTitle(args)}`.trim()
  const call = { toolCallId, title, kind: KINDS[name] }
  chat.call = call
  await update(chat, { sessionUpdate: 'tool_call', ...call, status: 'pending', rawInput: args })
  const result = await tool.execute(args, { signal }).catch((error) => {
    if (!signal.aborted) throw error
    return { text: CANCELLED, isError: true, structured: {} }
  })
  const status = result.isError ? 'failed' : 'completed'
  const seen = shown(chat, result)
  await update(chat, { sessionUpdate: 'tool_call_update', toolCallId, status, ...seen })
  return result.text
}

/**
 * Asks the user whether an edit may be written, unless the mode is to write it.
 * @param {Chat} chat
 * @param {{ files: FileChange[], diff: string }} plan
 * @param {AbortSignal} [signal]
 * @returns {Promise<boolean | string>}
 */
async function isApproved(chat, { files, diff }, signal) {
  const { client, sessionId, call, mode } = chat
  if (mode === 'edit' || call === undefined) return mode === 'edit'
  /** @type {ToolCallUpdate} */
  const toolCall = { ...call, ...shown(chat, { text: diff, structured: { files } }) }
  const { outcome } = await client.request(
    methods.client.session.requestPermission,
    { sessionId, toolCall, options: ANSWERS },
    { cancellationSignal: signal },
  )
  if (outcome.outcome === 'cancelled') chat.turn?.abort()
  const answer = outcome.outcome === 'selected' ? outcome.optionId : undefined
  if (answer === 'always') {
    chat.mode = 'edit'
    await update(chat, { sessionUpdate: 'current_mode_update', currentModeId: chat.mode })
  }
  return answer === 'always' || answer === 'once'
}

/**
 * What the editor shows of a result: differences and places.
 * @param {Chat} chat
 * @param {{ text: string, structured: object }} result
 */
function shown({ cwd }, { text, structured }) {
  const { files = [] } = /** @type {{ files?: ResultFile[] }} */ (structured)
  /** @type {ToolCallContent[]} */
  const diffs = files.flatMap((file) => diffsOf(resolve(cwd, file.path), file))
  /** @type {ToolCallContent} */
  const answer = { type: 'content', content: { type: 'text', text } }
  const locations = files.flatMap((file) => {
    const starts = file.hunks?.map(({ newStart }) => newStart) ?? file.matchLines?.slice(0, 1) ?? []
    const lines = starts.length > 0 ? starts : [file.startLine ?? 1]
    return lines.map((line) => ({ path: resolve(cwd, file.path), line }))
  })
  const kinds = new Set(files.map(({ change }) => KINDS_OF_CHANGES[change ?? '']))
  const [kind] = kinds.size === 1 ? kinds : []
  return { ...(kind && { kind }), content: diffs.length > 0 ? diffs : [answer], locations }
}

/**
 * A difference for each changed region, because a whole file may be large.
 * @param {string} path
 * @param {ResultFile} file
 * @returns {ToolCallContent[]}
 */
function diffsOf(path, { change, hunks = [] }) {
  if (change === 'created') {
    const newText = hunks.map(({ lines }) => sideOf(lines, '+')).join('')
    return [{ type: 'diff', path, oldText: null, newText }]
  }
  return hunks.map(({ lines }) => {
    const [oldText, newText] = [sideOf(lines, '-'), sideOf(lines, '+')]
    return { type: 'diff', path, oldText, newText }
  })
}

/**
 * The old or the new text of a hunk.
 * @param {string[]} lines each after a space, `-` or `+`; a note after a backslash
 * @param {'-' | '+'} sign
 */
function sideOf(lines, sign) {
  const texts = lines.map((line, at) => {
    if (line[0] !== ' ' && line[0] !== sign) return ''
    return line.slice(1) + (lines[at + 1]?.startsWith('\\') ? '' : '\n')
  })
  return texts.join('')
}

/** @param {Chat} chat @param {SessionUpdate} change */
const update = ({ client, sessionId }, change) =>
  client.notify(methods.client.session.update, { sessionId, update: change })

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { OPENAI_BASE_URL, OPENAI_MODEL = '', OPENAI_API_KEY: apiKey } = process.env
  const baseURL = OPENAI_BASE_URL ?? 'https://api.openai.com/v1'
  const model = chatCompletions({ baseURL, model: OPENAI_MODEL, apiKey })
  const input = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(process.stdin))
  acpAgent(model).connect(ndJsonStream(Writable.toWeb(process.stdout), input))
}
