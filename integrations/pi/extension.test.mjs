// The extension in the real pi, headless and in its terminal interface, with a scripted model.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { finished, withMess } from '../../__test__/support.mjs'
import { HashSession } from '../../index.js'
import { hashTools } from '../../js/tools.mjs'
import { call, startModelServer } from '../../scripts/modelServer.mjs'
import { laterNode, placePlugin, skipWithout } from '../../scripts/packages.mjs'
import { installPlugin } from '../../scripts/plugins.mjs'
import {
  anchorOf,
  blackPng,
  MODEL_FLAGS,
  modelsFile,
  PNG,
  SOURCE,
  setLine,
  skipWithoutScreen,
  speaking,
  withScreen,
} from '../stage.mjs'

/** @import { Step, Turn } from '../../scripts/modelServer.mjs' */

const FOLDER = dirname(fileURLToPath(import.meta.url))
const AGENT = join(FOLDER, 'agent')
const TSC = join(FOLDER, '../../node_modules/typescript/bin/tsc')
const skip = skipWithout(AGENT)
const PROGRAM = join(AGENT, 'node_modules/@earendil-works/pi-coding-agent/dist/cli.js')

const FILES = { 'work/greet.js': SOURCE, 'work/dot.png': PNG, 'work/wide.png': blackPng(2400, 2) }

/**
 * The fixture of a test of pi.
 * @typedef {object} Stage
 * @property {string} cwd
 * @property {Turn[]} turns
 * @property {string[]} command the program and the arguments of each run
 * @property {Record<string, string | undefined>} env
 * @property {(...args: string[]) => Promise<string>} run
 */

/**
 * Prepares pi in a directory of its own, isolated from the user's configuration.
 * @param {Step[]} steps
 * @param {(stage: Stage) => Promise<void>} body
 * @param {() => string} [place] returns the path of the extension
 */
const withAgent = (steps, body, place = () => join(placePlugin(FOLDER, AGENT), 'index.js')) =>
  withMess(FILES, async (dir, stateDir) => {
    const server = await startModelServer(steps)
    const extension = place()
    mkdirSync(join(dir, 'pi'))
    writeFileSync(join(dir, 'pi/models.json'), modelsFile(server.url))
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      XDG_STATE_HOME: stateDir,
      PI_CODING_AGENT_DIR: join(dir, 'pi'),
    }
    const flags = [
      '--no-extensions',
      '--no-skills',
      '--no-context-files',
      '--offline',
      '-e',
      extension,
    ]
    const command = [laterNode(AGENT), PROGRAM, ...flags, ...MODEL_FLAGS]
    const cwd = join(dir, 'work')
    const run = (/** @type {string[]} */ ...args) =>
      finished(
        spawn(command[0], [...command.slice(1), '--mode', 'json', ...args], {
          cwd,
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
    try {
      await body({ cwd, turns: server.turns, command, env, run })
      assert.deepEqual(server.faults, [])
    } finally {
      server.close()
    }
  })

/**
 * Prints the number of characters in the descriptions of the tools of pi that the extension
 * replaces.
 */
const SIZE_OF_PI = `
let sum = 0
for (const name of ['Read', 'Grep', 'Edit', 'Write']) {
  const path = './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/'
  const module = await import(path + name.toLowerCase() + '.js')
  const { description, parameters } = module['create' + name + 'Tool']('.')
  sum += description.length + JSON.stringify(parameters).length
}
console.log(sum)
`

test('the descriptions are hardly longer than those of the replaced tools', { skip }, () => {
  const options = { cwd: AGENT, encoding: /** @type {const} */ ('utf8') }
  const flags = ['--input-type=module', '--eval', SIZE_OF_PI]
  const { stdout, stderr } = spawnSync(laterNode(AGENT), flags, options)
  const replaced = Number(stdout)
  assert.ok(replaced > 0, stderr)
  const tools = Object.values(hashTools(new HashSession()))
  const sizes = tools.map(
    ({ description, inputSchema }) => description.length + JSON.stringify(inputSchema).length,
  )
  const own = sizes.reduce((sum, size) => sum + size)
  assert.ok(own <= 1.2 * replaced, `${own} and ${replaced}`)
})

test('the extension agrees with the types of pi', { skip }, () => {
  placePlugin(FOLDER, AGENT)
  const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', AGENT], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

test('the lines that a failing command names can be edited at once', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('bash', { command: 'echo greet.js:2:3: no exclamation mark; exit 3' }),
    ({ results: [output] }) => {
      assert.match(output, /^greet\.js:2:3: no exclamation mark\n/)
      assert.match(output, /\n\nLines .*\n--- greet\.js ---\n2:\w\w\| {2}return 'Hello, ' \+ name$/)
      return setLine(anchorOf(output, '|  return'), "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, async ({ cwd, run }) => {
    await run('Greet.')
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, '/)
  })
})

/** @type {Step[]} */
const STEPS = [
  ({ tools, system }) => {
    const names = tools.map(({ name }) => name)
    for (const name of ['read', 'search', 'apply_hash', 'bash'])
      assert.ok(names.includes(name), `${names}`)
    for (const name of ['edit', 'write']) assert.ok(!names.includes(name), name)
    assert.match(tools.find(({ name }) => name === 'read')?.description ?? '', /NUMBER:HASH/)
    assert.match(system, /- read: Read files, each line with the anchor/)
    assert.match(system, /- Change files only with apply_hash/)
    assert.match(system, /- Use the shell to list files/)
    assert.doesNotMatch(system, /Use bash for file operations/)
    return {
      calls: [
        ...call('read', { path: 'greet.js' }).calls,
        ...call('read', { path: 'dot.png' }).calls,
        ...call('read', { path: 'wide.png' }).calls,
      ],
    }
  },
  ({ results: [shown, image, wide], body }) => {
    assert.match(shown, /^1:\w\w\|function greet/)
    assert.match(image, /^\(image, image\/png/)
    const urls = JSON.stringify(body.messages).match(/data:image\/\w+;base64,/g)
    assert.equal(urls?.length, 2)
    // pi's own tool has the same message.
    assert.match(
      wide,
      /\(wide\.png: \[Image: original 2400x2, displayed at 2000x2\. Multiply .*\]\)/,
    )
    return call('bash', { command: 'cat greet.js' })
  },
  ({ results: [blocked] }) => {
    assert.match(blocked, /`cat` reads `greet\.js`: use the tool `read` instead/)
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

test('reads, is blocked in the shell, is refused, edits; continues in another process', {
  skip,
}, () => {
  /** @type {Step[]} */
  const later = [
    ({ body }) => {
      const shown = body.messages.findLast((/** @type {any} */ { role }) => role === 'tool').content
      return setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return { text: 'Done again.' }
    },
  ]
  return withAgent([...STEPS, ...later], async ({ cwd, turns, run }) => {
    const events = await run('Greet with an exclamation mark.')
    assert.match(events, /Done\./)
    const ends = events.split('\n').filter((row) => row.startsWith('{"type":"tool_execution_end"'))
    assert.deepEqual(
      ends.map((row) => JSON.parse(row)).map(({ toolName, isError }) => `${toolName} ${isError}`),
      [
        'read false',
        'read false',
        'read false',
        'bash true',
        'apply_hash true',
        'apply_hash false',
      ],
    )
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /name \+ '!'/)
    assert.equal(turns.length, STEPS.length)
    assert.match(await run('--continue', 'Say Hi.'), /Done again\./)
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
  })
})

test('folds, shows the blocks around a match, and moves a block', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('read', { path: 'greet.js', fold: true, open: ['2-2'] }),
    ({ results: [folded] }) => {
      assert.match(folded, /1:\w\w\|function greet/)
      return call('search', { pattern: 'return', enclosing: true })
    },
    ({ results: [found] }) => {
      const anchor = anchorOf(found, 'function greet')
      const move = { op: 'move_lines', path: 'greet.js', anchor, block: true, to: 'hello.js' }
      return call('apply_hash', { operations: [move] })
    },
    ({ results: [report] }) => {
      assert.match(report, /took the block of lines 1-3/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, async ({ cwd, run }) => {
    assert.match(await run('Move it.'), /Done\./)
    assert.match(readFileSync(join(cwd, 'hello.js'), 'utf8'), /^function greet/)
  })
})

// pi registers this tool only on Windows.
const POWERSHELL = `export default (pi) => pi.registerTool({
  name: 'powershell',
  label: 'powershell',
  description: 'Run a command',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  execute: async () => ({ content: [{ type: 'text', text: 'It ran.' }], details: {} }),
})
`

test('PowerShell is guarded, too', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('powershell', { command: '(Get-Content greet.js) > new.js' }),
    ({ results: [blocked] }) => {
      assert.match(blocked, /`Get-Content` reads `greet\.js`: use the tool `read` instead/)
      assert.match(blocked, /written to `new\.js`: use the tool `apply_hash`/)
      return call('powershell', { command: 'npm test > $null' })
    },
    ({ results: [ran] }) => {
      assert.equal(ran, 'It ran.')
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, async ({ cwd, run }) => {
    const file = join(cwd, '../powershell.js')
    writeFileSync(file, POWERSHELL)
    assert.match(await run('-e', file, '--no-session', 'Read.'), /Done\./)
  })
})

test('its package works with the packed main package', { skip }, () =>
  withMess({}, async (dir) => {
    const plugin = installPlugin('pi', dir)
    /** @type {Step[]} */
    const steps = [
      () => call('read', { path: 'greet.js' }),
      ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
      () => ({ text: 'Done.' }),
    ]
    const check = async (/** @type {Stage} */ { cwd, run }) => {
      assert.match(await run('--no-session', 'Say Hi.'), /Done\./)
      assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
    }
    // Loaded by its manifest, as pi itself loads installed packages.
    await withAgent(steps, check, () => plugin)
  }),
)

test('in the terminal an edit shows its diff at once, and a read its text after ctrl+o', {
  skip: skip || skipWithoutScreen,
}, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('read', { path: 'greet.js' }),
    ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
    () => ({ text: 'It greets with Hi.' }),
  ]
  return withAgent(steps, ({ cwd, command, env }) =>
    withScreen([...command, '--no-session', 'Say Hi.'], { cwd, env }, async (screen) => {
      const closed = await screen.with(/It greets with Hi\./)
      screen.draw('pi', 'pi shows a read, and the diff of an edit')
      assert.match(closed, /^ read greet\.js · 3 lines$/m)
      assert.match(closed, /^ apply_hash greet\.js · \+1 -1$/m)
      assert.match(closed, /^ -2 {3}return 'Hello, ' \+ name\n \+2 {3}return 'Hi, ' \+ name$/m)
      assert.equal(closed.match(/'Hi, '/g)?.length, 1, closed)
      assert.doesNotMatch(closed, /\|/)
      screen.press('C-o')
      const open = await screen.with(/^ 1:\w\w\|function greet/m)
      assert.match(open, /^ \+2 {3}return 'Hi, ' \+ name$/m)
    }),
  )
})

test('a summary names the edited files, and the user sees the message of the guard', {
  skip,
}, () => {
  /** @type {Step[]} */
  const steps = [
    () =>
      call('apply_hash', {
        operations: [{ op: 'set_line', path: 'refused.js', anchor: '1:00', text: 'x' }],
      }),
    () => call('read', { path: 'greet.js', more_paths: ['@dot.png'] }),
    ({ results: [shown] }) =>
      call('apply_hash', {
        operations: [
          {
            op: 'set_line',
            path: '@greet.js',
            anchor: anchorOf(shown, 'return'),
            text: "  return 'Hi, ' + name",
          },
        ],
      }),
    () => ({ text: 'Done.' }),
  ]
  return withAgent(steps, async ({ cwd, command, env }) => {
    writeFileSync(
      join(env.PI_CODING_AGENT_DIR ?? '', 'settings.json'),
      '{"compaction":{"keepRecentTokens":1}}',
    )
    const child = spawn(command[0], [...command.slice(1), '--mode', 'rpc', '--no-session'], {
      cwd,
      env,
    })
    const ask = speaking(child)
    try {
      await ask({ type: 'prompt', message: 'Say Hi.' }, 'agent_settled')
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
