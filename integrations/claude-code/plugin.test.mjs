// The plug-in in the real Claude Code, headless, with a scripted model.

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { finished, withMess } from '../../__test__/support.mjs'
import { call, startModelServer } from '../../scripts/modelServer.mjs'
import { skipWithout } from '../../scripts/packages.mjs'
import { installPlugin, programDirectory } from '../../scripts/plugins.mjs'
import { skipWithoutScreen, withScreen } from '../stage.mjs'

/** @import { Step, Turn } from '../../scripts/modelServer.mjs' */
/** @import { Screen } from '../stage.mjs' */

const FOLDER = dirname(fileURLToPath(import.meta.url))
const AGENT = join(FOLDER, 'agent')
const ROOT = join(FOLDER, '../..')
const skip = skipWithout(AGENT)
const PACKAGE = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`
const PROGRAM = join(AGENT, 'node_modules', PACKAGE, 'claude')

const SOURCE = "function greet(name) {\n  return 'Hello, ' + name\n}\n"

/**
 * The name that the model sees for a tool of the plug-in.
 * @param {Turn} turn
 * @param {string} name
 */
function nameOf({ tools }, name) {
  const found = tools.find(
    (tool) => tool.name.startsWith('mcp__') && tool.name.endsWith(`__${name}`),
  )
  assert.ok(found, `${name} among ${tools.map((tool) => tool.name)}`)
  return found.name
}

/** The anchor of the line that contains `text`. @param {string} shown @param {string} text */
function anchorOf(shown, text) {
  const row = shown.split('\n').find((one) => one.includes(text))
  assert.ok(row, `${text} in ${shown}`)
  return row.split('|')[0].trim()
}

/** @param {Turn} turn @param {string} anchor @param {string} text */
const setLine = (turn, anchor, text) =>
  call(nameOf(turn, 'apply'), {
    operations: [{ op: 'set_line', path: 'greet.js', anchor, text }],
  })

/**
 * How Claude Code gets the plug-in: prepares it, and returns the arguments that name it.
 * @typedef {(claude: (...args: string[]) => Promise<string>, dir: string) => Promise<string[]>} Setup
 */

/** @type {Setup} */
const byFolder = async () => ['--plugin-dir', FOLDER]

/**
 * An environment without the user's configuration.
 * @param {string} dir
 * @param {string} stateDir
 * @param {string} programs the directory of the program `hashline`
 * @param {string} url of the model
 */
const environment = (dir, stateDir, programs, url) => ({
  PATH: [programs, process.env.PATH].join(delimiter),
  HOME: dir,
  CLAUDE_CONFIG_DIR: join(dir, 'claude'),
  XDG_STATE_HOME: stateDir,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
})

/**
 * Runs Claude Code in a directory of its own, isolated from the user's configuration.
 * @param {Step[]} steps
 * @param {string} programs the directory of the program `hashline`
 * @param {(dir: string, output: string) => void} check
 * @param {Setup} [setup]
 */
const withAgent = (steps, programs, check, setup = byFolder) =>
  withMess({ 'work/greet.js': SOURCE }, async (dir, stateDir) => {
    const server = await startModelServer(steps)
    const cwd = join(dir, 'work')
    const env = environment(dir, stateDir, programs, server.url)
    const claude = (/** @type {string[]} */ ...args) =>
      finished(spawn(PROGRAM, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
    const args = ['-p', 'Greet with an exclamation mark.', ...(await setup(claude, dir))]
    args.push('--output-format', 'stream-json', '--verbose', '--model', 'scripted')
    args.push('--allowedTools', 'mcp__plugin_hashline_hashline,Bash,Edit,Write')
    try {
      const output = await claude(...args)
      assert.deepEqual(server.faults, [])
      check(cwd, output)
    } finally {
      server.close()
    }
  })

const bash = (/** @type {string} */ command) =>
  call('Bash', { command, description: 'A command of the test' })

test('reads by anchors, is refused, edits', { skip }, () => {
  const programs = programDirectory()
  const { status, stderr } = spawnSync(join(programs, 'hashline'), ['mcp', '--help'])
  assert.equal(status, 0, `hashline mcp: ${stderr}`)
  /** @type {Step[]} */
  const steps = [
    (turn) => call(nameOf(turn, 'read'), { path: 'greet.js' }),
    (turn) => {
      assert.match(turn.results[0], /1\w\w\|function greet/)
      return setLine(turn, '2aa', 'x')
    },
    (turn) => {
      assert.match(turn.results[0], /Hash mismatch/)
      return setLine(turn, anchorOf(turn.results[0], 'return'), "  return 'Hello, ' + name + '!'")
    },
    ({ results: [report] }) => {
      assert.match(report, /1 edit, \+1 -1\n/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, programs, (dir, output) => {
    assert.match(output, /"result":"Done\."/)
    assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /name \+ '!'/)
  })
})

test('folds, shows the blocks around a match, and moves a block', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    (turn) => call(nameOf(turn, 'read'), { path: 'greet.js', fold: true, open: ['2-2'] }),
    (turn) => {
      const [folded] = turn.results
      assert.match(folded, /1\w\w\|function greet/)
      return call(nameOf(turn, 'search'), { pattern: 'return', enclosing: true })
    },
    (turn) => {
      const anchor = anchorOf(turn.results[0], 'function greet')
      const move = { op: 'move_lines', path: 'greet.js', anchor, block: true, to: 'hello.js' }
      return call(nameOf(turn, 'apply'), { operations: [move] })
    },
    ({ results: [report] }) => {
      assert.match(report, /took the block of lines 1-3/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, programDirectory(), (dir, output) => {
    assert.match(output, /"result":"Done\."/)
    assert.match(readFileSync(join(dir, 'hello.js'), 'utf8'), /^function greet/)
  })
})

test('the shell and the tools that edit by text cannot access files', { skip }, () => {
  const tool = (/** @type {string} */ name) => `mcp__plugin_hashline_hashline__${name}`
  /** @type {Step[]} */
  const steps = [
    () => bash('cat greet.js'),
    ({ results: [blocked] }) => {
      assert.ok(
        blocked.includes(`\`cat\` reads \`greet.js\`: use the tool \`${tool('read')}\``),
        blocked,
      )
      return call('Write', { file_path: 'new.js', content: '' })
    },
    ({ results: [blocked] }) => {
      assert.ok(blocked.includes(`Use ${tool('apply')}`), blocked)
      return bash('ls')
    },
    ({ results: [listed] }) => {
      assert.match(listed, /^greet\.js/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, programDirectory(), (dir, output) => {
    assert.match(output, /"result":"Done\."/)
    assert.equal(existsSync(join(dir, 'new.js')), false)
  })
})

test('regression: no edit of the server while Claude Code plans', { skip }, () => {
  /** @type {Setup} */
  const setup = async (claude, dir) => [
    ...(await byFolder(claude, dir)),
    '--permission-mode',
    'plan',
  ]
  /** @type {Step[]} */
  const steps = [
    (turn) => call(nameOf(turn, 'read'), { path: 'greet.js' }),
    (turn) => setLine(turn, anchorOf(turn.results[0], '|  return'), "  return 'Hi, ' + name"),
    ({ results: [refused] }) => {
      assert.match(refused, /plan mode does not allow/)
      return { text: 'Done.' }
    },
  ]
  const check = (/** @type {string} */ dir) =>
    assert.equal(readFileSync(join(dir, 'greet.js'), 'utf8'), SOURCE)
  return withAgent(steps, programDirectory(), check, setup)
})

/**
 * Runs Claude Code in a terminal of its own, with a prompt as its argument.
 * @param {Step[] | Step} steps
 * @param {{ program?: string, settings?: object }} options `program` is a script that runs as
 *   `hashline`
 * @param {(screen: Screen, cwd: string) => Promise<unknown>} body
 */
const inTerminal = (steps, { program = 'exec "$program" "$@"', settings = {} }, body) =>
  withMess({ 'work/greet.js': SOURCE }, async (dir, stateDir) => {
    const server = await startModelServer(steps)
    const cwd = join(dir, 'work')
    for (const name of ['bin', 'claude']) mkdirSync(join(dir, name))
    const script = `#!/bin/sh\nprogram=${join(programDirectory(), 'hashline')}\n${program}\n`
    writeFileSync(join(dir, 'bin/hashline'), script, { mode: 0o755 })
    const known = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ['none'], rejected: [] },
      projects: { [cwd]: { hasTrustDialogAccepted: true } },
    }
    writeFileSync(join(dir, 'claude/.claude.json'), JSON.stringify(known))
    writeFileSync(join(dir, 'claude/settings.json'), JSON.stringify(settings))
    const env = {
      ...environment(dir, stateDir, join(dir, 'bin'), server.url),
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
    }
    const command = [PROGRAM, 'Say Hi.', '--plugin-dir', FOLDER, '--model', 'scripted']
    try {
      await withScreen(command, { cwd, env }, async (screen) => {
        await body(screen, cwd)
      })
      assert.deepEqual(server.faults, [])
    } finally {
      server.close()
    }
  })

test('regression: nothing is blocked before the server has answered', {
  skip: skip || skipWithoutScreen,
}, () => {
  // The server starts when the model lets it.
  const program = '[ "$1" = mcp ] && until [ -e started ]; do sleep 0.1; done; exec "$program" "$@"'
  const isThere = (/** @type {Turn} */ { tools }) =>
    tools.some(({ name }) => name.endsWith('__apply'))
  /** @type {Step} */
  const waiting = (turn) => (isThere(turn) ? bash('cat greet.js') : bash('sleep 0.2'))
  let isBlocked = false
  /** @type {Step[]} */
  const first = [
    (turn) => {
      assert.ok(!isThere(turn))
      return bash('cat greet.js')
    },
    ({ results: [shown] }) => {
      assert.match(shown, /^function greet/)
      return bash('touch started')
    },
  ]
  let turns = 0
  /** @type {Step} */
  const play = (turn) => {
    const step = first[turns++]
    if (step !== undefined) return step(turn)
    isBlocked ||= turn.results.some((text) => text.includes('use the tool `mcp__'))
    return isBlocked ? { text: 'It is done.' } : waiting(turn)
  }
  return inTerminal(play, { program, settings: { permissions: { allow: ['Bash'] } } }, (screen) =>
    screen.with(/It is done\./),
  )
})

test('a question shows the diff, and a stale anchor is refused without one', {
  skip: skip || skipWithoutScreen,
}, () => {
  const apply = 'mcp__plugin_hashline_hashline__apply'
  const command = `hashline hook claude --ask-diff --edit-tool=${apply}`
  const asking = { matcher: apply, hooks: [{ type: 'command', command }] }
  const settings = {
    permissions: { allow: ['Bash', apply.replace('apply', 'read')], defaultMode: 'default' },
    hooks: { PreToolUse: [asking] },
  }
  /** @type {Step[]} */
  const rest = [
    (turn) => call(nameOf(turn, 'read'), { path: 'greet.js' }),
    (turn) => setLine(turn, '2aa', 'x'),
    (turn) => {
      const [refused] = turn.results
      assert.match(refused, /Nothing was written\..*Hash mismatch/s)
      return setLine(turn, anchorOf(refused, '|  return'), "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /1 edit, \+1 -1\n/)
      return { text: 'It is done.' }
    },
  ]
  let begun = 0
  /** @type {Step} */
  const play = (turn) => {
    const isThere = turn.tools.some(({ name }) => name === apply)
    return isThere ? rest[begun++](turn) : bash('sleep 0.2')
  }
  return inTerminal(play, { settings }, async (screen, cwd) => {
    const asked = await screen.with(/greet\.js \+1 -1.*Do you want to proceed\?/s)
    assert.match(asked, /- {2}return 'Hello, ' \+ name.*\+ {2}return 'Hi, ' \+ name/s)
    assert.equal(readFileSync(join(cwd, 'greet.js'), 'utf8'), SOURCE)
    screen.draw('claude-code-question', 'Claude Code asks before an edit, with its diff')
    screen.press('Enter')
    // Afterwards the plug-in has shown the diff in the conversation.
    const shown = await screen.with(/It is done\./)
    screen.draw('claude-code', 'Claude Code has shown the diff of an edit')
    assert.match(shown, /says: greet\.js \+1 -1.*- {2}return 'Hello, '.*\+ {2}return 'Hi, '/s)
    assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, '/)
  })
})

/** A failing command names a line. The model edits it without a read. @param {string} command */
const editsAfter = (command) => {
  /** @type {Step[]} */
  const steps = [
    () => bash(command),
    (turn) => {
      const rows = JSON.stringify(turn.body.messages).match(
        /2[a-z]+\| {2}return 'Hello, ' \+ name/g,
      )
      assert.equal(rows?.length, 1, JSON.stringify(turn.body.messages.at(-1)))
      return setLine(turn, rows[0].split('|')[0], "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /1 edit, \+1 -1\n/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, programDirectory(), (dir, output) => {
    assert.match(output, /"result":"Done\."/)
    assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /'Hi, '/)
  })
}

test('the lines that a command names can be edited at once', { skip }, () =>
  editsAfter('echo greet.js:2:3: no exclamation mark'),
)

test('the lines that a failing command names can be edited at once', { skip }, () =>
  editsAfter('echo greet.js:2:3: no exclamation mark; exit 3'),
)

test('a failing hook denies the call', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => bash('cat greet.js'),
    ({ results: [blocked] }) => {
      assert.doesNotMatch(blocked, /function greet/)
      return { text: 'Done.' }
    },
  ]
  const broken = mkdtempSync(join(tmpdir(), 'hashline-broken-'))
  writeFileSync(join(broken, 'hashline'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const run = withAgent(steps, broken, (_, output) => assert.match(output, /"result":"Done\."/))
  return run.finally(() => rmSync(broken, { recursive: true }))
})

test('without the program the denial says how to install it', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => bash('ls'),
    ({ results: [blocked] }) => {
      assert.match(blocked, /not on the PATH/)
      assert.match(blocked, /cargo install --path crates\/cli in a clone/)
      return { text: 'Done.' }
    },
  ]
  const nothing = mkdtempSync(join(tmpdir(), 'hashline-nothing-'))
  const run = withAgent(steps, nothing, (_, output) => assert.match(output, /"result":"Done\."/))
  return run.finally(() => rmSync(nothing, { recursive: true }))
})

/** @type {Step[]} */
const SHORT = [
  (turn) => call(nameOf(turn, 'read'), { path: 'greet.js' }),
  (turn) => {
    assert.match(turn.results[0], /1\w\w\|function greet/)
    return bash('cat greet.js')
  },
  (turn) => {
    const tool = nameOf(turn, 'read')
    assert.ok(turn.results[0].includes(`use the tool \`${tool}\``), turn.results[0])
    return { text: 'Done.' }
  },
]

const isDone = (/** @type {string} */ _, /** @type {string} */ output) =>
  assert.match(output, /"result":"Done\."/)

test('two commands install the plug-in from a clone of the repository', { skip }, () =>
  withAgent(SHORT, programDirectory(), isDone, async (claude, dir) => {
    const clone = join(dir, 'clone')
    const listed = ['.claude-plugin', 'integrations/claude-code']
    const files = execFileSync('git', ['ls-files', '-z', ...listed], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    for (const file of files.split('\0').filter(Boolean)) {
      cpSync(join(ROOT, file), join(clone, file))
    }
    assert.match(await claude('plugin', 'validate', '--strict', clone), /Validation passed/)
    const folder = join(clone, 'integrations/claude-code')
    assert.match(await claude('plugin', 'validate', '--strict', folder), /Validation passed/)
    await claude('plugin', 'marketplace', 'add', clone)
    await claude('plugin', 'install', 'hashline@hashline')
    const list = JSON.parse(await claude('plugin', 'list', '--json'))
    // Some belong to Claude Code itself.
    const isAdded = (/** @type {{ id: string }} */ { id }) => !id.endsWith('@builtin')
    const [plugin, ...others] = list.filter(isAdded)
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    assert.deepEqual(
      [plugin.id, plugin.version, plugin.enabled],
      ['hashline@hashline', version, true],
    )
    assert.deepEqual(others, [])
    return []
  }),
)

test('its package works with the packed main package', { skip }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-plugin-'))
  try {
    const program = join(dir, 'program')
    const built = join(programDirectory(), 'hashline')
    // Debug information takes long to compress.
    if (spawnSync('strip', ['-o', program, built]).status !== 0) cpSync(built, program)
    const plugin = installPlugin('claude-code', dir, { program })
    const programs = join(dir, 'node_modules/.bin')
    await withAgent(SHORT, programs, isDone, async (claude) => {
      assert.match(await claude('plugin', 'validate', '--strict', plugin), /Validation passed/)
      return ['--plugin-dir', plugin]
    })
  } finally {
    rmSync(dir, { recursive: true })
  }
})
