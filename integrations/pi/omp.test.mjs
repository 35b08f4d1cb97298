// The extension for oh-my-pi with a fake agent, because the real one is 1.1 GB (integrations/omp):
// the tools that it registers and disables, and what it blocks, forwards and remembers.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { withMess } from '../../__test__/support.mjs'
import { anchorOf, PNG, SOURCE } from '../stage.mjs'

/** Resolves this package as if it were installed, and fakes for the agent's modules. */
const HOOKS = `
const root = ${JSON.stringify(new URL('../../', import.meta.url).href)}
const found = {
  'hashline-native': root + 'index.js',
  'hashline-native/tools': root + 'js/tools.mjs',
  '@oh-my-pi/pi-tui': 'data:text/javascript,export const truncateToWidth = (row) => row',
}
export const resolve = (name, context, next) =>
  found[name] ? { url: found[name], shortCircuit: true } : next(name, context)
`
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`)
/** @type {(pi: any) => void} */
const extension = (await import(/** @type {string} */ ('./omp.js'))).default

const ALL = ['read', 'bash', 'edit', 'ast_edit', 'grep', 'write', 'apply_hash']

/**
 * An agent with a conversation.
 * @param {string} cwd
 * @param {{ id?: string, artifacts?: string | null, active?: string[], branch?: any[] }} [options]
 */
function agentIn(cwd, { id = 'main', artifacts = null, active = ALL, branch = [] } = {}) {
  /** @type {Map<string, any>} */
  const tools = new Map()
  /** @type {Map<string, (event: any, ctx: any) => any>} */
  const handlers = new Map()
  const state = { active }
  extension({
    registerTool: (/** @type {any} */ tool) => tools.set(tool.name, tool),
    on: (/** @type {string} */ event, /** @type {any} */ handler) => handlers.set(event, handler),
    getActiveTools: () => state.active,
    setActiveTools: async (/** @type {string[]} */ names) => {
      state.active = names
    },
  })
  const ctx = {
    cwd,
    sessionManager: {
      getBranch: () => branch,
      getSessionId: () => id,
      getArtifactsDir: () => artifacts,
    },
    invokeTool: async (/** @type {{ path: string }} */ { path }) => {
      if (path === 'bad.bin') throw new Error('It is bad.')
      return { content: [{ type: 'text', text: `own ${path}` }], details: { own: true } }
    },
  }
  const emit = async (/** @type {string} */ event, /** @type {object} */ data = {}) =>
    handlers.get(event)?.({ type: event, ...data }, ctx)
  const run = async (/** @type {string} */ name, /** @type {unknown} */ args) => {
    const { content, details } = await tools
      .get(name)
      .execute('id', args, undefined, undefined, ctx)
    const text = content.map((/** @type {any} */ part) => part.text ?? part.type).join('\n')
    return { text, details }
  }
  return { tools, state, emit, run }
}

/** @param {string} anchor @param {string} [path] */
const edit = (anchor, path = 'greet.js') => ({
  operations: [{ op: 'set_line', path, anchor, text: "  return 'Hi'" }],
})

/** @param {string} name @param {unknown} args @param {string} text */
const called = (name, args, text) => [
  { type: 'message', message: { role: 'user', content: 'Do it.' } },
  {
    type: 'message',
    message: { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name, arguments: args }] },
  },
  {
    type: 'message',
    message: {
      role: 'toolResult',
      toolName: name,
      toolCallId: 'a',
      content: [{ type: 'text', text }],
    },
  },
]

test('its tools stay active and replace the editing tools', () =>
  withMess({ 'greet.js': SOURCE }, async (dir) => {
    const { tools, state, emit } = agentIn(dir)
    assert.deepEqual([...tools.keys()], ['read', 'grep', 'apply_hash'])
    for (const tool of tools.values()) assert.equal(tool.loadMode, 'essential')
    await emit('session_start')
    assert.deepEqual(state.active, ['read', 'bash', 'grep', 'apply_hash'])
    // As after plan mode, which activates them again.
    state.active = ALL
    await emit('session_tree')
    assert.deepEqual(state.active, ['read', 'bash', 'grep', 'apply_hash'])
    const { systemPrompt } = await emit('before_agent_start', { systemPrompt: ['Yours.'] })
    assert.equal(systemPrompt[0], 'Yours.')
    assert.match(systemPrompt[1], /^# Files\n- Read files with read .*apply_hash/s)
  }))

test('an agent without an edit tool does not get apply_hash', () =>
  withMess({ 'greet.js': SOURCE }, async (dir) => {
    const { state, emit } = agentIn(dir, { active: ['read', 'write', 'grep', 'apply_hash'] })
    await emit('session_start')
    assert.deepEqual(state.active, ['read', 'write', 'grep'])
    const { systemPrompt } = await emit('before_agent_start', { systemPrompt: [] })
    assert.doesNotMatch(systemPrompt[0], /Change files/)
  }))

test('the shell is guarded in its directory, and plan mode blocks edits', () =>
  withMess({ 'greet.js': SOURCE, 'sub/b.js': SOURCE }, async (dir) => {
    /** @type {any[]} */
    const branch = []
    const { emit } = agentIn(dir, { branch })
    await emit('session_start')
    const reasonOf = async (/** @type {string} */ toolName, /** @type {object} */ input) =>
      (await emit('tool_call', { toolName, input }))?.reason
    assert.match(await reasonOf('bash', { command: 'cat greet.js' }), /use the tool `read`/)
    assert.match(await reasonOf('bash', { command: 'cat b.js', cwd: 'sub' }), /reads `b\.js`/)
    assert.equal(await reasonOf('bash', { command: 'npm test' }), undefined)
    assert.equal(await reasonOf('apply_hash', {}), undefined)
    branch.push({ type: 'mode_change', mode: 'plan' })
    assert.match(await reasonOf('apply_hash', {}), /^Plan mode/)
    const typed = { command: 'cat greet.js', excludeFromContext: false, cwd: dir }
    const { result } = await emit('user_bash', typed)
    assert.match(result.output, /Type !! instead of !/)
    assert.equal(result.outputBytes, Buffer.byteLength(result.output))
    assert.equal(await emit('user_bash', { ...typed, excludeFromContext: true }), undefined)
  }))

test('lines that the output of the shell names are appended, and can be edited at once', () =>
  withMess({ 'greet.js': SOURCE, 'sub/b.js': SOURCE }, async (dir) => {
    const { emit, run } = agentIn(dir)
    await emit('session_start')
    const resultOf = async (/** @type {string} */ text, /** @type {object} */ input = {}) => {
      const call = { toolName: 'bash', toolCallId: 'b', input: { command: 'make', ...input } }
      assert.equal(await emit('tool_call', call), undefined)
      return emit('tool_result', { ...call, content: [{ type: 'text', text }], isError: true })
    }
    assert.equal(await resultOf('all good'), undefined)
    const { content } = await resultOf('greet.js:2:3: error')
    assert.deepEqual(content[0], { type: 'text', text: 'greet.js:2:3: error' })
    assert.match(content[1].text, /^\nLines .*:\n--- greet\.js ---\n2:\w\w\| {2}return 'Hello/)
    const operations = [{ op: 'delete', path: 'greet.js', anchor: anchorOf(content[1].text, '|') }]
    assert.match((await run('apply_hash', { operations })).text, /1 edit/)
    // In the directory of the command.
    for (const input of [{ cwd: 'sub' }, { command: 'cd sub && make' }]) {
      assert.match((await resultOf('b.js:1: error', input)).content[1].text, /--- sub\/b\.js ---/)
    }
    assert.match((await resultOf('sub/b.js:1: x')).content[1].text, /--- sub\/b\.js ---/)
    process.env.HASHLINE_ANNOTATE = 'off'
    try {
      assert.equal(await resultOf('greet.js:2:3: error'), undefined)
    } finally {
      delete process.env.HASHLINE_ANNOTATE
    }
  }))

test('appended lines are remembered when a conversation continues', () =>
  withMess({ 'greet.js': SOURCE }, async (dir) => {
    const call = { toolName: 'bash', toolCallId: 'b', input: { command: 'make' } }
    const output = [{ type: 'text', text: 'greet.js:2: error' }]
    const first = agentIn(dir)
    await first.emit('session_start')
    const { content } = await first.emit('tool_result', { ...call, content: output })
    const anchor = anchorOf(content[1].text, 'return')
    for (const [shown, answer] of [
      [content, FOUND],
      [output, UNKNOWN],
    ]) {
      writeFileSync(join(dir, 'greet.js'), SOURCE)
      const branch = [{ type: 'message', message: { role: 'toolResult', ...call, content: shown } }]
      const next = agentIn(dir, { branch })
      await next.emit('session_start')
      moveLines(dir)
      const operations = [{ op: 'set_line', path: 'greet.js', anchor, text: '  return 1' }]
      assert.match((await next.run('apply_hash', { operations })).text, answer)
    }
  }))

test('files without lines are forwarded, and errors of the host tool are reported', () =>
  withMess({ 'greet.js': SOURCE, 'dot.png': PNG, 'bad.bin': '\0', 'sub/b.js': '' }, async (dir) => {
    const { emit, run } = agentIn(dir)
    await emit('session_start')
    for (const path of ['dot.png', 'sub', 'skill://x', 'https://example.org/a']) {
      assert.deepEqual(await run('read', { path }), { text: `own ${path}`, details: { own: true } })
    }
    const { text, details } = await run('read', {
      path: 'greet.js',
      more_paths: ['sub', 'bad.bin'],
    })
    assert.match(text, /1:\w\w\|function.*--- sub ---\nown sub\n--- bad\.bin ---\nIt is bad\.$/s)
    assert.equal(details.isError, false)
    const missing = await run('read', { path: 'none.js' })
    assert.match(missing.text, /^FILE_NOT_FOUND/)
    const toolName = 'read'
    assert.deepEqual(await emit('tool_result', { toolName, ...missing }), { isError: true })
    assert.equal(await emit('tool_result', { toolName, details: { own: true } }), undefined)
  }))

/** Moves lines so far that only a session that was shown them finds them. */
function moveLines(/** @type {string} */ dir) {
  const path = join(dir, 'greet.js')
  writeFileSync(path, '// more\n'.repeat(60) + readFileSync(path, 'utf8'))
}

const FOUND = /was found 60 lines further down/
const UNKNOWN = /was never shown to you/

test('a continued conversation remembers, and so do its subagents', () =>
  withMess({ 'greet.js': SOURCE }, async (dir) => {
    const parent = agentIn(dir, { artifacts: '/artifacts/1' })
    await parent.emit('session_start')
    const { text } = await parent.run('read', { path: 'greet.js' })
    const anchor = anchorOf(text, 'return')
    const others = {
      stranger: agentIn(dir, { id: 'other', artifacts: '/artifacts/2' }),
      nameless: agentIn(dir, { id: 'nameless' }),
      elsewhere: agentIn(join(dir, '..'), { id: 'elsewhere', artifacts: '/artifacts/1' }),
      child: agentIn(dir, { id: 'child', artifacts: '/artifacts/1' }),
      later: agentIn(dir, { id: 'later', branch: called('read', { path: 'greet.js' }, text) }),
    }
    for (const other of Object.values(others)) await other.emit('session_start')
    moveLines(dir)
    const { stranger, nameless, elsewhere, child, later } = others
    for (const one of [stranger, nameless]) {
      assert.match((await one.run('apply_hash', edit(anchor))).text, UNKNOWN)
    }
    const path = join(dir, 'greet.js')
    assert.match((await elsewhere.run('apply_hash', edit(anchor, path))).text, UNKNOWN)
    for (const one of [child, later]) {
      assert.match((await one.run('apply_hash', edit(anchor))).text, FOUND)
      assert.match(readFileSync(path, 'utf8'), /return 'Hi'\n/)
      writeFileSync(path, SOURCE)
      moveLines(dir)
    }
  }))

test('an ended conversation is not a parent', () =>
  withMess({ 'greet.js': SOURCE }, async (dir) => {
    const ended = agentIn(dir, { artifacts: '/artifacts/3' })
    await ended.emit('session_start')
    const { text } = await ended.run('read', { path: 'greet.js' })
    await ended.emit('session_shutdown')
    const next = agentIn(dir, { id: 'next', artifacts: '/artifacts/3' })
    await next.emit('session_start')
    moveLines(dir)
    assert.match((await next.run('apply_hash', edit(anchorOf(text, 'return')))).text, UNKNOWN)
  }))
