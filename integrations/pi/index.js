// pi extension: files are read, searched and edited by line anchors. `read` takes the place of
// pi's own, `apply_hash` that of `edit` and `write`.

import * as host from '@earendil-works/pi-coding-agent'
import { HashSession } from 'hashline-native'
import { guard, hashTools, remember } from 'hashline-native/tools'
import { prepared } from './arguments.js'
import { passed } from './images.js'
import { powershellGuard } from './powershell.js'
import { callRow, resultRows } from './rows.js'

/**
 * @import { ExtensionAPI, ExtensionContext, ToolDefinition } from '@earendil-works/pi-coding-agent'
 * @import { CommandPolicy, Dialect } from 'hashline-native'
 * @import { HashTool, ToolData, ToolResult } from 'hashline-native/tools'
 * @import { Resize } from './images.js'
 *
 * @typedef {{ summary: string, isError: boolean, diff?: string, paths?: string[] }} Details
 *   `paths` are the files that a call read or wrote
 */

/** The tools of pi, and of other extensions, that edit files. */
const EDIT_TOOLS = ['edit', 'write', 'apply_patch']
/** @param {ExtensionAPI} pi */
export default function hashline(pi) {
  let tools = hashTools(new HashSession({ root: false, dialect: dialect() }))
  const names = Object.values(tools).map(({ name }) => name)

  for (const kind of /** @type {const} */ (['read', 'search', 'apply'])) {
    pi.registerTool(definition(tools[kind], () => tools[kind]))
  }

  pi.on('session_start', (_, ctx) => {
    tools = rememberedTools(ctx, names)
    const active = pi.getActiveTools()
    pi.setActiveTools(active.filter((name) => !EDIT_TOOLS.includes(name)))
    if (ctx.mode === 'tui') ctx.ui.setToolsExpanded(false)
  })
  // Another branch has shown other lines.
  pi.on('session_tree', (_, ctx) => {
    tools = rememberedTools(ctx, names)
  })

  pi.on('before_agent_start', (event) => withoutShellAdvice(event))

  pi.on('tool_call', ({ toolName, input }, ctx) => {
    const reason = reasonAgainst(toolName, input, tools, guardPolicy(ctx.cwd))
    return reason === undefined ? undefined : { block: true, reason }
  })

  // What a person runs with `!` is shown to the model, what is run with `!!` is not.
  pi.on('user_bash', ({ command, excludeFromContext }, ctx) => {
    const policy = guardPolicy(ctx.cwd)
    const reason =
      excludeFromContext || policy === undefined ? undefined : guard(command, { policy })
    if (reason === undefined) return undefined
    const output = `${reason}\nWith !! in front the command runs, and the model does not see it.`
    return { result: { output, exitCode: 1, cancelled: false, truncated: false } }
  })

  // An error that is thrown would lose the details.
  pi.on('tool_result', ({ toolName, details }) => {
    const isOurs = names.includes(toolName) && isDetails(details)
    return isOurs ? { isError: details.isError } : undefined
  })

  pi.on('session_before_compact', ({ preparation }) => {
    const { messagesToSummarize, turnPrefixMessages, fileOps } = preparation
    for (const message of [...messagesToSummarize, ...turnPrefixMessages]) {
      if (message.role !== 'toolResult' || !isDetails(message.details)) continue
      const { toolName, details } = message
      // What a refused call names was not touched.
      if (details.isError) continue
      if (toolName === tools.apply.name) addAll(fileOps.edited, details.paths)
      if (toolName === tools.read.name) addAll(fileOps.read, details.paths)
    }
  })
}

/**
 * @param {HashTool} described
 * @param {() => HashTool} current that of the session that is open now
 * @returns {ToolDefinition<any, Details>}
 */
function definition({ name, title, description, snippet, guidelines, inputSchema }, current) {
  return {
    name,
    label: title,
    description,
    promptSnippet: snippet,
    promptGuidelines: [...guidelines],
    parameters: inputSchema,
    prepareArguments: (args) => prepared(args, inputSchema),
    renderShell: 'self',
    async execute(_, args, signal, _onUpdate, ctx) {
      const result = await current().execute(args, { signal })
      const { text, images, summary, isError, diff } = result
      const isSeen = ctx?.model?.input?.includes('image') ?? true
      const { content, notes } = await passed(images, { resize: resizing(ctx), isSeen })
      const paths = pathsOf(result)
      const details = { summary, isError, paths, ...(diff !== undefined && { diff }) }
      return { content: [{ type: 'text', text: [text, ...notes].join('\n') }, ...content], details }
    },
    renderCall: (args, theme, context) => callRow(current(), args, theme, context),
    renderResult: (result, options, theme, context) => resultRows(result, options, theme, context),
  }
}

/**
 * Tools over a session that remembers what the open branch of the conversation has shown.
 * @param {ExtensionContext} ctx
 * @param {string[]} names
 */
function rememberedTools(ctx, names) {
  // Like pi's own tools, these may read and write wherever the user may.
  const session = new HashSession({ cwd: ctx.cwd, root: false, dialect: dialect() })
  /** @type {Map<string, unknown>} */
  const calls = new Map()
  for (const entry of ctx.sessionManager.getBranch()) {
    if (entry.type !== 'message') continue
    const { message } = entry
    if (message.role === 'assistant') {
      for (const part of message.content) {
        if (part.type === 'toolCall') calls.set(part.id, part.arguments)
      }
    }
    if (message.role !== 'toolResult' || !names.includes(message.toolName)) continue
    const call = calls.get(message.toolCallId)
    for (const part of message.content) {
      if (part.type === 'text') remember(session, message.toolName, call, part.text)
    }
  }
  return hashTools(session)
}

/**
 * Why a call of a shell is to be blocked.
 * @param {string} toolName
 * @param {object} input
 * @param {Record<'read' | 'search' | 'apply', HashTool>} tools
 * @param {CommandPolicy | undefined} policy none when nothing is
 */
function reasonAgainst(toolName, input, { read, search, apply }, policy) {
  if (policy === undefined || (toolName !== 'bash' && toolName !== 'powershell')) return undefined
  const command = 'command' in input ? input.command : undefined
  if (typeof command !== 'string') return 'Blocked: the command is no text.'
  const names = { read: read.name, search: search.name, apply: apply.name }
  if (toolName === 'bash') return guard(command, { names, policy })
  return powershellGuard(command, { names, guard, policy })
}

/**
 * How anchors look: `pi`, or what the variable `HASHLINE_DIALECT` names.
 * @returns {Dialect}
 */
function dialect() {
  return /** @type {Dialect} */ (process.env.HASHLINE_DIALECT || 'pi')
}

/**
 * What commands are judged by: files of the project, and what the variable `HASHLINE_GUARD` says, a
 * `CommandPolicy` as JSON; undefined when that is `off`.
 * @param {string} cwd
 * @returns {CommandPolicy | undefined}
 */
function guardPolicy(cwd) {
  const given = process.env.HASHLINE_GUARD
  if (given === 'off') return undefined
  return { roots: [cwd], cwd, checkFiles: true, ...(given ? JSON.parse(given) : {}) }
}

/**
 * pi's own way to make an image smaller, for the model that is asked. Older versions have none.
 * @param {ExtensionContext} [ctx]
 * @returns {Resize | undefined}
 */
function resizing(ctx) {
  const { resizeImage, formatDimensionNote } = host
  if (resizeImage === undefined) return undefined
  return async (data, mimeType) => {
    const resized = await resizeImage(data, mimeType, ctx?.model?.inputLimits?.images?.resize)
    const note = resized ? formatDimensionNote?.(resized) : undefined
    return resized && { ...resized, ...(note !== undefined && { note }) }
  }
}

/** pi's advice to look at files through the shell, as it stands in its prompt. */
const SHELL_ADVICE = /^- Use (?:bash|PowerShell|bash or PowerShell) for file operations like .*$/m
const OUR_ADVICE = '- Use the shell to list files, to build, to test and to run programs'

/**
 * Takes back the advice to read files through the shell: in the section of the prompt that has it,
 * or where there are no sections, in the whole.
 * @param {{ systemPrompt: string, systemPromptOptions?: { sections?: Record<string, string> } }} event
 */
function withoutShellAdvice({ systemPrompt, systemPromptOptions }) {
  if (!SHELL_ADVICE.test(systemPrompt)) return undefined
  const [, rules] = /<rules>\n?(.*?)\n?<\/rules>/s.exec(systemPrompt) ?? []
  if (systemPromptOptions?.sections === undefined || rules === undefined) {
    return { systemPrompt: systemPrompt.replace(SHELL_ADVICE, OUR_ADVICE) }
  }
  systemPromptOptions.sections.rules = rules.replace(SHELL_ADVICE, OUR_ADVICE)
  return undefined
}

/**
 * The files of a call that were read or written, as the result names them.
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

/** @param {Set<string>} set @param {string[]} [paths] */
function addAll(set, paths = []) {
  for (const path of paths) set.add(path)
}

/** @param {unknown} details @returns {details is Details} */
const isDetails = (details) =>
  typeof details === 'object' && details !== null && 'isError' in details && 'summary' in details
