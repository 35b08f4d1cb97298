// The cost of memory: reads and edits of a session compared with those of the plain functions. And
// the cost of checking whether a file still parses.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyHashSync, HashSession, readHashedSync, searchHashedSync } from 'hashline-native'
import { compare, summary } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */

const PAGE_LINES = 2_000
const LINES = 10_000
const ROUNDS = 200
const CALLS = 50_000

const line = (/** @type {number} */ number) =>
  `  const value${number} = compute(${number}, 'some text') // a line of source\n`
const textOf = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, at) => line(at + 1)).join('')

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function sessionRows({ scratchDir }) {
  const cwd = join(scratchDir, 'session')
  mkdirSync(cwd, { recursive: true })
  const limits = { maxLines: LINES, maxBytes: 64 << 20 }
  const options = /** @type {const} */ ({
    cwd,
    stateDir: join(scratchDir, 'state'),
    durability: 'process',
    limits,
  })
  return [
    await reads(options, 'session-read'),
    await reads({ ...options, store: { id: 'bench' } }, 'session-read-stored'),
    await searches(options, 'session-search'),
    applies(options, 'session-apply', textOf(LINES)),
    applies(options, 'session-apply-changed', changed(textOf(LINES))),
    ...parsed(options),
    memory(options),
  ]
}

/** Changes by another process: a line at the start, and one far after the edited line. */
const changed = (/** @type {string} */ text) =>
  `// new\n${text.replace(line((LINES * 4) / 5), 'changed\n')}`

/**
 * @param {ConstructorParameters<typeof HashSession>[0] & { cwd: string }} options
 * @param {string} id
 * @returns {Promise<Row>}
 */
async function reads(options, id) {
  const path = 'page.js'
  writeFileSync(join(options.cwd, path), textOf(PAGE_LINES))
  const session = new HashSession(options)
  const samples = await compare({
    own: () => session.readSync(path),
    peer: () => readHashedSync(join(options.cwd, path), { root: options.cwd }),
  })
  return { id, own: 'session.read', peer: 'readHashed', samples }
}

/**
 * A search by a session without the files in memory, compared with one that remembers nothing.
 * @param {ConstructorParameters<typeof HashSession>[0] & { cwd: string }} options
 * @param {string} id
 * @returns {Promise<Row>}
 */
async function searches(options, id) {
  const cwd = join(options.cwd, 'searched')
  mkdirSync(cwd)
  for (let at = 0; at < 150; at++) {
    writeFileSync(join(cwd, `${at}.js`), `${textOf(1_500)}needle ${at}\n${textOf(1_499)}`)
  }
  const limits = { ...options.limits, maxMatches: 1_000 }
  const session = new HashSession({ ...options, cwd, limits })
  const samples = await compare({
    own: () => {
      session.forget()
      assert.equal(session.searchSync({ search: 'needle' }).matchCount, 150)
    },
    peer: () => assert.equal(searchHashedSync({ search: 'needle' }, { root: cwd }).matchCount, 150),
  })
  return { id, own: 'session.search', peer: 'searchHashed', samples }
}

/**
 * Only the edit is timed, not the read before it and not the changes by another process.
 * @param {ConstructorParameters<typeof HashSession>[0] & { cwd: string, stateDir: string }} options
 * @param {string} id
 * @param {string} now the file at the time of the edit
 * @returns {Row}
 */
function applies(options, id, now) {
  const file = join(options.cwd, 'edited.js')
  const wanted = line(LINES / 2).trimEnd()
  const { stateDir, durability } = { durability: /** @type {const} */ ('process'), ...options }
  const timed = (/** @type {() => { status: string, text: string }} */ apply) => {
    const started = process.hrtime.bigint()
    const { status, text } = apply()
    const time = Number(process.hrtime.bigint() - started)
    assert.equal(status, 'applied', text)
    return time
  }
  const rowOf = (/** @type {string} */ text) => text.split('\n').find((row) => row.endsWith(wanted))
  /** @type {{ own: number[], peer: number[] }} */
  const times = { own: [], peer: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const edit = (/** @type {string} */ path, /** @type {string | undefined} */ row) => ({
      operations: [
        /** @type {const} */ ({
          op: 'set_line',
          path,
          anchor: row?.split('|')[0] ?? '',
          text: `new ${round}`,
        }),
      ],
    })
    writeFileSync(file, textOf(LINES))
    const session = new HashSession(options)
    const shown = rowOf(session.readSync('edited.js').text)
    writeFileSync(file, now)
    times.own.push(timed(() => session.applySync(edit('edited.js', shown))))
    writeFileSync(file, now)
    const fresh = rowOf(readHashedSync(file)[0].text)
    const patch = edit(file, fresh)
    times.peer.push(timed(() => applyHashSync(patch, { stateDir, durability })))
  }
  const samples = { own: summary(times.own), peer: summary(times.peer) }
  return { id, own: 'session.apply', peer: 'applyHash', samples }
}

/** 2,000 lines of TypeScript. */
const classes = () =>
  Array.from({ length: 200 }, (_, at) => [
    `export class Shelf${at}<T extends object> {`,
    '  private items: Map<string, T> = new Map()',
    '  add(name: string, one: T): boolean {',
    '    if (this.items.has(name)) {',
    `      return false // ${at}`,
    '    }',
    `    this.items.set(name, { ...one, at: ${at} })`,
    '    return true',
    '  }',
    '}\n',
  ])
    .map((lines) => lines.join('\n'))
    .join('')

/** Edits come after these lines, in sequence. */
const PLACES = [500, 1500, 1000, 300, 1800, 700]

/**
 * A session that parses what it edits compared with one that does not: the first edit of a file;
 * the second, for which the tree exists; and later ones, for which it is also in the caches.
 * @param {ConstructorParameters<typeof HashSession>[0] & { cwd: string }} options
 * @returns {Row[]}
 */
function parsed(options) {
  const path = 'parsed.ts'
  const text = classes()
  const empty = () => ({
    own: /** @type {number[]} */ ([]),
    peer: /** @type {number[]} */ ([]),
  })
  const [first, second, later] = [empty(), empty(), empty()]
  for (let round = 0; round < ROUNDS; round++) {
    for (const who of /** @type {const} */ (['own', 'peer'])) {
      writeFileSync(join(options.cwd, path), text)
      const session = new HashSession({ ...options, syntax: who === 'own' ? 'warn' : 'off' })
      const rows = session.readSync(path).text.split('\n')
      for (const [at, line] of PLACES.entries()) {
        const times = [first, second][at] ?? later
        const edit = /** @type {const} */ ({
          op: 'insert_after',
          path,
          anchor: rows[line - 1].split('|')[0],
          text: `// ${round}`,
        })
        const started = process.hrtime.bigint()
        const { status, text } = session.applySync({ operations: [edit] })
        times[who].push(Number(process.hrtime.bigint() - started))
        assert.equal(status, 'applied', text)
      }
    }
  }
  const row = (/** @type {string} */ id, /** @type {typeof first} */ { own, peer }) => ({
    id,
    own: "syntax: 'warn'",
    peer: "syntax: 'off'",
    samples: { own: summary(own), peer: summary(peer) },
  })
  return [
    row('session-apply-parsed', first),
    row('session-apply-parsed-again', second),
    row('session-apply-parsed-later', later),
  ]
}

/**
 * @param {ConstructorParameters<typeof HashSession>[0] & { cwd: string }} options
 * @returns {Row}
 */
function memory(options) {
  writeFileSync(join(options.cwd, 'small.js'), textOf(100))
  const session = new HashSession(options)
  let rows = session.readSync('small.js').text.split('\n')
  const run = (/** @type {number} */ calls) => {
    for (let call = 0; call < calls; call++) {
      const text = `  edit${call}`
      const anchor = rows[call % 100].split('|')[0]
      const edit = /** @type {const} */ ({ op: 'set_line', path: 'small.js', anchor, text })
      assert.equal(session.applySync({ operations: [edit] }).status, 'applied')
      rows = session.readSync('small.js').text.split('\n')
    }
    return process.memoryUsage.rss()
  }
  const peer = run(CALLS / 50)
  const own = run(CALLS)
  const note = `the memory itself takes ${session.memoryBytes} bytes`
  return { id: 'session-memory', own: '100,000', peer: '2,000', values: { own, peer }, note }
}
