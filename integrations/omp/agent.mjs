// The extension in the real oh-my-pi under Bun, headless and in its terminal interface, with a
// scripted model: `npm run test:omp`. It does not run with the other tests, because the agent is
// 1.1 GB in size.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withMess } from '../../__test__/support.mjs'
import { platformName } from '../../js/platform.cjs'
import { call } from '../../scripts/modelServer.mjs'
import { installPlugin, programDirectory } from '../../scripts/plugins.mjs'
import { programName } from '../../scripts/targets.mjs'
import { root } from '../../scripts/tools.mjs'
import {
  anchorOf,
  blackPng,
  PNG,
  SOURCE,
  setLine,
  skipWithoutScreen,
  speaking,
  withScreen,
} from '../stage.mjs'
import { AGENT, OWN_FLAGS, withAgent } from './agentStage.mjs'

/** @import { Step } from '../../scripts/modelServer.mjs' */
/** @import { Stage } from './agentStage.mjs' */

const TSC = join(root, 'node_modules/typescript/bin/tsc')
const FILES = { 'work/greet.js': SOURCE, 'work/dot.png': PNG, 'work/wide.png': blackPng(2400, 2) }

const namesOf = (/** @type {{ name: string }[]} */ tools) => tools.map(({ name }) => name)

/** @type {Step[]} */
const STEPS = [
  ({ tools, system }) => {
    const names = namesOf(tools)
    for (const name of ['read', 'grep', 'apply_hash', 'bash'])
      assert.ok(names.includes(name), `${names}`)
    for (const name of ['edit', 'write', 'ast_edit']) assert.ok(!names.includes(name), name)
    assert.match(tools.find(({ name }) => name === 'read')?.description ?? '', /NUMBER:HASH/)
    assert.match(system, /# Files\n.*- Change files only with apply_hash/s)
    return {
      calls: [
        ...call('read', { path: 'greet.js' }).calls,
        ...call('read', { path: 'wide.png' }).calls,
        ...call('read', { path: 'greet.js', more_paths: ['dot.png'] }).calls,
        ...call('read', { path: '.' }).calls,
        ...call('read', { path: 'omp://' }).calls,
        ...call('read', { path: 'none.js' }).calls,
        ...call('grep', { pattern: 'Hello' }).calls,
      ],
    }
  },
  ({ results, body }) => {
    // They arrive in the order in which they were ready.
    const expected = {
      lines: /^1:\w\w\|function greet[^-]*$/,
      image: /^Read image file.*2400x2/s,
      both: /1:\w\w\|function greet.*--- dot\.png ---/s,
      directory: /^[^|]*greet\.js[^|]*$/,
      address: /\.md/,
      none: /^FILE_NOT_FOUND: none/,
      found: /greet\.js.*2:\w\w\|/s,
    }
    for (const [name, pattern] of Object.entries(expected)) {
      assert.ok(
        results.some((text) => pattern.test(text)),
        `${name}: ${results.join('\n===\n')}`,
      )
    }
    const urls = JSON.stringify(body.messages).match(/data:image\/\w+;base64,/g)
    assert.equal(urls?.length, 2)
    return call('bash', { command: 'cat greet.js' })
  },
  ({ results: [blocked] }) => {
    assert.match(blocked, /`cat` reads `greet\.js`: use the tool `read` instead/)
    return call('bash', { command: 'cat work/greet.js', cwd: '..' })
  },
  ({ results: [blocked] }) => {
    assert.match(blocked, /`cat` reads `work\/greet\.js`: use the tool `read` instead/)
    return setLine('2:00', 'x')
  },
  ({ results: [refused] }) => {
    assert.match(refused, /^Nothing was written\.\n/)
    return call('apply_hash', {
      operations: JSON.stringify([
        {
          op: 'set_line',
          path: '@greet.js',
          anchor: anchorOf(refused, 'return'),
          text: "  return 'Hello, ' + name + '!'",
        },
      ]),
    })
  },
  ({ results: [report] }) => {
    assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
    return { text: 'Done.' }
  },
]

test('the extension agrees with the types of oh-my-pi', () =>
  withAgent({}, [], async () => {
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', AGENT], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  }))

test('reads, is blocked in the shell, is refused, edits; continues in another process', () => {
  /** @type {Step[]} */
  const later = [
    ({ body, tools }) => {
      assert.ok(!namesOf(tools).includes('edit'))
      const shown = body.messages.findLast((/** @type {any} */ { role }) => role === 'tool').content
      return setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return { text: 'Done again.' }
    },
  ]
  return withAgent(FILES, [...STEPS, ...later], async ({ cwd, turns, run }) => {
    const events = await run('Greet with an exclamation mark.')
    assert.match(events, /Done\./)
    const ends = events.split('\n').filter((row) => row.startsWith('{"type":"tool_execution_end"'))
    assert.deepEqual(
      ends
        .map((row) => JSON.parse(row))
        .map(({ toolName, isError }) => `${toolName} ${isError ?? false}`)
        .slice(-4),
      ['bash true', 'bash true', 'apply_hash true', 'apply_hash false'],
    )
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /name \+ '!'/)
    assert.equal(turns.length, STEPS.length)
    assert.match(await run('--continue', 'Say Hi.'), /Done again\./)
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
  })
})

test('a subagent edits by an anchor that its parent was shown, and a scout has no edit tool', () => {
  /** @type {string[]} */
  const children = []
  /** @type {Step} */
  const play = ({ tools, results: [result], prompt, body }) => {
    const names = namesOf(tools)
    const turns = body.messages.filter((/** @type {any} */ { role }) => role === 'assistant').length
    if (names.includes('yield')) {
      if (turns > 0 || !names.includes('apply_hash')) {
        children.push(`${names.includes('apply_hash')} ${result ?? ''}`)
        return call('yield', { error: 'There is no more to say.' })
      }
      const [, anchor] = prompt.match(/Set (\S+) of greet/) ?? []
      return setLine(anchor, "  return 'Hi, ' + name")
    }
    if (turns === 0) return call('read', { path: 'greet.js' })
    if (turns > 1) return { text: 'Done.' }
    const editor = { name: 'Editor', task: `Set ${anchorOf(result, 'return')} of greet.js to Hi.` }
    const scout = { name: 'Reader', agent: 'scout', task: 'Read greet.js.' }
    return call('task', { context: 'Greetings.', tasks: [editor, scout] })
  }
  return withAgent(FILES, play, async ({ cwd, run }) => {
    assert.match(await run('Say Hi.'), /Done\./)
    assert.equal(readFileSync(join(cwd, 'greet.js'), 'utf8'), SOURCE.replace('Hello', 'Hi'))
    assert.equal(children.length, 2, children.join('\n===\n'))
    assert.ok(children.includes('false '), `${children}`)
  })
})

test('in plan mode nothing is edited, and after the approval everything is', () => {
  const plan = '# Greet\n\nSay Hi.\n'
  let anchor = ''
  /** @type {Step[]} */
  const steps = [
    () => call('read', { path: 'greet.js' }),
    ({ results: [shown], tools }) => {
      assert.ok(namesOf(tools).includes('write'))
      anchor = anchorOf(shown, 'return')
      return setLine(anchor, "  return 'Hi, ' + name")
    },
    ({ results: [refused] }) => {
      assert.match(refused, /^Plan mode: files cannot be changed/)
      return call('write', { path: 'greet.js', content: 'x' })
    },
    ({ results: [refused] }) => {
      assert.match(refused, /rejects|Plan mode|only/i)
      return call('write', { path: 'local://greet-plan.md', content: plan })
    },
    () => call('write', { path: 'xd://propose', content: 'greet' }),
    ({ results: [approved] }) => {
      assert.match(approved, /Plan approved/)
      return setLine(anchor, "  return 'Hi, ' + name")
    },
    ({ results: [report], tools }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      assert.ok(!namesOf(tools).includes('write'))
      return { text: 'Done.' }
    },
  ]
  return withAgent(FILES, steps, async ({ cwd, run }) => {
    assert.match(await run('--plan-yolo', 'Say Hi.'), /Done\./)
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
  })
})

test('its package works with the packed main package, linked as a plug-in or set up', () =>
  withMess({}, async (dir) => {
    const name = programName(platformName())
    const plugin = installPlugin('pi', dir, { program: join(programDirectory(), name) })
    const program = join(dir, 'node_modules', `hashline-native-${platformName()}`, name)
    /** @type {Step[]} */
    const steps = [
      () => call('read', { path: 'greet.js' }),
      ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
      () => ({ text: 'Done.' }),
    ]
    for (const way of ['linked', 'set up']) {
      const place = async (/** @type {Stage} */ { cwd, command: [bun, omp], env, run }) => {
        const [tool, ...args] =
          way === 'linked' ? [bun, omp, 'plugin', 'link', plugin] : [program, 'setup', 'omp']
        const placed = spawnSync(tool, args, { cwd, env, encoding: 'utf8' })
        assert.equal(placed.status, 0, placed.stderr)
        assert.match(await run('--no-session', 'Say Hi.'), /Done\./)
        assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
      }
      await withAgent(FILES, steps, place, () => OWN_FLAGS)
    }
  }))

test('in the terminal an edit shows its diff at once', {
  skip: skipWithoutScreen,
}, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('read', { path: 'greet.js' }),
    ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
    () => ({ text: 'It greets with Hi.' }),
  ]
  return withAgent(FILES, steps, ({ cwd, command, env }) =>
    withScreen([...command, '--no-session', 'Say Hi.'], { cwd, env }, async (screen) => {
      const closed = await screen.with(/It greets with Hi\./)
      screen.draw('omp', 'oh-my-pi shows a read, and the diff of an edit')
      assert.match(closed, /apply_hash greet\.js · \+1 -1/)
      assert.match(closed, /-2 {3}return 'Hello, ' \+ name$.*\+2 {3}return 'Hi, ' \+ name$/ms)
    }),
  )
})

test('a summary names the edited files, and the user sees the message of the guard', () => {
  /** @type {Step[]} */
  const steps = [
    () =>
      call('apply_hash', { operations: [{ op: 'delete', path: 'refused.js', anchor: '1:00' }] }),
    () => call('read', { path: 'greet.js', more_paths: ['dot.png'] }),
    ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
    () => ({ text: 'Done.' }),
  ]
  return withAgent(FILES, steps, async ({ cwd, command, env }) => {
    const [program, ...args] = [...command, '--mode', 'rpc', '--no-session']
    const child = spawn(program, args, { cwd, env })
    const ask = speaking(child)
    try {
      await ask({ type: 'prompt', message: 'Say Hi.' }, 'agent_end')
      const { data } = await ask({ type: 'bash', command: 'cat greet.js' }, 'response')
      assert.match(data.output, /use the tool `read` instead.*\nType !! instead of !/)
      const { data: compacted } = await ask({ type: 'compact' }, 'response')
      assert.deepEqual(compacted.details.modifiedFiles, ['greet.js'])
      assert.deepEqual(compacted.details.readFiles, ['dot.png'])
    } finally {
      child.kill()
    }
  })
})
