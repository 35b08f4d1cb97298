// pi extension: reads, searches and edits files by line anchors. `read` replaces pi's own tool,
// `apply_hash` replaces `edit` and `write`.

import * as host from '@earendil-works/pi-coding-agent'
import { truncateToWidth } from '@earendil-works/pi-tui'
import { hashTools } from 'hashline-native/tools'
import { prepared } from './arguments.js'
import { passed } from './images.js'
import { callRow, component, previewRows, resultRows } from './rows.js'
import {
  Annotator,
  addFiles,
  detailsOf,
  EDIT_TOOLS,
  guardPolicy,
  insteadOfTyped,
  isDetails,
  newSession,
  reasonAgainst,
  rememberBranch,
} from './session.js'

/**
 * @import { ExtensionAPI, ExtensionContext, ToolDefinition } from '@earendil-works/pi-coding-agent'
 * @import { EditTool, HashTool } from 'hashline-native/tools'
 * @import { Resize } from './images.js'
 * @import { Details } from './session.js'
 */

/** pi has other tools besides these, so the name says what is applied. */
const NAMES = { apply: 'apply_hash' }

/** @param {ExtensionAPI} pi */
export default function hashline(pi) {
  let session = newSession()
  let tools = hashTools(session, { names: NAMES })
  const annotator = new Annotator()
  const names = Object.values(tools).map(({ name }) => name)

  for (const kind of /** @type {const} */ (['read', 'search', 'apply'])) {
    pi.registerTool(definition(tools[kind], () => tools[kind]))
  }

  /** @param {ExtensionContext} ctx */
  const open = (ctx) => {
    session = newSession({ cwd: ctx.cwd })
    tools = hashTools(session, { names: NAMES })
    rememberBranch(session, ctx.sessionManager.getBranch(), tools)
  }

  pi.on('session_start', (_, ctx) => {
    open(ctx)
    const active = pi.getActiveTools()
    pi.setActiveTools(active.filter((name) => !EDIT_TOOLS.includes(name)))
    if (ctx.mode === 'tui') ctx.ui.setToolsExpanded(false)
  })
  // Another branch has shown other lines.
  pi.on('session_tree', (_, ctx) => open(ctx))

  pi.on('before_agent_start', (event) => withoutShellAdvice(event))

  pi.on('tool_call', (event, ctx) => {
    const reason = reasonAgainst(event.toolName, event.input, tools, guardPolicy(ctx.cwd))
    if (reason !== undefined) return { block: true, reason }
    annotator.begin(event)
    return undefined
  })

  // The model sees the output of `!` commands, but not of `!!` commands.
  pi.on('user_bash', ({ command, excludeFromContext }, ctx) => {
    if (excludeFromContext) return undefined
    const output = insteadOfTyped(command, tools, guardPolicy(ctx.cwd))
    if (output === undefined) return undefined
    return { result: { output, exitCode: 1, cancelled: false, truncated: false } }
  })

  pi.on('tool_result', async (event, ctx) => {
    const { toolName, details } = event
    // A thrown error would lose the details.
    if (names.includes(toolName) && isDetails(details)) return { isError: details.isError }
    const content = await annotator.content(event, session, ctx.cwd, ctx.signal)
    return content && { content }
  })

  pi.on('session_before_compact', ({ preparation }) => {
    const { messagesToSummarize, turnPrefixMessages, fileOps } = preparation
    addFiles([...messagesToSummarize, ...turnPrefixMessages], tools, fileOps)
  })
}

/**
 * @param {HashTool} tool
 * @param {() => HashTool | EditTool} current returns the tool of the current session
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
      const isSeen = ctx?.model?.input?.includes('image') ?? true
      const { content, notes } = await passed(result.images, { resize: resizing(ctx), isSeen })
      const text = [result.text, ...notes].join('\n')
      return { content: [{ type: 'text', text }, ...content], details: detailsOf(result) }
    },
    renderCall(args, theme, { state, argsComplete, executionStarted, expanded }) {
      const tool = current()
      // Once it is written, the same edit would be refused.
      const isAwaited = !executionStarted && state.details === undefined
      if (isAwaited && 'preview' in tool) {
        state.preview = tool.preview(args, { partial: !argsComplete })
      }
      const below = state.details === undefined ? previewRows(state.preview, theme, expanded) : []
      const row = () => callRow(current(), args, theme, state.details, state.preview)
      // The result is drawn below this when it is there.
      const rows = () => [row(), ...(state.details === undefined ? below : [])]
      return component(rows, truncateToWidth)
    },
    renderResult({ content, details }, { expanded, isPartial }, theme, { state }) {
      if (!isPartial && details) state.details = details
      const rows = resultRows(content, details, theme, expanded)
      return component(() => rows, truncateToWidth)
    },
  }
}

/**
 * pi's own function to resize images for the current model. Older versions have none.
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

/** pi's advice to inspect files through the shell, as in its prompt. */
const SHELL_ADVICE = /^- Use (?:bash|PowerShell|bash or PowerShell) for file operations like .*$/m
const OWN_ADVICE = '- Use the shell to list files, to build, to test and to run programs'

/**
 * Removes the advice to read files through the shell: from the section of the prompt that has it,
 * or without sections from the whole prompt.
 * @param {{ systemPrompt: string, systemPromptOptions?: { sections?: Record<string, string> } }} event
 */
function withoutShellAdvice({ systemPrompt, systemPromptOptions }) {
  if (!SHELL_ADVICE.test(systemPrompt)) return undefined
  const [, rules] = /<rules>\n?(.*?)\n?<\/rules>/s.exec(systemPrompt) ?? []
  if (systemPromptOptions?.sections === undefined || rules === undefined) {
    return { systemPrompt: systemPrompt.replace(SHELL_ADVICE, OWN_ADVICE) }
  }
  systemPromptOptions.sections.rules = rules.replace(SHELL_ADVICE, OWN_ADVICE)
  return undefined
}
