// What `hashline setup qwen` writes, in the real Qwen Code, headless, with a scripted model.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { finished, withMess } from '../../__test__/support.mjs'
import { call, startModelServer } from '../../scripts/modelServer.mjs'
import { laterNode, skipWithout } from '../../scripts/packages.mjs'
import { programDirectory } from '../../scripts/plugins.mjs'
import { anchorOf, SOURCE } from '../stage.mjs'

/** @import { Step } from '../../scripts/modelServer.mjs' */

const AGENT = join(dirname(fileURLToPath(import.meta.url)), 'agent')
const skip = skipWithout(AGENT)
const SCRIPT = join(AGENT, 'node_modules/@qwen-code/qwen-code/cli.js')

/**
 * Runs Qwen Code after `hashline setup qwen`, and returns the text of `greet.js` afterwards.
 * @param {string} mode for approvals
 * @param {(cwd: string, stateDir: string) => Step[]} steps
 */
const withAgent = (mode, steps) =>
  withMess({ 'work/greet.js': SOURCE, 'bin/none': '' }, async (dir, stateDir) => {
    const cwd = join(dir, 'work')
    const server = await startModelServer(steps(cwd, stateDir))
    const script = `#!/bin/sh\nexec "${laterNode(AGENT)}" "${SCRIPT}" "$@"\n`
    writeFileSync(join(dir, 'bin/qwen'), script, { mode: 0o755 })
    const env = {
      PATH: [join(dir, 'bin'), process.env.PATH].join(delimiter),
      HOME: dir,
      XDG_STATE_HOME: stateDir,
      OPENAI_BASE_URL: `${server.url}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'scripted',
    }
    const setUp = (/** @type {string[]} */ ...args) =>
      spawnSync(join(programDirectory(), 'hashline'), ['setup', 'qwen', ...args], {
        cwd,
        env,
        encoding: 'utf8',
      })
    try {
      const { status, stderr } = setUp('--allow')
      assert.equal(status, 0, stderr)
      assert.match(stderr, /`qwen mcp list` prints: . hashline: .* Connected\n/)
      const args = ['-p', 'Say Hi.', '--auth-type', 'openai', '--approval-mode', mode]
      const agent = spawn('qwen', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      assert.match(await finished(agent), /Done\./)
      assert.deepEqual(server.faults, [])
      assert.equal(setUp('--remove').status, 0)
      return readFileSync(join(cwd, 'greet.js'), 'utf8')
    } finally {
      server.close()
    }
  })

const read = () => call('mcp__hashline__read', { path: 'greet.js' })

/** The edit that greets with `Hi`. @type {Step} */
const edit = ({ results: [shown] }) => {
  const anchor = anchorOf(shown, 'return')
  const operation = { op: 'set_line', path: 'greet.js', anchor, text: "  return 'Hi, ' + name" }
  return call('mcp__hashline__apply', { operations: [operation] })
}

test('Qwen Code runs the hook and the server of the setup', { skip }, async () => {
  const after = await withAgent('yolo', (cwd, stateDir) => [
    () => call('run_shell_command', { command: 'cat greet.js', is_background: false }),
    ({ results: [refused] }) => {
      assert.match(refused, /use the tool `mcp__hashline__read` instead/)
      // The variable of Qwen Code reaches the server.
      const servers = readdirSync(join(stateDir, 'hashline/servers'))
      assert.ok(
        servers.some((name) => name.startsWith('conversation-')),
        servers.join(),
      )
      return call('write_file', { file_path: join(cwd, 'greet.js'), content: 'x' })
    },
    ({ results: [refused] }) => {
      assert.match(refused, /Use mcp__hashline__apply\./)
      return call('write_file', { file_path: join(cwd, '../plan.md'), content: 'x' })
    },
    ({ results: [written] }) => {
      assert.match(written, /Successfully/)
      return read()
    },
    edit,
    ({ results: [report] }) => {
      assert.match(report, /1 edit, \+1 -1\n/)
      return { text: 'Done.' }
    },
  ])
  assert.match(after, /'Hi, '/)
})

test('regression: no edit of the server while Qwen Code plans', { skip }, async () => {
  const after = await withAgent('plan', () => [
    read,
    edit,
    ({ results: [refused] }) => {
      assert.match(refused, /plan mode does not allow/)
      return { text: 'Done.' }
    },
  ])
  assert.equal(after, SOURCE)
})
