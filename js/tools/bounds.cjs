// What one answer may hold, whatever it is made of.

'use strict'

const MAX_LINES = 2000
const MAX_BYTES = 51_200
/** What may come on top: the lines of a session that say how to go on. */
const SPARE_LINES = 10
const SPARE_BYTES = 1024
/** A line longer than this is cut within, when the whole is too long. */
const MAX_LINE_CHARS = 1000

/**
 * The part of a text that one answer may hold. Lines that are very long are cut first, so that what
 * stands below them is not lost; then whole lines at the end.
 * @param {string} text
 * @param {string} advice what the model can do about it
 */
function bounded(text, advice) {
  const lines = text.split('\n')
  const isShort =
    lines.length <= MAX_LINES + SPARE_LINES && Buffer.byteLength(text) <= MAX_BYTES + SPARE_BYTES
  if (isShort) return text
  const cut = lines.map(shortened)
  let bytes = 0
  const fits = cut.findIndex((line, at) => {
    bytes += Buffer.byteLength(line) + 1
    return at >= MAX_LINES || bytes > MAX_BYTES
  })
  const rest = fits === -1 ? 0 : cut.length - fits
  if (rest === 0) return `${cut.join('\n')}\n(Long lines are cut.${advice})`
  const noun = rest === 1 ? 'further line is' : 'further lines are'
  return `${cut.slice(0, fits).join('\n')}\n(${rest} ${noun} left out.${advice})`
}

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
