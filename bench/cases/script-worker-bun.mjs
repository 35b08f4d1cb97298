// Patches in oh-my-pi's language compared with its published package, in the same process under
// Bun: prints rows.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { applyHashToText, HashSession, readHashedSync } from 'hashline-native'
import { compare, summary } from '../measure.mjs'
import { look, turns, versions } from '../texts.mjs'
import { serve } from '../workers.mjs'

const { corpora, peer, cwd, stateDir } = JSON.parse(process.argv[2])
const {
  computeFileHash,
  formatHashlineHeader,
  formatNumberedLines,
  InMemorySnapshotStore,
  NodeFilesystem,
  Patch,
  Patcher,
} = await import(peer)

/** A name that selects no parser on either side. */
const NAME = 'page.txt'
const LINES = 10_000
const ROUNDS = 200
/** The lines that were shown before an edit. */
const SHOWN = Array.from({ length: 100 }, (_, at) => LINES / 2 - 50 + at)
const NOTE = 'the tag is checked on both sides; own has the text for the model as well'

process.chdir(cwd)

/**
 * A patch that replaces lines throughout a text.
 * @param {string} text
 * @param {number} count the number of hunks
 */
function patchOf(text, count) {
  const lines = text.split('\n')
  const hunks = Array.from({ length: count }, (_, at) => {
    const line = Math.floor(((at + 0.5) * lines.length) / count) + 1
    return `PUT ${line}.=${line}:\n+${lines[line - 1]} // changed`
  })
  return `[${NAME}#${computeFileHash(text)}]\n${hunks.join('\n')}\n`
}

/** @param {string} text @param {string} patch */
function applyOwn(text, patch) {
  const outcome = applyHashToText(text, { patch })
  if (outcome.status !== 'applied') throw new Error(outcome.text)
  return outcome.content
}

/** @param {string} text @param {string} patch */
function applyPeers(text, patch) {
  const [section] = Patch.parse(patch).sections
  if (computeFileHash(text) !== section.fileHash) throw new Error('stale')
  return section.applyTo(text).text
}

/** @param {string} id @param {number} count */
async function hunks(id, count) {
  const tasks = versions(corpora.page, 2000).map((text) => ({ text, patch: patchOf(text, count) }))
  for (const { text, patch } of tasks) assert.equal(applyOwn(text, patch), applyPeers(text, patch))
  const [mine, peers] = [turns(tasks), turns(tasks)]
  const samples = await compare({
    own: () => {
      const { text, patch } = mine()
      return look(applyOwn(text, patch))
    },
    peer: () => {
      const { text, patch } = peers()
      return look(applyPeers(text, patch))
    },
  })
  return { id, own: 'applyHashToText (Bun)', peer: 'oh-my-pi (Bun)', samples, note: NOTE }
}

/** @param {string} path */
const textOf = (path) => readFileSync(path, 'utf8')

/** @param {string} path */
const headerOf = (path) => formatHashlineHeader(path, computeFileHash(textOf(path)))

/** The file as it is shown to a model. @param {string} id */
async function shown(id) {
  writeFileSync(NAME, versions(corpora.page, 2000)[0])
  const own = () => readHashedSync(NAME, { dialect: 'omp18' })[0].text
  const peers = () => {
    const text = textOf(NAME)
    const header = formatHashlineHeader(NAME, computeFileHash(text))
    return `${header}\n${formatNumberedLines(text)}`
  }
  assert.equal(own(), peers())
  const samples = await compare({ own: () => look(own()), peer: () => look(peers()) })
  return { id, own: 'readHashed (Bun)', peer: 'oh-my-pi (Bun)', samples }
}

/** The header, with as few lines below it as possible. @param {string} id */
async function tag(id) {
  writeFileSync(NAME, versions(corpora.ascii, LINES)[0])
  const own = () => readHashedSync({ path: NAME, maxLines: 1 }, { dialect: 'omp18' })[0].text
  assert.equal(own().split('\n')[0], headerOf(NAME))
  const samples = await compare({ own, peer: () => headerOf(NAME) })
  return { id, own: 'readHashed (Bun)', peer: 'oh-my-pi (Bun)', samples }
}

const line = (/** @type {number} */ number) =>
  `  const value${number} = compute(${number}, 'some text') // a line of source\n`
const before = Array.from({ length: LINES }, (_, at) => line(at + 1)).join('')
const now = `// new\n${before.replace(line((LINES * 4) / 5), 'changed\n')}`

/**
 * Resolves a tag of a file that another process changed at two places. Only the edit is timed, of a
 * file on disk.
 * @param {string} id
 */
async function stale(id) {
  const edited = `PUT ${LINES / 2}.=${LINES / 2}:\n+changed here`
  const patch = `[${NAME}#${computeFileHash(before)}]\n${edited}\n`
  const expected = now.replace(line(LINES / 2), 'changed here\n')
  const timed = async (/** @type {() => unknown} */ apply) => {
    writeFileSync(NAME, now)
    const started = process.hrtime.bigint()
    await apply()
    const time = Number(process.hrtime.bigint() - started)
    assert.equal(textOf(NAME), expected)
    return time
  }
  /** @type {{ own: number[], peer: number[] }} */
  const times = { own: [], peer: [] }
  for (let round = 0; round < ROUNDS; round++) {
    writeFileSync(NAME, before)
    const session = new HashSession({ cwd, stateDir, durability: 'process', dialect: 'omp18' })
    session.readSync({ path: NAME, startLine: SHOWN[0], maxLines: SHOWN.length })
    times.own.push(await timed(() => session.applySync({ patch })))
    session.close()
    const [fs, snapshots] = [new NodeFilesystem(), new InMemorySnapshotStore()]
    snapshots.record(fs.canonicalPath(NAME), before, SHOWN)
    const patcher = new Patcher({ fs, snapshots })
    times.peer.push(await timed(() => patcher.apply(Patch.parse(patch))))
  }
  const samples = { own: summary(times.own), peer: summary(times.peer) }
  const note = 'on disk; own as a transaction with a journal, without fsync'
  return { id, own: 'session.apply (Bun)', peer: 'oh-my-pi (Bun)', samples, note }
}

await serve(
  () => undefined,
  [
    await hunks('script-one', 1),
    await hunks('script-ten', 10),
    await hunks('script-200', 200),
    await shown('script-read'),
    await tag('script-tag'),
    await stale('script-stale'),
  ],
)
