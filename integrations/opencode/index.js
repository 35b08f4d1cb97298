// opencode plug-in: files are read, searched and edited by line anchors. `read` and `grep` take the
// place of opencode's own, `apply_hash` that of `edit`, `write` and `apply_patch`.

import { isAbsolute, join, relative } from 'node:path'
import { tool } from '@opencode-ai/plugin'
import { HashSession } from 'hashline-native'
import { hashTools, toZodShape } from 'hashline-native/tools'

/**
 * @import { Plugin, PluginInput, ToolContext, ToolDefinition } from '@opencode-ai/plugin'
 * @import { HashTool, ToolResult } from 'hashline-native/tools'
 */

// `grep`, since agents of opencode may be allowed that tool and few others.
const NAMES = { read: 'read', search: 'grep', apply: 'apply_hash' }
/** The tools of opencode that edit files; their permission has this name. */
const EDIT_PERMISSION = 'edit'

/** @type {Plugin} */
const server = async (input) => {
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
    config: async (config) => hideEditTools(config),
    event: async ({ event }) => sessions.hear(event),
    'experimental.chat.system.transform': async (_, { system }) => {
      system.push(
        Object.values(describing)
          .flatMap(({ guidelines }) => guidelines)
          .join('\n'),
      )
    },
  }
}

/**
 * Takes away opencode's own editing tools: a denied permission hides them. What the user has said
 * about edits goes for `apply_hash` instead, unless something is said about that.
 * @param {Record<string, any>} config
 */
function hideEditTools(config) {
  const given =
    typeof config.permission === 'string' ? { '*': config.permission } : config.permission
  const { [EDIT_PERMISSION]: edit, ...others } = given ?? {}
  config.permission = {
    ...(edit !== undefined && { [NAMES.apply]: edit }),
    ...others,
    [EDIT_PERMISSION]: 'deny',
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
      } else {
        const paths = kind === 'read' ? [args.path, ...(args.more_paths ?? [])] : [args.pattern]
        await context.ask({ permission: own.name, patterns: paths, always: ['*'], metadata: {} })
      }
      return shown(own, args, await own.execute(args, { signal }))
    },
  })
}

/** @param {ToolContext} context @param {ToolResult} preview */
async function askToEdit(context, { structured, diff }) {
  const paths = (structured.files ?? []).flatMap(({ from, path }) => [from, path])
  const patterns = paths
    .filter((path) => path !== undefined)
    .map((path) => inWorktree(context, String(path)))
  if (patterns.length === 0) return
  const metadata = { filepath: patterns.join(', '), diff: diff ?? '' }
  await context.ask({ permission: NAMES.apply, patterns, always: ['*'], metadata })
}

/** A path as opencode's rules of permissions have it. @param {ToolContext} context @param {string} path */
function inWorktree({ directory, worktree }, path) {
  return relative(worktree, isAbsolute(path) ? path : join(directory, path))
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
