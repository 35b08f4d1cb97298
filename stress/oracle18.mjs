// Compares patches in oh-my-pi's language with the published package, on random patches of this
// repository's own files. Runs under Bun, which the package needs: `npm run stress -- oracle18`, or
// `npm run stress -- oracle18 --cases 2000 --seed 7`. Both must produce the same bytes, or differ
// in a way that docs/protocol.md lists.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { applyHashSync, HashSession } from 'hashline-native'
import { installPackages } from '../scripts/packages.mjs'
import { Random } from './hashlineCases.mjs'

/** @typedef {{ path: string, before: string, now: string }} Given a file, and its version after edits by another process */
/** @typedef {{ files: Record<string, string | undefined>, error?: string, warnings: string[] }} Result */
/** @typedef {{ rows: string[], hasBlock: boolean }} Hunk */

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, 'bench/tokens/packages')
const lacking = installPackages(packages)
if (lacking) throw new Error(lacking)
const { InMemoryFilesystem, InMemorySnapshotStore, Patch, Patcher } = await import(
  join(packages, 'node_modules/@oh-my-pi/hashline/src/index.ts')
)

const random = new Random(Number(values.seed))
const directory = mkdtempSync(join(tmpdir(), 'hashline-oracle18-'))
const options = /** @type {const} */ ({
  root: directory,
  durability: 'process',
  stateDir: mkdtempSync(join(tmpdir(), 'hashline-oracle18-state-')),
})

// Paths in patches are relative to this directory.
process.chdir(directory)

/** The languages of the files, by file extension. */
const LANGUAGES = ['.rs', '.mjs', '.ts', '.md', '.json', '.toml', '.yml', '.py', '.c', '.svg']
const MAX_LINES = 600
const sources = new Map(LANGUAGES.map((language) => [language, sourcesOf(language)]))

/** @param {string} language @returns {string[]} */
function sourcesOf(language) {
  const { stdout } = spawnSync('git', ['ls-files', `*${language}`], { cwd: root, encoding: 'utf8' })
  const texts = stdout
    .trim()
    .split('\n')
    .map((path) => readFileSync(join(root, path), 'utf8'))
  const fits = texts.filter((text) => text !== '' && text.split('\n').length <= MAX_LINES)
  if (fits.length === 0) throw new Error(`no file has the extension ${language}`)
  return fits
}

/** The lines of a text. @param {string} text */
const linesOf = (text) => text.replace(/\n$/, '').split('\n')

/**
 * A version after edits by another process: with more, fewer or changed lines.
 * @param {string} text
 */
function changed(text) {
  const lines = linesOf(text)
  for (let left = random.whole(1, 3); left > 0; left--) {
    const at = random.whole(0, lines.length - 1)
    const fresh = Array.from({ length: random.whole(0, 2) }, () => `other ${random.whole(0, 1e6)}`)
    lines.splice(at, random.whole(0, 2), ...fresh)
  }
  return `${lines.join('\n')}\n`
}

/** A new line, in the style of its neighbours. @param {string[]} lines @param {number} at */
function written(lines, at) {
  const indent = /^\s*/.exec(lines[at - 1] ?? '')?.[0] ?? ''
  if (random.is(0.05)) return ''
  if (random.is(0.05)) return random.pick(lines)
  return `${indent}new ${random.whole(0, 1e6)}`
}

/**
 * A hunk on lines after `from`, and the last line that it names.
 * @param {string[]} lines
 * @param {number} from
 * @param {string[]} registers the registers that earlier hunks have filled
 * @returns {{ hunk: Hunk, to: number }}
 */
function hunk(lines, from, registers) {
  const first = Math.min(lines.length, from + random.whole(0, 12))
  const last = Math.min(lines.length, first + random.pick([0, 0, 0, 1, 2, 6]))
  const range = `${first}.=${last}`
  const body = () => Array.from({ length: random.whole(1, 3) }, () => `+${written(lines, first)}`)
  const of = (/** @type {string[]} */ ...rows) => ({ rows, hasBlock: /\d\*/.test(rows[0]) })
  const name = random.pick(['a', 'b', 'c'])
  const held = registers.length > 0 && random.is(0.9) ? random.pick(registers) : 'd'
  const cut = (/** @type {string} */ what) => {
    registers.push(name)
    return of(`CUT ${what} @${name}`)
  }
  const opener = lines.findIndex((line, at) => at + 1 >= from && /[{:[(]$|^#/.test(line)) + 1
  const block = opener > 0 && opener < from + 40 && random.is(0.9) ? opener : first
  const plain = [
    () => of(`PUT ${range}:`, ...body()),
    () => of(`PUT ${range}:`, ...body()),
    () => of(`PUT <${first}:`, ...body()),
    () => of(`PUT >${last}:`, ...body()),
    () => of(random.pick(['PUT <1:', 'PUT >$:']), ...body()),
    () => of(`CUT ${range}`),
    () => cut(range),
  ]
  const pastes = [
    () => of(`PUT >${last} @${held}`),
    () => of(`PUT <${first} @${held}`),
    () => of(`PUT ${range} @${held}`),
    () => of(`PUT >${block}* @${held}`),
  ]
  const blocks = [
    () => of(`PUT ${block}*:`, ...body()),
    () => of(`PUT >${block}*:`, ...body()),
    () => cut(`${block}*`),
  ]
  const hasHeld = registers.length > 0 || random.is(0.03)
  const kinds = [...plain, ...(hasHeld ? pastes : []), ...(random.is(0.4) ? blocks : [])]
  const made = random.pick(kinds)()
  return { hunk: made, to: Math.max(last, block) + (made.hasBlock ? 30 : 1) }
}

/** @param {Given} file @param {string[]} registers */
function section(file, registers) {
  const lines = linesOf(file.before)
  const hunks = []
  let from = random.whole(1, lines.length)
  for (let left = random.whole(1, 4); left > 0 && from <= lines.length; left--) {
    const one = hunk(lines, from, registers)
    hunks.push(one.hunk)
    // Sometimes the next hunk overlaps this one.
    from = random.is(0.03) ? Math.max(1, one.to - 2) : one.to
  }
  if (random.is(0.03))
    hunks.push({ rows: [`MV ${random.pick(['moved', 'other'])}.txt`], hasBlock: false })
  if (random.is(0.02)) hunks.splice(0, hunks.length, { rows: ['REM'], hasBlock: false })
  return hunks
}

/**
 * The block that begins at a line, according to this engine, so that both edit the same lines.
 * @param {{ path: string, text: string, line: number }} asked
 */
function blockAt({ path, text, line }) {
  const name = `block${extname(path)}`
  writeFileSync(name, text)
  const tag = new InMemorySnapshotStore().record(name, text, [])
  const patch = `[${name}#${tag}]\nCUT ${line}*`
  const outcome = applyHashSync({ patch }, { ...options, dryRun: true })
  const found = /took the block of lines (\d+)-(\d+)/.exec(outcome.text)
  return found && { start: Number(found[1]), end: Number(found[2]) }
}

/** @type {Given[]} */
let files = []
/** @type {any} */
let snapshots

/** @param {string} patch @returns {Promise<Result>} */
async function peerResult(patch) {
  const fs = new InMemoryFilesystem()
  for (const { path, now } of files) fs.set(path, now)
  const blockResolver = blockAt
  /** @type {string[]} */
  let warnings = []
  /** @type {string | undefined} */
  let error
  try {
    const patcher = new Patcher({ fs, snapshots, blockResolver })
    const { sections } = await patcher.apply(Patch.parse(patch))
    warnings = sections.flatMap((/** @type {any} */ one) => one.warnings ?? [])
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown)
  }
  return { files: contents((path) => fs.get(path)), error, warnings }
}

/** @param {(path: string) => string | undefined} read */
function contents(read) {
  const paths = [...files.map((file) => file.path), 'moved.txt', 'other.txt']
  return Object.fromEntries(
    paths.map((path) => {
      try {
        return [path, read(path)]
      } catch {
        return [path, undefined]
      }
    }),
  )
}

/** @param {string} patch @param {HashSession} session @returns {Result} */
function ownResult(patch, session) {
  for (const { path, now } of files) writeFileSync(join(directory, path), now)
  const outcome = session.applySync({ patch })
  const error = outcome.status === 'rejected' ? outcome.text : undefined
  const warnings = outcome.status === 'applied' ? outcome.warnings.map((one) => one.message) : []
  return { files: contents((path) => readFileSync(join(directory, path), 'utf8')), error, warnings }
}

/**
 * The reasons for an accepted difference; the first that applies is used. docs/protocol.md explains
 * each of them.
 * @type {[string, (peer: Result, own: Result, patch: string) => boolean][]}
 */
const CLASSES = [
  [
    'inside of lines that go',
    (peer, own) =>
      !peer.error && /inserts after line|meets itself|both touch line/.test(own.error ?? ''),
  ],
  ['no block', (_, own) => /No block at/.test(own.error ?? '')],
  ['a register that holds nothing', (_, own) => /is empty, because/.test(own.error ?? '')],
  ['a name that is taken', (peer, own) => !peer.error && /FILE_EXISTS/.test(own.error ?? '')],
  [
    'a file deleted as it is not',
    (peer, own) => !peer.error && /is not the file as it is/.test(own.error ?? ''),
  ],
  [
    'a place that is not certain',
    (peer, own) =>
      !peer.error &&
      (/Another process changed/.test(own.error ?? '') || hasUnseenBlock(own.error ?? '')),
  ],
  [
    'their guess about a place',
    (peer, own) =>
      !own.error &&
      peer.warnings.some((one) =>
        /landing moved|was placed inside|so the landing|was landed after/.test(one),
      ),
  ],
  [
    'their guess about a text',
    (peer, own) =>
      !own.error &&
      peer.warnings.some((one) => /Auto-indented|[Bb]oundary|echo|restat|surviv/.test(one)),
  ],
  [
    'an echo that they refuse',
    (peer, own) => !own.error && /restating|echo|boundary|ambiguous/i.test(peer.error ?? ''),
  ],
  ['two files under one name', (peer, own) => !peer.error && /both make/.test(own.error ?? '')],
  [
    'a duplicate cut',
    (peer, own) => !own.error && /already targeted by another hunk/.test(peer.error ?? ''),
  ],
  [
    'a section that changes nothing',
    (peer, own) => !own.error && /resulted in no changes/.test(peer.error ?? ''),
  ],
  [
    'two inserts at one place',
    (peer, own, patch) =>
      !peer.error && !own.error && hasSharedPlace(patch) && sorted(peer) === sorted(own),
  ],
  [
    'carried here, refused there',
    (peer, own) => !own.error && /file changed between read and edit/.test(peer.error ?? ''),
  ],
]

/**
 * Whether lines were refused as never shown that another process has put into blocks: all other
 * lines of a file were shown.
 * @param {string} refusal
 */
function hasUnseenBlock(refusal) {
  const unseen = refusal.match(/^`[^`]+` \(row \d+ of the patch\): Not shown: .*/gm) ?? []
  return unseen.length > 0 && unseen.every((hunk) => /^`[^`]*\d\*/.test(hunk))
}

/**
 * Whether hunks insert lines at the end and elsewhere, or after a line and before the next one.
 * @param {string} patch
 */
function hasSharedPlace(patch) {
  const lines = (/** @type {RegExp} */ place) =>
    Array.from(patch.matchAll(place), ([, line]) => Number(line))
  const after = lines(/^PUT >(\d+)/gm)
  return patch.includes('>$') || lines(/^PUT <(\d+)/gm).some((line) => after.includes(line - 1))
}

/** All lines of a result, sorted. @param {Result} result */
const sorted = ({ files }) =>
  JSON.stringify(Object.values(files).map((text) => text?.split('\n').sort()))

/** @type {Record<string, number>} */
const counts = { 'the same bytes': 0, 'both refuse': 0 }
const count = (/** @type {string} */ what) => {
  counts[what] = (counts[what] ?? 0) + 1
}

/** @param {number} round */
async function compare(round) {
  const language = random.pick(LANGUAGES)
  files = Array.from({ length: random.is(0.2) ? 2 : 1 }, (_, at) => {
    const before = random.pick(sources.get(language) ?? [])
    return { path: `file${at}${language}`, before, now: before }
  })
  snapshots = new InMemorySnapshotStore()
  const session = new HashSession({
    ...options,
    limits: { maxLines: 10_000, maxBytes: 10_000_000 },
  })
  const isStale = random.is(0.4)
  /** @type {string[]} */
  const registers = []
  const rows = []
  for (const file of files) {
    writeFileSync(join(directory, file.path), file.before)
    const all = Array.from(linesOf(file.before), (_, at) => at + 1)
    session.readSync(file.path)
    if (isStale) file.now = changed(file.before)
    rows.push(`[${file.path}#${snapshots.record(file.path, file.before, all)}]`)
    rows.push(...section(file, registers).flatMap((one) => one.rows))
  }
  for (const file of files) writeFileSync(join(directory, file.path), file.now)
  const patch = `${rows.join('\n')}\n`
  const peer = await peerResult(patch)
  const own = ownResult(patch, session)
  session.close()
  for (const path of Object.keys(own.files)) rmSync(join(directory, path), { force: true })
  if (JSON.stringify(peer.files) === JSON.stringify(own.files)) {
    count(peer.error && own.error ? 'both refuse' : 'the same bytes')
    return
  }
  const found = CLASSES.find(([, is]) => is(peer, own, patch))?.[0]
  count(found ?? 'unexplained')
  if (found === undefined || found === values.show) {
    console.log(`--- seed ${values.seed}, round ${round}${isStale ? ', stale' : ''}: ${found}`)
    console.log(patch)
    console.log(`peer: ${peer.error ?? 'applied'} ${peer.warnings.join(' ')}`)
    console.log(`own: ${own.error ?? 'applied'} ${own.warnings.join(' ')}`)
    if (!peer.error && !own.error) show(peer, own)
  }
}

/** The first line that differs. @param {Result} peer @param {Result} own */
function show(peer, own) {
  for (const [path, text] of Object.entries(own.files)) {
    const [one, other] = [linesOf(peer.files[path] ?? ''), linesOf(text ?? '')]
    const at = one.findIndex((line, at) => line !== other[at])
    if (peer.files[path] !== text) {
      console.log(`${path}: line ${at + 1}`)
      console.log(
        one
          .slice(at, at + 5)
          .map((line) => `  < ${line}`)
          .join('\n'),
      )
      console.log(
        other
          .slice(at, at + 5)
          .map((line) => `  > ${line}`)
          .join('\n'),
      )
    }
  }
}

for (let round = 0; round < Number(values.cases); round++) await compare(round)
process.chdir(root)
rmSync(directory, { recursive: true, force: true })
rmSync(options.stateDir, { recursive: true, force: true })
for (const [what, times] of Object.entries(counts))
  console.log(`${String(times).padStart(8)} ${what}`)
if (counts.unexplained) process.exitCode = 1
