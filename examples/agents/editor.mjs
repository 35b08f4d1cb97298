// An editor for tests, with the client side of `@agentclientprotocol/sdk`: it has buffers over the
// files of a directory, and records what the agent does.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { client, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import { withMess } from '../../__test__/support.mjs'
import { startModelServer } from '../../scripts/modelServer.mjs'
import { acpAgent, chatCompletions } from './acp.mjs'

/**
 * @import { ClientContext, FileSystemCapabilities, PromptResponse } from '@agentclientprotocol/sdk'
 * @import { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk'
 * @import { ToolCallUpdate } from '@agentclientprotocol/sdk'
 * @import { ModelServer, Step } from '../../scripts/modelServer.mjs'
 *
 * @typedef {object} Options
 * @property {Record<string, string | Uint8Array>} [files] on the disk, by name
 * @property {Record<string, string>} [buffers] unsaved texts
 * @property {FileSystemCapabilities} [fs]
 * @property {'ask' | 'edit'} [mode]
 * @property {Step[] | ((editor: Editor) => Step[])} [steps] of the model
 */

/** Answers for a file that does not exist. @param {string} name @returns {never} */
export function missing(name) {
  throw RequestError.resourceNotFound(name)
}

export class Editor {
  /** Unsaved texts, by name. @type {Map<string, string>} */
  buffers = new Map()
  /** Names of the files that were asked for. @type {string[]} */
  reads = []
  /** @type {{ name: string, content: string }[]} */
  writes = []
  /** @type {SessionUpdate[]} */
  updates = []
  /** @type {RequestPermissionRequest[]} */
  questions = []
  /** The id of the answer to the next questions. */
  answer = 'once'

  /** @param {string} cwd */
  constructor(cwd) {
    this.cwd = cwd
    const { fs, session } = methods.client
    this.app = client({ name: 'editor' })
      .onRequest(fs.readTextFile, async ({ params: { path } }) => {
        this.reads.push(this.nameOf(path))
        return { content: await this.read(this.nameOf(path)) }
      })
      .onRequest(fs.writeTextFile, async ({ params: { path, content } }) => {
        this.writes.push({ name: this.nameOf(path), content })
        await this.write(this.nameOf(path), content)
      })
      .onRequest(session.requestPermission, async ({ params, signal }) => {
        this.questions.push(params)
        return { outcome: await this.decide(signal) }
      })
      .onNotification(session.update, ({ params }) => {
        this.updates.push(params.update)
      })
  }

  /** @param {string} path */
  nameOf(path) {
    assert.ok(path.startsWith(`${this.cwd}/`), path)
    return path.slice(this.cwd.length + 1)
  }

  /** @param {string} name @returns {string | Promise<string>} */
  read(name) {
    const buffer = this.buffers.get(name)
    if (buffer !== undefined) return buffer
    try {
      return readFileSync(join(this.cwd, name), 'utf8')
    } catch {
      return missing(name)
    }
  }

  /**
   * Saves the text.
   * @param {string} name
   * @param {string} content
   * @returns {void | Promise<void>}
   */
  write(name, content) {
    this.buffers.delete(name)
    mkdirSync(dirname(join(this.cwd, name)), { recursive: true })
    writeFileSync(join(this.cwd, name), content)
  }

  /** The outcome of a question. @param {AbortSignal} _signal @returns {any} */
  decide(_signal) {
    if (this.answer === 'cancelled') return { outcome: 'cancelled' }
    return { outcome: 'selected', optionId: this.answer }
  }

  /** What the editor shows of each call in the end. @returns {ToolCallUpdate[]} */
  get calls() {
    /** @type {Map<string, ToolCallUpdate>} */
    const calls = new Map()
    for (const { sessionUpdate, ...update } of /** @type {any[]} */ (this.updates)) {
      if (!sessionUpdate.startsWith('tool_call')) continue
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update })
    }
    return [...calls.values()]
  }

  /** The text that the agent has sent. */
  get said() {
    const chunks = this.updates.map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
        ? update.content.text
        : '',
    )
    return chunks.join('')
  }
}

/**
 * @typedef {object} Opened
 * @property {Editor} editor
 * @property {ClientContext} agent
 * @property {string} cwd
 * @property {string} sessionId
 * @property {ModelServer} server
 * @property {(text?: string) => Promise<PromptResponse>} prompt
 */

/**
 * Runs `body` with an editor in which a session of the agent is open.
 * @param {Options} options
 * @param {(opened: Opened) => unknown} body
 */
export function withEditor({ files = {}, buffers = {}, steps = [], ...options }, body) {
  return withMess(files, async (cwd, stateDir) => {
    process.env.XDG_STATE_HOME = stateDir
    const editor = new Editor(cwd)
    editor.buffers = new Map(Object.entries(buffers))
    const server = await startModelServer(typeof steps === 'function' ? steps(editor) : steps)
    const model = chatCompletions({ baseURL: `${server.url}/v1`, model: 'scripted' })
    try {
      await editor.app.connectWith(acpAgent(model), async (agent) => {
        const sessionId = await open(agent, cwd, options)
        const prompt = (text = 'Go on.') =>
          agent.request(methods.agent.session.prompt, {
            sessionId,
            prompt: [{ type: 'text', text }],
          })
        await body({ editor, agent, cwd, sessionId, server, prompt })
      })
      assert.deepEqual(server.faults, [])
    } finally {
      server.close()
    }
  })
}

/**
 * @param {ClientContext} agent
 * @param {string} cwd
 * @param {Pick<Options, 'fs' | 'mode'>} [options]
 * @returns {Promise<string>} the id of the session
 */
export async function open(agent, cwd, options = {}) {
  const { fs = { readTextFile: true, writeTextFile: true }, mode = 'edit' } = options
  const { initialize, session } = methods.agent
  await agent.request(initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs },
  })
  const { sessionId } = await agent.request(session.new, { cwd, mcpServers: [] })
  await agent.request(session.setMode, { sessionId, modeId: mode })
  return sessionId
}
