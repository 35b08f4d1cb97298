// opencode plug-in: reads, searches and edits files by line anchors. The tools have the names of
// opencode's own, because its terminal draws a call, and its permission rules apply, by the name.

import { mkdirSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { tool } from '@opencode-ai/plugin'
import { HashSession } from 'hashline-native'
import { annotation, guard, hashTools, remember, toZodShape } from 'hashline-native/tools'
import { formattersOf, formatting } from './formatters.js'
import { outputDirectory } from './output.js'
import { mayReadAll } from './permissions.js'
import { isAboutPlans, plansDirectory } from './plans.js'
import { policyFor } from './policy.js'
import { addFilePath, diffOf, metadataOf, withFilePath, withPath } from './screen.js'

/**
 * @import { Plugin, PluginInput, ToolContext, ToolDefinition } from '@opencode-ai/plugin'
 * @import { CommandPolicy } from 'hashline-native'
 * @import { ApplyData, HashTool, ReadData, SearchData, ToolResult } from 'hashline-native/tools'
 *
 * @typedef {ReadData | SearchData | ApplyData} Data of a result, by its tool
 */

const NAMES = { read: 'read', search: 'grep', apply: 'edit' }
/** The names with the edit tool that opencode offers to models of GPT, in place of `edit`. */
const NAMES_FOR_GPT = { ...NAMES, apply: 'apply_patch' }
const EDIT_TOOLS = [NAMES.apply, NAMES_FOR_GPT.apply]
const OWN = [NAMES.read, NAMES.search, ...EDIT_TOOLS]
/** A tool of opencode that writes whole files. */
const WRITE = 'write'

/** @type {Plugin} */
const server = async (input, options = {}) => {
  const sessions = new Sessions(input)
  const isAnnotating = options.annotate ?? options.guard !== false
  const describing = hashTools(new HashSession(), { names: NAMES })
  const forGpt = hashTools(new HashSession(), { names: NAMES_FOR_GPT })
  const define = (/** @type {HashTool} */ described, /** @type {typeof NAMES} */ names) =>
    definition(described, names, sessions)
  return {
    tool: {
      [NAMES.read]: define(describing.read, NAMES),
      [NAMES.search]: define(describing.search, NAMES),
      [NAMES.apply]: define(describing.apply, NAMES),
      [NAMES_FOR_GPT.apply]: define(forGpt.apply, NAMES_FOR_GPT),
    },
    config: async (config) => {
      sessions.mayReadAll = mayReadAll(config)
      sessions.formatters = formattersOf(config)
    },
    event: async ({ event }) => sessions.hear(event),
    // A permission would hide it together with `edit`.
    'chat.message': async (_, { message }) => {
      message.tools = { ...message.tools, [WRITE]: false }
    },
    'chat.params': async ({ sessionID, model }) => {
      sessions.names.set(sessionID, isGpt(model.api?.id ?? model.id) ? NAMES_FOR_GPT : NAMES)
    },
    'experimental.chat.system.transform': async ({ model }, { system }) => {
      const tools = isGpt(model?.api?.id ?? '') ? forGpt : describing
      system.push(
        Object.values(tools)
          .flatMap(({ guidelines }) => guidelines)
          .join('\n'),
      )
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const names = sessions.names.get(sessionID) ?? NAMES
      // A message that opencode made itself, such as after a summary, offers it.
      if (tool === WRITE) throw new Error(`${WRITE} is not available. Use ${names.apply}.`)
      if (tool === NAMES.read || EDIT_TOOLS.includes(tool)) addFilePath(args)
      if (tool !== 'bash') return
      if (options.guard !== false) {
        if (typeof args.command !== 'string')
          throw new Error('Blocked: the command is not a string.')
        const given = /** @type {CommandPolicy | undefined} */ (options.guard)
        const policy = policyFor(sessions.options, startOf(args, sessions.options.cwd), given)
        const reason = guard(args.command, { names, policy })
        if (reason !== undefined) throw new Error(reason)
      }
      sessions.begin(callID)
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, result) => {
      // The tools ask before they show a file that a rule is about, which is impossible here.
      if (tool !== 'bash' || !isAnnotating || !sessions.mayReadAll) return
      // The command has run: its result must not be lost.
      const text = await sessions.annotation(sessionID, callID, args, result.output).catch(() => '')
      if (text !== '') result.output += `\n\n${text}`
    },
  }
}

/**
 * Where a command starts.
 * @param {Record<string, any>} args of opencode's `bash`
 * @param {string} cwd
 */
const startOf = ({ workdir }, cwd) => (typeof workdir === 'string' ? resolve(cwd, workdir) : cwd)

/**
 * Whether opencode offers a model `apply_patch` in place of `edit` and `write`: its own rule.
 * @param {string} model
 */
const isGpt = (model) =>
  model.includes('gpt-') && !model.includes('oss') && !model.includes('gpt-4')

/**
 * @param {HashTool} described
 * @param {typeof NAMES} names of the tools, as the model knows them
 * @param {Sessions} sessions
 * @returns {ToolDefinition}
 */
function definition(described, names, sessions) {
  const { name } = described
  const toolOver = (/** @type {HashSession} */ session) => {
    const { formatters, options } = sessions
    const tools = Object.values(
      hashTools(session, {
        names,
        // Full answers, because `remember` has to find the lines in them.
        answer: 'region',
        ...(formatters.length > 0 && { afterWrite: formatting(formatters, options.cwd) }),
      }),
    )
    return /** @type {HashTool} */ (tools.find((tool) => tool.name === name))
  }
  const offered = withFilePath(described)
  return tool({
    description: offered.description,
    args: toZodShape(tool.schema, offered),
    /** @param {Record<string, any>} args */
    async execute(args, context) {
      const given = withPath(args)
      const session = await sessions.of(context.sessionID, given)
      const signal = context.abort
      const own = toolOver(session)
      // Lines that the user might deny must not count as shown, so a copy of the session previews
      // them.
      const probe = toolOver(session.fork())
      if (name === names.apply) {
        const preview = await probe.execute(given, { signal, dryRun: true })
        if (preview.isError) {
          // A refusal shows lines of files, so it needs the permission to read.
          await ask(context, names.read, pathsOf(context, preview))
          return shown(own, given, await own.execute(given, { signal, dryRun: true }), context)
        }
        await askToEdit(context, preview)
      }
      if (name === names.search) await ask(context, name, [args.pattern])
      if (name === names.read) {
        // A model may write a path in several forms: only the result has the files.
        const preview = await probe.execute(given, { signal })
        await ask(context, name, pathsOf(context, preview))
      }
      return shown(own, given, await own.execute(given, { signal }), context)
    },
  })
}

/** @param {ToolContext} context @param {ToolResult} preview */
async function askToEdit(context, preview) {
  // The terminal shows paths from its directory, rules have them from the worktree.
  const { directory } = context
  const shown = pathsOf({ ...context, worktree: directory }, preview)
  const metadata = { filepath: shown.join(', '), diff: diffOf(preview) }
  await ask(context, 'edit', pathsOf(context, preview), metadata)
}

/**
 * Asks for a permission; throws if it is denied.
 * @param {ToolContext} context
 * @param {string} permission
 * @param {string[]} patterns
 * @param {Record<string, string>} [metadata]
 */
async function ask(context, permission, patterns, metadata = {}) {
  if (patterns.length > 0) await context.ask({ permission, patterns, always: ['*'], metadata })
}

/**
 * The files of a result, as paths for opencode's permission rules.
 * @param {ToolContext} context
 * @param {ToolResult<Data>} result
 */
function pathsOf({ directory, worktree }, { structured }) {
  const failures = 'failures' in structured ? structured.failures : undefined
  /** @type {{ from?: string, path?: string }[]} */
  const named = [...(structured.files ?? []), ...(failures ?? [])]
  const paths = named.flatMap(({ from, path }) => [from, path])
  return [...new Set(paths)]
    .filter((path) => typeof path === 'string')
    .map((path) => relative(worktree, isAbsolute(path) ? path : join(directory, path)))
}

/**
 * A result as opencode shows it to the model and in its interface.
 * @param {HashTool} own
 * @param {unknown} args
 * @param {ToolResult<Data>} result
 * @param {ToolContext} context
 */
function shown(own, args, result, context) {
  const { text, summary, images, structured, isError } = result
  // The interface draws only errors as failed.
  if (isError) throw new Error(text)
  return {
    title: summary || own.callTitle(args),
    output: text,
    metadata: {
      // opencode cuts long results itself, unless they are marked as truncated.
      truncated: 'truncated' in structured && structured.truncated === true,
      ...metadataOf(result, context),
    },
    attachments: images.map(({ path, mimeType, data }) => ({
      type: /** @type {const} */ ('file'),
      mime: mimeType,
      url: `data:${mimeType};base64,${Buffer.from(data).toString('base64')}`,
      filename: path,
    })),
  }
}

/** More commands than opencode runs at once. */
const MAX_RUNNING = 100

/** The sessions of the conversations. */
class Sessions {
  /** @param {PluginInput} input */
  constructor({ client, directory, worktree }) {
    this.client = client
    // Without a repository the worktree is the root of the file system.
    const root = worktree === '/' ? directory : worktree
    this.options = { cwd: directory, root, readRoots: [outputDirectory()] }
    this.plans = plansDirectory()
    /** @type {Map<string, Promise<HashSession>>} */
    this.sessions = new Map()
    this.mayReadAll = false
    /** @type {import('./formatters.js').Formatter[]} */
    this.formatters = []
    /** The names of the tools, by the conversation. @type {Map<string, typeof NAMES>} */
    this.names = new Map()
    /** When the commands that are running began. @type {Map<string, number>} */
    this.begun = new Map()
  }

  /** Records that a command begins. @param {string} callID */
  begin(callID) {
    // A call that was aborted has no result.
    const [oldest] = this.begun.keys()
    if (this.begun.size >= MAX_RUNNING) this.begun.delete(oldest)
    this.begun.set(callID, Date.now())
  }

  /**
   * The lines that the output of a command names, for its result.
   * @param {string} id of the conversation
   * @param {string} callID
   * @param {Record<string, any>} args
   * @param {string} output
   */
  async annotation(id, callID, args, output) {
    const since = this.begun.get(callID)
    this.begun.delete(callID)
    const session = await this.of(id, {})
    const cwd = startOf(args, this.options.cwd)
    return annotation(session, output, {
      cwd,
      ...(typeof args.command === 'string' && { command: args.command }),
      ...(since !== undefined && { since }),
    })
  }

  /**
   * The session of a conversation. Its plans have a session of their own, because they are outside
   * of the root of all other calls.
   * @param {string} id
   * @param {Record<string, any>} args
   */
  of(id, args) {
    const isOfPlans = isAboutPlans(args, this.plans)
    if (isOfPlans) mkdirSync(this.plans, { recursive: true })
    const key = isOfPlans ? `${id} plans` : id
    const options = isOfPlans ? { ...this.options, root: this.plans } : this.options
    const known = this.sessions.get(key)
    if (known) return known
    const fresh = this.remembering(id, options)
    this.sessions.set(key, fresh)
    // Retried with the next call, because the messages may be available then.
    fresh.catch(() => this.sessions.delete(key))
    return fresh
  }

  /**
   * A session that remembers what the conversation has shown, even in another process.
   * @param {string} id
   * @param {{ cwd: string, root: string, readRoots: string[] }} options
   */
  async remembering(id, options) {
    const session = new HashSession(options)
    const { data = [] } = await this.client.session.messages({ path: { id } })
    for (const part of data.flatMap(({ parts }) => parts)) {
      if (part.type !== 'tool') continue
      const { input } = part.state
      const output = outputOf(part.state)
      if (output === undefined) continue
      if (OWN.includes(part.tool)) remember(session, part.tool, withPath(input), output)
      // The lines that were appended have headers, which name their files.
      if (part.tool === 'bash') session.observe(output)
    }
    return session
  }

  /** @param {{ type: string, properties: any }} event */
  hear({ type, properties }) {
    if (type !== 'session.deleted') return
    const { id } = properties.info
    this.names.delete(id)
    for (const key of [id, `${id} plans`]) this.sessions.delete(key)
  }
}

/**
 * What a call showed to the model; undefined if it has not ended.
 * @param {{ status: string, output?: string, error?: string }} state
 */
const outputOf = ({ status, output, error }) => (status === 'completed' ? output : error)

export default { id: 'opencode-hashline', server }
