// The hash of one line: short lines of ASCII here, all others in native code. Crossing over costs
// more than hashing a short line does; src/core/hash.rs is what says how a line is hashed.

'use strict'

const native = require('./native.cjs')
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

/**
 * `computeLineHash` of dialect `omp`: white space does not count, nor does the number.
 * @param {number} _idx
 * @param {string} line
 * @returns {string}
 */
function ompLineHash(_idx, line) {
  const { length } = line
  if (length > LINE_LIMIT_UNITS) return native.hashLine('omp', 0, line)
  let written = 0
  for (let at = 0; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return native.hashLine('omp', 0, line)
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
  if (length > LINE_LIMIT_UNITS) return native.hashLine('omp13', wholeNumber(idx), line)
  while (length > 0 && isWhiteSpace(line.charCodeAt(length - 1))) length--
  let written = 0
  let words = 0
  for (let at = 0; at < length; at++) {
    const unit = line.charCodeAt(at)
    if (unit >= ASCII_END) return native.hashLine('omp13', wholeNumber(idx), line)
    input[written] = unit
    words |= WORDS[unit]
    if (unit !== CARRIAGE_RETURN) written++
  }
  return NAMES[xxHash32(written, words === 0 ? seedOf(idx) : 0) & 0xff]
}

/** @type {Record<Dialect, (idx: number, line: string) => string>} */
const lineHash = { omp: ompLineHash, omp13: omp13LineHash }

module.exports = { lineHash }
