// `hashline mcp` with the official clients of both generations, over pipes: with the handshake of
// 2025-11-25, without one as in 2026-07-28, and with the inspector's command line.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { withMess } from '../../__test__/support.mjs'
import { laterNode, skipWithout } from '../../scripts/packages.mjs'
import { programDirectory } from '../../scripts/plugins.mjs'

/**
 * @typedef {{ name: string, description?: string, inputSchema: object, _meta?: object }} Tool
 * @typedef {{ content: { type: string, text: string }[], isError?: boolean, structuredContent?: object }} Result
 * @typedef {object} Client the part of both generations' clients that is used
 * @property {(transport: object) => Promise<void>} connect
 * @property {() => { name: string } | undefined} getServerVersion
 * @property {() => Promise<{ tools: Tool[] }>} listTools
 * @property {(params: object, ...options: unknown[]) => Promise<Result>} callTool
 * @property {{ onmessage: (message: { method?: string }, extra?: object) => void }} transport
 * @property {() => Promise<void>} close
 */

const FOLDER = dirname(fileURLToPath(import.meta.url))
const AGENT = join(FOLDER, 'agent')
const skip = skipWithout(AGENT)

const SOURCE = "function greet(name) {\n  return 'Hello, ' + name\n}\n"

/** The program `hashline`. */
const program = () => join(programDirectory(), 'hashline')

/** A module of the packages. @param {string} name @returns {Promise<any>} */
const load = (name) => {
  const { resolve } = createRequire(join(AGENT, 'package.json'))
  return import(pathToFileURL(resolve(name)).href)
}

/** @param {Result} result */
const textOf = ({ content: [block] }) => block.text

/** The anchor of the line that contains `text`. @param {string} shown @param {string} text */
function anchorOf(shown, text) {
  const row = shown.split('\n').find((one) => one.includes(text))
  assert.ok(row, `${text} in ${shown}`)
  return row.split('|')[0].trim()
}

const GENERATIONS = [
  {
    name: '@modelcontextprotocol/sdk',
    modules: [
      '@modelcontextprotocol/sdk/client/index.js',
      '@modelcontextprotocol/sdk/client/stdio.js',
    ],
    options: {},
    // The parameters are followed by a schema of results, then by options.
    optionsOf: (/** @type {object} */ options) => [undefined, options],
  },
  ...['legacy', 'auto', { pin: '2026-07-28' }].map((mode) => ({
    name: `@modelcontextprotocol/client, ${JSON.stringify(mode)}`,
    modules: ['@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'],
    options: { versionNegotiation: { mode } },
    optionsOf: (/** @type {object} */ options) => [options],
  })),
]

/**
 * Collects the later messages of one method that a client receives.
 * @param {Client} client
 * @param {string} method
 */
function messagesOf({ transport }, method) {
  /** @type {object[]} */
  const messages = []
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    if (message.method === method) messages.push(message)
    onmessage(message, extra)
  }
  return messages
}

/**
 * Connects a client with the program, which runs in a directory of its own.
 * @param {(typeof GENERATIONS)[number]} generation
 * @param {(client: Client, dir: string) => Promise<void>} body
 */
const withClient = ({ modules, options }, body) =>
  withMess({ 'work/greet.js': SOURCE }, async (dir, stateDir) => {
    const [{ Client }, { StdioClientTransport }] = await Promise.all(modules.map(load))
    const cwd = join(dir, 'work')
    const env = { PATH: process.env.PATH, XDG_STATE_HOME: stateDir }
    const transport = new StdioClientTransport({ command: program(), args: ['mcp'], cwd, env })
    const client = new Client({ name: 'test', version: '1' }, options)
    await client.connect(transport)
    try {
      await body(client, cwd)
    } finally {
      await client.close()
    }
  })

for (const generation of GENERATIONS) {
  test(`${generation.name}: reads, is refused, edits`, { skip }, () =>
    withClient(generation, async (client, dir) => {
      assert.equal(client.getServerVersion()?.name, 'hashline')
      const { tools } = await client.listTools()
      const names = ['read', 'search', 'apply']
      assert.deepEqual(
        tools.map(({ name }) => name),
        names,
      )
      const shown = await client.callTool({ name: 'read', arguments: { path: 'greet.js' } })
      assert.match(textOf(shown), /^1\w\w\|function greet/)
      assert.equal(shown.structuredContent, undefined)
      const setLine = (/** @type {string} */ anchor) =>
        client.callTool({
          name: 'apply',
          arguments: {
            operations: [{ op: 'set_line', path: 'greet.js', anchor, text: "  return 'Hi'" }],
          },
        })
      const refused = await setLine('2aa')
      assert.equal(refused.isError, true)
      assert.match(textOf(refused), /^Nothing was written\.\nHash mismatch at 2aa/)
      const done = await setLine(anchorOf(textOf(refused), 'return'))
      assert.notEqual(done.isError, true)
      assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /return 'Hi'/)
    }),
  )

  test(`${generation.name}: reports progress, and cancels a call`, { skip }, () =>
    withClient(generation, async (client) => {
      // A client drops its progress handler with the answer, which may arrive in the same chunk, so
      // the messages are counted instead.
      const received = messagesOf(client, 'notifications/progress')
      const onprogress = () => {}
      const search = { name: 'search', arguments: { pattern: 'return' } }
      const found = await client.callTool(search, ...generation.optionsOf({ onprogress }))
      assert.match(textOf(found), /--- greet\.js ---/)
      assert.ok(received.length > 0)
      const controller = new AbortController()
      const { signal } = controller
      const cancelled = client.callTool(search, ...generation.optionsOf({ signal }))
      controller.abort()
      await assert.rejects(cancelled)
      // The connection is still usable.
      assert.match(textOf(await client.callTool(search)), /--- greet\.js ---/)
    }),
  )
}

test('the tools have the same descriptions as in JavaScript', { skip }, () =>
  withClient(GENERATIONS[0], async (client, dir) => {
    const { HashSession } = await import('../../index.js')
    const { hashTools } = await import('../../js/tools.mjs')
    const { tools } = await client.listTools()
    const own = Object.values(
      hashTools(new HashSession({ cwd: dir }), { names: { apply: 'apply' } }),
    )
    for (const { name, title, description, inputSchema, annotations } of own) {
      const tool = tools.find((one) => one.name === name)
      const { _meta, ...listed } = tool ?? {}
      // Answers over MCP are shorter: some clients cut longer ones.
      const limited = description.replace('50 KB', '39 KB')
      const expected = { name, title, description: limited, inputSchema, annotations }
      assert.deepEqual(listed, expected)
      assert.deepEqual(_meta, {
        'anthropic/alwaysLoad': true,
        'anthropic/maxResultSizeChars': 102_400,
      })
    }
  }),
)

test('the command line of the inspector', { skip }, () =>
  withMess({ 'work/greet.js': SOURCE }, (dir, stateDir) => {
    const main = join(
      AGENT,
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    )
    const inspect = (/** @type {string[]} */ ...args) => {
      const { status, stdout, stderr } = spawnSync(
        laterNode(AGENT),
        [main, '--cli', program(), 'mcp', join(dir, 'work'), ...args],
        { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: dir, XDG_STATE_HOME: stateDir } },
      )
      assert.equal(status, 0, `${stdout}\n${stderr}`)
      return JSON.parse(stdout)
    }
    assert.equal(inspect('--method', 'tools/list').tools.length, 3)
    const call = ['--method', 'tools/call', '--tool-name', 'read', '--tool-arg', 'path=greet.js']
    assert.match(textOf(inspect(...call)), /^1\w\w\|function greet/)
  }),
)
