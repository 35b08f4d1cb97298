// opencode plug-in: files are read, searched and edited by line anchors. `read` and `grep` take the
// place of opencode's own, `apply_hash` that of `edit`, `write` and `apply_patch`.

import { isAbsolute, join, relative } from 'node:path'
import { tool } from '@opencode-ai/plugin'
import { HashSession } from 'hashline-native'
import { guard, hashTools, toZodShape } from 'hashline-native/tools'
import { giveEditPermission } from './permissions.js'

/**
 * @import { Plugin, PluginInput, ToolContext, ToolDefinition } from '@opencode-ai/plugin'
 * @import { HashTool, ToolResult } from 'hashline-native/tools'
 */

// `grep`, since agents of opencode may be allowed that tool and few others.
const NAMES = { read: 'read', search: 'grep', apply: 'apply_hash' }

/** @type {Plugin} */
const server = async (input, options = {}) => {
  const sessions = new Sessions(input)
  const describing = hashTools(new HashSession(), { names: NAMES })
  const define = (/** @type {keyof typeof describing} */ kind) =>
    definition(kind, describing[kind], (context) => sessions.tools(context.sessionID))
  return {
    tool: {
      [NAMES.read]: define('read'),
      [NAMES.search]: define('search'),
      [NAMES.apply]: define('apply'),
    },
    config: async (config) => giveEditPermission(config, NAMES.apply),
    event: async ({ event }) => sessions.hear(event),
    'experimental.chat.system.transform': async (_, { system }) => {
      system.push(
        Object.values(describing)
          .flatMap(({ guidelines }) => guidelines)
          .join('\n'),
      )
    },
    'tool.execute.before': async ({ tool }, { args }) => {
      if (tool !== 'bash' || options.guard === false) return
      const reason = guard(String(args.command ?? ''), { names: NAMES })
      if (reason !== undefined) throw new Error(reason)
    },
  }
}

/**
 * @param {'read' | 'search' | 'apply'} kind
 * @param {HashTool} described
 * @param {(context: ToolContext) => Promise<Record<typeof kind, HashTool>>} toolsOf
 * @returns {ToolDefinition}
 */
function definition(kind, described, toolsOf) {
  return tool({
    description: described.description,
    args: toZodShape(tool.schema, described),
    /** @param {Record<string, any>} args */
    async execute(args, context) {
      const own = (await toolsOf(context))[kind]
      const signal = context.abort
      if (kind === 'apply') {
        const preview = await own.execute(args, { signal, dryRun: true })
        if (preview.isError) return shown(own, args, preview)
        await askToEdit(context, preview)
      }
      if (kind === 'search') await ask(context, own.name, [args.pattern])
      const result = await own.execute(args, { signal })
      // Which files they are is certain only now: a model may write a path in several ways.
      if (kind === 'read') await ask(context, own.name, pathsOf(context, result))
      return shown(own, args, result)
    },
  })
}

/** @param {ToolContext} context @param {ToolResult} preview */
async function askToEdit(context, preview) {
  const paths = pathsOf(context, preview)
  const metadata = { filepath: paths.join(', '), diff: preview.diff ?? '' }
  await ask(context, NAMES.apply, paths, metadata)
}

/**
 * Asks for leave; throws when it is denied.
 * @param {ToolContext} context
 * @param {string} permission
 * @param {string[]} patterns
 * @param {Record<string, string>} [metadata]
 */
async function ask(context, permission, patterns, metadata = {}) {
  if (patterns.length > 0) await context.ask({ permission, patterns, always: ['*'], metadata })
}

/**
 * The files of a result, as opencode's rules of permissions have paths.
 * @param {ToolContext} context
 * @param {ToolResult} result
 */
function pathsOf({ directory, worktree }, { structured }) {
  const paths = (structured.files ?? []).flatMap(({ from, path }) => [from, path])
  return paths
    .filter((path) => typeof path === 'string')
    .map((path) => relative(worktree, isAbsolute(path) ? path : join(directory, path)))
}

/**
 * A result as opencode shows it, to the model and in its interface.
 * @param {HashTool} own
 * @param {unknown} args
 * @param {ToolResult} result
 */
function shown(own, args, { text, summary, images, diff, structured, isError }) {
  return {
    title: summary || own.callTitle(args),
    output: text,
    metadata: {
      // opencode cuts long results on its own, unless they say that they are cut already.
      truncated: structured.truncated === true,
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

/** The memory of each conversation. */
class Sessions {
  /** @param {PluginInput} input */
  constructor({ client, directory, worktree }) {
    this.client = client
    // Without a repository the worktree is the root of the file system.
    const root = worktree === '/' ? directory : worktree
    this.options = { cwd: directory, root }
    /** @type {Map<string, Promise<ReturnType<typeof hashTools>>>} */
    this.tools_ = new Map()
  }

  /** The tools of a conversation. @param {string} id */
  tools(id) {
    const known = this.tools_.get(id) ?? this.remembering(id)
    this.tools_.set(id, known)
    return known
  }

  /**
   * Tools over a session that remembers what the conversation has shown, which may have gone on in
   * another process.
   * @param {string} id
   */
  async remembering(id) {
    const session = new HashSession(this.options)
    const { data = [] } = await this.client.session.messages({ path: { id } })
    for (const part of data.flatMap(({ parts }) => parts)) {
      if (part.type !== 'tool' || !Object.values(NAMES).includes(part.tool)) continue
      if (part.state.status !== 'completed') continue
      const path = part.state.input.path
      session.observe(part.state.output, typeof path === 'string' ? path : undefined)
    }
    return hashTools(session, { names: NAMES })
  }

  /** @param {{ type: string, properties: any }} event */
  hear({ type, properties }) {
    if (type === 'session.deleted') this.tools_.delete(properties.info.id)
  }
}

export default { id: 'opencode-hashline', server }
