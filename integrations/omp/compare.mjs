// `npm run bench -- compare:omp`: the same tasks in oh-my-pi with the extension and with its own
// tools, by a scripted model: rounds and tokens, and the files on disk after a crash, after edits
// by another process, and on a full disk. Needs Linux and root, for a small disk.
//
// --kills N  the number of crashes for each: 10
//   --write    writes integrations/omp/report.md

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPackages } from '../../scripts/packages.mjs'
import { AGENT, OWN_FLAGS, withAgent } from './agentStage.mjs'
import { HANDS } from './hands.mjs'
import { described, pageOf } from './page.mjs'

/** @import { Answer, Turn } from '../../scripts/modelServer.mjs' */
/** @import { Change, Hands, Known } from './hands.mjs' */

/**
 * The result of a task with one set of tools.
 * @typedef {object} Outcome
 * @property {number} rounds requests to the model
 * @property {number} sent tokens of all requests
 * @property {number} prompt tokens of the system prompt and the tools
 * @property {number} shown tokens of the results
 * @property {number} written tokens that the model wrote
 * @property {number} refusals
 * @property {string} left the state on disk
 *
 * @typedef {object} Task
 * @property {string} name
 * @property {Change[]} changes
 * @property {(cwd: string) => void} [rival] runs between the read and the edit
 * @property {boolean} [isBlind] whether the first edit is made without a read
 * @property {(cwd: string) => string} left describes the state on disk
 */

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
})
const folder = fileURLToPath(new URL('.', import.meta.url))
const packages = fileURLToPath(new URL('../../bench/tokens/packages', import.meta.url))
const lacking = installPackages(packages)
if (lacking !== undefined) throw new Error(lacking)
const { countTokens } = await import(
  `${packages}/node_modules/gpt-tokenizer/esm/encoding/o200k_base.js`
)

/** How many lines around a change are read. */
const AROUND = 10

const lineOf = (/** @type {number} */ at) => `const value${at} = compute(${at})`
const sourceOf = (/** @type {number} */ lines) =>
  Array.from({ length: lines }, (_, at) => `${lineOf(at + 1)}\n`).join('')

/** @param {string} path @param {number} line @returns {Change} */
const change = (path, line) => ({
  path,
  line,
  text: lineOf(line),
  newText: `const value${line} = compute(${line}, { exact: true })`,
})

const FIVE = ['a.js', 'b.js', 'c.js', 'd.js', 'e.js']
const LINES = 400

/**
 * Counts the files that are unchanged, changed as requested, or neither.
 * @param {string} cwd
 * @param {string} before
 * @param {string} after
 */
function statesOf(cwd, before, after) {
  const texts = FIVE.map((name) => readFileSync(join(cwd, name), 'utf8'))
  const count = (/** @type {(text: string) => boolean} */ is) => texts.filter(is).length
  return {
    old: count((text) => text === before),
    changed: count((text) => text === after),
    torn: count((text) => text !== before && text !== after),
  }
}

/**
 * @typedef {ReturnType<typeof statesOf>} States
 * @typedef {{ atOnce: States, later: States }} Crash
 * @typedef {{ states: States, answer: string }} Disk
 * @typedef {'extension' | 'own'} Kind
 *
 * @typedef {object} Result
 * @property {string} agent its version
 * @property {({ name: string } & Record<Kind, Outcome>)[]} tasks
 * @property {Record<Kind, Crash[]>} crashes
 * @property {Record<Kind, Disk>} disks
 */

/** @param {string} path @param {(text: string) => string} edit */
const rewrite = (path, edit) => writeFileSync(path, edit(readFileSync(path, 'utf8')))

/** Which of two changes are on disk: the model's and the other process's. */
const leftOf = (/** @type {string} */ cwd, /** @type {string} */ rivals) => {
  const text = readFileSync(join(cwd, 'a.js'), 'utf8')
  const model = text.includes('exact: true')
  return [model && "the model's line", text.includes(rivals) && "the other's"]
    .filter(Boolean)
    .join(' and ')
}

const edited = sourceOf(LINES).replace(lineOf(200), change('', 200).newText)

/** @type {Task[]} */
const TASKS = [
  {
    name: 'change a line',
    changes: [change('a.js', 200)],
    left: (cwd) => leftOf(cwd, 'nothing'),
  },
  {
    name: 'change a line in each of five files',
    changes: FIVE.map((path) => change(path, 200)),
    left: (cwd) => described(statesOf(cwd, sourceOf(LINES), edited)),
  },
  {
    name: 'another process adds lines above after the read',
    changes: [change('a.js', 200)],
    rival: (cwd) => rewrite(join(cwd, 'a.js'), (text) => `// rival\n// rival\n${text}`),
    left: (cwd) => leftOf(cwd, '// rival'),
  },
  {
    name: 'another process changes an adjacent line',
    changes: [change('a.js', 200)],
    rival: (cwd) => rewrite(join(cwd, 'a.js'), (text) => text.replace(lineOf(201), '// rival')),
    left: (cwd) => leftOf(cwd, '// rival'),
  },
  {
    name: 'another process changes that line',
    changes: [change('a.js', 200)],
    rival: (cwd) =>
      rewrite(join(cwd, 'a.js'), (text) => text.replace(lineOf(200), `${lineOf(200)} // rival`)),
    left: (cwd) => leftOf(cwd, '// rival'),
  },
  {
    name: 'a wrong anchor',
    changes: [change('a.js', 200)],
    isBlind: true,
    left: (cwd) => leftOf(cwd, 'nothing'),
  },
]

/**
 * A model that reads the lines it will change, changes them, and tries again after a refusal.
 * @param {Hands} hands
 * @param {Task} task
 * @param {() => string} cwd
 */
function modelOf(hands, { changes, rival, isBlind = false }, cwd) {
  /** @type {Known} */
  const known = new Map()
  /** @type {'none' | 'read' | 'edit'} */
  let asked = 'none'
  let wanted = changes
  const outcome = { refusals: 0 }

  const read = () => {
    asked = 'read'
    const calls = wanted.map(({ path, line }) =>
      hands.read(path, Math.max(1, line - AROUND), line + AROUND),
    )
    return { calls }
  }
  const edit = () => {
    asked = 'edit'
    return { calls: [hands.edit(wanted, known)] }
  }
  /** @param {Turn} turn @returns {Answer} */
  const step = ({ results }) => {
    if (asked === 'none') return isBlind ? edit() : read()
    if (asked === 'read') {
      learn(hands, known, wanted, results)
      wanted = wanted.map((one) => asShown(one, known))
      if (outcome.refusals === 0) rival?.(cwd())
      return edit()
    }
    if (!hands.isRefused(results[0])) return { text: 'Done.' }
    outcome.refusals++
    assert.ok(outcome.refusals < 4, results[0])
    known.clear()
    if (!hands.learnFromRefusal(results[0], known, wanted)) return read()
    wanted = wanted.map((one) => asShown(one, known))
    return edit()
  }
  return { step, outcome }
}

/**
 * Learns from the results of reads, which arrive in any order.
 * @param {Hands} hands
 * @param {Known} known
 * @param {Change[]} changes
 * @param {string[]} results
 */
function learn(hands, known, changes, results) {
  if (changes.length === 1) return hands.learn(known, changes[0].path, results[0])
  // The extension names no file if only one was read; all files have the same lines here.
  for (const result of results) {
    const [, named] = /^\[(.*)#\w{4}\]/.exec(result) ?? []
    for (const { path } of changes) {
      if (named === undefined || named === path) hands.learn(known, path, result)
    }
  }
}

/**
 * The change of a line that another process extended.
 * @param {Change} change
 * @param {Known} known
 */
function asShown(change, known) {
  const lines = [...(known.get(change.path)?.keys() ?? [])]
  const text = lines.find((line) => line.startsWith(change.text))
  if (text === undefined) return change
  return { ...change, text, newText: text.replace(change.text, change.newText) }
}

/** @param {any} content */
const textOf = (content) =>
  [content ?? '']
    .flat()
    .map((part) => (typeof part === 'string' ? part : (part.text ?? '')))
    .join('')

/** The tokens of a request's conversation. @param {any} body */
function tokensOf({ messages, tools }) {
  const sum = (/** @type {string[]} */ texts) =>
    texts.reduce((total, text) => total + countTokens(text), 0)
  const of = (/** @type {string} */ role) =>
    messages.filter((/** @type {any} */ one) => one.role === role)
  const texts = (/** @type {any[]} */ some) => some.map(({ content }) => textOf(content))
  const calls = of('assistant')
    .flatMap((/** @type {any} */ { tool_calls: made }) => made ?? [])
    .map((/** @type {any} */ { function: called }) => `${called.name} ${called.arguments}`)
  return {
    prompt: sum([...texts([...of('system'), ...of('developer')]), JSON.stringify(tools)]),
    shown: sum(texts(of('tool'))),
    written: sum(calls),
  }
}

/**
 * @param {Kind} kind
 * @param {Task} task
 * @returns {Promise<Outcome>}
 */
async function outcomeOf(kind, task) {
  let cwd = ''
  const { step, outcome } = modelOf(HANDS[kind], task, () => cwd)
  /** @type {Outcome | undefined} */
  let result
  await withAgent(
    filesOf(sourceOf(LINES)),
    step,
    async (stage) => {
      cwd = stage.cwd
      await stage.run('--no-session', 'Do it.')
      const requests = stage.turns.map(({ body }) => tokensOf(body))
      const rounds = requests.length
      const sent = requests.reduce((sum, one) => sum + one.prompt + one.shown + one.written, 0)
      result = { rounds, ...outcome, sent, ...requests[rounds - 1], left: task.left(cwd) }
    },
    flagsOf(kind),
  )
  assert.ok(result)
  return result
}

/** @param {string} text */
const filesOf = (text) => Object.fromEntries(FIVE.map((name) => [`work/${name}`, text]))

/** @param {Kind} kind */
const flagsOf = (kind) => (kind === 'own' ? () => OWN_FLAGS : undefined)

/** The number of lines of a file in a crash test; writing it takes a while. */
const LONG = 10_000
const MIDDLE = 5_000
/** By how much each kill is later than the one before. */
const STEP_MS = 0.2
/** The time in which the model's answer is sent. */
const FLUSHED_MS = 30
const GIVEN_UP_MS = 60_000

/**
 * Kills the agent some time after the first of five files of a patch has changed, and checks the
 * files; then starts it again for an edit of another file, and checks them again.
 * @param {Kind} kind
 * @param {number} afterMs
 */
async function crash(kind, afterMs) {
  const before = sourceOf(LONG)
  const changes = FIVE.map((path) => change(path, MIDDLE))
  const after = before.replace(lineOf(MIDDLE), changes[0].newText)
  let model = modelOf(HANDS[kind], { name: '', changes, left: () => '' }, () => '')
  let kill = () => {}
  /** @type {(turn: Turn) => Answer} */
  const step = (turn) => {
    const answer = model.step(turn)
    // While the answer is sent, the process does nothing but watch the files.
    if (answer.calls?.length === 1) setTimeout(kill, FLUSHED_MS)
    return answer
  }
  /** @type {Crash | undefined} */
  let result
  await withAgent(
    { ...filesOf(before), 'work/other.js': sourceOf(30) },
    step,
    async ({ cwd, command, env, run }) => {
      const paths = FIVE.map((name) => join(cwd, name))
      const args = [...command.slice(1), '--no-session', '--mode', 'json', '-p', 'Do it.']
      const child = spawn(command[0], args, { cwd, env, stdio: 'ignore' })
      kill = () => {
        waitForChange(paths)
        waitFor(afterMs)
        child.kill('SIGKILL')
      }
      await once(child, 'close')
      kill = () => {}
      const atOnce = statesOf(cwd, before, after)
      const next = [change('other.js', 20)]
      model = modelOf(HANDS[kind], { name: '', changes: next, left: () => '' }, () => '')
      await run('--no-session', 'Go on.')
      result = { atOnce, later: statesOf(cwd, before, after) }
    },
    flagsOf(kind),
  )
  assert.ok(result)
  return result
}

/** Busy-waits until one of some files was replaced or modified. */
function waitForChange(/** @type {string[]} */ paths) {
  const signs = () =>
    paths
      .map((path) => {
        const { ino, size, mtimeNs } = statSync(path, { bigint: true })
        return `${ino} ${size} ${mtimeNs}`
      })
      .join()
  const [first, end] = [signs(), performance.now() + GIVEN_UP_MS]
  while (signs() === first) assert.ok(performance.now() < end, 'no file was changed')
}

function waitFor(/** @type {number} */ ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** The size of a small disk, and by how much each file grows on it. */
const DISK_BYTES = 1_000_000
const GROWTH_CHARS = 100_000

/**
 * A patch of five files for which the disk has too little space.
 * @param {Kind} kind
 */
async function fullDisk(kind) {
  const before = sourceOf(4_000)
  const changes = FIVE.map((path) => ({
    ...change(path, 2_000),
    newText: `const value2000 = '${'x'.repeat(GROWTH_CHARS)}'`,
  }))
  const after = before.replace(lineOf(2_000), changes[0].newText)
  let disk = ''
  /** @type {string[]} */
  const answers = []
  const { step } = modelOf(HANDS[kind], { name: '', changes, left: () => '' }, () => '')
  /** @type {States | undefined} */
  let states
  await withAgent(
    {},
    (turn) => {
      const isEdit = turn.body.messages.at(-2)?.tool_calls?.length === 1
      if (!isEdit) return step(turn)
      answers.push(...turn.results.map((text) => text.replaceAll(disk, '.')))
      return { text: 'Done.' }
    },
    async ({ cwd, run }) => {
      disk = cwd
      const options = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', cwd]
      assert.equal(spawnSync('mount', options).status, 0, 'mounting a tmpfs needs root')
      try {
        for (const name of FIVE) writeFileSync(join(cwd, name), before)
        await run('--no-session', 'Do it.')
        states = statesOf(cwd, before, after)
      } finally {
        assert.equal(spawnSync('umount', [cwd]).status, 0)
      }
    },
    flagsOf(kind),
  )
  assert.ok(states)
  return { states, answer: answers.join('\n') }
}

/** @type {Result['tasks']} */
const tasks = []
for (const task of TASKS) {
  const extension = await outcomeOf('extension', task)
  tasks.push({ name: task.name, extension, own: await outcomeOf('own', task) })
  console.log(tasks.at(-1))
}
const disks = { extension: await fullDisk('extension'), own: await fullDisk('own') }
console.log(disks)
/** @type {Result['crashes']} */
const crashes = { extension: [], own: [] }
for (let kill = 0; kill < Number(values.kills); kill++) {
  for (const kind of /** @type {const} */ (['extension', 'own'])) {
    crashes[kind].push(await crash(kind, kill * STEP_MS))
    console.log(kind, crashes[kind].at(-1))
  }
}
const manifest = join(AGENT, 'node_modules/@oh-my-pi/pi-coding-agent/package.json')
const { version: agent } = JSON.parse(readFileSync(manifest, 'utf8'))
const page = pageOf({ agent, tasks, crashes, disks })
if (values.write) writeFileSync(join(folder, 'report.md'), page)
else console.log(page)
