// The hash of one line. A call of the addon costs more than hashing an ordinary line, so that is
// done here; crates/core/src/text/hash.rs is what says how a line is hashed. The addon hashes very long lines,
// and all the lines of a file at once.

'use strict'

const native = require('./native.cjs')
const { INPUT_LIMIT_BYTES, input, inputWords, xxHash32 } = require('./xxHash32.cjs')

/** @import { Dialect } from './native.cjs' */

/** The two letters of each value of a byte. */
const LETTERS = 'ZPMQVRWSNKTXJBYH'
const NAMES = Array.from({ length: 256 }, (_, byte) => LETTERS[byte >> 4] + LETTERS[byte & 15])

/** A character is three bytes at most for each of its code units. */
const TEXT_LIMIT_UNITS = Math.floor(INPUT_LIMIT_BYTES / 3)

const SPACE = 0x20
const TAB = 0x09
const CARRIAGE_RETURN = 0x0d
const ASCII_END = 0x80

/** How far `input` moves on after a character: by 0 where it is white space, which is left out. */
const STEPS = Uint8Array.from({ length: ASCII_END }, (_, unit) => (isWhiteSpace(unit) ? 0 : 1))

/** @param {number} unit */
function isWhiteSpace(unit) {
  return unit === SPACE || (unit >= TAB && unit <= CARRIAGE_RETURN)
}

/** @param {number} unit */
function isLetterOrDigit(unit) {
  const lower = unit | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || (unit >= 0x30 && unit <= 0x39)
}

const encoder = new TextEncoder()

/**
 * Bun's own function, which gets there faster than the addon.
 * @type {((text: string, seed: number) => number) | undefined}
 */
const bunXxHash32 = /** @type {any} */ (globalThis).Bun?.hash?.xxHash32

/** Up to this length a line of ASCII is read here, character by character. */
const ASCII_LIMIT_UNITS = bunXxHash32 ? 48 : 128

/**
 * A line number as a seed of 32 bits, which keeps the low bits of a 64-bit number as the origin
 * does. Greater numbers count as the greatest of 64 bits.
 * @param {number} lineNumber
 */
function seedOf(lineNumber) {
  return lineNumber >= 2 ** 64 ? 0xffffffff : lineNumber >>> 0
}

/**
 * The hash of a text of any length and in any script.
 * @param {string} text what counts of a line
 * @param {number} seed
 * @returns {string}
 */
function textHash(text, seed) {
  if (bunXxHash32) return NAMES[bunXxHash32(text, seed) & 0xff]
  if (text.length > TEXT_LIMIT_UNITS) return NAMES[native.hashText(text, seed) & 0xff]
  return NAMES[xxHash32(encoder.encodeInto(text, input).written, seed) & 0xff]
}

/** @param {string} line */
function ompTextHash(line) {
  return textHash(line.replace(/\s/g, ''), 0)
}

/**
 * `computeLineHash` of dialect `omp`: white space does not count, nor does the number.
 * @param {number} _idx
 * @param {string} line
 * @returns {string}
 */
function ompLineHash(_idx, line) {
  const { length } = line
  if (length > ASCII_LIMIT_UNITS) return ompTextHash(line)
  let written = 0
  for (let at = 0; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return ompTextHash(line)
    input[written] = unit
    written += STEPS[unit]
  }
  return NAMES[xxHash32(written, 0) & 0xff]
}

/**
 * Whether there is a letter or digit of ASCII among the first characters, as there mostly is.
 * @param {string} text
 */
function startsWithWord(text) {
  const end = Math.min(text.length, 16)
  let at = 0
  while (at < end && !isLetterOrDigit(text.charCodeAt(at))) at++
  return at < end
}

/**
 * @param {number} idx
 * @param {string} line
 */
function omp13TextHash(idx, line) {
  const text = (line.includes('\r') ? line.replace(/\r/g, '') : line).trimEnd()
  const hasWord = startsWithWord(text) || /[\p{L}\p{N}]/u.test(text)
  return textHash(text, hasWord ? 0 : seedOf(idx))
}

/**
 * `computeLineHash` of dialect `omp13`: white space at the end and carriage returns do not count,
 * and the number counts where there is neither letter nor digit.
 * @param {number} idx
 * @param {string} line
 * @returns {string}
 */
function omp13LineHash(idx, line) {
  let { length } = line
  if (length > ASCII_LIMIT_UNITS) return omp13TextHash(idx, line)
  while (length > 0 && isWhiteSpace(line.charCodeAt(length - 1))) length--
  // Four characters at a time: what is to be found out about them is found out of all at once.
  const wholeWords = length & ~3
  let seen = 0
  let returns = 0
  let at = 0
  for (; at < wholeWords; at += 4) {
    const a = line.charCodeAt(at)
    const b = line.charCodeAt(at + 1)
    const c = line.charCodeAt(at + 2)
    const d = line.charCodeAt(at + 3)
    seen |= a | b | c | d
    // Below zero for a carriage return alone.
    returns |=
      ((a ^ CARRIAGE_RETURN) - 1) |
      ((b ^ CARRIAGE_RETURN) - 1) |
      ((c ^ CARRIAGE_RETURN) - 1) |
      ((d ^ CARRIAGE_RETURN) - 1)
    inputWords[at >> 2] = a | (b << 8) | (c << 16) | (d << 24)
  }
  for (; at < length; at++) {
    const unit = line.charCodeAt(at)
    seen |= unit
    returns |= (unit ^ CARRIAGE_RETURN) - 1
    input[at] = unit
  }
  if (seen >= ASCII_END || returns < 0) return omp13TextHash(idx, line)
  let word = 0
  while (word < length && !isLetterOrDigit(input[word])) word++
  return NAMES[xxHash32(length, word < length ? 0 : seedOf(idx)) & 0xff]
}

/** @type {Record<Dialect, (idx: number, line: string) => string>} */
const lineHash = { omp: ompLineHash, omp13: omp13LineHash }
for (const hash of Object.values(lineHash)) {
  Object.defineProperty(hash, 'name', { value: 'computeLineHash' })
}

module.exports = { lineHash }
