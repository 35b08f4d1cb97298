// Classifies code units: whitespace, a letter or digit, or neither. Beyond ASCII the host's own
// patterns decide, once per code unit.

'use strict'

const ASCII_END = 0x80

/** The flags of a classified code unit; 0 is not classified. */
const KNOWN = 1
const IS_SPACE = 2
const IS_WORD = 4

const SPACE = /\s/
const WORD = /[\p{L}\p{N}]/u

/** @type {Uint8Array | undefined} the flags of each code unit; created on the first query */
let kinds

/** @param {number} unit beyond ASCII */
function kindOf(unit) {
  kinds ??= new Uint8Array(0x10000)
  if (kinds[unit] === 0) kinds[unit] = kindByHost(unit)
  return kinds[unit]
}

/** @param {number} unit */
function kindByHost(unit) {
  const text = String.fromCharCode(unit)
  return KNOWN | (SPACE.test(text) ? IS_SPACE : 0) | (WORD.test(text) ? IS_WORD : 0)
}

/**
 * Whether `\s` matches the code unit.
 * @param {number} unit
 */
function isWhitespace(unit) {
  if (unit < ASCII_END) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
  return (kindOf(unit) & IS_SPACE) !== 0
}

/**
 * Whether the code unit alone is a letter or digit. A surrogate is neither.
 * @param {number} unit
 */
function isLetterOrDigit(unit) {
  if (unit >= ASCII_END) return (kindOf(unit) & IS_WORD) !== 0
  const lower = unit | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || (unit >= 0x30 && unit <= 0x39)
}

/**
 * The index of the first character that is not whitespace.
 * @param {string} text
 * @param {number} from
 */
function skipWhitespace(text, from) {
  let at = from
  while (at < text.length && isWhitespace(text.charCodeAt(at))) at++
  return at
}

/** @param {number} unit */
function isSurrogate(unit) {
  return (unit & 0xf800) === 0xd800
}

/**
 * Whether a text has a letter or digit.
 * @param {string} text
 */
function hasWord(text) {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (isSurrogate(unit)) return WORD.test(text.slice(at))
    if (isLetterOrDigit(unit)) return true
  }
  return false
}

module.exports = {
  ASCII_END,
  hasWord,
  isLetterOrDigit,
  isSurrogate,
  isWhitespace,
  skipWhitespace,
}
