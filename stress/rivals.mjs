// Processes that edit the same files concurrently with applyHash and share a state directory. At
// the end every edit is present exactly once, and no other files are left. `node stress/rivals.mjs
// [--processes 8] [--edits 250] [--powered 25] [--lanes 2]`
//
//   one file   each edit inserts a line of its own at the end of the one file, or changes the
//              line of the edit before by the anchor that it has just read
//   12 files   each edit is a patch of 2 to 5 files drawn at random: in each it inserts a line
//              of its own at the end; half of the patches change an earlier line, too
//
// Both with durability "process"; then, with fewer edits, with "power". Each process has one call
// per lane in progress, so threads compete as well. After a refusal the edit is tried again.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { applyHash, readHashed } from 'hashline-native'
import { between, counts, leftovers, startChild, Tally, withDirs } from './attack.mjs'

/** @import { Operation } from 'hashline-native' */
/**
 * @typedef {object} Work the work of one process
 * @property {'one file' | '12 files'} task
 * @property {string} dir
 * @property {string} stateDir
 * @property {number} rival
 * @property {number} edits
 * @property {number} lanes
 * @property {'power' | 'process'} durability
 */
/**
 * @typedef {object} Done the result of a process
 * @property {Record<string, string[]>} lines the expected lines, by file
 * @property {Record<string, number>} refusals by code
 * @property {number} applied
 * @property {number} slowestMs
 */

const FILES = 12
/** An edit with this number of refusals will never succeed. */
const TOO_MANY = 1000

const { values } = parseArgs({
  options: {
    role: { type: 'string', default: 'parent' },
    work: { type: 'string', default: '{}' },
    processes: { type: 'string', default: '8' },
    edits: { type: 'string', default: '250' },
    powered: { type: 'string', default: '25' },
    lanes: { type: 'string', default: '2' },
  },
})

if (values.role === 'rival') console.log(JSON.stringify(await rival(JSON.parse(values.work))))
else await supervise()

async function supervise() {
  const { processes, edits, powered, lanes } = counts({
    processes: values.processes,
    edits: values.edits,
    powered: values.powered,
    lanes: values.lanes,
  })
  for (const durability of /** @type {const} */ (['process', 'power'])) {
    const each = durability === 'power' ? powered : edits
    for (const task of /** @type {const} */ (['one file', '12 files'])) {
      const problems = await compete({ task, edits: each, lanes, durability }, processes)
      for (const problem of problems.slice(0, 20)) console.error(`FAILED: ${problem}`)
      if (problems.length > 0) process.exitCode = 1
    }
  }
  if (process.exitCode === undefined) {
    console.log('ok: every edit is present exactly once, and no other files are left')
  }
}

/**
 * Runs one task in all processes, prints its counters and returns the problems.
 * @param {Pick<Work, 'task' | 'edits' | 'lanes' | 'durability'>} work
 * @param {number} processes
 */
function compete(work, processes) {
  return withDirs(async (dir, stateDir) => {
    const names = work.task === 'one file' ? ['file.txt'] : fileNames()
    for (const name of names) writeFileSync(join(dir, name), 'the first line\n')
    const start = performance.now()
    const script = fileURLToPath(import.meta.url)
    const rivals = Array.from({ length: processes }, (_, rival) =>
      startChild(script, 'rival', { ...work, dir, stateDir, rival }),
    )
    /** @type {Done[]} */
    const done = await Promise.all(rivals.map(({ result }) => result))
    const seconds = (performance.now() - start) / 1000
    const refusals = new Tally()
    for (const one of done) refusals.addAll(one.refusals)
    const applied = done.reduce((sum, one) => sum + one.applied, 0)
    const slowest = Math.max(...done.map((one) => one.slowestMs))
    console.log(
      `${work.task}, durability ${work.durability}, ${processes} processes × ${work.edits} edits: ` +
        `${applied} applied, refused: ${refusals}, ${seconds.toFixed(1)} s, ` +
        `longest call ${(slowest / 1000).toFixed(2)} s`,
    )
    const problems = names.flatMap((name) => {
      const expected = done.flatMap((one) => one.lines[name] ?? [])
      return differences(name, readFileSync(join(dir, name), 'utf8'), expected)
    })
    if (applied !== processes * work.edits) problems.push(`${applied} edits were applied`)
    const others = readdirSync(dir).filter((name) => !names.includes(name))
    problems.push(...[...others, ...leftovers(dir, stateDir)].map((name) => `left: ${name}`))
    return problems
  })
}

/**
 * The missing, duplicate and unexpected lines of a file.
 * @param {string} name
 * @param {string} content
 * @param {string[]} expected
 */
function differences(name, content, expected) {
  const there = new Tally()
  for (const line of content.split('\n').slice(0, -1)) there.add(line)
  const problems = []
  for (const line of ['the first line', ...expected]) {
    if (there.get(line) !== 1) problems.push(`${name} has "${line}" ${there.get(line)} times`)
    there.add(line, -1)
  }
  const unknown = Object.entries(there.toJSON()).filter(([, count]) => count > 0)
  return [
    ...problems,
    ...unknown.map(([line]) => `${name} has "${line}", which is not the last version of any edit`),
  ]
}

function fileNames() {
  return Array.from({ length: FILES }, (_, at) => `file-${at}.txt`)
}

/**
 * @param {Work} work
 * @returns {Promise<Done>}
 */
async function rival(work) {
  const { edits, lanes } = work
  /** @type {Done} */
  const done = { lines: {}, refusals: {}, applied: 0, slowestMs: 0 }
  let next = 0
  const lane = async (/** @type {number} */ number) => {
    /** The lines of this lane that may be changed, by file. @type {Map<string, string>} */
    const own = new Map()
    while (next < edits) await edit(work, `p${work.rival} l${number} e${next++}`, own, done)
  }
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))
  return done
}

/**
 * Makes one edit, and repeats it after refusals.
 * @param {Work} work
 * @param {string} id
 * @param {Map<string, string>} own
 * @param {Done} done
 */
async function edit(work, id, own, done) {
  const { dir, stateDir, durability } = work
  const names = work.task === 'one file' ? ['file.txt'] : draw(fileNames(), between(2, 5))
  const changed = names.find((name) => own.has(name) && Math.random() < 0.5)
  const inserted = names.filter((name) => work.task === '12 files' || name !== changed)
  for (let tries = 0; ; tries++) {
    if (tries > TOO_MANY)
      throw new Error(`${id} is always refused: ${JSON.stringify(done.refusals)}`)
    /** @type {Operation[]} */
    const operations = inserted.map((path) => ({
      op: 'insert_after',
      path,
      anchor: 'EOF',
      text: `${id} inserted`,
    }))
    if (changed) {
      const search = own.get(changed) ?? ''
      const [view] = await readHashed({ path: changed, search }, { root: dir })
      const anchor = view.text.split('\n').find((row) => row.endsWith(`|${search}`))
      if (!anchor) throw new Error(`${changed}: "${search}" is gone: ${view.text}`)
      operations.push({ op: 'set_line', path: changed, anchor, text: `${id} changed` })
    }
    const start = performance.now()
    const outcome = await applyHash({ operations }, { root: dir, stateDir, durability })
    done.slowestMs = Math.max(done.slowestMs, performance.now() - start)
    if (outcome.status === 'applied') break
    done.refusals[outcome.code] = (done.refusals[outcome.code] ?? 0) + 1
  }
  done.applied++
  if (changed) {
    const lines = done.lines[changed]
    lines.splice(lines.indexOf(own.get(changed) ?? ''), 1, `${id} changed`)
    own.set(changed, `${id} changed`)
  }
  for (const name of inserted) {
    done.lines[name] ??= []
    done.lines[name].push(`${id} inserted`)
    if (name !== changed) own.set(name, `${id} inserted`)
  }
}

/**
 * A random subset of the items, in random order.
 * @template T
 * @param {T[]} items
 * @param {number} count
 */
function draw(items, count) {
  const rest = [...items]
  return Array.from({ length: count }, () => rest.splice(between(0, rest.length - 1), 1)[0])
}
