// A short run of bench/edit with a scripted model: its figures must match the input.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { join, posix } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { attempt } from '../bench/edit/attempt.mjs'
import { chartOf } from '../bench/edit/chart.mjs'
import { main } from '../bench/edit/cli.mjs'
import { EndpointError, endpoint, noUsage } from '../bench/edit/endpoint.mjs'
import { loadEngine } from '../bench/edit/engine.mjs'
import { figuresOf, mcNemar } from '../bench/edit/figures.mjs'
import { randomFrom } from '../bench/edit/history/random.mjs'
import { lock } from '../bench/edit/lock.mjs'
import { argumentsOf, endpointOf, priceOf } from '../bench/edit/options.mjs'
import { checkEntries, checkFigures, EVEN_RATES, timeless } from '../bench/edit/proof/check.mjs'
import { startPlayer, withPlayer } from '../bench/edit/proof/player.mjs'
import { differenceOf, interval, intervalOf } from '../bench/edit/proportion.mjs'
import { readRun, readTasks } from '../bench/edit/record.mjs'
import { replayed, summaryOf } from '../bench/edit/replay.mjs'
import { pageOf } from '../bench/edit/report.mjs'
import { resultOf } from '../bench/edit/result.mjs'
import { schemesNamed } from '../bench/edit/schemes.mjs'
import { isDoneBefore, isMoving, placeFor } from '../bench/edit/task.mjs'
import { fixedSet, fixedTask, fixedTasks, packageNamed } from '../bench/edit/tasks/fixed.mjs'
import { formatterOf, isAlikeFormatted } from '../bench/edit/tasks/formatters.mjs'
import { HUNK, taskFor, tasksOfRepository } from '../bench/edit/tasks/fromGit.mjs'
import { amongLanguages, languageOf } from '../bench/edit/tasks/languages.mjs'
import { movingChange, mutatedChange } from '../bench/edit/tasks/make.mjs'
import { MUTATIONS } from '../bench/edit/tasks/mutations.mjs'
import { packageDir, Unavailable } from '../bench/edit/tasks/registries.mjs'
import { WIRES } from '../bench/edit/wire.mjs'
import { generatedPairs } from '../bench/misplacement/generated.mjs'
import { isEmulated, withMess } from './support.mjs'

/** @import { Task } from '../bench/edit/task.mjs' */
/** @import { Ask } from '../bench/edit/endpoint.mjs' */

const CLI = fileURLToPath(new URL('../bench/edit/cli.mjs', import.meta.url))
const COUNT = isEmulated ? 6 : 12
const engine = loadEngine()

/** Tasks of generated changes, always the same. @returns {Task[]} */
function generatedTasks() {
  const random = randomFrom('short run', 'tasks')
  const kinds = [HUNK, 'dropped line', 'renamed word', 'swapped blocks']
  /** @type {Map<string, Task>} */
  const tasks = new Map()
  for (const pair of generatedPairs(randomFrom('short run', 'pairs'), 10 * COUNT)) {
    const at = tasks.size
    const slot = { kind: kinds[at % kinds.length], isMoving: at % 3 === 1, isLarge: false }
    const task = taskFor(slot, pair, random, '.')
    if (task !== undefined) tasks.set(task.instruction, task)
    if (tasks.size === COUNT) break
  }
  return [...tasks.values()]
}

const tasks = generatedTasks()
/** For runs that are repeated. */
const few = tasks.slice(0, 4)

/**
 * Ignores what the program prints.
 * @param {string[]} argv
 */
async function quietly(argv) {
  const { log, error } = console
  const written = /** @type {string[]} */ ([])
  const note = (/** @type {unknown[]} */ ...args) => written.push(args.join(' '))
  const { write } = process.stderr
  console.log = note
  console.error = note
  process.stderr.write = /** @type {any} */ (() => true)
  try {
    await main(argv)
  } finally {
    console.log = log
    console.error = error
    process.stderr.write = write
  }
  return written.join('\n')
}

/**
 * The arguments of a run with a scripted model.
 * @param {string} dir
 * @param {{ url: string }} server
 * @param {Task[]} given
 * @param {string[]} more
 */
function bench(dir, { url }, given, ...more) {
  const file = join(dir, 'given.jsonl')
  writeFileSync(file, given.map((task) => `${JSON.stringify(task)}\n`).join(''))
  const args = ['--model', 'scripted', '--base-url', `${url}/v1`, '--task-file', file]
  return [...args, '--out', join(dir, 'run'), '--budget', '1000000000', ...more]
}

describe('a run with a scripted model', () => {
  test('counts the given results, through both interfaces, also with errors of the endpoint', async () => {
    for (const api of Object.keys(WIRES)) {
      await withPlayer(tasks, { rates: EVEN_RATES, failureRate: 0.1 }, (player) =>
        withMess({}, async (dir) => {
          await quietly(bench(dir, player, tasks, '--api', api))
          const run = readRun(join(dir, 'run'))
          assert.deepEqual(player.faults, [])
          assert.equal(run.entries.length, 3 * tasks.length)
          checkEntries(run.entries, tasks, player.played)
          checkFigures(resultOf(run), tasks, player.played)
          const slips = new Set([...player.played.values()].map(({ mistake }) => mistake))
          assert.ok(isEmulated || slips.size > 8, [...slips].join(', '))
        }),
      )
    }
  })

  test('without mistakes all is solved, in one attempt if no other process writes', () =>
    withPlayer(tasks, {}, (player) =>
      withMess({}, async (dir) => {
        await quietly(bench(dir, player, tasks, '--schemes', 'hashline'))
        checkEntries(readRun(join(dir, 'run')).entries, tasks, player.played)
      }),
    ))
})

/** @param {string} dir */
const locksIn = (dir) => readdirSync(dir).filter((name) => name.startsWith('lock'))

describe('a run that was interrupted', () => {
  /** @type {Awaited<ReturnType<typeof startPlayer>>} */
  let player
  before(async () => {
    player = await startPlayer(few, { rates: EVEN_RATES })
  })
  after(() => player.close())

  test('continues to the same result, wherever its record ends', () =>
    withMess({}, async (dir) => {
      const args = bench(dir, player, few, '--schemes', 'exact,hashline')
      await quietly(args)
      const whole = timeless(resultOf(readRun(join(dir, 'run'))))
      const record = join(dir, 'run', 'attempts.jsonl')
      const bytes = readFileSync(record)
      const second = bytes.indexOf(10, bytes.indexOf(10) + 1)
      for (const end of [1, second, second + 1, bytes.length - 1]) {
        truncateSync(record, end)
        await quietly(args)
        assert.deepEqual(timeless(resultOf(readRun(join(dir, 'run')))), whole, `cut at ${end}`)
      }
      assert.ok(existsSync(join(dir, 'run', 'report.md')))
      assert.deepEqual(locksIn(join(dir, 'run')), [])
    }))

  test('continues after it was killed', { skip: isEmulated }, () =>
    withMess({}, async (dir) => {
      const args = bench(dir, player, few, '--schemes', 'hashline')
      /** @type {import('node:child_process').ChildProcess | undefined} */
      let child
      const onAnswer = (/** @type {number} */ count) => {
        if (count === 8) child?.kill('SIGKILL')
      }
      await withPlayer(few, { rates: EVEN_RATES, onAnswer }, async (killer) => {
        const killed = bench(dir, killer, few, '--schemes', 'hashline')
        child = spawn(process.execPath, [CLI, ...killed], { stdio: 'ignore' })
        const signal = await new Promise((resolve) => child?.on('exit', (_, by) => resolve(by)))
        assert.equal(signal, 'SIGKILL')
      })
      assert.equal(locksIn(join(dir, 'run')).length, 1)
      const places = readFileSync(join(dir, 'run', 'places'), 'utf8')
      assert.ok(existsSync(places))
      assert.ok(readRun(join(dir, 'run')).entries.length < few.length)
      await quietly(args)
      await quietly([...args, '--out', join(dir, 'once')])
      const [one, other] = ['run', 'once'].map((name) =>
        timeless(resultOf(readRun(join(dir, name)))),
      )
      assert.deepEqual(one, other)
      assert.deepEqual([existsSync(places), existsSync(join(dir, 'run', 'places'))], [false, false])
      // In a record of another process, only directories of this form are removed.
      const kept = join(dir, 'hashline-bench-run-abcdef')
      mkdirSync(kept)
      writeFileSync(join(dir, 'run', 'places'), kept)
      await quietly(args)
      assert.ok(existsSync(kept))
    }),
  )

  test('stops at its budget, after the same tasks in each scheme, and continues with a larger budget', () =>
    withMess({}, async (dir) => {
      const args = bench(dir, player, few, '--parallel', '1')
      const output = await quietly([...args, '--budget', '30000'])
      assert.match(output, /The budget of 30000 tokens is spent: \d+ of \d+ attempts\./)
      const { entries } = readRun(join(dir, 'run'))
      assert.ok(entries.length > 3 && entries.length < 3 * few.length, `${entries.length}`)
      const counts = ['exact', 'diff', 'hashline'].map(
        (name) => entries.filter(({ scheme }) => scheme === name).length,
      )
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1)
      await quietly(args)
      assert.equal(readRun(join(dir, 'run')).entries.length, 3 * few.length)
    }))

  test('is not mixed with another run', () =>
    withMess({}, async (dir) => {
      const args = bench(dir, player, few, '--schemes', 'exact')
      await quietly(args)
      await assert.rejects(
        quietly([...args, '--model', 'other']),
        /has a run with model "scripted", not "other". Use another --out/,
      )
      const file = join(dir, 'run', 'run.json')
      const about = JSON.parse(readFileSync(file, 'utf8'))
      for (const name of ['bench', 'address', 'set', 'limit', 'extra']) {
        writeFileSync(file, JSON.stringify({ ...about, [name]: 'other' }))
        await assert.rejects(quietly(args), new RegExp(`has a run with ${name} "other", not `))
      }
      const schemes = { exact: { ...about.schemes.exact, system: 'other' } }
      writeFileSync(file, JSON.stringify({ ...about, schemes }))
      await assert.rejects(quietly(args), /another prompt for exact. Use another --out/)
      writeFileSync(file, JSON.stringify({ ...about, format: 1 }))
      await assert.rejects(quietly(args), /has a run of format 1, not 2/)
      for (const text of ['', '7', '[]']) {
        writeFileSync(file, text)
        await assert.rejects(quietly(args), /run\.json is not a file of a run/)
      }
      writeFileSync(file, JSON.stringify(about))
      await quietly(args)
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), about)
    }))

  test('belongs to one process, and to another one only after its end', { skip: isEmulated }, () =>
    withMess({}, async (dir) => {
      const release = lock(dir)
      assert.throws(() => lock(dir), /this process already uses the run/)
      release()
      // A process that has ended, and reused process ids.
      const { pid } = spawnSync(process.execPath, ['-e', ''])
      const hasBegin = process.platform !== 'win32'
      for (const name of [`lock.${pid}.0`, ...(hasBegin ? [`lock.${process.ppid}.0-0`] : [])]) {
        writeFileSync(join(dir, name), hostname())
      }
      lock(dir)()
      assert.deepEqual(locksIn(dir), [])
      const module = new URL('../bench/edit/lock.mjs', import.meta.url).href
      const code = `import { lock } from ${JSON.stringify(module)}
lock(${JSON.stringify(dir)})
process.stdout.write('locked')
process.stdin.resume()`
      const other = spawn(process.execPath, ['--input-type=module', '-e', code])
      await new Promise((resolve) => other.stdout.once('data', resolve))
      assert.throws(() => lock(dir), new RegExp(`process ${other.pid} uses this run `))
      assert.equal(locksIn(dir).length, 1)
      const ended = new Promise((resolve) => other.once('exit', resolve))
      other.kill('SIGKILL')
      await ended
      lock(dir)()
      assert.deepEqual(locksIn(dir), [])
      writeFileSync(join(dir, 'lock.1.0'), 'elsewhere')
      assert.throws(
        () => lock(dir),
        /process 1 of elsewhere uses this run\. .* remove .*lock\.1\.0/,
      )
      assert.deepEqual(locksIn(dir), ['lock.1.0'])
    }),
  )
})

/** A task without a repository. @param {Partial<Task>} [more] @returns {Task} */
const smallTask = (more) => ({
  id: 'small',
  language: 'JavaScript',
  kind: 'k',
  source: 's',
  lines: 2,
  instruction: 'Change a line.',
  files: [{ path: 'src/a.txt', before: 'a\nb\n', wanted: 'a\nB\n', edits: [] }],
  ...more,
})

/**
 * An attempt of a model that makes these calls, one per answer, and then says "Done.".
 * @param {string} name the name of the scheme
 * @param {[string, unknown][]} calls
 * @param {Task} [task]
 */
function attempted(name, calls, task = smallTask()) {
  const [scheme] = schemesNamed(name, engine)
  const answers = [
    ...calls.map(([name, args], at) => ({ calls: [{ id: `${at}`, name, args }], text: '' })),
    { calls: [], text: 'Done.' },
  ].values()
  const ask = async () => {
    const answer = { stop: 'whole', ...answers.next().value }
    const spent = { usage: noUsage(), lostMs: 0 }
    return { raw: { choices: [{ message: {} }] }, answer: /** @type {any} */ (answer), ...spent }
  }
  return attempt({ task, scheme, wire: WIRES.openai, ask })
}

describe('a model that does not follow the task', () => {
  test('may remove or move the file of the task: a wrong result, and no crash', async () => {
    for (const operation of [
      { op: 'delete_file', path: 'src/a.txt' },
      { op: 'move_file', path: 'src/a.txt', to: 'src/b.txt' },
    ]) {
      const { log, ...counts } = await attempted('hashline', [
        ['read', { path: 'src/a.txt' }],
        ['apply', { operations: [operation] }],
        ['read', { path: 'src/a.txt' }],
      ])
      assert.equal(log[1].results[0].isError, false, log[1].results[0].text)
      const { ending, solved, wrong } = counts
      assert.deepEqual([ending, solved, wrong], ['done', false, true], operation.op)
    }
  })

  test('may edit by text although it has anchors: this is reported', async () => {
    const byText = { op: 'replace_text', path: 'src/a.txt', old_text: 'b', new_text: 'c' }
    const byAnchor = { op: 'insert_after', path: 'src/a.txt', anchor: 'EOF', text: 'd' }
    const operations = [byText, byAnchor, { op: 'add_file', path: 'b', content: '' }]
    const refused = [{ ...byText, old_text: 'never there' }]
    const { byAnchor: anchors, byText: texts } = await attempted('hashline', [
      ['apply', { operations: refused }],
      ['apply', { operations }],
      [
        'apply',
        JSON.stringify({
          operations: JSON.stringify([{ ...byText, old_text: 'c', new_text: 'e' }]),
        }),
      ],
      ['apply', 7],
    ])
    assert.deepEqual([anchors, texts], [1, 2])
  })

  test('may use one call per file if a tool changes one file per call', async () => {
    const [file] = smallTask().files
    const task = smallTask({ files: [file, { ...file, path: 'src/b.txt' }] })
    const edit = (/** @type {string} */ path, old_text = 'b') =>
      /** @type {[string, unknown]} */ (['edit', { path, edits: [{ old_text, new_text: 'B' }] }])
    const first = async (/** @type {[string, unknown][]} */ ...calls) => {
      const { first, solved } = await attempted('exact', calls, task)
      return [solved, first]
    }
    assert.deepEqual(await first(edit('src/a.txt'), edit('src/b.txt')), [true, true])
    const [one, other] = [edit('src/a.txt'), edit('src/b.txt')]
    assert.deepEqual(await first(one, edit('src/b.txt', 'z'), other), [true, false])
    assert.deepEqual(await first(edit('src/a.txt', 'z'), one, other), [true, false])
  })

  test('may leave an unwanted file: this is not solved', async () => {
    const right = { op: 'replace_text', path: 'src/a.txt', old_text: 'b', new_text: 'B' }
    const more = { op: 'add_file', path: 'src/notes.md', content: 'What I did' }
    const calls = (/** @type {unknown[]} */ ...operations) =>
      attempted('hashline', [['apply', { operations }]])
    assert.equal((await calls(right)).solved, true)
    const { solved, wrong } = await calls(right, more)
    assert.deepEqual([solved, wrong], [false, true])
  })

  test('may write a hunk that is longer than a call has arguments', async () => {
    const rows = Array.from({ length: 200_000 }, (_, at) => `+${at}`)
    const patch = `--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2 +2 @@\n-b\n${rows.join('\n')}\n`
    const { refusals, touched } = await attempted('diff', [['apply_diff', { patch }]])
    assert.deepEqual([refusals, touched], [0, true])
  })

  test('may name paths that the file system refuses', async () => {
    for (const path of ['src/a.txt/x', 'x'.repeat(5000), 'src', '', 'a\0b']) {
      const edits = [{ old_text: 'b', new_text: 'B' }]
      const patch = `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-b\n+B\n`
      for (const [name, call] of /** @type {const} */ ([
        ['exact', ['edit', { path, edits }]],
        ['diff', ['apply_diff', { patch }]],
      ])) {
        const { log, refusals } = await attempted(name, [[...call]])
        assert.equal(refusals, 1, `${name} ${path}`)
        assert.match(log[0].results[0].text, /^Nothing was written\. /)
        assert.doesNotMatch(log[0].results[0].text, /hashline-bench-/)
      }
    }
  })
})

describe('an attempt without an end of its own', () => {
  test('is cut after the last answer, and a truncated call is not run', async () => {
    const [scheme] = schemesNamed('exact', engine)
    const edits = [{ old_text: 'b', new_text: 'B' }]
    const call = { id: '1', name: 'edit', args: { path: 'src/a.txt', edits } }
    const ended = (/** @type {any[]} */ ...answers) => {
      const next = answers.values()
      const spent = { usage: noUsage(), lostMs: 0 }
      const raw = { choices: [{ message: {} }] }
      const ask = async () => ({ raw, answer: { text: '', ...next.next().value }, ...spent })
      return attempt({ task: smallTask(), scheme, wire: WIRES.openai, ask })
    }
    const cut = await ended({ calls: [], stop: 'cut' })
    assert.deepEqual([cut.ending, cut.solved, cut.wrong], ['cut', false, false])
    const done = { calls: [], stop: 'whole' }
    const late = await ended({ calls: [call], stop: 'cut' }, done)
    assert.deepEqual([late.ending, late.solved, late.refusals], ['done', false, 1])
    assert.match(late.log[0].results[0].text, /was cut at the limit/)
    const again = await ended(
      { calls: [call], stop: 'cut' },
      { calls: [call], stop: 'whole' },
      done,
    )
    assert.deepEqual([again.ending, again.solved, again.refusals], ['done', true, 1])
    assert.equal((await ended({ calls: [], stop: 'refused' })).ending, 'refused')
  })

  /**
   * The ends of a run of two tasks in which the endpoint fails at the second one, or always.
   * @param {string} dir
   * @param {{ status: number, body: string }} failure
   * @param {boolean} atAll
   */
  async function failing(dir, failure, atAll) {
    const given = ['Change one.', 'Change two.'].map((instruction, at) =>
      smallTask({ id: `${at}`, instruction }),
    )
    let requests = 0
    const server = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      requests++
      const isBad = atAll || Buffer.concat(chunks).includes('Change two.')
      const message = { role: 'assistant', content: 'Done.' }
      const usage = { prompt_tokens: 100, completion_tokens: 1 }
      const fine = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], usage })
      response.writeHead(isBad ? failure.status : 200, { 'retry-after-ms': '1' })
      response.end(isBad ? failure.body : fine)
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const args = bench(dir, { url: `http://127.0.0.1:${port}` }, given, '--schemes', 'exact')
    try {
      await quietly(args)
    } finally {
      server.close()
      server.closeAllConnections()
    }
    return { entries: readRun(join(dir, 'run')).entries, requests }
  }

  const usage = { prompt_tokens: 50, completion_tokens: 2 }
  for (const [status, body, tokens] of /** @type {const} */ ([
    [400, 'no', 0],
    [404, 'no', 0],
    [500, 'no', 0],
    [200, JSON.stringify({ error: 'overloaded', usage }), 8 * 52],
  ])) {
    test(`skips the task if others are answered, and ends the run otherwise: ${status}`, () =>
      withMess({}, async (dir) => {
        const { entries } = await failing(dir, { status, body }, false)
        const found = entries.map(({ ending, usage }) => [ending, usage.input + usage.output])
        // The request that checks whether the endpoint answers counts as well.
        assert.deepEqual(found.sort(), [
          ['done', 101],
          ['refused', tokens + 101],
        ])
        const page = readFileSync(join(dir, 'run', 'report.md'), 'utf8')
        assert.doesNotMatch(page, /NaN|undefined/)
      }))

    test(`ends the run if nothing is answered: ${status}`, () =>
      withMess({}, (dir) =>
        assert.rejects(failing(dir, { status, body }, true), new RegExp(`answered ${status}`)),
      ))
  }

  test('estimates tokens that the endpoint does not report, so that the budget applies', () =>
    withMess({}, async (dir) => {
      const message = { content: 'Done.' }
      const server = createServer((request, response) =>
        request.resume().on('end', () => response.end(JSON.stringify({ choices: [{ message }] }))),
      )
      await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      const args = bench(dir, { url: `http://127.0.0.1:${port}` }, few, '--parallel', '1')
      const output = await quietly([...args, '--budget', '10'])
      server.close()
      server.closeAllConnections()
      assert.match(output, /The budget of 10 tokens is spent: 1 of 12 attempts/)
      const page = readFileSync(join(dir, 'run', 'report.md'), 'utf8')
      assert.match(
        page,
        /The endpoint does not report all tokens: for each scheme 100 % are estimated/,
      )
    }))
})

describe('tasks of another author', () => {
  test('have no path that leads out of their directory', () =>
    withMess({}, async (dir) => {
      const file = join(dir, 'tasks.jsonl')
      const [one] = smallTask().files
      const away = ['../a', '/etc/x', 'a/../../b', 'a\\b', 'C:/a', 'a//b', './a', '', 7]
      for (const path of away) {
        const task = smallTask({ files: [/** @type {any} */ ({ ...one, path })] })
        writeFileSync(file, `${JSON.stringify(task)}\n`)
        const run = ['--model', 'm', '--base-url', 'http://127.0.0.1:1', '--task-file', file]
        await assert.rejects(
          quietly([...run, '--out', join(dir, 'run')]),
          /tasks\.jsonl:1 is not a task: the path .* is not relative to a directory/,
        )
      }
      mkdirSync(join(dir, 'sent'))
      writeFileSync(join(dir, 'sent', 'run.json'), '{"format":2}')
      const task = smallTask({ files: [{ ...one, path: '../a' }] })
      writeFileSync(join(dir, 'sent', 'tasks.jsonl'), `${JSON.stringify(task)}\n`)
      assert.throws(() => readRun(join(dir, 'sent')), /is not a task: the path "\.\.\/a"/)
    }))

  test('have all fields that are used', () =>
    withMess({}, async (dir) => {
      const file = join(dir, 'tasks.jsonl')
      for (const task of [7, null, {}, { ...smallTask(), files: [] }, { ...smallTask(), id: 1 }]) {
        writeFileSync(file, `${JSON.stringify(task)}\n`)
        assert.throws(() => readTasks(file), /tasks\.jsonl:1 is not a task: /)
      }
      // With a byte order mark, an empty line, and no final newline.
      const long = smallTask({ id: 'long', instruction: 'ä'.repeat(100_000) })
      const given = [long, smallTask()]
      writeFileSync(file, `\ufeff${given.map((task) => JSON.stringify(task)).join('\n\n')}`)
      assert.deepEqual(readTasks(file), given)
      writeFileSync(file, '')
      assert.deepEqual(readTasks(file), [])
    }))

  test('name a known formatter or none', () =>
    withMess({}, (dir) => {
      const file = join(dir, 'tasks.jsonl')
      const [one] = smallTask().files
      for (const formatter of [{ name: 'constructor' }, 'gofmt', { name: 'gofmt', settings: 7 }]) {
        const task = smallTask({ files: [/** @type {any} */ ({ ...one, formatter })] })
        writeFileSync(file, JSON.stringify(task))
        assert.throws(() => readTasks(file), /the formatter of src\/a\.txt is unknown/)
      }
    }))
})

describe('the formatter of a project', { skip: process.platform === 'win32' || isEmulated }, () => {
  /**
   * With programs of these names, which collapse spaces and log their calls.
   * @param {string[]} names
   * @param {(dir: string, calls: () => string) => Promise<void>} work
   */
  const withFormatters = (names, work) =>
    withMess({}, async (dir) => {
      const [bin, log] = [join(dir, 'bin'), join(dir, 'log')]
      mkdirSync(bin)
      for (const name of names) {
        const logCall = `echo "${name} $*" >> ${log}; for a in "$@"; do test -f "$a" && cat "$a" >> ${log}; done`
        writeFileSync(join(bin, name), `#!/bin/sh\n${logCall}; tr -s ' '\n`, { mode: 0o755 })
      }
      const before = process.env.PATH
      process.env.PATH = `${bin}:${before}`
      try {
        await work(dir, () => readFileSync(log, 'utf8'))
      } finally {
        process.env.PATH = before
      }
    })

  test('uses its own settings, next to the file or above it', () =>
    withFormatters(['gofmt', 'prettier', 'black', 'rustfmt'], async (dir, calls) => {
      const put = (/** @type {string} */ path, /** @type {string} */ text) => {
        mkdirSync(join(dir, path, '..'), { recursive: true })
        writeFileSync(join(dir, path), text)
      }
      put('go.mod', 'module a')
      put('web/.prettierrc', '{"semi":false,"plugins":["./evil.js"],"parser":"./evil.js"}')
      put('web/old/package.json', '{"prettier":{"tabWidth":3}}')
      put('web/yaml/.prettierrc', 'semi: false')
      put('py/pyproject.toml', '[tool.black]\nline-length = 20\n')
      put('rust/Cargo.toml', '[package]\nedition = "2018"\n')
      assert.deepEqual(formatterOf(dir, 'cmd/a.go'), { name: 'gofmt' })
      assert.deepEqual(formatterOf(dir, 'web/src/a.ts')?.settings, '{"semi":false}')
      assert.deepEqual(formatterOf(dir, 'web/old/a.ts')?.settings, '{"tabWidth":3}')
      // Invalid JSON is ignored, so the settings above it apply.
      assert.deepEqual(formatterOf(dir, 'web/yaml/a.ts')?.settings, '{"semi":false}')
      assert.match(formatterOf(dir, 'py/a/b.py')?.settings ?? '', /line-length = 20/)
      assert.equal(formatterOf(dir, 'rust/src/a.rs')?.settings, 'edition = "2018"\n')
      assert.equal(formatterOf(dir, 'a.py'), undefined)
      for (const path of ['cmd/a.go', 'web/src/a.ts', 'py/a.py', 'rust/a.rs']) {
        const formatting = formatterOf(dir, path)
        assert.equal(await isAlikeFormatted('a  b', 'a b', path, formatting), true, path)
        assert.equal(await isAlikeFormatted('a c', 'a b', path, formatting), false, path)
      }
      assert.equal(await isAlikeFormatted('a  b', 'a b', 'a.go'), false)
      assert.equal(await isAlikeFormatted('a  b', 'a b', 'a.txt', { name: 'gofmt' }), false)
      assert.match(calls(), /line-length = 20/)
      const evil = { name: 'prettier', settings: '{"plugins":["./evil.js"],"semi":true}' }
      await isAlikeFormatted('a  b', 'a b', 'a.ts', evil)
      assert.match(calls(), /\{"semi":true\}/)
      assert.doesNotMatch(calls(), /evil/)
    }))

  test('may make a task empty: such a task is dropped', () =>
    withFormatters(['gofmt'], async () => {
      const formatter = { name: 'gofmt' }
      const file = { path: 'a.go', before: 'a  b\n', wanted: 'a b\n', edits: [] }
      assert.equal(await isDoneBefore(smallTask({ files: [{ ...file, formatter }] })), true)
      assert.equal(await isDoneBefore(smallTask({ files: [file] })), false)
      const place = placeFor(smallTask({ files: [{ ...file, formatter }] }))
      assert.deepEqual([await place.isWanted(), await place.isUntouched()], [true, true])
      place.remove()
    }))
})

describe('answers of an endpoint', () => {
  const place = { name: 'read', description: '', guidelines: [], edits: false }
  const tool = {
    ...place,
    inputSchema: /** @type {const} */ ({ type: 'object' }),
    execute: async () => ({ text: '', isError: false }),
  }

  /**
   * Sends a request to a server that returns these answers, in sequence.
   * @param {{ status: number, body: string, headers?: Record<string, string> }[]} answers
   * @param {(ask: Ask, seen: { url: string, waits: number[], requests: import('node:http').IncomingMessage[] }) => Promise<void>} check
   */
  async function asking(answers, check) {
    const seen = {
      url: '',
      waits: /** @type {number[]} */ ([]),
      requests: /** @type {any[]} */ ([]),
    }
    const server = createServer((request, response) => {
      seen.requests.push(request)
      const { status, body, headers } = answers[Math.min(seen.requests.length, answers.length) - 1]
      request.resume().on('end', () => response.writeHead(status, headers).end(body))
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    seen.url = `http://127.0.0.1:${port}/v1`
    const wait = async (/** @type {number} */ ms) => void seen.waits.push(ms)
    const options = {
      wire: WIRES.openai,
      key: 'secret-key',
      model: 'm',
      limit: 5,
      extra: { seed: 1 },
    }
    const ask = endpoint({
      ...options,
      baseUrl: `${seen.url}/`,
      timeoutMs: 10_000,
      engine,
      wait,
    })
    await check(ask, seen).finally(() => {
      server.close()
      server.closeAllConnections()
    })
  }

  const request = { system: 's', messages: [], tools: [tool] }
  const fine = JSON.stringify({
    choices: [{ message: { content: 'Hi' } }],
    usage: { prompt_tokens: 3 },
  })

  test('temporary failures are tried again, after the requested delay', () =>
    asking(
      [
        { status: 429, body: '', headers: { 'retry-after': '7' } },
        { status: 500, body: 'no' },
        { status: 200, body: '<html>' },
        { status: 200, body: fine },
      ],
      async (ask, { waits, requests }) => {
        const { answer, usage } = await ask(request)
        assert.deepEqual([answer.text, answer.calls], ['Hi', []])
        // Missing counts are estimated, also for an answer that could not be parsed.
        const { input, output, estimated } = usage
        assert.ok(input > 3 && output > 0)
        assert.equal(estimated, input + output - 3)
        assert.equal(waits[0], 7000)
        assert.ok(waits[1] >= 1000 && waits[1] <= 2000 && waits[2] >= 2000)
        assert.equal(requests[0].headers.authorization, 'Bearer secret-key')
      },
    ))

  test('refusals and permanent failures are reported without the key', async () => {
    await asking([{ status: 401, body: 'bad key secret-key' }], async (ask) => {
      await assert.rejects(ask(request), (error) => {
        assert.ok(error instanceof EndpointError)
        assert.match(error.message, /answered 401: bad key …$/)
        return true
      })
    })
    await asking([{ status: 529, body: 'busy' }], async (ask, { requests }) => {
      await assert.rejects(ask(request), /answered 529: busy \(8 times\)/)
      assert.equal(requests.length, 8)
    })
  })

  test('a redirection is not followed, so the key is not sent elsewhere', () =>
    asking(
      [{ status: 307, body: '', headers: { location: '/elsewhere' } }],
      async (ask, { requests }) => {
        await assert.rejects(ask(request), /answered 307/)
        assert.equal(requests.length, 1)
      },
    ))

  test('answers of any shape are parsed, or are errors', () => {
    const { openai, anthropic } = WIRES
    for (const body of [
      undefined,
      null,
      1,
      'x',
      {},
      { choices: [] },
      { choices: [{}] },
      { choices: 'x' },
    ]) {
      assert.equal(openai.answer(body), undefined)
      assert.equal(anthropic.answer(body), undefined)
    }
    const message = {
      content: null,
      tool_calls: [null, {}, { id: 'a', function: { name: 'read' } }],
    }
    const answer = openai.answer({ choices: [{ message }] })
    assert.deepEqual(
      answer?.calls.map(({ name }) => name),
      ['', '', 'read'],
    )
    assert.equal(openai.usage({ usage: { prompt_tokens: '7' } }).input, 7)
    for (const told of [-1, 1.5, 'x', '-7', '', null, 1e300]) {
      assert.equal(openai.usage({ usage: { prompt_tokens: told } }).input, 0)
      assert.equal(anthropic.usage({ usage: { input_tokens: told } }).input, 0)
    }
    for (const none of [undefined, null, 1, [], { usage: 7 }]) {
      const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
      assert.deepEqual(openai.usage(none), nothing)
      assert.deepEqual(anthropic.usage(none), nothing)
    }
    const parts = [
      { type: 'text', text: 'a' },
      null,
      { type: 'tool_use', id: 'b', name: 'read', input: 1 },
    ]
    const usage = { input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3 }
    assert.deepEqual(anthropic.answer({ content: parts, usage }), {
      text: 'a',
      calls: [{ id: 'b', name: 'read', args: 1 }],
      stop: 'whole',
    })
    const told = { input: 6, output: 0, cacheRead: 2, cacheWrite: 3 }
    assert.deepEqual(anthropic.usage({ usage }), told)
  })

  test('an answer that contains the key, or cannot be serialized again, is not used unchanged', async () => {
    const message = { content: 'secret-key' }
    const leak = { status: 200, body: JSON.stringify({ choices: [{ message }] }) }
    await asking([leak], async (ask) => {
      const { raw, answer } = await ask(request)
      assert.deepEqual([raw.choices[0].message.content, answer.text], ['…', '…'])
    })
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const body = `{"choices":[{"message":{"content":"a"}}],"x":${deep}}`
    await asking(
      [
        { status: 200, body },
        { status: 200, body: fine },
      ],
      async (ask, { requests }) => {
        assert.equal((await ask(request)).answer.text, 'Hi')
        assert.equal(requests.length, 2)
      },
    )
    const later = new Date(Date.now() + 40_000).toUTCString()
    const busy = { status: 429, body: '', headers: { 'retry-after': later } }
    await asking([busy, { status: 200, body: fine }], async (ask, { waits }) => {
      await ask(request)
      assert.ok(waits[0] > 2000 && waits[0] <= 40_000, `${waits}`)
    })
  })

  test('an answer has the reason of its end', () => {
    const { openai, anthropic } = WIRES
    const stops = (/** @type {unknown} */ reason) => [
      openai.answer({ choices: [{ message: {}, finish_reason: reason }] })?.stop,
      anthropic.answer({ content: [], stop_reason: reason })?.stop,
    ]
    assert.deepEqual(stops('length'), ['cut', 'whole'])
    assert.deepEqual(stops('max_tokens'), ['whole', 'cut'])
    assert.deepEqual(stops('content_filter'), ['refused', 'whole'])
    assert.deepEqual(stops('refusal'), ['whole', 'refused'])
    for (const reason of ['stop', 'end_turn', undefined, null, 7]) {
      assert.deepEqual(stops(reason), ['whole', 'whole'])
    }
  })

  test('a request without an answer in time is tried again', async () => {
    const server = createServer((request) => request.resume())
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const about = { wire: WIRES.openai, key: '', model: 'm', limit: 5, extra: {}, engine }
    const baseUrl = `http://127.0.0.1:${port}`
    const ask = endpoint({ ...about, baseUrl, timeoutMs: 1, wait: async () => {} })
    await assert.rejects(ask(request), /no answer in 0\.001 s \(8 times\)/)
    server.close()
    server.closeAllConnections()
  })

  test('an interrupt ends a wait', () =>
    asking([{ status: 429, body: '', headers: { 'retry-after': '60' } }], async (_, { url }) => {
      const interrupt = new AbortController()
      const about = { wire: WIRES.openai, key: '', model: 'm', limit: 5, extra: {}, engine }
      const onProblem = () => setImmediate(() => interrupt.abort(new Error('interrupted')))
      const { signal } = interrupt
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout')
      const before = timers().length
      const ask = endpoint({ ...about, baseUrl: url, timeoutMs: 10_000, signal, onProblem })
      await assert.rejects(ask(request), /interrupted/)
      assert.equal(timers().length, before)
    }))

  test('its address is valid, and has no password', async () => {
    const asked = (/** @type {string} */ url) => quietly(['--model', 'm', '--base-url', url])
    for (const url of ['localhost:8000/v1', 'ftp://a/v1', 'file:///etc', 'x', 'http://']) {
      await assert.rejects(asked(url), /--base-url is .*: use an address such as/)
    }
    await assert.rejects(asked('http://me:secret@a/v1'), (/** @type {Error} */ { message }) => {
      assert.match(message, /--base-url contains a name or a password/)
      assert.doesNotMatch(message, /secret/)
      return true
    })
    const slow = ['--model', 'm', '--base-url', 'http://a', '--timeout', '2147484']
    await assert.rejects(quietly(slow), /--timeout is 2147484: expected at most 86400/)
  })

  test("a vendor's key is sent only to the vendor, and another key on request", async () => {
    const names = /** @type {const} */ (['OPENAI_API_KEY', 'BENCH_TEST_KEY'])
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = `of-${name}`
    const { error } = console
    const said = /** @type {string[]} */ ([])
    console.error = (/** @type {string} */ text) => said.push(text)
    const keyFor = (/** @type {string[]} */ ...argv) => {
      const { values } = argumentsOf(['--model', 'm', '--api', 'openai', '--base-url', ...argv])
      return endpointOf(values).key
    }
    try {
      assert.equal(keyFor('https://api.openai.com/v1'), 'of-OPENAI_API_KEY')
      assert.equal(said.length, 0)
      for (const url of ['http://api.openai.com/v1', 'https://api.openai.com.a.org', 'http://a']) {
        assert.equal(keyFor(url), '')
        assert.match(said.pop() ?? '', /OPENAI_API_KEY is not sent to .*--key-env/)
        assert.equal(keyFor(url, '--key-env', 'BENCH_TEST_KEY'), 'of-BENCH_TEST_KEY')
      }
      assert.throws(() => keyFor('http://a', '--key-env', 'BENCH_TEST_NONE'), /is not set/)
      process.env.BENCH_TEST_KEY = 'half\nother half'
      assert.throws(
        () => keyFor('http://a', '--key-env', 'BENCH_TEST_KEY'),
        /^Error: BENCH_TEST_KEY has a character that no key has\.$/,
      )
    } finally {
      console.error = error
      for (const [at, name] of names.entries()) {
        if (before[at] === undefined) delete process.env[name]
        else process.env[name] = before[at]
      }
    }
  })
})

describe('schemes', () => {
  test('an unknown one is refused with the list of known ones', () => {
    const dialects =
      /"hashline-fat": expected exact, diff, hashline, or .*"fat": the dialects are pi, pi26, cli, omp, omp13/
    assert.throws(() => schemesNamed('exact,hashline-fat', engine), dialects)
    assert.throws(() => schemesNamed(' , ', engine), /names none/)
    const several = 'diff,hashline,diff,hashline-omp13,pi26,hashline-pi26,lean,hashline-lean'
    const names = schemesNamed(several, engine).map(({ name }) => name)
    assert.deepEqual(names, ['diff', 'hashline', 'hashline-omp13', 'hashline-pi26'])
  })

  /**
   * Runs one call of an edit tool, and returns the file and the answer.
   * @param {string} scheme
   * @param {string} text
   * @param {unknown} args
   */
  async function edited(scheme, text, args) {
    const files = [{ path: 'a.txt', before: text, wanted: '', edits: [] }]
    const about = { id: '', language: '', kind: '', source: '', lines: 1, instruction: '' }
    const place = placeFor({ ...about, files })
    try {
      const [{ open }] = schemesNamed(scheme, engine)
      const { tools, close } = open(place)
      const answer = await tools.find(({ edits }) => edits)?.execute(args)
      close()
      return { ...answer, file: readFileSync(join(place.cwd, 'a.txt'), 'utf8') }
    } finally {
      place.remove()
    }
  }

  test('exact text is replaced if it is unique', async () => {
    const one = (/** @type {string} */ old_text, /** @type {string} */ new_text) => ({
      path: 'a.txt',
      edits: [{ old_text, new_text }],
    })
    assert.equal(
      (await edited('exact', 'a\r\nb\r\nc\r\n', one('a\nb', 'x\ny'))).file,
      'x\r\ny\r\nc\r\n',
    )
    for (const [args, why] of /** @type {const} */ ([
      [one('b', 'c'), /occurs 2 times in a\.txt/],
      [one('z', 'c'), /old_text is not in a\.txt/],
      [one('', 'c'), /old_text is empty/],
      [one('a', 'a'), /leaves a\.txt as it is/],
      [{ ...one('a', 'c'), path: '../a.txt' }, /outside the working directory/],
      [{ ...one('a', 'c'), path: 'b.txt' }, /There is no file b\.txt/],
      [
        {
          path: 'a.txt',
          edits: [
            { old_text: 'a\nb', new_text: '' },
            { old_text: 'b\nx', new_text: '' },
          ],
        },
        /overlap/,
      ],
      ['{"path"', /The arguments are not JSON/],
      [[], /The arguments are not an object/],
      [{ path: 'a.txt', edits: 7 }, /edits is not a list/],
    ])) {
      const { text, isError, file } = await edited('exact', 'a\nb\nx\nb\n', args)
      assert.match(text ?? '', why)
      assert.deepEqual([isError, file], [true, 'a\nb\nx\nb\n'])
    }
  })

  test('exact text is replaced everywhere on request', async () => {
    const all = { old_text: 'b', new_text: 'bb', replace_all: true }
    const args = { path: 'a.txt', edits: [all, { old_text: 'x', new_text: 'y' }] }
    const { file, text } = await edited('exact', 'a\nb\nx\nb b\n', args)
    assert.equal(file, 'a\nbb\ny\nbb bb\n')
    assert.match(text ?? '', /^Replaced 4 texts in a\.txt\./)
  })

  test('the answer to an edit shows its lines, and a refusal the most similar ones', async () => {
    const lines = Array.from({ length: 12 }, (_, at) => `  const value${at + 1} = ${at + 1}`)
    const text = `${lines.join('\n')}\n`
    const shown = (/** @type {number} */ from, /** @type {string[]} */ of) =>
      of.map((line, at) => `${from + at}\t${line}`).join('\n')
    const exact = (/** @type {string} */ old_text, /** @type {string} */ new_text) => ({
      path: 'a.txt',
      edits: [{ old_text, new_text }],
    })
    const diff = (/** @type {string} */ old, /** @type {string} */ now) => ({
      patch: `--- a/a.txt\n+++ b/a.txt\n@@ -5 +5 @@\n-${old}\n${now}\n`,
    })
    const wanted = shown(3, [...lines.slice(2, 4), 'one', 'two', ...lines.slice(5, 7)])
    const moved = `${wanted}\nLines after 6 moved by +1.`
    const one = await edited('exact', text, exact(lines[4], 'one\ntwo'))
    assert.equal(one.text, `Replaced one text in a.txt.\n${moved}`)
    const other = await edited('diff', text, diff(lines[4], '+one\n+two'))
    assert.equal(other.text, `Applied one hunk to a.txt.\n${moved}`)
    const near = shown(3, lines.slice(2, 7))
    for (const [scheme, args] of /** @type {const} */ ([
      ['exact', exact('  const value5  = 5', 'x')],
      ['diff', diff('  const value5  = 5', '+x')],
    ])) {
      const { text: said, isError } = await edited(scheme, text, args)
      assert.equal(isError, true)
      assert.ok(said?.endsWith(`\n${near}`), said)
    }
    const { text: often } = await edited('exact', text, exact('const', 'let'))
    assert.match(often ?? '', /occurs 12 times in a\.txt \(lines 1, 2, 3, 4, 5 and more\)/)
    const end = await edited('exact', 'a\nb', exact('b', 'b\nc'))
    assert.deepEqual(
      [end.file, end.text],
      ['a\nb\nc', `Replaced one text in a.txt.\n${shown(1, ['a', 'b', 'c'])}`],
    )
    const gone = await edited('exact', 'a\nb\nc\n', exact('b\n', ''))
    assert.equal(gone.text, 'Replaced one text in a.txt.\n1\ta\n2\tc')
    const nothing = await edited('exact', 'a\n', exact('!', '?'))
    assert.match(nothing.text ?? '', /white space included\.$/)
  })

  test('each scheme has an example, and rules for each of its tools', async () => {
    for (const { name, open } of schemesNamed('exact,diff,hashline', engine)) {
      const place = placeFor(smallTask())
      const { tools, close } = open(place)
      close()
      place.remove()
      assert.ok(
        tools.every(({ guidelines }) => guidelines.length > 0),
        name,
      )
      assert.match(
        tools.find(({ edits }) => edits)?.description ?? '',
        /\n(?:Example\. )?read showed/,
      )
    }
    // The examples do what they claim.
    const before = "function greet(name) {\n  const hi = 'Hi'\n  log(hi)\n}\n"
    const after = "function greet(name) {\n  const hi = 'Hi, ' + name\n  log(hi)\n  return hi\n}\n"
    for (const [name, start] of [
      ['exact', '{"path"'],
      ['diff', '--- a/'],
    ]) {
      const place = placeFor(
        smallTask({ files: [{ path: 'greet.js', before, wanted: after, edits: [] }] }),
      )
      const [{ open }] = schemesNamed(name, engine)
      const tool = open(place).tools.find(({ edits }) => edits)
      const description = tool?.description ?? ''
      const example = description.slice(description.lastIndexOf(start))
      await tool?.execute(name === 'diff' ? { patch: example } : example)
      assert.ok(await place.isWanted(), name)
      place.remove()
    }
  })

  test('invalid hunks are refused with the reason', async () => {
    const text = 'a\nnew value\nc\nd\n'
    const patched = (/** @type {string[]} */ ...rows) =>
      edited('diff', text, { patch: ['--- a/a.txt', '+++ b/a.txt', ...rows, ''].join('\n') })
    // A line of context without its space, which starts like a header of git.
    const unmarked = await patched('@@ -1,3 +1,3 @@', ' a', 'new value', '-c', '+C')
    assert.deepEqual([unmarked.isError, unmarked.file], [true, text])
    assert.match(unmarked.text ?? '', /begins with none of .*: new value/)
    const upward = await patched('@@ -3 +3 @@', '-c', '+C', '@@ -1 +1 @@', '-a', '+A')
    assert.deepEqual([upward.isError, upward.file], [true, text])
    assert.match(upward.text ?? '', /Hunk 2 of a\.txt: its lines are above .* in the order/)
    // Rows that look like the header of a file are lines, unless a hunk follows.
    const dashes = await edited('diff', '-- a\nb\n', {
      patch: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n--- a\n+++ c\n b\n',
    })
    assert.equal(dashes.file, '++ c\nb\n')
    const rows = ['diff --git a/a.txt b/a.txt', 'index 1..2 100644', '--- a/a.txt', '+++ b/a.txt']
    const hunk = ['@@ -1 +1 @@', '-a', '+A']
    const twice = await edited('diff', text, {
      patch: [...rows, ...hunk, ...rows, '@@ -3 +3 @@', '-c', '+C'].join('\n'),
    })
    assert.equal(twice.file, 'A\nnew value\nC\nd\n')
  })

  test('hunks are found by their lines, and the stated number decides between several places', async () => {
    const text = 'a\nb\n\nc\na\nb\n'
    const patch = (/** @type {string[]} */ ...rows) => ({
      patch: ['--- a/a.txt', '+++ b/a.txt', ...rows, ''].join('\n'),
    })
    const done = async (/** @type {string[]} */ ...rows) =>
      (await edited('diff', text, patch(...rows))).file
    assert.equal(await done('@@ -1,9 +1,9 @@', ' a', '-b', '+B'), 'a\nB\n\nc\na\nb\n')
    assert.equal(await done('@@ -6 +6 @@ x', '-b'), 'a\nb\n\nc\na\n')
    // An empty line of context without its space, and no numbers.
    assert.equal(await done('@@', ' b', '', '-c', '+C'), 'a\nb\n\nC\na\nb\n')
    assert.equal(await done('@@ -2,0 +3 @@', '+x'), 'a\nb\nx\n\nc\na\nb\n')
    assert.equal(
      await done('@@ -1 +1 @@', '-a', '+1', '@@ -5 +5 @@', '-a', '+2'),
      '1\nb\n\nc\n2\nb\n',
    )
    for (const [rows, why] of /** @type {const} */ ([
      [['@@ -1 +1 @@', '-z', '+y'], /Hunk 1 of a\.txt: .* nowhere in the file: z/],
      [['@@', '-a', '+y'], /there 2 times/],
      [[], /has no hunk/],
      [['@@ -1 +1 @@', 'a', '+y'], /begins with none of/],
    ])) {
      const { text: said, isError, file } = await edited('diff', text, patch(...rows))
      assert.match(said ?? '', why)
      assert.deepEqual([isError, file], [true, text])
    }
    const without = await edited('diff', text, { patch: '@@ -1 +1 @@\n-a\n+b' })
    assert.match(without.text ?? '', /no lines `---` and `\+\+\+` before it/)
  })

  test('plain reads have line numbers and no hashes', async () => {
    const [{ open }] = schemesNamed('exact', engine)
    const place = placeFor(tasks[0])
    const { tools } = open(place)
    const { text } = (await tools[0].execute({ path: tasks[0].files[0].path })) ?? {}
    place.remove()
    const lines = tasks[0].files[0].before.trimEnd().split('\n')
    assert.equal(text, lines.map((line, at) => `${at + 1}\t${line}`).join('\n'))
  })
})

describe('recorded calls', () => {
  test('give the same answers with the same engine, and others with another engine', async () => {
    await withPlayer(few, { rates: EVEN_RATES }, (player) =>
      withMess({}, async (dir) => {
        await quietly(bench(dir, player, few))
        const run = readRun(join(dir, 'run'))
        const output = await quietly([
          'replay',
          join(dir, 'run'),
          '--engine',
          fileURLToPath(new URL('..', import.meta.url)),
        ])
        assert.match(
          output,
          new RegExp(`attempts: ${few.length}, of which 0 are answered otherwise`),
        )
        // An engine that no longer edits.
        const forgetful = {
          ...engine,
          tools: {
            ...engine.tools,
            hashTools: (/** @type {any} */ session) => {
              const made = engine.tools.hashTools(session)
              const refusal = { text: 'Nothing was written.', isError: true }
              return { ...made, apply: { ...made.apply, execute: async () => refusal } }
            },
          },
        }
        const schemes = schemesNamed('hashline', /** @type {any} */ (forgetful))
        const all = []
        for await (const one of replayed({ ...run, schemes })) all.push(one)
        const solved = run.entries.filter((one) => one.scheme === 'hashline' && one.solved).length
        assert.match(summaryOf(all), new RegExp(`solved: ${solved} then, 0 now`))
      }),
    )
  })
})

/** The settings of a run, for its result. */
const HOW = {
  ...{ format: 2, model: 'm', api: 'openai', bench: '0', engine: '0', limit: 1, extra: {} },
  set: /** @type {const} */ ('own'),
  started: 'd',
  told: { a: 4000 },
}

describe('figures', () => {
  test('each attempt is in one column, solved or not', () => {
    const yesAndNo = [true, false]
    const attempts = /** @type {const} */ (['done', 'cut', 'rounds', 'refused']).flatMap((ending) =>
      yesAndNo.flatMap((solved) =>
        yesAndNo.map((touched) => ({
          ...{ task: '1', scheme: 'a', run: 1, ending, solved, touched: touched && !solved },
          ...{
            byAnchor: 0,
            byText: 0,
            first: false,
            wrong: touched && !solved && ending === 'done',
          },
          ...{ rounds: 1, refusals: 0, seconds: 1, ...noUsage() },
        })),
      ),
    )
    for (const [at, row] of attempts.entries()) row.run = at + 1
    const tasks = [{ id: '1', language: 'C', kind: 'k', size: 's', moving: false, near: false }]
    const [figures] = figuresOf({ ...HOW, tasks, attempts }).schemes
    const { solved, wrong, untouched, cut, endless, refused, touched } = figures
    assert.equal(solved + wrong + untouched + cut + endless + refused, attempts.length)
    assert.deepEqual([solved, wrong, untouched, cut, endless, refused], [8, 1, 1, 2, 2, 2])
    assert.equal(touched, 4)
  })

  test("McNemar's exact test", () => {
    assert.deepEqual([mcNemar(0, 0), mcNemar(3, 3), mcNemar(0, 1)], [1, 1, 1])
    const near = (/** @type {number} */ p, /** @type {number} */ known) =>
      assert.ok(Math.abs(p - known) < 1e-6, `${p}`)
    near(mcNemar(0, 5), 0.0625)
    near(mcNemar(9, 1), 0.02148438)
    near(mcNemar(2, 10), 0.03857422)
    assert.ok(mcNemar(0, 2000) < 1e-300)
  })

  test('equal runs of a task do not narrow the interval', () => {
    const runs = (/** @type {number} */ count, /** @type {boolean} */ is) => Array(count).fill(is)
    const of = (
      /** @type {number} */ yes,
      /** @type {number} */ no,
      /** @type {number} */ each,
    ) => [
      ...Array.from({ length: yes }, () => runs(each, true)),
      ...Array.from({ length: no }, () => runs(each, false)),
    ]
    for (const [yes, no] of [
      [7, 3],
      [10, 0],
      [0, 10],
    ]) {
      assert.deepEqual(intervalOf(of(yes, no, 1)), interval(yes, yes + no))
      const { low, high } = intervalOf(of(yes, no, 5))
      const once = interval(yes, yes + no)
      assert.ok(Math.abs(low - once.low) < 1e-9 && Math.abs(high - once.high) < 1e-9)
    }
    // Runs that differ within a task as much as between tasks count like tasks.
    const mixed = Array.from({ length: 10 }, () => [true, false, true, false])
    assert.deepEqual(intervalOf(mixed), interval(20, 40))
    assert.deepEqual(intervalOf([]), { low: 0, high: 1 })
  })

  test('the interval of a difference depends on its tasks, and is never empty', () => {
    // Of 100 tasks, 20 for one scheme only and 10 for the other: known from the formula.
    const differences = [...Array(20).fill(1), ...Array(10).fill(-1), ...Array(70).fill(0)]
    const { mean, low, high } = differenceOf(differences)
    assert.ok(Math.abs(mean - 0.1) < 1e-12)
    assert.ok(Math.abs(low - -0.007242) < 1e-6 && Math.abs(high - 0.20332) < 1e-6)
    const same = differenceOf(Array(10).fill(0))
    assert.ok(same.low < 0 && same.high > 0 && same.low === -same.high)
    assert.deepEqual(differenceOf([]).mean, 0)
  })

  test('charts and pages are well-formed for any name of a model', () => {
    const named = ['a]]><b>&"', 'x'.repeat(40), 'c', 'd', 'e', 'f']
    const bar = { part: 0.5, low: 0.2, high: 0.8, said: '50 % of 4' }
    const groups = [
      { label: 'all \u0007 <tasks>', bars: [...named.slice(1).map(() => bar), undefined] },
    ]
    const chart = chartOf('Solved by ]]>\u0000 & "it"', named, groups)
    assert.doesNotMatch(chart, /\]\]>|\p{Cc}(?<!\n)|<b>/u)
    assert.equal(chart.match(/<text /g)?.length, chart.match(/<\/text>/g)?.length)
    const [, width] = /width="(\d+)"/.exec(chart) ?? []
    const lefts = [...chart.matchAll(/<rect x="(\d+)"/g)].map(([, left]) => Number(left))
    assert.ok(lefts.length >= named.length && Math.max(...lefts) < Number(width) - 100)
    const empty = { ...HOW, model: '<b>|`x`', tasks: [], attempts: [] }
    const page = pageOf(empty, figuresOf(empty))
    assert.match(page, /^# Ways to edit: &#60;b&#62;&#124;&#96;x&#96;\n/)
    assert.doesNotMatch(page, /NaN|undefined|Infinity/)
  })

  test('prices are numbers, and no cost is negative', () =>
    withMess({}, (dir) => {
      const prices = join(dir, 'prices.json')
      const priced = (/** @type {unknown} */ table) => {
        writeFileSync(prices, JSON.stringify(table))
        const { values } = argumentsOf(['--prices', prices])
        return priceOf(values, 'm')
      }
      assert.deepEqual(priced({ m: { input: 1, output: 0 } }), { input: 1, output: 0 })
      for (const table of [null, [], {}, { m: 7 }, { m: { input: 1 } }]) {
        assert.throws(() => priced(table), /has no "input" and "output" for m/)
      }
      for (const wrong of [{ input: -1 }, { cache_read: 'free' }, { output: '1' }]) {
        assert.throws(
          () => priced({ m: { input: 1, output: 1, ...wrong } }),
          /is not a number of at least 0/,
        )
      }
      assert.throws(() => priceOf(argumentsOf(['--prices', `${dir}0`]).values, 'm'), /no file/)
    }))

  test('runs of one task count once, and only in pairs', () => {
    const row = {
      ending: /** @type {const} */ ('done'),
      first: false,
      touched: false,
      wrong: false,
      estimated: 0,
      byAnchor: 0,
      byText: 0,
      rounds: 2,
      refusals: 0,
      input: 10,
      output: 1,
      cacheRead: 4,
      cacheWrite: 0,
      seconds: 1,
    }
    const of = (
      /** @type {string} */ task,
      /** @type {string} */ scheme,
      /** @type {number} */ run,
      /** @type {boolean} */ solved,
    ) => ({ ...row, task, scheme, run, solved })
    const attempts = [
      of('1', 'a', 1, true),
      of('1', 'a', 2, true),
      of('1', 'b', 1, false),
      of('1', 'b', 2, false),
      of('2', 'a', 1, true),
      of('2', 'a', 2, false),
      of('2', 'b', 1, false),
      of('2', 'b', 2, true),
      of('3', 'a', 1, true),
    ]
    const task = (/** @type {string} */ id) => ({
      id,
      language: 'C',
      kind: 'k',
      size: 's',
      moving: false,
      near: false,
    })
    const result = {
      ...HOW,
      tasks: ['1', '2', '3'].map(task),
      attempts,
    }
    const figures = figuresOf(result, { input: 2, output: 10, cache_read: 0.5 })
    const { comparisons, schemes, leftOut } = figures
    const [{ difference, ...counts }] = comparisons
    assert.deepEqual(counts, { one: 'a', other: 'b', tasks: 2, moreOne: 1, moreOther: 0, p: 1 })
    assert.equal(difference.mean, 0.5)
    // A task without an attempt of b is dropped for all.
    assert.deepEqual([schemes[0].solved, schemes[0].attempts, leftOut], [3, 4, 1])
    assert.ok(Math.abs((schemes[0].cost ?? 0) - (6 * 2 + 4 * 0.5 + 10) / 1e6) < 1e-12)
    const page = pageOf(result, figuresOf(result))
    assert.match(page, /\| a and b \| 2 \| 1 \| 0 \| \+50\.0 \(.* to .*\) \| 1\.0000 \|/)
    assert.match(page, /2 own tasks, up to 2 times each, .*; 1 others are left out\./)
  })
})

describe('tasks', () => {
  const hasGit = spawnSync('git', ['--version']).error === undefined
  const SOURCE = `import { first } from 'somewhere'

function checked(value, limit) {
  const total = added(value, limit)
  report(total, limit)
  if (total <= limit && value !== limit) {
    return total
  }
  return undefined
}

function added(one, two) {
  const remainder = one + two
  return remainder
}
`.split('\n')

  test('are created from commits with one hunk, too', { skip: !hasGit || isEmulated }, () =>
    withMess({}, async (dir) => {
      const git = (/** @type {string[]} */ ...args) => {
        const settings = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.autocrlf=false']
        assert.equal(spawnSync('git', ['-C', dir, ...settings, ...args]).status, 0)
      }
      git('init', '-q')
      const lines = Array.from({ length: 40 }, (_, at) => `const value${at} = first(${at}, other)`)
      for (let at = 0; at < 12; at++) {
        lines[3 * at] = `const changed${at} = first(${at}, other)`
        writeFileSync(join(dir, 'a.js'), `${lines.join('\n')}\n`)
        git('add', '.')
        git('commit', '-q', '-m', `change ${at}`)
      }
      const about = { repository: dir, count: 6, seed: '1', commits: 100, isWanted: () => true }
      const made = await tasksOfRepository(about)
      assert.equal(made.length, 6)
      assert.ok(new Set(made.map(({ kind }) => kind)).size > 1)
    }),
  )

  test('a mistake of each kind is inserted, and the instruction says how to fix it', () => {
    const made = (/** @type {string} */ kind, /** @type {number} */ seed) => {
      const change = mutatedChange('a.js', SOURCE, kind, randomFrom(seed, 'sample'))
      assert.ok(change, kind)
      assert.notDeepEqual(change.before, SOURCE)
      assert.deepEqual(change.wanted, SOURCE)
      return change.words
    }
    assert.match(
      made('flipped condition', 1),
      /^Line 6 is `if \(.*`\. Its condition is wrong: `.*` must be `.*` there\.$/,
    )
    assert.match(
      made('dropped line', 1),
      /^A line is missing after line \d+, which is `.*`\. Insert this line there, with its indentation:\n```\n {2}.*\n```$/,
    )
    assert.match(
      made('renamed word', 1),
      /^Rename `old\w+` to `\w+` wherever it stands as a whole word, .*: on the lines \d+, \d+/,
    )
    assert.match(
      made('swapped blocks', 1),
      /^Two blocks of lines are in the wrong order: lines 3 to 6, from `function added\(one, two\) \{` to `\}`, and lines 8 to 15/,
    )
    assert.match(
      made('swapped arguments', 1),
      /^Line \d is `.*`\. The arguments of the call `(added\(limit, value\)|report\(limit, total\))` are in the wrong order/,
    )
  })

  test('a mistake is in code, not in comments', () => {
    const prose = [
      'first = load(one, two)  # a call (not, this) if a and b',
      '"""Says if this and that,',
      'and when one == two or not.',
      'call(first, second)"""',
      '# if one == two and three',
      '/* if one == two',
      '   return one == two && call(one, two) */',
      'log("if this and that are")',
      'x = 1 // when a == b',
    ]
    const list = mutatedChange(
      'a.ts',
      ['union([one, two])'],
      'swapped arguments',
      randomFrom(1, 'p'),
    )
    assert.equal(list, undefined)
    for (let seed = 0; seed < 20; seed++) {
      const flip = mutatedChange('a.py', prose, 'flipped condition', randomFrom(seed, 'p'))
      assert.equal(flip, undefined, flip?.words)
      const swap = mutatedChange('a.py', prose, 'swapped arguments', randomFrom(seed, 'p'))
      assert.match(swap?.words ?? '', /`load\(two, one\)`/)
      const dropped = mutatedChange('a.py', prose, 'dropped line', randomFrom(seed, 'p'))
      assert.equal(dropped, undefined, dropped?.words)
    }
  })

  test('changes of others are near a fraction of the edits, and never in them', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `const value${at} = ${at}`)
    const edit = { first: 30, last: 30, lines: ['const other = 0'] }
    const wanted = [...lines.slice(0, 29), ...edit.lines, ...lines.slice(30)]
    const change = { path: 'a.js', before: lines, edits: [edit], wanted, words: '' }
    const seen = { near: 0, far: 0 }
    for (let seed = 0; seed < 60; seed++) {
      const moved = movingChange(change, randomFrom(seed, 'moving'))
      assert.ok(moved?.changed)
      const at = moved.changed.findIndex((line, index) => line !== lines[index])
      const distance = at < 29 ? 29 - at : at - 30
      assert.ok(distance > 0 && (moved.near ? distance <= 3 : distance >= 6), `${seed}: ${at}`)
      assert.equal(moved.wanted.filter((line) => line === 'const other = 0').length, 1)
      seen[moved.near ? 'near' : 'far']++
    }
    assert.ok(seen.near >= 10 && seen.far >= 30, JSON.stringify(seen))
  })

  test('the fixed set has 300 tasks in ten languages, and a balanced beginning', () => {
    const set = fixedSet()
    assert.equal(set.length, 300)
    assert.equal(new Set(set.map(({ task }) => task)).size, 300)
    const languages = (/** @type {typeof set} */ of) =>
      new Set(of.map(({ file }) => languageOf(file)))
    assert.equal(languages(set).size, 10)
    assert.equal(languages(set.slice(0, 10)).size, 10)
    const both = set.slice(0, 50).map(({ file, kind }) => `${languageOf(file)} ${kind}`)
    assert.equal(new Set(both).size, 50)
    assert.deepEqual(
      [...new Set(set.map(({ kind }) => kind))].sort(),
      Object.keys(MUTATIONS).sort(),
    )
    const moving = set.filter(({ moving }) => moving).length
    assert.ok(moving >= 60 && moving <= 90, `${moving}`)
    for (const { package: name, sha256 } of set) {
      assert.ok(['npm', 'crates', 'pypi'].includes(packageNamed(name).registry))
      assert.match(sha256, /^[0-9a-f]{64}$/)
    }
    assert.throws(() => amongLanguages('Rust,Klingon'), /"Klingon": expected some of .*Rust/)
  })

  test('tasks are created from the commits of a repository', { skip: !hasGit || isEmulated }, () =>
    withMess({}, async (dir) => {
      const git = (/** @type {string[]} */ ...args) => {
        const settings = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.autocrlf=false']
        const { status, stderr } = spawnSync('git', ['-C', dir, ...settings, ...args], {
          encoding: 'utf8',
        })
        assert.equal(status, 0, stderr)
      }
      git('init', '-q')
      const pairs = [...generatedPairs(randomFrom('repository', 'pairs'), 12)]
      for (const state of /** @type {const} */ (['old', 'new'])) {
        for (const [at, pair] of pairs.entries()) {
          mkdirSync(join(dir, 'src'), { recursive: true })
          writeFileSync(join(dir, `src/${at}.js`), `${pair[state].lines.join('\n')}\n`)
          if (state === 'new' && at % 2 === 1) {
            git('add', '.')
            git('commit', '-q', '-m', `change ${at}`)
          }
        }
        git('add', '.')
        git('commit', '-q', '--allow-empty', '-m', state)
      }
      const about = { repository: dir, count: 12, seed: '1', commits: 100, isWanted: () => true }
      const made = await tasksOfRepository(about)
      assert.deepEqual(made, await tasksOfRepository(about))
      const path = join(dir, 'tasks.jsonl')
      const said = await quietly(['tasks', dir, dir, dir, '--count', '5', '--out', path])
      assert.match(said, /^5 tasks: /)
      assert.equal(readTasks(path).length, 5)
      await assert.rejects(quietly(['tasks', '--out', path]), /name a git repository/)
      // The user's settings for diffs do not matter.
      git('config', 'diff.noprefix', 'true')
      git('config', 'diff.interHunkContext', '99')
      git('config', 'diff.relative', 'true')
      assert.deepEqual(made, await tasksOfRepository(about))
      const kinds = made.map(({ kind }) => kind)
      assert.ok(kinds.includes(HUNK) && kinds.includes('hunks in two files'), kinds.join(', '))
      assert.ok(made.some(isMoving))
      const unique = [...new Map(made.map((task) => [task.instruction, task])).values()]
      const file = join(dir, 'tasks.jsonl')
      writeFileSync(file, unique.map((task) => `${JSON.stringify(task)}\n`).join(''))
      await withPlayer(unique, {}, async ({ url, played }) => {
        const args = ['--model', 'm', '--base-url', `${url}/v1`, '--out', join(dir, 'out')]
        await quietly([...args, '--task-file', file])
        checkEntries(readRun(join(dir, 'out')).entries, unique, played)
      })
    }),
  )
})

describe('packages of registries', { skip: process.platform === 'win32' || isEmulated }, () => {
  /** Fakes of the clients of the registries. @type {Record<string, string>} */
  const CLIENTS = {
    npm: 'mkdir package; echo "npm $2" > package/a.js; tar -czf a.tgz package',
    python3:
      'case "$2" in pip) : > a.whl;; zipfile) mkdir files; echo "pip $4" > files/a.py;; esac',
    cargo: `mkdir src; echo cargo > src/a.rs
printf '{"packages":[{"name":"a","version":"1.0.0+x","manifest_path":"%s/src/Cargo.toml"}]}' "$PWD"`,
  }

  /** @param {Record<string, string>} clients @param {(cache: string) => void} work */
  const withClients = (clients, work) =>
    withMess({}, (dir) => {
      const [bin, cache] = [join(dir, 'bin'), join(dir, 'cache')]
      mkdirSync(bin)
      for (const [name, script] of Object.entries(clients)) {
        writeFileSync(join(bin, name), `#!/bin/sh\nset -e\n${script}\n`, { mode: 0o755 })
      }
      const before = process.env.PATH
      process.env.PATH = `${bin}:/usr/bin:/bin`
      try {
        work(cache)
      } finally {
        process.env.PATH = before
      }
    })
  const named = (/** @type {string} */ registry) => ({ registry, name: 'a', version: '1.0.0' })

  test('are downloaded once, completely or not at all', async () => {
    const found = { npm: ['a.js', 'npm a@1.0.0\n'], pypi: ['a.py'], crates: ['a.rs', 'cargo\n'] }
    await withClients(CLIENTS, (cache) => {
      for (const [registry, [file, text]] of Object.entries(found)) {
        const { pid } = spawnSync(process.execPath, ['-e', ''])
        mkdirSync(join(cache, registry, `a-1.0.0.${pid}`), { recursive: true })
        const dir = packageDir(named(registry), cache)
        const got = readFileSync(join(dir, file), 'utf8')
        assert.ok(text === undefined || got === text, got)
        writeFileSync(join(dir, 'mark'), '')
        assert.equal(packageDir(named(registry), cache), dir)
        assert.ok(existsSync(join(dir, 'mark')))
        assert.deepEqual(readdirSync(join(cache, registry)), ['a-1.0.0'])
      }
      const other = named('constructor')
      assert.throws(() => packageDir(other, cache), /there is no registry constructor/)
    })
    const failing = 'echo why >&2; exit 1'
    await withClients(
      { npm: failing, python3: 'exit 0', cargo: 'echo "{\\"packages\\":[]}"' },
      (cache) => {
        for (const [registry, why] of /** @type {const} */ ([
          ['npm', /^npm pack a@1\.0\.0: why$/],
          ['pypi', /pip downloaded nothing for a/],
          ['crates', /cargo fetched nothing for a/],
        ])) {
          assert.throws(
            () => packageDir(named(registry), cache),
            (error) => {
              assert.ok(error instanceof Unavailable)
              assert.match(error.message, why)
              return true
            },
          )
          assert.deepEqual(readdirSync(join(cache, registry)), [])
        }
      },
    )
  })

  test('that are missing drop their tasks, and changed ones are reported', () =>
    withClients({ npm: 'exit 1', python3: 'exit 1', cargo: 'exit 1' }, (cache) => {
      const fetched = /** @type {string[]} */ ([])
      const onFetch = (/** @type {string} */ name) => fetched.push(name)
      const isWanted = (/** @type {string} */ language) => language === 'Go'
      const { tasks, missing } = fixedTasks({ count: 3, isWanted, cache, onFetch })
      assert.deepEqual([tasks, missing.length, fetched.length], [[], 1, 1])
      const [one] = fixedSet().filter(({ package: name }) => name.startsWith('npm:rxjs'))
      const dir = join(cache, 'npm', 'rxjs-7.8.0')
      mkdirSync(join(dir, one.file, '..'), { recursive: true })
      assert.throws(() => fixedTask(one, cache), /is not the file that it must be: remove .*rxjs/)
      writeFileSync(join(dir, one.file), 'const other = 1\n')
      assert.throws(() => fixedTask(one, cache), /is not the file that it must be/)
    }))
})

describe('the package', () => {
  test('loads no project in the place of a clone', () =>
    withMess({}, async (dir) => {
      const inside = join(dir, 'node_modules', 'hashline-bench')
      mkdirSync(inside, { recursive: true })
      writeFileSync(join(dir, 'package.json'), '{"name":"of-the-user"}')
      writeFileSync(join(dir, 'index.js'), 'globalThis.isLoaded = true')
      for (const name of ['engine.mjs', 'json.mjs', 'package.json']) {
        writeFileSync(join(inside, name), readFileSync(join(folder, name)))
      }
      const { loadEngine } = await import(pathToFileURL(join(inside, 'engine.mjs')).href)
      assert.throws(() => loadEngine(), /the package hashline-native cannot be loaded/)
      assert.equal(Reflect.get(globalThis, 'isLoaded'), undefined)
    }))

  test('requires the engine of its own version, and the Node that its options need', () => {
    const root = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    const { version, dependencies, engines } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    assert.deepEqual([version, dependencies['hashline-native']], [root.version, root.version])
    assert.equal(engines.node, '>=18.11')
  })

  const folder = fileURLToPath(new URL('../bench/edit/', import.meta.url))
  const { files, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

  test('has all files that its modules import', () => {
    const published = filesIn(folder, files)
    assert.ok(published.includes(bin['hashline-bench']))
    for (const file of published.filter((name) => name.endsWith('.mjs'))) {
      const source = readFileSync(join(folder, file), 'utf8')
      for (const [, from] of source.matchAll(/^(?:import|\} from) .*?'(\.[^']+)'$/gm)) {
        const target = posix.join(posix.dirname(file), from)
        assert.ok(published.includes(target), `${file} imports ${from}`)
      }
    }
  })

  /** @param {string} dir @param {string[]} names @returns {string[]} with `/` between their parts */
  function filesIn(dir, names) {
    return names.flatMap((name) =>
      statSync(join(dir, name)).isDirectory()
        ? filesIn(join(dir, name), readdirSync(join(dir, name))).map((file) => `${name}/${file}`)
        : [name],
    )
  }
})

describe('submitted results', () => {
  const folder = fileURLToPath(new URL('../bench/edit/results/', import.meta.url))

  /**
   * The allowed fields, with patterns for their values.
   * @type {Record<string, Record<string, RegExp>>}
   */
  const FIELDS = {
    tasks: {
      id: /^[0-9a-f]{12}$/,
      language: /^[\w+#]{1,12}$/,
      kind: /^[a-z ]{4,24}$/,
      size: /^(?:under 300|300 to 999|1,000) lines(?: and more)?$/,
      moving: /^(?:true|false)$/,
      near: /^(?:true|false)$/,
    },
    attempts: {
      task: /^[0-9a-f]{12}$/,
      scheme: /^[\w-]{1,24}$/,
      run: /^\d+$/,
      ending: /^(?:done|cut|rounds|refused)$/,
      ...Object.fromEntries(
        ['solved', 'first', 'touched', 'wrong'].map((name) => [name, /^(?:true|false)$/]),
      ),
      ...Object.fromEntries(
        [
          ...['rounds', 'refusals', 'byAnchor', 'byText', 'input', 'output'],
          ...['cacheRead', 'cacheWrite', 'estimated', 'seconds'],
        ].map((name) => [name, /^[\d.]+$/]),
      ),
    },
  }

  /** @param {any} result */
  function checkResult(result) {
    assert.deepEqual(Object.keys(result), [
      ...['format', 'model', 'api', 'bench', 'engine', 'limit', 'extra', 'set', 'started', 'told'],
      ...['tasks', 'attempts'],
    ])
    for (const [list, fields] of Object.entries(FIELDS)) {
      for (const row of result[list]) {
        assert.deepEqual(Object.keys(row).sort(), Object.keys(fields).sort())
        for (const [name, value] of Object.entries(row))
          assert.match(`${value}`, fields[name], name)
      }
    }
    assert.doesNotMatch(pageOf(result, figuresOf(result)), /NaN|undefined/)
  }

  test('have only figures, without texts', async () => {
    for (const name of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const result = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      checkResult(result)
    }
    await withPlayer(few, {}, (player) =>
      withMess({}, async (dir) => {
        const prices = join(dir, 'prices.json')
        writeFileSync(prices, '{"scripted":{"input":3,"output":15}}')
        await quietly(bench(dir, player, few, '--schemes', 'exact', '--prices', prices))
        const page = readFileSync(join(dir, 'run', 'report.md'), 'utf8')
        assert.match(page, /which the model reads in each turn: exact: [34]\.\d KB\.\n/)
        assert.match(page, /\| tokens written \| cost \| seconds \|/)
        const [{ cost }] = figuresOf(resultOf(readRun(join(dir, 'run'))), {
          input: 3,
          output: 15,
        }).schemes
        assert.ok(page.includes(`$${cost?.toFixed(4)} |`))
        await quietly(['report', join(dir, 'run')])
        assert.doesNotMatch(readFileSync(join(dir, 'run', 'report.md'), 'utf8'), /\| cost \|/)
        await quietly(['report', join(dir, 'run'), '--prices', prices])
        assert.equal(readFileSync(join(dir, 'run', 'report.md'), 'utf8'), page)
        for (const chart of ['solved', 'languages']) {
          const svg = readFileSync(join(dir, 'run', `${chart}.svg`), 'utf8')
          assert.match(svg, /^<svg [^>]*>\n[\s\S]*% of 4<\/text>[\s\S]*<\/svg>\n$/)
        }
        const out = join(dir, 'result.json')
        await quietly(['export', join(dir, 'run'), '--out', out])
        const text = readFileSync(out, 'utf8')
        assert.deepEqual(JSON.parse(text), resultOf(readRun(join(dir, 'run'))))
        checkResult(JSON.parse(text))
        for (const { instruction, files } of tasks) {
          assert.ok(!text.includes(instruction) && !text.includes(files[0].path))
        }
      }),
    )
  })
})
