// The hash of one line. A call of the addon costs more than hashing an ordinary line, so this
// module does it; crates/lines/src/hash.rs defines the hash. The addon hashes very long lines, and
// whole files.

'use strict'

const {
  ASCII_END,
  hasWord,
  isLetterOrDigit,
  isSurrogate,
  isWhitespace,
} = require('./characters.cjs')
const native = require('./native.cjs')
const { INPUT_LIMIT_BYTES, input, inputWords, xxHash32 } = require('./xxHash32.cjs')

/** @import { Dialect } from './native.cjs' */

/** The two letters of each value of a byte. */
const LETTERS = 'ZPMQVRWSNKTXJBYH'
const NAMES = Array.from({ length: 256 }, (_, byte) => LETTERS[byte >> 4] + LETTERS[byte & 15])

/** Each code unit takes at most three bytes. */
const TEXT_LIMIT_UNITS = Math.floor(INPUT_LIMIT_BYTES / 3)

const CARRIAGE_RETURN = 0x0d

/** How far `input` advances after a character: 0 for whitespace, which is not hashed. */
const STEPS = Uint8Array.from({ length: ASCII_END }, (_, unit) => (isWhitespace(unit) ? 0 : 1))

/** @type {InstanceType<typeof TextEncoder> | undefined} created on first use */
let encoder

/**
 * Bun's own function, which is faster than a call of the addon.
 * @type {((text: string, seed: number) => number) | undefined}
 */
const bunXxHash32 = /** @type {any} */ (globalThis).Bun?.hash?.xxHash32

/**
 * Up to these lengths a line is read character by character; measured in both hosts. Longer lines
 * use a pattern where whitespace inside the line is not hashed.
 */
const OMP_ASCII_LIMIT_UNITS = INPUT_LIMIT_BYTES
const OMP13_ASCII_LIMIT_UNITS = 48
const OMP_WIDE_LIMIT_UNITS = bunXxHash32 ? 24 : 32
const OMP13_WIDE_LIMIT_UNITS = bunXxHash32 ? 40 : 64

/**
 * A line number as a 32-bit seed. As in the original, it is the low half of a 64-bit number, and
 * larger numbers are clamped to the largest.
 * @param {number} lineNumber
 */
function seedOf(lineNumber) {
  return lineNumber >= 2 ** 64 ? 0xffffffff : lineNumber >>> 0
}

/**
 * The hash of a text of any length and in any script.
 * @param {string} text the hashed part of a line
 * @param {number} seed
 * @returns {string}
 */
function textHash(text, seed) {
  if (bunXxHash32) return NAMES[bunXxHash32(text, seed) & 0xff]
  if (text.length > TEXT_LIMIT_UNITS) return NAMES[native.hashText(text, seed) & 0xff]
  encoder ??= new TextEncoder()
  return NAMES[xxHash32(encoder.encodeInto(text, input).written, seed) & 0xff]
}

/**
 * Writes a character of two or three bytes to `input`; returns its end.
 * @param {number} unit not a surrogate
 * @param {number} at
 */
function writeWide(unit, at) {
  if (unit < 0x800) {
    input[at] = 0xc0 | (unit >> 6)
    input[at + 1] = 0x80 | (unit & 0x3f)
    return at + 2
  }
  input[at] = 0xe0 | (unit >> 12)
  input[at + 1] = 0x80 | ((unit >> 6) & 0x3f)
  input[at + 2] = 0x80 | (unit & 0x3f)
  return at + 3
}

/** @param {string} line */
function ompTextHash(line) {
  return textHash(line.replace(/\s/g, ''), 0)
}

/**
 * The hash of a line from its first character beyond ASCII; those before are in `input`.
 * @param {string} line
 * @param {number} from
 * @param {number} written
 */
function ompWideHash(line, from, written) {
  const { length } = line
  const isFar = length - from > OMP_WIDE_LIMIT_UNITS || length > TEXT_LIMIT_UNITS
  if (isFar) return ompTextHash(line)
  let end = written
  for (let at = from; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (isWhitespace(unit)) continue
    if (unit < ASCII_END) input[end++] = unit
    // Whitespace between two surrogates may be skipped, which makes them one character.
    else if (isSurrogate(unit)) return ompTextHash(line)
    else end = writeWide(unit, end)
  }
  return NAMES[xxHash32(end, 0) & 0xff]
}

/**
 * `computeLineHash` of dialect `omp`: ignores whitespace and the line number.
 * @param {number} _idx
 * @param {string} line
 * @returns {string}
 */
function ompLineHash(_idx, line) {
  const { length } = line
  if (length > OMP_ASCII_LIMIT_UNITS) return ompTextHash(line)
  let written = 0
  for (let at = 0; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return ompWideHash(line, at, written)
    input[written] = unit
    written += STEPS[unit]
  }
  return NAMES[xxHash32(written, 0) & 0xff]
}

/**
 * @param {number} idx
 * @param {string} line
 */
function omp13TextHash(idx, line) {
  const text = (line.includes('\r') ? line.replace(/\r/g, '') : line).trimEnd()
  return textHash(text, hasWord(text) ? 0 : seedOf(idx))
}

/**
 * The hash of a line from an index; the part before it is ASCII and in `input`.
 * @param {number} idx
 * @param {string} line
 * @param {number} from
 */
function omp13WideHash(idx, line, from) {
  let { length } = line
  if (length > OMP13_WIDE_LIMIT_UNITS) return omp13TextHash(idx, line)
  while (length > from && isWhitespace(line.charCodeAt(length - 1))) length--
  let end = from
  for (let at = from; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit === CARRIAGE_RETURN || isSurrogate(unit)) return omp13TextHash(idx, line)
    if (unit < ASCII_END) input[end++] = unit
    else end = writeWide(unit, end)
  }
  let word = 0
  while (word < length && !isLetterOrDigit(line.charCodeAt(word))) word++
  return NAMES[xxHash32(end, word < length ? 0 : seedOf(idx)) & 0xff]
}

/**
 * `computeLineHash` of dialect `omp13`: ignores whitespace at the end and carriage returns. The
 * line number counts only if the line has neither letters nor digits.
 * @param {number} idx
 * @param {string} line
 * @returns {string}
 */
function omp13LineHash(idx, line) {
  let { length } = line
  if (length > OMP13_ASCII_LIMIT_UNITS) return omp13TextHash(idx, line)
  while (length > 0 && isWhitespace(line.charCodeAt(length - 1))) length--
  // Four characters at a time, so that one test covers all four.
  const wholeWords = length & ~3
  let returns = 0
  let at = 0
  for (; at < wholeWords; at += 4) {
    const a = line.charCodeAt(at)
    const b = line.charCodeAt(at + 1)
    const c = line.charCodeAt(at + 2)
    const d = line.charCodeAt(at + 3)
    // Negative only for a carriage return.
    returns |=
      ((a ^ CARRIAGE_RETURN) - 1) |
      ((b ^ CARRIAGE_RETURN) - 1) |
      ((c ^ CARRIAGE_RETURN) - 1) |
      ((d ^ CARRIAGE_RETURN) - 1)
    if ((a | b | c | d) >= ASCII_END) break
    inputWords[at >> 2] = a | (b << 8) | (c << 16) | (d << 24)
  }
  if (returns < 0) return omp13TextHash(idx, line)
  if (at < wholeWords) return omp13WideHash(idx, line, at)
  for (; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return omp13WideHash(idx, line, at)
    if (unit === CARRIAGE_RETURN) return omp13TextHash(idx, line)
    input[at] = unit
  }
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
