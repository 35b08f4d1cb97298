// opencode plug-in: reads, searches and edits files by line anchors. `read` and `grep` replace
// opencode's own tools, `apply_hash` replaces `edit`, `write` and `apply_patch`.

import { mkdirSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { tool } from '@opencode-ai/plugin'
import { HashSession } from 'hashline-native'
import { annotation, guard, hashTools, remember, toZodShape } from 'hashline-native/tools'
import { outputDirectory } from './output.js'
import { giveEditPermission, mayReadAll } from './permissions.js'
import { isAboutPlans, plansDirectory, rulesOfPlan } from './plans.js'
import { policyFor } from './policy.js'

/**
 * @import { Plugin, PluginInput, ToolContext, ToolDefinition } from '@opencode-ai/plugin'
 * @import { CommandPolicy } from 'hashline-native'
 * @import { ApplyData, HashTool, ReadData, SearchData, ToolResult } from 'hashline-native/tools'
 *
 * @typedef {ReadData | SearchData | ApplyData} Data of a result, by its tool
 */

// `grep`, because agents of opencode may be restricted to that tool and a few others.
const NAMES = { read: 'read', search: 'grep', apply: 'apply_hash' }

/** @type {Plugin} */
const server = async (input, options = {}) => {
  const sessions = new Sessions(input)
  const isAnnotating = options.annotate ?? options.guard !== false
  const describing = hashTools(new HashSession(), { names: NAMES })
  const define = (/** @type {keyof typeof describing} */ kind) =>
    definition(kind, describing[kind], (context, args) => sessions.of(context.sessionID, args))
  return {
    tool: {
      [NAMES.read]: define('read'),
      [NAMES.search]: define('search'),
      [NAMES.apply]: define('apply'),
    },
    config: async (config) => {
      sessions.mayReadAll = mayReadAll(config)
      giveEditPermission(config, NAMES.apply, rulesOfPlan(input.worktree, sessions.plans))
    },
    event: async ({ event }) => sessions.hear(event),
    'experimental.chat.system.transform': async (_, { system }) => {
      system.push(
        Object.values(describing)
          .flatMap(({ guidelines }) => guidelines)
          .join('\n'),
      )
    },
    'tool.execute.before': async ({ tool, callID }, { args }) => {
      if (tool !== 'bash') return
      if (options.guard !== false) {
        if (typeof args.command !== 'string')
          throw new Error('Blocked: the command is not a string.')
        const given = /** @type {CommandPolicy | undefined} */ (options.guard)
        const policy = policyFor(sessions.options, startOf(args, sessions.options.cwd), given)
        const reason = guard(args.command, { names: NAMES, policy })
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
 * @param {'read' | 'search' | 'apply'} kind
 * @param {HashTool} described
 * @param {(context: ToolContext, args: Record<string, any>) => Promise<HashSession>} sessionOf
 * @returns {ToolDefinition}
 */
function definition(kind, described, sessionOf) {
  return tool({
    description: described.description,
    args: toZodShape(tool.schema, described),
    /** @param {Record<string, any>} args */
    async execute(args, context) {
      const session = await sessionOf(context, args)
      const signal = context.abort
      const own = toolOver(session, kind)
      // Lines that the user might deny must not count as shown, so a copy of the session previews
      // them.
      const probe = toolOver(session.fork(), kind)
      if (kind === 'apply') {
        const preview = await probe.execute(args, { signal, dryRun: true })
        if (preview.isError) {
          // A refusal shows lines of files, so it needs the permission to read.
          await ask(context, NAMES.read, pathsOf(context, preview))
          return shown(own, args, await own.execute(args, { signal, dryRun: true }))
        }
        await askToEdit(context, preview)
      }
      if (kind === 'search') await ask(context, own.name, [args.pattern])
      if (kind === 'read') {
        // A model may write a path in several forms: only the result has the files.
        const preview = await probe.execute(args, { signal })
        await ask(context, own.name, pathsOf(context, preview))
      }
      return shown(own, args, await own.execute(args, { signal }))
    },
  })
}

/**
 * Full answers, because `remember` has to find the lines in them.
 * @param {HashSession} session @param {'read' | 'search' | 'apply'} kind
 */
const toolOver = (session, kind) => hashTools(session, { names: NAMES, answer: 'region' })[kind]

/** @param {ToolContext} context @param {ToolResult} preview */
async function askToEdit(context, preview) {
  const paths = pathsOf(context, preview)
  const metadata = { filepath: paths.join(', '), diff: preview.diff ?? '' }
  await ask(context, NAMES.apply, paths, metadata)
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
 */
function shown(own, args, { text, summary, images, diff, structured, isError }) {
  return {
    title: summary || own.callTitle(args),
    output: text,
    metadata: {
      // opencode cuts long results itself, unless they are marked as truncated.
      truncated: 'truncated' in structured && structured.truncated === true,
      ...(diff !== undefined && { diff }),
      ...(isError && { error: structured.code }),
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
      if (part.type !== 'tool' || part.state.status !== 'completed') continue
      const { input, output } = part.state
      if (Object.values(NAMES).includes(part.tool)) remember(session, part.tool, input, output)
      // The lines that were appended have headers, which name their files.
      if (part.tool === 'bash') session.observe(output)
    }
    return session
  }

  /** @param {{ type: string, properties: any }} event */
  hear({ type, properties }) {
    if (type !== 'session.deleted') return
    const { id } = properties.info
    for (const key of [id, `${id} plans`]) this.sessions.delete(key)
  }
}

export default { id: 'opencode-hashline', server }
