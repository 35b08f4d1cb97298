// What one answer may hold, whatever it is made of.

'use strict'

const MAX_LINES = 2000
const MAX_BYTES = 51_200
/** What may come on top: the lines of a session that say how to go on. */
const SPARE_LINES = 10
const SPARE_BYTES = 1024
/** A line longer than this is cut within, when the whole is too long. */
const MAX_LINE_CHARS = 1000

/** What stands at the end, below the last line of a file, is kept when it is no more than this. */
const MAX_TAIL_LINES = 100
const MAX_TAIL_BYTES = 8192

/**
 * The part of a text that one answer may hold. Lines that are very long are cut first, so that what
 * stands below them is not lost; then whole lines, above what is said at the end.
 * @param {string} text
 * @param {string} advice what the model can do about it
 */
function bounded(text, advice) {
  const lines = text.split('\n')
  const isShort =
    lines.length <= MAX_LINES + SPARE_LINES && Buffer.byteLength(text) <= MAX_BYTES + SPARE_BYTES
  if (isShort) return text
  const cut = lines.map(shortened)
  if (fitting(cut, MAX_LINES, MAX_BYTES) === cut.length) {
    return `${cut.join('\n')}\n(Long lines are cut.${advice})`
  }
  const tail = tailOf(cut)
  const body = cut.slice(0, cut.length - tail.length)
  const head = fitting(body, MAX_LINES - tail.length, MAX_BYTES - bytesOf(tail))
  const rest = body.length - head
  const lack = rest === 1 ? 'line is' : 'lines are'
  const note =
    tail.length > 0 ? `${rest} ${lack} left out here` : `${rest} further ${lack} left out`
  return [...body.slice(0, head), `(${note}.${advice})`, ...tail].join('\n')
}

/**
 * How many of the first lines fit.
 * @param {string[]} lines
 * @param {number} maxLines
 * @param {number} maxBytes
 */
function fitting(lines, maxLines, maxBytes) {
  let bytes = 0
  const fits = lines.findIndex((line, at) => {
    bytes += Buffer.byteLength(line) + 1
    return at >= maxLines || bytes > maxBytes
  })
  return fits === -1 ? lines.length : fits
}

/** A line of a file: its number begins it, and a hash follows. */
const ROW = /^\s*\d+[^\s\w]\w/

/**
 * The lines below the last line of a file: what is said of it and of other files. None when there
 * is no line of a file, or when they are too many.
 * @param {string[]} lines
 */
function tailOf(lines) {
  const at = lines.findLastIndex((line) => ROW.test(line))
  const tail = lines.slice(at + 1)
  const isKept = at >= 0 && tail.length <= MAX_TAIL_LINES && bytesOf(tail) <= MAX_TAIL_BYTES
  return isKept ? tail : []
}

/** @param {string[]} lines */
const bytesOf = (lines) => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)

/** @param {string} line */
function shortened(line) {
  if (line.length <= MAX_LINE_CHARS) return line
  const rest = line.length - MAX_LINE_CHARS
  return `${line.slice(0, MAX_LINE_CHARS)}… (${rest} characters of this line are left out)`
}

const MAX_NOTES = 8
const MAX_NOTE_CHARS = 160

/**
 * Notes below an answer, the first of them.
 * @param {string[]} notes
 */
function boundedNotes(notes) {
  const shown = notes.slice(0, MAX_NOTES).map((note) => {
    const isLong = note.length > MAX_NOTE_CHARS
    return `\n(${isLong ? `${note.slice(0, MAX_NOTE_CHARS)}…` : note}.)`
  })
  const rest = notes.length - shown.length
  if (rest > 0) shown.push(`\n(And ${rest} more of that kind.)`)
  return shown.join('')
}

module.exports = { bounded, boundedNotes }
