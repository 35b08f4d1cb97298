// oh-my-pi extension: reads, searches and edits files by line anchors. `read` and `grep` replace
// oh-my-pi's own tools, `apply_hash` replaces `edit` and `write`.

import { truncateToWidth } from '@oh-my-pi/pi-tui'
import { hashTools } from 'hashline-native/tools'
import { isPlanning } from './planning.js'
import { callRow, component, resultRows } from './rows.js'
import {
  Annotator,
  addFiles,
  detailsOf,
  directoryOf,
  EDIT_TOOLS,
  guardPolicy,
  insteadOfTyped,
  isDetails,
  newSession,
  reasonAgainst,
  rememberBranch,
} from './session.js'

/**
 * @import { AgentToolResult, ExtensionAPI, ExtensionContext, ToolDefinition } from '@oh-my-pi/pi-coding-agent'
 * @import { HashSession } from 'hashline-native'
 * @import { HashTool, HashTools, ReadData, ToolResult } from 'hashline-native/tools'
 * @import { Details } from './session.js'
 *
 * @typedef {AgentToolResult<any>} Answer
 */

// `grep`, because `search` is an old name of oh-my-pi for that tool.
const NAMES = { search: 'grep', apply: 'apply_hash' }

/**
 * oh-my-pi cuts the middle of results over 50 KB. The note on how to continue needs some of that.
 */
const LIMITS = { maxBytes: 48 * 1024 }

/** What else oh-my-pi's `read` shows, according to its prompt. */
const ALSO_READ =
  ' Directories, archives, documents, SQLite, addresses of the web and skill:// and the like are shown without anchors.'

/**
 * The sessions of the conversations that are open, by the directories of their artifacts. Subagents
 * run in the same process, and have that of their parent.
 * @type {Map<string, { id: string, cwd: string, session: HashSession }>}
 */
const conversations = new Map()

/** @param {ExtensionAPI} pi */
export default function hashline(pi) {
  let session = newSession()
  let tools = toolsOver(session)
  const annotator = new Annotator()
  const { read, search, apply } = tools
  const names = [read.name, search.name, apply.name]
  let mayEdit = false
  let id = ''

  pi.registerTool({
    ...definition(read, () => tools.read, answerOfRead),
    description: read.description + ALSO_READ,
    approval: 'read',
  })
  pi.registerTool({ ...definition(search, () => tools.search), approval: 'read' })
  pi.registerTool({ ...definition(apply, () => tools.apply), approval: 'write' })

  /** @param {unknown} _ @param {ExtensionContext} ctx */
  const open = async (_, ctx) => {
    forget(id)
    id = ctx.sessionManager.getSessionId()
    session = sessionOf(ctx)
    tools = toolsOver(session)
    rememberBranch(session, ctx.sessionManager.getBranch(), tools)
    const active = pi.getActiveTools()
    // An agent without the edit tool, such as a scout, does not get this one either.
    mayEdit ||= active.includes('edit')
    const off = mayEdit ? EDIT_TOOLS : [apply.name]
    const rest = active.filter((name) => !off.includes(name))
    if (rest.length < active.length) await pi.setActiveTools(rest)
  }
  pi.on('session_start', open)
  // Another session or branch has shown other lines.
  pi.on('session_switch', open)
  pi.on('session_branch', open)
  pi.on('session_tree', open)
  pi.on('session_shutdown', () => forget(id))

  pi.on('before_agent_start', ({ systemPrompt }) => {
    const shown = pi.getActiveTools()
    const rules = [read, search, apply]
      .filter(({ name }) => shown.includes(name))
      .flatMap(({ guidelines }) => guidelines.map((rule) => `- ${rule}`))
    return { systemPrompt: [...systemPrompt, ['# Files', ...rules].join('\n')] }
  })

  pi.on('tool_call', (event, ctx) => {
    const { toolName, input } = event
    const reason =
      toolName === apply.name && isPlanning(ctx.sessionManager.getBranch())
        ? 'Plan mode: files cannot be changed until the plan is approved.'
        : reasonAgainst(toolName, input, tools, guardPolicy(ctx.cwd, directoryOf(input, ctx.cwd)))
    if (reason !== undefined) return { block: true, reason }
    annotator.begin(event)
    return undefined
  })

  // The model sees the output of `!` commands, but not of `!!` commands.
  pi.on('user_bash', ({ command, excludeFromContext, cwd }) => {
    if (excludeFromContext) return undefined
    const output = insteadOfTyped(command, tools, guardPolicy(cwd))
    return output === undefined ? undefined : { result: resultOfTyped(output) }
  })

  pi.on('tool_result', async (event, ctx) => {
    const { toolName, details } = event
    // A thrown error would lose the details.
    if (names.includes(toolName) && isDetails(details)) return { isError: details.isError }
    const content = await annotator.content(event, session, ctx.cwd)
    return content && { content }
  })

  pi.on('session_before_compact', ({ preparation }) => {
    const { messagesToSummarize, turnPrefixMessages, fileOps } = preparation
    addFiles([...messagesToSummarize, ...turnPrefixMessages], tools, fileOps)
  })
}

/** @param {HashSession} session */
const toolsOver = (session) => hashTools(session, { names: NAMES })

/**
 * The session of a conversation.
 * @param {ExtensionContext} ctx
 */
function sessionOf({ cwd, sessionManager }) {
  const id = sessionManager.getSessionId()
  const directory = sessionManager.getArtifactsDir() ?? ''
  const parent = conversations.get(directory)
  // A parent may pass its subagent anchors of lines that the parent has seen.
  const session = parent?.cwd === cwd ? parent.session.fork() : newSession({ cwd, limits: LIMITS })
  if (directory && !parent) conversations.set(directory, { id, cwd, session })
  return session
}

/** Forgets a conversation whose memory subagents may copy. @param {string} id */
function forget(id) {
  for (const [directory, one] of conversations) {
    if (one.id === id) conversations.delete(directory)
  }
}

/**
 * @param {HashTool<any>} described
 * @param {() => HashTool<any>} current returns the tool of the current session
 * @param {(result: ToolResult<any>, ctx: ExtensionContext) => Promise<Answer>} [answer]
 * @returns {ToolDefinition<any, any>}
 */
function definition(described, current, answer = async (result) => answerOf(result)) {
  const { name, title, description, inputSchema } = described
  return {
    name,
    label: title,
    description,
    parameters: inputSchema,
    loadMode: 'essential',
    // The tools accept arguments in several forms, and report errors in them.
    ...{ lenientArgValidation: true, mergeCallAndResult: true },
    execute: async (_, args, signal, _onUpdate, ctx) =>
      answer(await current().execute(args, { signal }), ctx),
    renderCall: (args, _, theme) =>
      component(() => [callRow(current(), args, theme)], truncateToWidth),
    renderResult({ content, details }, { expanded }, theme, args) {
      const own = isDetails(details) ? details : undefined
      const below = resultRows(content, own, theme, expanded)
      return component(() => [callRow(current(), args, theme, own), ...below], truncateToWidth)
    },
  }
}

/** @param {ToolResult} result @returns {Answer} */
const answerOf = (result) => ({
  content: [{ type: 'text', text: result.text }],
  details: detailsOf(result),
})

/**
 * The answer of `read`. Files without editable lines are shown by oh-my-pi's own tool.
 * @param {ToolResult<ReadData>} result
 * @param {ExtensionContext} ctx
 * @returns {Promise<Answer>}
 */
async function answerOfRead(result, ctx) {
  const { files = [] } = result.structured
  const paths = files.filter((file) => isForHost(file)).map(({ path }) => path)
  if (ctx.invokeTool === undefined || paths.length === 0) return answerOf(result)
  if (files.length === 1) return ctx.invokeTool({ path: paths[0] })
  const { content, details } = answerOf(result)
  for (const path of paths) {
    content.push({ type: 'text', text: `--- ${path} ---` })
    content.push(...(await contentOf(ctx.invokeTool({ path }))))
  }
  return { content, details: { ...details, isError: false } }
}

/**
 * The result of a tool, or its error.
 * @param {Promise<Answer>} answer
 * @returns {Promise<Answer['content']>}
 */
async function contentOf(answer) {
  try {
    return (await answer).content
  } catch (error) {
    return [{ type: 'text', text: error instanceof Error ? error.message : String(error) }]
  }
}

/**
 * Whether a file has no lines: an image, a directory, an archive, the content of an address.
 * @param {{ kind: string, path: string, error?: { code: string } }} file
 */
function isForHost({ kind, path, error }) {
  if (kind === 'image' || kind === 'binary' || kind === 'directory') return true
  return (
    error?.code === 'NOT_A_FILE' || (error !== undefined && /^[a-z][a-z\d+.-]*:\/\//i.test(path))
  )
}

/** The result for a command that was not run. @param {string} output */
function resultOfTyped(output) {
  const [lines, bytes] = [output.split('\n').length, Buffer.byteLength(output)]
  return {
    output,
    exitCode: 1,
    cancelled: false,
    truncated: false,
    totalLines: lines,
    outputLines: lines,
    totalBytes: bytes,
    outputBytes: bytes,
  }
}
