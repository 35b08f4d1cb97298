// xxHash32 of a few bytes. For one short line this is faster than a native call.

'use strict'

const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d
const PRIME_4 = 0x27d4eb2f
const PRIME_5 = 0x165667b1

/** The largest input. */
const INPUT_LIMIT_BYTES = 2048

/**
 * The input, written byte by byte or in little-endian words, the byte order of all processors that
 * Node and Bun support.
 */
const input = new Uint8Array(INPUT_LIMIT_BYTES)
const inputWords = new Int32Array(input.buffer)

/**
 * @param {number} sum
 * @param {number} word
 */
function round(sum, word) {
  const mixed = (sum + Math.imul(word, PRIME_2)) | 0
  return Math.imul((mixed << 13) | (mixed >>> 19), PRIME_1)
}

/**
 * The four accumulators over all whole stripes of 16 bytes, merged into one.
 * @param {number} words the number of words in the stripes
 * @param {number} seed
 */
function stripeSum(words, seed) {
  let a = (seed + PRIME_1 + PRIME_2) | 0
  let b = (seed + PRIME_2) | 0
  let c = seed | 0
  let d = (seed - PRIME_1) | 0
  for (let at = 0; at < words; at += 4) {
    a = round(a, inputWords[at])
    b = round(b, inputWords[at + 1])
    c = round(c, inputWords[at + 2])
    d = round(d, inputWords[at + 3])
  }
  const left = (((a << 1) | (a >>> 31)) + ((b << 7) | (b >>> 25))) | 0
  return (left + (((c << 12) | (c >>> 20)) + ((d << 18) | (d >>> 14)))) | 0
}

/**
 * The hash of the first `length` bytes of `input`.
 * @param {number} length at most `INPUT_LIMIT_BYTES`
 * @param {number} seed
 * @returns {number} a signed 32-bit number
 */
function xxHash32(length, seed) {
  let at = (length >>> 4) << 2
  let hash = at > 0 ? stripeSum(at, seed) : (seed + PRIME_5) | 0
  hash = (hash + length) | 0
  for (const end = length >>> 2; at < end; at++) {
    hash = (hash + Math.imul(inputWords[at], PRIME_3)) | 0
    hash = Math.imul((hash << 17) | (hash >>> 15), PRIME_4)
  }
  for (at <<= 2; at < length; at++) {
    hash = (hash + Math.imul(input[at], PRIME_5)) | 0
    hash = Math.imul((hash << 11) | (hash >>> 21), PRIME_1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
  return hash ^ (hash >>> 16)
}

module.exports = { INPUT_LIMIT_BYTES, input, inputWords, xxHash32 }
