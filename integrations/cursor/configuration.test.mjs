// The configuration that docs/agents.md shows for Cursor. Cursor publishes no schema and no npm
// package, so the rules are those that its SDK checks (`@cursor/sdk` 1.0.18,
// dist/cjs/429.index.js). The commands run with events in the form that Cursor sends.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withMess } from '../../__test__/support.mjs'
import { programDirectory } from '../../scripts/plugins.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')
const PAGE = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8')
const EVENTS = readFileSync(join(ROOT, 'crates/cli/tests/hooks/cursor.json'), 'utf8')
const [, SECTION = ''] = /\n## Cursor\n([\s\S]*)/.exec(PAGE) ?? []
const [SERVERS, HOOKS] = [...SECTION.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) =>
  JSON.parse(text),
)
/** The events that can block a call; the other events only report one. */
const BEFORE = ['beforeShellExecution', 'beforeMCPExecution', 'beforeReadFile', 'preToolUse']
/** The fields of an entry, and their types. */
const FIELDS = new Map([
  ['type', (/** @type {unknown} */ value) => value === 'command'],
  ['command', (/** @type {unknown} */ value) => typeof value === 'string' && value !== ''],
  ['matcher', (/** @type {unknown} */ value) => typeof value === 'string' && !!RegExp(value)],
  ['timeout', (/** @type {unknown} */ value) => Number(value) > 0],
  ['failClosed', (/** @type {unknown} */ value) => typeof value === 'boolean'],
])

test('the hooks are valid for Cursor', () => {
  assert.deepEqual(Object.keys(HOOKS), ['version', 'hooks'])
  assert.equal(HOOKS.version, 1)
  assert.ok(Object.keys(HOOKS.hooks).length > 0)
  for (const [event, entries] of Object.entries(HOOKS.hooks)) {
    assert.ok(BEFORE.includes(event), event)
    assert.ok(Array.isArray(entries) && entries.length > 0, event)
    for (const entry of entries) {
      assert.ok('command' in entry, event)
      for (const [field, value] of Object.entries(entry)) {
        assert.ok(FIELDS.get(field)?.(value), `${event}: ${field} is ${JSON.stringify(value)}`)
      }
    }
  }
})

test('the hooks answer events of Cursor', () =>
  withMess({}, async (dir, stateDir) => {
    const { cases } = JSON.parse(EVENTS)
    const env = {
      PATH: [programDirectory(), process.env.PATH].join(delimiter),
      HOME: dir,
      XDG_STATE_HOME: stateDir,
    }
    const answers = new Map()
    for (const { name, event } of cases) {
      // A matcher applies to the tool, if the event has one.
      const entries = (HOOKS.hooks[event.hook_event_name] ?? []).filter(
        (/** @type {any} */ { matcher }) =>
          matcher === undefined || RegExp(matcher).test(event.tool_name ?? event.command),
      )
      for (const { command } of entries) {
        const input = JSON.stringify(event)
        const { stdout, status } = spawnSync('sh', ['-c', command], {
          env,
          input,
          encoding: 'utf8',
        })
        assert.equal(status, 0, name)
        answers.set(name, JSON.parse(stdout).permission)
      }
    }
    assert.equal(answers.get('a shell before it runs'), 'deny')
    assert.notEqual(answers.get('a shell that may'), 'deny')
    assert.equal(answers.get('a write that is denied'), 'deny')
  }))

test('the entry starts the server', () =>
  withMess({}, async (dir, stateDir) => {
    assert.deepEqual(Object.keys(SERVERS), ['mcpServers'])
    const { command, args } = SERVERS.mcpServers.hashline
    const PATH = [programDirectory(), process.env.PATH].join(delimiter)
    const env = { PATH, HOME: dir, XDG_STATE_HOME: stateDir }
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const input = `${JSON.stringify(request)}\n`
    const { stdout } = spawnSync(command, args, { cwd: dir, env, input, encoding: 'utf8' })
    assert.equal(JSON.parse(stdout.split('\n')[0]).result.serverInfo.name, 'hashline')
  }))
