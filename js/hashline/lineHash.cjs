// The hash of one line: short lines of ASCII here, all others in native code. Crossing over costs
// more than hashing a short line does; src/core/hash.rs is what says how a line is hashed.

'use strict'

const native = require('./native.cjs')
const { LONE_SURROGATES } = require('./surrogates.cjs')
const { input, xxHash32 } = require('./xxHash32.cjs')

/** @import { Dialect } from './native.cjs' */

/** The two letters of each value of a byte. */
const LETTERS = 'ZPMQVRWSNKTXJBYH'
const NAMES = Array.from({ length: 256 }, (_, byte) => LETTERS[byte >> 4] + LETTERS[byte & 15])

/** Longer lines are hashed in native code. No more than `input` has room for. */
const LINE_LIMIT_UNITS = 256

const SPACE = 0x20
const TAB = 0x09
const CARRIAGE_RETURN = 0x0d
const ASCII_END = 0x80

/** How far `input` moves on after a character: by 0 where it is white space, which is left out. */
const STEPS = Uint8Array.from({ length: ASCII_END }, (_, unit) => (isWhiteSpace(unit) ? 0 : 1))

/** 1 for letters and digits. */
const WORDS = Uint8Array.from({ length: ASCII_END }, (_, unit) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(unit)) ? 1 : 0,
)

/** @param {number} unit of ASCII */
function isWhiteSpace(unit) {
  return unit === SPACE || (unit >= TAB && unit <= CARRIAGE_RETURN)
}

/**
 * A line number as a seed of 32 bits, which keeps the low bits of a 64-bit number as the origin
 * does. Numbers that no file has end at the greatest 64-bit number.
 * @param {number} lineNumber
 */
function seedOf(lineNumber) {
  return lineNumber >= 2 ** 63 ? 0xffffffff : lineNumber >>> 0
}

/**
 * The number that native code gets: it takes no negative ones and no fractions.
 * @param {number} lineNumber
 */
function wholeNumber(lineNumber) {
  return Number.isSafeInteger(lineNumber) && lineNumber >= 0 ? lineNumber : seedOf(lineNumber)
}

/** What each dialect leaves out of a line, in the words of JavaScript. */
const NORMALIZE = {
  omp: (/** @type {string} */ line) => line.replace(/\s/g, ''),
  omp13: (/** @type {string} */ line) => line.replace(/\r/g, '').trimEnd(),
}

/**
 * @param {Dialect} dialect
 * @param {number} lineNumber
 * @param {string} line
 */
function nativeLineHash(dialect, lineNumber, line) {
  const number = wholeNumber(lineNumber)
  const hash = native.hashLine(dialect, number, line)
  if (hash !== null) return hash
  // Two halves of a surrogate pair are a pair when what stood between them is left out. Those
  // that stay alone count as U+FFFD.
  const text = NORMALIZE[dialect](line).replace(LONE_SURROGATES, '\ufffd')
  return /** @type {string} */ (native.hashLine(dialect, number, text))
}

/**
 * `computeLineHash` of dialect `omp`: white space does not count, nor does the number.
 * @param {number} _idx
 * @param {string} line
 * @returns {string}
 */
function ompLineHash(_idx, line) {
  const { length } = line
  if (length > LINE_LIMIT_UNITS) return nativeLineHash('omp', 0, line)
  let written = 0
  for (let at = 0; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return nativeLineHash('omp', 0, line)
    input[written] = unit
    written += STEPS[unit]
  }
  return NAMES[xxHash32(written, 0) & 0xff]
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
  if (length > LINE_LIMIT_UNITS) return nativeLineHash('omp13', idx, line)
  while (length > 0 && isWhiteSpace(line.charCodeAt(length - 1))) length--
  let written = 0
  let words = 0
  for (let at = 0; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return nativeLineHash('omp13', idx, line)
    input[written] = unit
    words |= WORDS[unit]
    if (unit !== CARRIAGE_RETURN) written++
  }
  return NAMES[xxHash32(written, words === 0 ? seedOf(idx) : 0) & 0xff]
}

/** @type {Record<Dialect, (idx: number, line: string) => string>} */
const lineHash = { omp: ompLineHash, omp13: omp13LineHash }

module.exports = { lineHash }
