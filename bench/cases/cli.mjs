// The program `hashline`, compared with other programs: every call is a process started by a shell,
// as people, scripts and agents start it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programPath } from '../../scripts/targets.mjs'
import { memoryDirWith } from '../corpora.mjs'
import { compare } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */
/** @import { Sample } from '../measure.mjs' */

const { platformName } = createRequire(import.meta.url)('../../js/platform.cjs')

const PROGRAM =
  process.env.HASHLINE_PROGRAM ??
  fileURLToPath(new URL(`../../${programPath(platformName())}`, import.meta.url))

/** A shell starts this number of programs in a row, so that its own start hardly counts. */
const STARTS = 20

const DOCUMENT_BYTES = 5_000_000

/** A pattern in few files, and one in most. */
const PATTERNS = { rare: 'getUnionOrIntersectionProperty', frequent: 'return' }

/** How many copies of the tree of 10,000 files make 300,000, and the space that they need. */
const MANY_COPIES = 30
const MANY_BYTES = 8 * 2 ** 30

/** @param {Bench} bench @returns {AsyncGenerator<Row>} */
export async function* cliRows(bench) {
  if (!existsSync(PROGRAM)) {
    throw new Error(`${PROGRAM} is not there: run cargo build --release -p hashline-cli`)
  }
  for (const rows of [starts, hook, read, search, searchMany, document]) yield* await rows(bench)
}

/** @returns {Promise<Row[]>} */
async function starts() {
  const samples = await eachOf({
    own: repeated('"$hashline" --version'),
    true: repeated('/bin/true'),
    node: repeated('node -e 0', 1),
  })
  const row = beside(samples, 'hashline --version')
  return [row('cli-start', 'true'), row('cli-start-node', 'node', 'node -e 0')]
}

/** @param {Bench} bench @returns {Promise<Row[]>} */
async function hook({ scratchDir }) {
  const event = join(scratchDir, 'event.json')
  const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {} }
  call.tool_input = { command: 'cd app && sed -n 1,40p src/main.ts | head; npm test 2>&1 | tail' }
  writeFileSync(event, JSON.stringify(call))
  const answer = run(`"$hashline" hook claude <'${event}'`)
  assert.match(answer, /"permissionDecision":"deny"/)
  const samples = await eachOf({
    own: repeated(`"$hashline" hook claude <'${event}'`),
    true: repeated(`/bin/true <'${event}'`),
    node: repeated(`node -e 0 <'${event}'`, 1),
  })
  const row = beside(samples, 'hashline hook')
  return [row('cli-hook', 'true'), row('cli-hook-node', 'node', 'node -e 0')]
}

/** @param {Bench} bench @returns {Promise<Row[]>} */
async function read({ corpora: { large } }) {
  const other = otherHashline()
  const commands = {
    own: `"$hashline" read '${large}'`,
    cat: `cat '${large}'`,
    node: `node -e "require('fs').readFileSync('${large}', 'utf8')"`,
    ...(other && { other: `'${other}' read '${large}'` }),
  }
  const samples = await eachOf(
    Object.fromEntries(Object.entries(commands).map(([name, one]) => [name, repeated(one, 1)])),
    60,
  )
  const row = beside(samples, 'hashline read')
  const note = other ? undefined : 'no other program called hashline is on the path'
  const memory = (/** @type {string} */ id, /** @type {string} */ peer) => ({
    id,
    own: 'hashline read',
    peer: /** @type {string} */ (peer === 'other' ? 'hashline of others' : 'the file'),
    values: {
      own: peakBytes(commands.own),
      peer: peer === 'other' ? peakBytes(String(commands.other)) : statSync(large).size,
    },
  })
  return [
    { ...row('cli-read', 'cat'), note },
    row('cli-read-node', 'node', 'fs.readFileSync, Node started'),
    memory('cli-read-memory', 'cat'),
    ...(other
      ? [
          row('cli-read-other', 'other', 'hashline of others'),
          memory('cli-read-other-memory', 'other'),
        ]
      : []),
  ]
}

/** @param {Bench} bench @returns {Promise<Row[]>} */
async function search({ corpora: { tree } }) {
  const rows = []
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    rows.push((await searchOf(`cli-search-${name}`, pattern, tree)).row)
  }
  return rows
}

/**
 * Copies of the tree with 300,000 files, if memory has space for them.
 * @param {Bench} bench @returns {Promise<Row[]>}
 */
async function searchMany({ corpora: { tree } }) {
  const memoryDir = memoryDirWith(MANY_BYTES)
  if (!memoryDir) return []
  const dir = mkdtempSync(join(memoryDir, 'hashline-bench-'))
  try {
    for (let copy = 0; copy < MANY_COPIES; copy++) {
      cpSync(tree, join(dir, `copy-${copy}`), { recursive: true })
    }
    const { row, commands } = await searchOf('cli-search-many', PATTERNS.rare, dir)
    const values = { own: peakBytes(commands.own), peer: peakBytes(commands.rg) }
    return [row, { id: 'cli-search-many-memory', own: row.own, peer: row.peer, values }]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * A search of a tree, compared with ripgrep's.
 * @param {string} id
 * @param {string} pattern
 * @param {string} tree
 */
async function searchOf(id, pattern, tree) {
  const commands = {
    own: `"$hashline" search -s -C2 --max-matches 10000000 '${pattern}' '${tree}'`,
    rg: `rg -n -C2 -F '${pattern}' '${tree}'`,
  }
  const found = JSON.parse(run(`${commands.own} --json`))
  const counts = run(`rg -c --no-filename -F '${pattern}' '${tree}'`).split('\n').filter(Boolean)
  const lines = counts.reduce((sum, count) => sum + Number(count), 0)
  assert.deepEqual([found.files.length, found.matchCount], [counts.length, lines])
  const samples = await eachOf({ own: repeated(commands.own, 1), rg: repeated(commands.rg, 1) }, 60)
  const row = beside(samples, 'hashline search')(id, 'rg', 'rg -n -C2')
  const note = `\`${pattern}\`: ${lines} lines of ${counts.length} files`
  return { commands, row: { ...row, note } }
}

/**
 * One edit of a lock file, compared with reading and writing the same number of bytes; once safe
 * from the death of the process, and once safe from a power cut.
 * @param {Bench} bench @returns {Promise<Row[]>}
 */
async function document({ scratchDir }) {
  const [path, copy] = ['lock.json', 'copy.json'].map((name) => join(scratchDir, name))
  const text = lockFile()
  writeFileSync(path, text)
  const name = Object.keys(JSON.parse(text).packages).at(-2) ?? ''
  const anchor = `$.packages[${JSON.stringify(name)}].version`
  const version = JSON.parse(text).packages[name].version
  const value = (/** @type {string} */ text) => {
    writeFileSync(copy, JSON.stringify(text))
    return copy
  }
  const patches = [version, '0.0.0-other'].map((from, at, versions) => {
    const hash = /\$:(\w\w)/.exec(run(`"$hashline" json-read '${value(from)}'`))?.[1]
    const set = { set_path: { anchor: `${anchor}:${hash}`, value: versions[1 - at] } }
    const patch = join(scratchDir, `patch-${at}.json`)
    writeFileSync(patch, JSON.stringify({ path, edits: [set] }))
    return patch
  })
  const flip = (/** @type {string} */ durability) => {
    const apply = `"$hashline" json-apply --state-dir '${join(scratchDir, 'state')}' --durability ${durability}`
    return repeated(patches.map((patch) => `${apply} -i '${patch}'`).join(' && '), 1, 2)
  }
  const samples = await eachOf(
    {
      process: flip('process'),
      cp: repeated(`cp '${path}' '${copy}'`, 4),
      power: flip('power'),
      dd: repeated(`dd if='${path}' of='${copy}' bs=1M conv=fsync status=none`, 4),
    },
    60,
  )
  assert.equal(readFileSync(path, 'utf8'), text)
  const row = beside(samples, 'hashline json-apply')
  return [
    { ...row('cli-json', 'cp'), samples: { own: samples.process, peer: samples.cp } },
    {
      ...row('cli-json-power', 'dd', 'dd conv=fsync'),
      samples: { own: samples.power, peer: samples.dd },
    },
  ]
}

/** This repository's lock file, with its packages repeated under other names. */
function lockFile() {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))
  const packages = Object.entries(lock.packages)
  lock.packages = {}
  for (let size = 0, round = 0; size < DOCUMENT_BYTES; round++) {
    for (const [name, value] of packages) {
      lock.packages[round === 0 ? name : `${name}-${round}`] = value
      size += JSON.stringify(value, null, 4).length + name.length
    }
  }
  return `${JSON.stringify(lock, null, 2)}\n`
}

/**
 * Repeats a command in one shell; `calls`: how many programs the command itself starts.
 * @param {string} command
 */
function repeated(command, times = STARTS, calls = 1) {
  const script = `i=0; while [ $i -lt ${times} ]; do { ${command}; } >/dev/null || exit 1; i=$((i + 1)); done`
  return { calls: times * calls, work: () => void run(script) }
}

/**
 * The time of one call of each, in turns.
 * @param {Record<string, { calls: number, work: () => void }>} contestants
 * @returns {Promise<Record<string, Sample>>}
 */
async function eachOf(contestants, seconds = 30) {
  const names = Object.keys(contestants)
  const work = names.map((name) => [name, contestants[name].work])
  const samples = await compare(Object.fromEntries(work), { seconds })
  const perCall = names.map((name) => {
    const { calls } = contestants[name]
    const { low, median, high, ...rest } = samples[name]
    return [name, { ...rest, low: low / calls, median: median / calls, high: high / calls }]
  })
  return Object.fromEntries(perCall)
}

/**
 * Rows of samples, one of which is of this package.
 * @param {Record<string, Sample>} samples
 * @param {string} own
 */
function beside(samples, own) {
  return (/** @type {string} */ id, /** @type {string} */ peer, shown = peer) => ({
    id,
    own,
    peer: shown,
    samples: { own: samples.own, peer: samples[peer] },
  })
}

/** The output of a script that must succeed. @param {string} script */
function run(script) {
  const { stdout, stderr, status } = spawnSync('sh', ['-c', script], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    env: { ...process.env, hashline: PROGRAM, HASHLINE_SESSION: '' },
  })
  assert.equal(status, 0, `${script}\n${stderr}`)
  return stdout
}

/** The peak memory of a command, in bytes, measured by GNU time. @param {string} command */
function peakBytes(command) {
  const script = `/usr/bin/time -f %M sh -c 'exec "$@"' sh ${command} 2>&1 >/dev/null`
  return Number(run(script).trim().split('\n').at(-1)) * 1024
}

/** Another program with the same name on PATH: the one by lispmeister also shows files. */
function otherHashline() {
  const own = realpathSync(PROGRAM)
  const paths = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'hashline'))
  return paths.find((path) => {
    if (!existsSync(path) || realpathSync(path) === own) return false
    const { stdout } = spawnSync(path, ['help'], { encoding: 'utf8' })
    return stdout?.includes('read') && !stdout.includes('mcp')
  })
}
