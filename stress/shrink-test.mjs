// A file that shrinks and grows while it is read must never crash the reader, and the reader must
// only return real content. `node stress/shrink-test.mjs [--seconds 20] [--mebibytes 64]`
//
// One child process, the writer, rewrites a file in a loop; another, the reader, reads it with
// readHashedSync, readHashed and searches in the file. Files of this size are mapped, so pages of
// the mapping can vanish during a read, which raises SIGBUS.
//
// Requirement: each result is an error, or part of a content that the file really had. To make this
// checkable, a few lines identify every content that the writer creates. Lines have 64 bytes and
// contain their generation and, at both ends, their number. Generations come in groups of four:
//
//   4k      truncate to 0, write all lines from the start
//   4k + 1  truncate to half, write the second half again
//   4k + 2  the same
//   4k + 3  overwrite all lines in place, from the start
//
// Writes append or move forward in pieces that end within lines, so at any moment the file is in
// one of these states, cut or changed at some byte:
//
//   4k      a prefix of generation 4k
//   4k + 1  first half of generation 4k, then a prefix of a second half of 4k + 1
//   4k + 2  first half of generation 4k, then a prefix of a second half of 4k + 2
//   4k + 3  a prefix of generation 4k + 3, from there on as 4k + 2 left it
//
// The file never has holes: a NUL in a view is one of the zeros that replace lost pages, or a page
// read beyond the end. Every view is checked: each row is the right line (its number and, except
// for the last line and the changed one, its whole text), its anchor has the hash of its text, the
// generations of all rows together fit one of the states above, and a search found exactly the
// lines of a file with this number of lines. A view cannot show whether lines outside of it were
// right; the searches read all of them.
//
// Fails if a process dies, a check fails, an error has a code that a changing file cannot cause, or
// no view was returned (then nothing was tested).

import { spawn } from 'node:child_process'
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hashLines, readHashed, readHashedSync } from 'hashline-native'

/** @import { FileView, ReadRequest } from 'hashline-native' */

const LINE_BYTES = 64
/** The searches find lines whose number ends with this number of zeros. */
const ROUND = 10_000

const { values: options } = parseArgs({
  options: {
    role: { type: 'string', default: 'parent' },
    file: { type: 'string', default: '' },
    seconds: { type: 'string', default: '20' },
    mebibytes: { type: 'string', default: '64' },
  },
})
const seconds = Number(options.seconds)
const lineCount = (Number(options.mebibytes) * 2 ** 20) / LINE_BYTES
const half = lineCount / 2
if (!(seconds > 0 && lineCount >= 4 && lineCount % 2 === 0)) {
  throw new Error('--seconds and --mebibytes must be numbers above 0')
}

if (options.role === 'writer') await write(options.file)
else if (options.role === 'reader') await read(options.file)
else process.exitCode = await supervise()

/** Starts both processes and checks how they end. */
async function supervise() {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-shrink-'))
  try {
    const file = join(dir, 'file.txt')
    const reader = child('reader', file)
    const writer = child('writer', file)
    const reading = await reader.ended
    writer.process.kill()
    await writer.ended
    if (reading.signal || reading.code !== 0) {
      console.error(
        `FAILED: the reader ended with ${reading.signal ?? `exit code ${reading.code}`}`,
      )
      return 1
    }
    if (writer.failed()) {
      console.error('FAILED: the writer ended before its time')
      return 1
    }
    console.log('ok: no process died, and every view was correct')
    return 0
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * @param {string} role
 * @param {string} file
 */
function child(role, file) {
  const script = fileURLToPath(import.meta.url)
  const { seconds, mebibytes } = options
  const args = [
    script,
    '--role',
    role,
    '--file',
    file,
    '--seconds',
    seconds,
    '--mebibytes',
    mebibytes,
  ]
  const started = spawn(process.execPath, args, { stdio: 'inherit' })
  /** @type {Promise<{ code: number | null, signal: string | null }>} */
  const ended = new Promise((resolve, reject) => {
    started.on('error', reject)
    started.on('exit', (code, signal) => resolve({ code, signal }))
  })
  return { process: started, ended, failed: () => started.exitCode !== null }
}

/**
 * The line of a generation, without its terminator.
 * @param {number} generation
 * @param {number} number
 */
function lineOf(generation, number) {
  const n = String(number).padStart(8, '0')
  return `line ${n} generation ${digitsOf(generation)} line ${n}`.padEnd(LINE_BYTES - 1, '.')
}

/**
 * The generation, three times, so that a line that was changed in the middle is detected.
 * @param {number} generation
 */
function digitsOf(generation) {
  const digits = String(generation).padStart(6, '0')
  return `${digits} ${digits} ${digits}`
}

/** Rewrites the file until it is killed. @param {string} path */
async function write(path) {
  const template = Buffer.alloc(lineCount * LINE_BYTES)
  for (let number = 1; number <= lineCount; number++) {
    template.write(`${lineOf(0, number)}\n`, (number - 1) * LINE_BYTES, 'latin1')
  }
  const file = openSync(path, 'w')
  process.on('exit', () => closeSync(file))
  for (let generation = 0; ; generation++) {
    const step = generation % 4
    const first = step === 1 || step === 2 ? half + 1 : 1
    // Computed before the write, so that the file is rewritten as fast as the disk allows.
    const bytes = linesOf(template, generation, first)
    if (step !== 3) ftruncateSync(file, (first - 1) * LINE_BYTES)
    let at = 0
    while (at < bytes.length) {
      const size = Math.min(bytes.length - at, 1 + Math.floor(Math.random() * 4 * 2 ** 20))
      at += writeSync(file, bytes, at, size, (first - 1) * LINE_BYTES + at)
      // Sometimes long enough for a whole read of a half-written file.
      if (Math.random() < 0.1) await pause(60)
    }
    await pause(400)
  }
}

/**
 * Converts lines of one generation into those of another: the generation is always at the same
 * place in a line, and formatting a million lines would take longer than writing them.
 * @param {Buffer} template the whole file in generation 0; it is modified
 * @param {number} generation
 * @param {number} first
 */
function linesOf(template, generation, first) {
  const text = digitsOf(generation)
  const at = lineOf(0, 1).indexOf(digitsOf(0))
  for (let start = (first - 1) * LINE_BYTES; start < template.length; start += LINE_BYTES) {
    for (let digit = 0; digit < text.length; digit++) {
      template[start + at + digit] = text.charCodeAt(digit)
    }
  }
  return template.subarray((first - 1) * LINE_BYTES)
}

/** Reads the file for the given time, checks the views and prints counters. @param {string} path */
async function read(path) {
  /** @type {ReadRequest[]} */
  const requests = [
    { path, startLine: half - 50_000, maxLines: 100_000 },
    { path, maxLines: 50 },
    { path, startLine: half - 50, maxLines: 100 },
    { path, startLine: lineCount - 40, maxLines: 100 },
    { path, startLine: Math.floor(lineCount / 7), maxLines: 3000 },
    { path, search: `0000 generation`, maxMatches: lineCount },
    {
      path,
      search: String.raw`line \d*0000 gen.* line \d+`,
      regex: true,
      contextBefore: 2,
      contextAfter: 2,
      maxMatches: 60,
    },
  ]
  const figures = {
    reads: 0,
    views: 0,
    rows: 0,
    partial: 0,
    mixed: 0,
    errors: /** @type {Record<string, number>} */ ({}),
  }
  // The first generation is written slowly, and is not part of the test.
  while ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < lineCount * LINE_BYTES)
    await pause(20)
  const end = Date.now() + seconds * 1000
  for (let round = 0; Date.now() < end; round++) {
    // The first request is slow to check and the last is a slow search, during which the file would
    // change too often: both are rare.
    const at = round % 41 === 20 ? 0 : 1 + (round % (requests.length - 2))
    const batch = round % 25 === 24 ? requests.slice(1) : [requests[at]]
    const views = round % 2 === 0 ? readHashedSync(batch) : await readHashed(batch)
    for (const [index, view] of views.entries()) {
      figures.reads++
      const code = view.error?.code
      if (code === undefined) {
        const seen = check(view, batch[index])
        figures.views++
        figures.rows += seen.rows
        figures.partial += Number(seen.lineCount < lineCount)
        figures.mixed += Number(seen.generations > 1)
      } else if (code === 'CONCURRENT_CHANGE' || code === 'LINE_OUT_OF_RANGE') {
        figures.errors[code] = (figures.errors[code] ?? 0) + 1
      } else {
        throw new Error(
          `an error that a changing file must not have: ${code} ${view.error?.message}`,
        )
      }
    }
  }
  const { errors, ...counts } = figures
  const list = (/** @type {Record<string, number>} */ of) =>
    Object.entries(of)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')
  console.log(`${list(counts)}; errors: ${list(errors) || 'none'}`)
  if (figures.views === 0) throw new Error('no view was returned, so nothing was tested')
}

/**
 * Throws unless a view is part of a content that the file had at some moment.
 * @param {FileView} view
 * @param {ReadRequest} request
 */
function check(view, request) {
  /** @type {(what: string) => never} */
  const fail = (what) => {
    const { text, ...rest } = view
    throw new Error(`${what}\n${JSON.stringify({ request, rest })}\n${text.slice(0, 2000)}`)
  }
  if (view.kind !== 'text' || view.lossy || view.text.includes('\0')) fail('not the text it was')
  const rows = view.text === '' ? [] : view.text.split('\n').filter((row) => row !== '...')
  /** @type {string[]} */
  const texts = []
  /** The generation of each row; a changed line has none. @type {[number, number][]} */
  const generations = []
  /** @type {number[]} */
  const switched = []
  for (const row of rows) {
    const [, digits, text] = /^(\d+):[0-9a-f]{2}\|(.*)$/.exec(row) ?? fail(`not a row: ${row}`)
    const number = Number(digits)
    const isCut = number === view.lineCount && !view.finalNewline
    const found = /^line \d{8} generation (\d{6})/.exec(text)
    const generation = Number(found?.[1])
    texts.push(text)
    if (isCut) {
      // The prefix may be too short for the generation; its characters must match.
      const like = found ? lineOf(generation, number) : lineOf(0, number).slice(0, text.length)
      const isPrefix = found ? like.startsWith(text) : text.slice(0, 13) === like.slice(0, 13)
      if (isPrefix && found) generations.push([number, generation])
      else if (!isPrefix && switched.push(number) > 1)
        fail(`not a prefix of line ${number}: ${text}`)
    } else if (found && text === lineOf(generation, number)) {
      generations.push([number, generation])
    } else if (switched.push(number) > 1 || !isSwitched(text, number)) {
      fail(`not line ${number}: ${text}`)
    }
  }
  // Anchors must have the hashes of the texts: checked in one call.
  const hashes = hashLines(`${texts.join('\n')}\n`)
  for (const [at, row] of rows.entries()) {
    if (row.split('|')[0].split(':')[1] !== hashes[at]) fail(`not the hash of its text: ${row}`)
  }
  const states = new Set(generations.map(([, generation]) => generation))
  const why = whyImpossible(generations, switched, view)
  if (why) fail(why)
  if (request.search !== undefined) {
    const whole = view.lineCount - Number(!view.finalNewline)
    const expected = Math.floor(whole / ROUND)
    const count = view.matchCount ?? -1
    // The last line may be cut before or after the search text; so may the changed line.
    if (count < expected || count > Math.floor(view.lineCount / ROUND)) {
      fail(`${count} matches in ${view.lineCount} lines, of which ${expected} are round`)
    }
    const shown = view.matchLines ?? []
    if (shown.some((line, at) => line !== (at + 1) * ROUND)) fail('matches in the wrong lines')
  } else {
    const numbers = rows.map((row) => Number.parseInt(row, 10))
    const first = request.startLine ?? 1
    if (numbers.some((number, at) => number !== first + at))
      fail('rows that do not follow each other')
    const last = Math.min(view.lineCount, first + (request.maxLines ?? view.lineCount) - 1)
    if (numbers.length !== Math.max(0, last - first + 1)) fail('rows are missing')
  }
  return { rows: rows.length, generations: states.size, lineCount: view.lineCount }
}

/**
 * Whether a text is the start of a line of one generation, followed by the rest of the same line of
 * an older one.
 * @param {string} text
 * @param {number} number
 */
function isSwitched(text, number) {
  const generations = [...text.matchAll(/\d{6}(?=[ .])/g)].map(([digits]) => Number(digits))
  const shape = lineOf(0, number)
  // Only the digits of generations may differ from any line with this number.
  const isLine = text.replace(/(?<=generation )\d{6} \d{6} \d{6}/, '000000 000000 000000') === shape
  return isLine && text.length === shape.length && generations.length >= 3
}

/**
 * Why generations cannot be in the same state of the file, if so.
 * @param {[number, number][]} rows ascending line numbers, with generations
 * @param {number[]} switched
 * @param {FileView} view
 */
function whyImpossible(rows, switched, view) {
  if (rows.length === 0) return undefined
  const newest = Math.max(...new Set(rows.map(([, generation]) => generation)))
  const [base, step] = [newest - (newest % 4), newest % 4]
  const isFull = view.lineCount === lineCount && view.finalNewline
  if (step === 3 && !isFull) return 'overwriting in place does not change the size'
  if (switched.length > 0 && step !== 3 && isFull && rows.some(([line]) => line <= switched[0]))
    return `line ${switched[0]} is half rewritten, and nothing above it is`
  let inPlace = step === 3
  for (const [line, generation] of rows) {
    if (inPlace && generation === newest) continue
    inPlace = false
    if (step === 3 && generation === newest) return `line ${line} is rewritten before one above it`
    const second = step === 3 ? base + 2 : step === 0 ? base : newest
    const expected = line <= half ? base : second
    if (generation !== expected)
      return `line ${line} is of generation ${generation}, not ${expected}`
  }
  return undefined
}

/** @param {number} most the maximum, in milliseconds */
function pause(most) {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * most))
}
