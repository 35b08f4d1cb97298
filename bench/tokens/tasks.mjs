// Whole tasks with each edit scheme: what a model writes and reads until the file is correct, with
// all calls counted.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { joined, startOf, withLines } from '../edit/history/text.mjs'
import { textIn } from './players/player.mjs'

/** @import { Edit } from '../edit/history/text.mjs' */
/** @import { Change, Found, Version } from './draw.mjs' */
/** @import { Exchange, Player, Scheme, Window } from './players/player.mjs' */

/**
 * @typedef {'right' | 'wrong' | 'refused'} End
 * @typedef {object} Played
 * @property {Exchange[]} reads
 * @property {Exchange[]} edits
 * @property {End} end
 *
 * @typedef {object} Task
 * @property {string} name
 * @property {number} count
 * @property {(scheme: Scheme, at: number) => Promise<Played>} play
 */

/** How many lines are read for an edit, with the edit in the middle. */
export const LINES_READ = 60
/** A model stops after this number of edit calls. */
const MOST_ROUNDS = 3
/** The line that is added to a function. */
const ADDED = '    // Checked above.'
/** The file to which functions are moved. */
const OTHER = ['// Adds.', 'fn add(one, other) {', '  one + other', '}']

/** @param {string} name @param {Change[]} changes @returns {Task} */
export const editing = (name, changes) => ({
  name,
  count: changes.length,
  play: (scheme, at) => inScratch((cwd) => playedChange(scheme.playerIn(cwd), cwd, changes[at])),
})

/** @param {string} name @param {Found[]} functions @returns {Task} */
export const moving = (name, functions) => ({
  name,
  count: functions.length,
  play: (scheme, at) => inScratch((cwd) => playedMove(scheme.playerIn(cwd), cwd, functions[at])),
})

/** @param {string} name @param {Found[]} functions @returns {Task} */
export const finding = (name, functions) => ({
  name,
  count: functions.length,
  play: (scheme, at) => inScratch((cwd) => playedFind(scheme.playerIn(cwd), cwd, functions[at])),
})

/** @param {Player} player @param {string} cwd @param {Change} change @returns {Promise<Played>} */
async function playedChange(player, cwd, { path, old, seen, current, truth }) {
  put(cwd, path, joined(old))
  const reads = await readAround(player, path, seen)
  const now = withLines(old, current.lines)
  if (now !== joined(old)) put(cwd, path, now)
  const edits = [await player.edit(path, seen.lines, seen.edits)]
  while (!edits.at(-1)?.done && edits.length < MOST_ROUNDS) {
    reads.push(...(await readAround(player, path, current)))
    edits.push(await player.edit(path, current.lines, current.edits))
  }
  return { reads, edits, end: endOf(edits.at(-1)?.done, textIn(cwd, path) === truth) }
}

/** @param {Player} player @param {string} cwd @param {Found} one @returns {Promise<Played>} */
async function playedMove(player, cwd, { body, text }) {
  const other = join(dirname(body.path), `other${extname(body.path)}`)
  put(cwd, body.path, joined(text))
  put(cwd, other, joined({ ...text, lines: OTHER }))
  const exchanges = await player.move(body, other)
  const own = text.lines.slice(body.first - 1, body.last).join(text.eol)
  const isMoved = textIn(cwd, other).includes(own) && !textIn(cwd, body.path).includes(own)
  return { reads: exchanges, edits: [], end: endOf(exchanges.every(isDone), isMoved) }
}

/** @param {Player} player @param {string} cwd @param {Found} one @returns {Promise<Played>} */
async function playedFind(player, cwd, { body, text }) {
  const { path, first } = body
  put(cwd, path, joined(text))
  const reads = await player.overview(path, body)
  const edit = await player.edit(path, text.lines, [{ after: first, lines: [ADDED] }])
  const truth = withLines(text, text.lines.toSpliced(first, 0, ADDED))
  return { reads, edits: [edit], end: endOf(edit.done, textIn(cwd, path) === truth) }
}

/** @param {Exchange & { done?: boolean }} exchange */
const isDone = ({ done = true }) => done

/** @param {boolean | undefined} isDone @param {boolean} isRight @returns {End} */
const endOf = (isDone, isRight) => (isDone ? (isRight ? 'right' : 'wrong') : 'refused')

/** @param {Player} player @param {string} path @param {Version} version */
async function readAround(player, path, { lines, edits }) {
  const exchanges = []
  for (const window of windowsOf(lines.length, edits))
    exchanges.push(await player.read(path, window))
  return exchanges
}

/**
 * The lines that are read for edits; touching windows are merged.
 * @param {number} count of all lines
 * @param {Edit[]} edits sorted
 */
function windowsOf(count, edits) {
  /** @type {Window[]} */
  const windows = []
  for (const edit of edits) {
    const last = 'after' in edit ? edit.after : edit.last
    const around = Math.max(0, LINES_READ - (last - startOf(edit))) / 2
    const from = Math.max(1, startOf(edit) + 1 - Math.ceil(around))
    const to = Math.min(count, last + Math.floor(around))
    const before = windows.at(-1)
    if (before && from <= before.to + 1) before.to = Math.max(before.to, to)
    else windows.push({ from, to })
  }
  return windows
}

/** @param {string} cwd @param {string} path @param {string} text */
function put(cwd, path, text) {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}

/**
 * @template T
 * @param {(dir: string) => Promise<T>} body
 */
async function inScratch(body) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-tokens-'))
  try {
    return await body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
