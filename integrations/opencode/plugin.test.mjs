// The plug-in in the real opencode, headless, with a scripted model.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { finished, withMess } from '../../__test__/support.mjs'
import { call, startModelServer } from '../../scripts/modelServer.mjs'
import { placePlugin, skipWithout } from '../../scripts/packages.mjs'
import { installPlugin } from '../../scripts/plugins.mjs'
import { skipWithoutScreen, withScreen } from '../stage.mjs'

/** @import { Step, Turn } from '../../scripts/modelServer.mjs' */
/** @import { Screen } from '../stage.mjs' */

const FOLDER = dirname(fileURLToPath(import.meta.url))
const AGENT = join(FOLDER, 'agent')
const TSC = join(FOLDER, '../../node_modules/typescript/bin/tsc')
const skip = skipWithout(AGENT)
const PROGRAM = join(
  AGENT,
  `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`,
)

/** The anchor of the line that contains `text`. @param {string} shown @param {string} text */
function anchorOf(shown, text) {
  const row = shown.split('\n').find((one) => one.includes(text))
  assert.ok(row, `${text} in ${shown}`)
  return row.split('|')[0].trim()
}

/** @param {string} anchor @param {string} text */
const setLine = (anchor, text) =>
  call('edit', { operations: [{ op: 'set_line', path: 'greet.js', anchor, text }] })

/** Reads the terminal of opencode. @typedef {(body: (screen: Screen) => Promise<void>) => Promise<void>} InTerminal */

/**
 * Runs opencode in a directory of its own, isolated from the user's configuration.
 * @param {Step[]} steps
 * @param {(dir: string, run: (...args: string[]) => Promise<string>, turns: Turn[], screen: InTerminal) => Promise<void>} body
 * @param {object} [config]
 * @param {string} [place] the path of the plug-in
 * @param {string} [model]
 */
const withAgent = (steps, body, config = {}, place = '', model = 'model') =>
  withMess({ 'work/greet.js': SOURCE, 'work/dot.png': PNG }, async (dir, stateDir) => {
    const server = await startModelServer(steps)
    const plugin = place || join(placePlugin(FOLDER, AGENT), 'index.js')
    const settings = {
      $schema: 'https://opencode.ai/config.json',
      plugin: [pathToFileURL(plugin).href],
      model: `scripted/${model}`,
      small_model: `scripted/${model}`,
      autoupdate: false,
      share: 'disabled',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${server.url}/v1`, apiKey: 'none' },
          models: {
            [model]: {
              name: model,
              tool_call: true,
              modalities: { input: ['text', 'image'], output: ['text'] },
              limit: { context: 200_000, output: 8192 },
            },
          },
        },
      },
      ...config,
    }
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      // opencode installs packages for plug-ins here, which takes half a minute: once is enough.
      XDG_CONFIG_HOME: join(AGENT, 'node_modules/.opencode'),
      XDG_DATA_HOME: join(dir, 'data'),
      XDG_CACHE_HOME: join(dir, 'cache'),
      XDG_STATE_HOME: stateDir,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
    }
    try {
      const run = (/** @type {string[]} */ ...args) =>
        finished(
          spawn(PROGRAM, ['run', '--format', 'json', ...args], {
            cwd: join(dir, 'work'),
            env,
            stdio: ['ignore', 'pipe', 'pipe'],
          }),
        )
      /** @type {InTerminal} */
      const inTerminal = (read) =>
        withScreen(
          [PROGRAM, '--prompt', 'Say Hi.'],
          { cwd: join(dir, 'work'), env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' } },
          read,
        )
      await body(join(dir, 'work'), run, server.turns, inTerminal)
      assert.deepEqual(server.faults, [])
    } finally {
      server.close()
    }
  })

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)
const SOURCE = "function greet(name) {\n  return 'Hello, ' + name\n}\n"

test('reads, is blocked in the shell, is refused, edits; continues in another process', {
  skip,
}, () => {
  /** @type {Step[]} */
  const steps = [
    ({ tools, system }) => {
      const names = tools.map(({ name }) => name)
      for (const name of ['read', 'grep', 'edit', 'bash'])
        assert.ok(names.includes(name), `${names}`)
      for (const name of ['write', 'apply_patch']) assert.ok(!names.includes(name), name)
      assert.match(
        tools.find(({ name }) => name === 'read')?.description ?? '',
        /where \d+\w\w is its anchor/,
      )
      assert.match(system, /Change files only with edit/)
      return call('read', { path: 'greet.js', more_paths: ['dot.png'] })
    },
    ({ results: [shown], body }) => {
      assert.match(shown, /^--- greet\.js ---\n1\w\w\|function greet/)
      assert.match(shown, /\(image, image\/png/)
      assert.ok(JSON.stringify(body.messages).includes(PNG.toString('base64')))
      return call('bash', { command: 'cat greet.js', description: 'Shows the file' })
    },
    ({ results: [blocked] }) => {
      assert.match(blocked, /`cat` reads `greet\.js`: use the tool `read` instead/)
      return setLine('2aa', 'x')
    },
    ({ results: [refused] }) => {
      assert.match(refused, /^Nothing was written\.\n/)
      return setLine(anchorOf(refused, 'return'), "  return 'Hello, ' + name + '!'")
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return { text: 'Done.' }
    },
    // In another process, with the anchors that the first one has shown.
    ({ body }) => {
      const shown = body.messages.findLast((/** @type {any} */ { role }) => role === 'tool').content
      return setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return { text: 'Done again.' }
    },
  ]
  return withAgent(steps, async (dir, run, turns) => {
    assert.match(await run('Greet with an exclamation mark.'), /Done\./)
    assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /name \+ '!'/)
    assert.equal(turns.length, steps.length - 2)
    assert.match(await run('--continue', 'Say Hi.'), /Done again\./)
    assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
  })
})

test('folds, shows the blocks around a match, and moves a block', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('read', { path: 'greet.js', fold: true, open: ['2-2'] }),
    ({ results: [folded] }) => {
      assert.match(folded, /1\w\w\|function greet/)
      return call('grep', { pattern: 'return', enclosing: true })
    },
    ({ results: [found] }) => {
      const anchor = anchorOf(found, 'function greet')
      const move = { op: 'move_lines', path: 'greet.js', anchor, block: true, to: 'hello.js' }
      return call('edit', { operations: [move] })
    },
    ({ results: [report] }) => {
      assert.match(report, /took the block of lines 1-3/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, async (dir, run) => {
    assert.match(await run('Move it.'), /Done\./)
    assert.match(readFileSync(join(dir, 'hello.js'), 'utf8'), /^function greet/)
  })
})

test('the lines that a command names can be edited at once, also in another process', {
  skip,
}, () => {
  const command = 'echo greet.js:2:3: no exclamation mark; exit 3'
  /** @type {Step[]} */
  const steps = [
    () => call('bash', { command, description: 'Fails' }),
    ({ results: [output] }) => {
      assert.match(output, /^greet\.js:2:3: no exclamation mark\n/)
      assert.match(output, /\n\nLines .*:\n--- greet\.js ---\n2\w\w\| {2}return 'Hello, ' \+ name$/)
      return setLine(anchorOf(output, '|  return'), "  return 'Hi, ' + name")
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return call('bash', { command: 'echo greet.js:3: no semicolon', description: 'Fails' })
    },
    () => ({ text: 'Done.' }),
    ({ body }) => {
      const row = JSON.stringify(body.messages).match(/3\w\w\|}/)?.[0] ?? ''
      return setLine(row, '} // end')
    },
    ({ results: [report] }) => {
      assert.match(report, /^--- greet\.js --- 1 edit, \+1 -1\n/)
      return { text: 'Done again.' }
    },
  ]
  return withAgent(steps, async (dir, run) => {
    assert.match(await run('Greet.'), /Done\./)
    assert.match(await run('--continue', 'Again.'), /Done again\./)
    assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /'Hi, '.*\n\} \/\/ end/)
  })
})

const EXCLAIM = "  return 'Hello, ' + name + '!'"

/** Reads two files, is refused, edits one file, and then both. @type {() => Step[]} */
const editing = () => {
  let shown = ''
  return [
    () => call('read', { filePath: 'greet.js', more_paths: ['end.js'] }),
    ({ results: [text] }) => {
      shown = text
      return call('grep', { pattern: 'return' })
    },
    () => call('edit', { filePath: 'gone.js', operations: [{ op: 'delete', anchor: '1aa' }] }),
    () => setLine(anchorOf(shown, 'return'), EXCLAIM),
    () =>
      call('edit', {
        operations: [
          { op: 'set_line', path: 'end.js', anchor: anchorOf(shown, 'End'), text: '// The end' },
          { op: 'add_file', path: 'new.js', content: '// New\n' },
        ],
      }),
    ({ results: [report] }) => {
      assert.match(report, /^--- end\.js --- 1 edit, \+1 -1\n/)
      return { text: 'It is done.' }
    },
  ]
}

test(
  'in the terminal a call names its file, and an edit shows its diff',
  {
    skip: skip || skipWithoutScreen,
  },
  () =>
    withAgent(editing(), async (dir, _, __, inTerminal) => {
      writeFileSync(join(dir, 'end.js'), '// End\n')
      await inTerminal(async (screen) => {
        const all = await screen.with(/It is done\./)
        screen.draw('opencode', 'opencode shows reads, a refusal and the diffs of edits')
        assert.match(all, /→ Read greet\.js$/m)
        assert.match(all, /✱ Grep "return" \(1 match\)$/m)
        assert.match(all, /← Edit gone\.js$/m)
        assert.match(all, /← Edit greet\.js$.*2 - .*'Hello, ' \+ name$.*2 \+ .* \+ '!'$/ms)
        assert.match(all, /← Edit end\.js, new\.js$/m)
        assert.match(all, /── end\.js ──$.*1 - \/\/ End$.*1 \+ \/\/ The end$/ms)
        assert.match(all, /── new\.js ──$.*1 \+ \/\/ New$/ms)
        assert.doesNotMatch(all, /~ /)
      })
    }),
)

test('in the terminal a question shows the diff', { skip: skip || skipWithoutScreen }, () => {
  const body = async (
    /** @type {string} */ dir,
    /** @type {unknown} */ _run,
    /** @type {unknown} */ _turns,
    /** @type {InTerminal} */ inTerminal,
  ) => {
    writeFileSync(join(dir, 'end.js'), '// End\n')
    await inTerminal(async (screen) => {
      await screen.with(
        /Permission required$.*→ Edit greet\.js$.*2 - .*name$.*2 \+ .*'!'$.*Allow once/ms,
      )
      assert.equal(readFileSync(join(dir, 'greet.js'), 'utf8'), SOURCE)
      screen.draw('opencode-question', 'opencode asks before an edit, with its diff')
      screen.press('Enter')
      await screen.with(/→ Edit end\.js, new\.js$.*── end\.js ──$.*1 - \/\/ End$.*Allow once/ms)
      screen.press('Enter')
      await screen.with(/It is done\./)
    })
  }
  return withAgent(editing(), body, { permission: { edit: 'ask' } })
})

test('a formatter of the configuration runs before an edit is answered', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('read', { path: 'greet.js' }),
    ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
    ({ results: [report] }) => {
      assert.match(report, /\d\w\w\| {2}return "Hi, " \+ name/)
      return { text: 'Done.' }
    },
  ]
  const script =
    'const fs = require("fs"), file = process.argv[1]; fs.writeFileSync(file, fs.readFileSync(file, "utf8").replaceAll("\'", "\\""))'
  const quotes = { command: [process.execPath, '-e', script, '$FILE'], extensions: ['.js'] }
  return withAgent(
    steps,
    async (dir, run) => {
      await run('Greet.')
      assert.match(readFileSync(join(dir, 'greet.js'), 'utf8'), /return "Hi, " \+ name/)
    },
    { formatter: { quotes } },
  )
})

test('a model of GPT edits by apply_patch, which the terminal draws file by file', {
  skip: skip || skipWithoutScreen,
}, () => {
  const named = editing().map((step) => (/** @type {Turn} */ turn) => {
    const answer = step(turn)
    if (!('calls' in answer)) return answer
    const calls = answer.calls?.map(({ name, args }) => ({
      name: name === 'edit' ? 'apply_patch' : name,
      args,
    }))
    return { calls }
  })
  /** @type {Step[]} */
  const steps = [
    (turn) => {
      const names = turn.tools.map(({ name }) => name)
      assert.ok(names.includes('apply_patch') && !names.includes('edit'), `${names}`)
      assert.match(turn.system, /Change files only with apply_patch/)
      return named[0](turn)
    },
    ...named.slice(1),
  ]
  const body = async (
    /** @type {string} */ dir,
    /** @type {unknown} */ _run,
    /** @type {unknown} */ _turns,
    /** @type {InTerminal} */ inTerminal,
  ) => {
    writeFileSync(join(dir, 'end.js'), '// End\n')
    await inTerminal(async (screen) => {
      const all = await screen.with(/It is done\./)
      assert.match(all, /% Patch failed$/m)
      assert.match(all, /← Patched greet\.js$.*2 \+ .* \+ '!'$/ms)
      assert.match(all, /← Patched end\.js$.*1 \+ \/\/ The end$/ms)
      assert.match(all, /# Created new\.js$.*1 \+ \/\/ New$/ms)
    })
  }
  return withAgent(steps, body, {}, '', 'gpt-5')
})

test('the agent plan edits its plans alone', { skip }, () => {
  /** @type {Step[]} */
  const steps = [
    () => call('read', { filePath: 'greet.js' }),
    ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), EXCLAIM),
    ({ results: [denied] }) => {
      assert.match(denied, /rule/)
      const plan = { op: 'add_file', path: '.opencode/plans/greet.md', content: '# Greet\n' }
      return call('edit', { operations: [plan] })
    },
    ({ results: [report] }) => {
      assert.match(report, /created/)
      return { text: 'Done.' }
    },
  ]
  return withAgent(steps, async (dir, run) => {
    // opencode reads plans in a worktree.
    spawnSync('git', ['init', '--quiet'], { cwd: dir })
    assert.match(await run('--agent', 'plan', 'Plan.'), /Done\./)
    assert.equal(readFileSync(join(dir, 'greet.js'), 'utf8'), SOURCE)
    assert.equal(readFileSync(join(dir, '.opencode/plans/greet.md'), 'utf8'), '# Greet\n')
  })
})

test('the plug-in agrees with the types of opencode', { skip }, () => {
  placePlugin(FOLDER, AGENT)
  const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', AGENT], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

test('permissions: an agent without the permission cannot edit, and denied files cannot be read', {
  skip,
}, () => {
  /** @type {Step[]} */
  const steps = [
    ({ tools }) => {
      const names = tools.map(({ name }) => name)
      assert.ok(names.includes('read') && !names.includes('edit'), `${names}`)
      return call('read', { path: '@secret.txt' })
    },
    ({ results: [denied] }) => {
      assert.doesNotMatch(denied, /sesame/)
      return call('read', { path: 'greet.js' })
    },
    ({ results: [shown] }) => {
      assert.match(shown, /^1\w\w\|function greet/)
      return { text: 'I cannot.' }
    },
  ]
  const check = async (
    /** @type {string} */ dir,
    /** @type {(prompt: string) => Promise<string>} */ run,
  ) => {
    writeFileSync(join(dir, 'secret.txt'), 'open sesame\n')
    assert.match(await run('Say Hi.'), /I cannot\./)
  }
  const read = { '*': 'allow', '*/secret*': 'deny' }
  return withAgent(steps, check, { permission: { edit: 'deny', read } })
})

test('its package works with the packed main package', { skip }, () =>
  withMess({}, async (dir) => {
    // The only other package that it needs is that of opencode.
    const extra = [join(AGENT, 'node_modules/@opencode-ai/plugin')]
    const place = installPlugin('opencode', dir, { extra })
    /** @type {Step[]} */
    const steps = [
      () => call('read', { path: 'greet.js' }),
      ({ results: [shown] }) => setLine(anchorOf(shown, 'return'), "  return 'Hi, ' + name"),
      () => ({ text: 'Done.' }),
    ]
    const check = async (
      /** @type {string} */ cwd,
      /** @type {(prompt: string) => Promise<string>} */ run,
    ) => {
      assert.match(await run('Say Hi.'), /Done\./)
      assert.match(readFileSync(join(cwd, 'greet.js'), 'utf8'), /'Hi, ' \+ name\n/)
    }
    // The directory of the package: its manifest names the module.
    await withAgent(steps, check, {}, place)
  }),
)

test('the guard can be switched off', { skip }, async () => {
  const path = pathToFileURL(join(placePlugin(FOLDER, AGENT), 'index.js')).href
  const { default: plugin } = await import(path)
  const input = { client: {}, directory: FOLDER, worktree: FOLDER }
  const call = { tool: 'bash', sessionID: 's', callID: 'c' }
  const output = { args: { command: 'cat greet.js' } }
  const guarded = await plugin.server(input)
  await assert.rejects(guarded['tool.execute.before'](call, output), /use the tool `read`/)
  const free = await plugin.server(input, { guard: false })
  await free['tool.execute.before'](call, output)
})

test('a tool that writes whole files names the edit tool of the model', { skip }, async () => {
  const path = pathToFileURL(join(placePlugin(FOLDER, AGENT), 'index.js')).href
  const { default: plugin } = await import(path)
  const hooks = await plugin.server({ client: {}, directory: FOLDER, worktree: FOLDER })
  const writing = () =>
    hooks['tool.execute.before']({ tool: 'write', sessionID: 's', callID: 'c' }, { args: {} })
  await assert.rejects(writing, /Use edit\./)
  await hooks['chat.params']({ sessionID: 's', model: { id: 'gpt-5' } })
  await assert.rejects(writing, /Use apply_patch\./)
})

test('a denied file is not shown by a refusal and does not count as shown', {
  skip,
}, async () => {
  const path = pathToFileURL(join(placePlugin(FOLDER, AGENT), 'index.js')).href
  const { default: plugin } = await import(path)
  await withMess({ 'secret.txt': 'open sesame\n' }, async (dir) => {
    const client = { session: { messages: async () => ({ data: [] }) } }
    const hooks = await plugin.server({ client, directory: dir, worktree: dir })
    /** @type {string[]} */
    const asked = []
    const context = (/** @type {boolean} */ isAllowed) => ({
      sessionID: 's',
      directory: dir,
      worktree: dir,
      abort: new AbortController().signal,
      ask: async (/** @type {any} */ { permission, patterns }) => {
        asked.push(`${permission} ${patterns}`)
        if (!isAllowed) throw new Error('denied')
      },
    })
    const { read, edit: apply } = hooks.tool
    const edit = (/** @type {string} */ anchor) => ({
      operations: [{ op: 'set_line', path: 'secret.txt', anchor, text: 'x' }],
    })
    await assert.rejects(apply.execute(edit('1aa'), context(false)), /denied/)
    await assert.rejects(read.execute({ path: '@secret.txt' }, context(false)), /denied/)
    assert.deepEqual(asked, ['read secret.txt', 'read secret.txt'])
    // If the text counted as shown, the tool would call it unchanged or know its anchors.
    const refusal = await apply.execute(edit('1aa'), context(true)).catch(String)
    assert.match(refusal, /^Error: Nothing was written\./)
    const anchor = anchorOf(refusal, 'sesame')
    const { output: report } = await apply.execute(edit(anchor), context(true))
    assert.match(report, /1 edit/)
    assert.equal(readFileSync(join(dir, 'secret.txt'), 'utf8'), 'x\n')
  })
})

test('plans without a repository can be written and read, and no other files next to them', {
  skip,
}, async () => {
  const path = pathToFileURL(join(placePlugin(FOLDER, AGENT), 'index.js')).href
  const { default: plugin } = await import(path)
  await withMess({ 'work/greet.js': SOURCE, 'other.md': 'o\n' }, async (dir) => {
    const { XDG_DATA_HOME: before } = process.env
    process.env.XDG_DATA_HOME = join(dir, 'data')
    try {
      let faults = 1
      const messages = async () => {
        if (faults-- > 0) throw new Error('not now')
        return { data: [] }
      }
      const directory = join(dir, 'work')
      const where = { client: { session: { messages } }, directory, worktree: '/' }
      const hooks = await plugin.server(where)
      const plan = join(dir, 'data/opencode/plans/1.md')
      /** @type {string[]} */
      const asked = []
      const ask = async (/** @type {any} */ { patterns }) => asked.push(...patterns)
      const abort = new AbortController().signal
      const context = { sessionID: 's', directory, worktree: '/', abort, ask }
      const { read, edit: apply } = hooks.tool
      const make = { operations: [{ op: 'add_file', path: plan, content: 'one\n' }] }
      await assert.rejects(apply.execute(make, context), /not now/)
      await apply.execute(make, context)
      assert.equal(readFileSync(plan, 'utf8'), 'one\n')
      assert.deepEqual(asked, [relative('/', plan)])
      const { output } = await read.execute({ path: plan }, context)
      const anchor = anchorOf(output, 'one')
      const edit = { operations: [{ op: 'set_line', path: plan, anchor, text: 'two' }] }
      await apply.execute(edit, context)
      assert.equal(readFileSync(plan, 'utf8'), 'two\n')
      for (const other of [join(dir, 'other.md'), join(dir, 'data/opencode/plans/../x.md')]) {
        await assert.rejects(read.execute({ path: other }, context), /OUTSIDE_ROOT/)
      }
    } finally {
      if (before === undefined) delete process.env.XDG_DATA_HOME
      else process.env.XDG_DATA_HOME = before
    }
  })
})
