// The configuration that docs/agents.md shows for Codex, read by the real Codex: it lists the hook
// and starts the server. No model is called.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withMess } from '../../__test__/support.mjs'
import { skipWithout } from '../../scripts/packages.mjs'
import { programDirectory } from '../../scripts/plugins.mjs'

const FOLDER = dirname(fileURLToPath(import.meta.url))
const AGENT = join(FOLDER, 'agent')
const skip = skipWithout(AGENT)
const PAGE = readFileSync(join(FOLDER, '../../docs/agents.md'), 'utf8')
const TRIPLES = {
  'darwin-arm64': 'aarch64-apple-darwin',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'linux-x64': 'x86_64-unknown-linux-musl',
}

/** The Codex program for this machine. */
function program() {
  const platform = /** @type {keyof typeof TRIPLES} */ (`${process.platform}-${process.arch}`)
  const vendor = join(AGENT, `node_modules/@openai/codex-${platform}/vendor`)
  return join(vendor, TRIPLES[platform], 'bin/codex')
}

/**
 * Queries Codex's server for the parsed configuration.
 * @param {string} configuration
 * @param {(ask: (method: string, params: object) => Promise<any>, cwd: string) => Promise<void>} body
 */
const withCodex = (configuration, body) =>
  withMess({ 'codex/config.toml': configuration, 'work/a.js': 'a\n' }, async (dir, stateDir) => {
    const cwd = join(dir, 'work')
    const env = {
      PATH: [programDirectory(), process.env.PATH].join(delimiter),
      HOME: dir,
      CODEX_HOME: join(dir, 'codex'),
      XDG_STATE_HOME: stateDir,
    }
    const child = spawn(program(), ['app-server'], { cwd, env })
    const ended = once(child, 'exit')
    child.stderr.resume()
    child.stdin.on('error', () => {})
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const say = (/** @type {object} */ message) => child.stdin.write(`${JSON.stringify(message)}\n`)
    let id = 0
    /** @param {string} method @param {object} params */
    const ask = async (method, params) => {
      id += 1
      say({ id, method, params })
      for (;;) {
        const { value, done } = await lines.next()
        assert.ok(!done, `Codex ended before its answer to ${method}`)
        const message = JSON.parse(value)
        if (message.id !== id) continue
        assert.equal(message.error, undefined, value)
        return message.result
      }
    }
    try {
      const clientInfo = { name: 'test', title: 'test', version: '1' }
      await ask('initialize', { clientInfo, capabilities: { experimentalApi: true } })
      say({ method: 'initialized' })
      await body(ask, cwd)
    } finally {
      child.kill()
      await ended
    }
  })

const [, TOML] = /## Codex\n[\s\S]*?```toml\n([\s\S]*?)```/.exec(PAGE) ?? []

test('Codex has the hook and the tools', { skip }, () =>
  withCodex(TOML, async (ask, cwd) => {
    const { data } = await ask('hooks/list', { cwds: [cwd] })
    const [{ hooks, warnings, errors }] = data
    assert.deepEqual([warnings, errors], [[], []])
    assert.equal(hooks.length, 1)
    const { eventName, handlerType, command, matcher, timeoutSec, enabled } = hooks[0]
    assert.deepEqual(
      { eventName, handlerType, matcher, timeoutSec, enabled },
      {
        eventName: 'preToolUse',
        handlerType: 'command',
        matcher: '^(Bash|apply_patch)$',
        timeoutSec: 10,
        enabled: true,
      },
    )
    assert.match(command, /^hashline hook codex /)
    const servers = await ask('mcpServerStatus/list', {})
    const [{ name, tools, toolsError }] = servers.data
    assert.equal(name, 'hashline', toolsError)
    for (const tool of ['read', 'search', 'apply']) {
      assert.equal(tools[tool]?.inputSchema.type, 'object', `${tool}: ${toolsError}`)
    }
  }),
)

test('Codex reports a mistake in it', { skip }, async () => {
  const mistaken = TOML.replace('type = "command"', 'type = "comand"')
  assert.notEqual(mistaken, TOML)
  const misread = withCodex(mistaken, async (ask, cwd) => {
    const { data } = await ask('hooks/list', { cwds: [cwd] })
    assert.equal(data[0].hooks.length, 1, 'the hook is omitted')
  })
  await assert.rejects(misread, /Codex ended|the hook is omitted/)
})
