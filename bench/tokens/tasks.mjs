// Whole tasks with each edit scheme: what a model writes and reads until the file is correct, with
// all calls counted.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { edited, joined, startOf, withLines } from '../edit/history/text.mjs'
import { unannotated } from './players/hashline.mjs'
import { linesIn, textIn, whole } from './players/player.mjs'

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
 * @typedef {object} Failure a file with a mistake, and what a tool prints about it
 * @property {string} tool
 * @property {string} command prints the output in the folder of the files
 * @property {string} output `<dir>` is the folder
 * @property {Record<string, string>} files
 * @property {string} path the file with the mistake
 * @property {Edit[]} edits fix it
 *
 * @typedef {'whole' | 'near' | 'quoted'} Reading what is read for an edit: the whole file, lines
 * around the edit, or nothing if the output quotes the lines
 *
 * @typedef {object} Task
 * @property {string} name
 * @property {number} count
 * @property {(scheme: Scheme, at: number) => Promise<Played>} play
 * @property {Scheme[]} [schemes] only of this task
 * @property {string[]} [outputs] from which the cases start
 */

/** How many lines are read for an edit, with the edit in the middle. */
export const LINES_READ = 60
/** A model stops after this number of edit calls. */
const MOST_ROUNDS = 3
/** How many lines are read around a place that an output names. */
export const LINES_NEAR = 30
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

/**
 * @param {string} name
 * @param {Failure[]} failures
 * @param {Reading} reading
 * @returns {Task}
 */
export const fixing = (name, failures, reading) => ({
  name,
  count: failures.length,
  play: (scheme, at) =>
    inScratch((cwd) => playedFix(scheme.playerIn(cwd), cwd, failures[at], reading)),
  schemes: [unannotated],
  outputs: failures.map(({ output }) => output.replaceAll('<dir>', '/home/user/project')),
})

/** @param {Player} player @param {string} cwd @param {Change} change @returns {Promise<Played>} */
async function playedChange(player, cwd, { path, old, seen, current, truth }) {
  put(cwd, path, joined(old))
  const reads = await readAround(player, path, seen, LINES_READ)
  const now = withLines(old, current.lines)
  if (now !== joined(old)) put(cwd, path, now)
  const edits = [await player.edit(path, seen.lines, seen.edits)]
  while (!edits.at(-1)?.done && edits.length < MOST_ROUNDS) {
    reads.push(...(await readAround(player, path, current, LINES_READ)))
    edits.push(await player.edit(path, current.lines, current.edits))
  }
  return { reads, edits, end: endOf(edits.at(-1)?.done, textIn(cwd, path) === truth) }
}

/**
 * @param {Player} player
 * @param {string} cwd
 * @param {Failure} failure
 * @param {Reading} reading
 * @returns {Promise<Played>}
 */
async function playedFix(player, cwd, failure, reading) {
  const { files, path, edits } = failure
  for (const [name, text] of Object.entries(files)) put(cwd, name, text)
  const output = failure.output.replaceAll('<dir>', cwd)
  const text = linesIn(cwd, path)
  const { lines } = text
  const reads = player.annotated ? [await player.annotated(output)] : []
  const isQuoted = reading === 'quoted' && player.canQuote?.(output, lines, edits)
  if (!isQuoted && !player.hasSeen?.(path, edits)) {
    if (reading === 'whole') reads.push(await player.read(path, whole(lines)))
    else reads.push(...(await readAround(player, path, { lines, edits }, LINES_NEAR)))
  }
  const edit = await player.edit(path, lines, edits)
  const isRight = textIn(cwd, path) === withLines(text, edited(lines, edits))
  return { reads, edits: [edit], end: endOf(edit.done, isRight) }
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

/** @param {Player} player @param {string} path @param {Version} version @param {number} size */
async function readAround(player, path, { lines, edits }, size) {
  const exchanges = []
  for (const window of windowsOf(lines.length, edits, size))
    exchanges.push(await player.read(path, window))
  return exchanges
}

/**
 * The lines that are read for edits; touching windows are merged.
 * @param {number} count of all lines
 * @param {Edit[]} edits sorted
 * @param {number} size how many lines are read for each
 */
function windowsOf(count, edits, size) {
  /** @type {Window[]} */
  const windows = []
  for (const edit of edits) {
    const last = 'after' in edit ? edit.after : edit.last
    const around = Math.max(0, size - (last - startOf(edit))) / 2
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
