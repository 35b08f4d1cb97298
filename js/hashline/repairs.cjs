// The heuristics of `PI_HL_AUTOCORRECT`: undo repeated, wrapped, merged and unindented lines in a
// model's text. All work on strings as they are, including lone surrogates.

'use strict'

const { isWhitespace, skipWhitespace } = require('./characters.cjs')

/** Tokens after which a statement continues in the next line; longer tokens first. */
const CONTINUATIONS = ['&&', '||', '??', '?', ':', '=', ',', '+', '-', '*', '/', '.', '(']

/** The last characters of the tokens. */
const CONTINUATION_ENDS = new Set([...'&|?:=,+-*/.('].map((character) => character.charCodeAt(0)))

/** The most code units by which a merged line may exceed both lines. */
const MERGE_SLACK_UNITS = 32

/** The longest run of new lines that is compared as one wrapped line. */
const WRAP_LIMIT_LINES = 10

/** A shorter text is too ambiguous to identify a wrapped line. */
const WRAP_MIN_UNITS = 6

const WHITESPACE = /\s+/g

/** @param {string} text */
function withoutWhitespace(text) {
  return text.replace(WHITESPACE, '')
}

/**
 * Whether two lines are equal except for whitespace. Most differ early.
 * @param {string} one
 * @param {string} other
 */
function areAlike(one, other) {
  if (one === other) return true
  let [at, otherAt] = [skipWhitespace(one, 0), skipWhitespace(other, 0)]
  while (at < one.length && otherAt < other.length) {
    if (one.charCodeAt(at) !== other.charCodeAt(otherAt)) return false
    at = skipWhitespace(one, at + 1)
    otherAt = skipWhitespace(other, otherAt + 1)
  }
  return at >= one.length && otherAt >= other.length
}

/**
 * New lines without a first line that equals the line above, and a last line that equals the line
 * below.
 * @param {string[]} lines
 * @param {string | undefined} above undefined if that line must not be removed
 * @param {string | undefined} below
 * @param {number} least the number of lines to keep
 */
function withoutEchoes(lines, above, below, least) {
  let [from, to] = [0, lines.length]
  if (to > 1 && above !== undefined && areAlike(lines[0], above)) from++
  if (to - from > least && below !== undefined && areAlike(lines[to - 1], below)) to--
  return to - from === lines.length ? lines : lines.slice(from, to)
}

/**
 * Replaces each run of new lines that equals a replaced line, except for whitespace, by that line.
 * Ambiguous runs and lines are not replaced.
 * @param {string[]} replaced
 * @param {string[]} lines
 */
function unwrapped(replaced, lines) {
  if (lines.length < 2 || !mayBeWrapped(replaced, lines)) return lines
  const old = uniqueLines(replaced)
  if (old.size === 0) return lines
  /** @type {Map<string, { start: number, count: number } | undefined>} */
  const runs = new Map()
  for (const { start, count, text } of runsAmong(lines, old)) {
    runs.set(text, runs.has(text) ? undefined : { start, count })
  }
  const found = [...runs].flatMap(([text, run]) => (run ? [{ text, ...run }] : []))
  if (found.length === 0) return lines
  // From the end, so that no run moves an earlier one. If two overlap, the earlier one includes the
  // result of the later one.
  found.sort((one, other) => other.start - one.start || one.count - other.count)
  const repaired = [...lines]
  for (const { start, count, text } of found) {
    repaired.splice(start, count, /** @type {string} */ (old.get(text)))
  }
  return repaired
}

/**
 * Whether a run of lines has the same number of characters as a replaced line, whitespace not
 * counted. Usually none has, and counting is faster than normalizing lines.
 * @param {string[]} replaced
 * @param {string[]} lines
 */
function mayBeWrapped(replaced, lines) {
  const wanted = new Set(replaced.map(unitsOf))
  const units = lines.map(unitsOf)
  for (let start = 0; start < units.length; start++) {
    let sum = units[start]
    const end = Math.min(units.length, start + WRAP_LIMIT_LINES)
    for (let next = start + 1; next < end; next++) {
      sum += units[next]
      if (sum >= WRAP_MIN_UNITS && wanted.has(sum)) return true
    }
  }
  return false
}

/**
 * The number of code units of a line that are not whitespace.
 * @param {string} line
 */
function unitsOf(line) {
  let count = 0
  for (let at = 0; at < line.length; at++) if (!isWhitespace(line.charCodeAt(at))) count++
  return count
}

/**
 * Maps texts without whitespace to their lines, if the text is long enough and unique.
 * @param {string[]} lines
 */
function uniqueLines(lines) {
  /** @type {Map<string, string | undefined>} */
  const found = new Map()
  for (const line of lines) {
    const text = withoutWhitespace(line)
    if (text.length >= WRAP_MIN_UNITS) found.set(text, found.has(text) ? undefined : line)
  }
  for (const [text, line] of found) if (line === undefined) found.delete(text)
  return found
}

/**
 * The runs of lines whose text without whitespace is one of the keys.
 * @param {string[]} lines
 * @param {Map<string, unknown>} keys
 */
function* runsAmong(lines, keys) {
  let longest = 0
  for (const key of keys.keys()) longest = Math.max(longest, key.length)
  const texts = lines.map(withoutWhitespace)
  for (let start = 0; start < texts.length; start++) {
    let text = texts[start]
    const end = Math.min(texts.length, start + WRAP_LIMIT_LINES)
    for (let next = start + 1; next < end && text.length <= longest; next++) {
      text += texts[next]
      if (keys.has(text)) yield { start, count: next + 1 - start, text }
    }
  }
}

/**
 * If the number of lines is unchanged, a line without indentation gets that of the old line.
 * @param {string[]} replaced
 * @param {string[]} lines
 */
function indented(replaced, lines) {
  if (replaced.length !== lines.length) return lines
  const needsIndent = (/** @type {string} */ line, /** @type {number} */ at) =>
    line !== '' && skipWhitespace(line, 0) === 0 && skipWhitespace(replaced[at], 0) > 0
  if (!lines.some(needsIndent)) return lines
  return lines.map((line, at) => {
    return needsIndent(line, at)
      ? replaced[at].slice(0, skipWhitespace(replaced[at], 0)) + line
      : line
  })
}

/**
 * A text without whitespace and without the continuation token at its end; undefined if it has
 * none.
 * @param {string} line
 */
function headOf(line) {
  // Few lines end in such a token, and checking the last character is cheap.
  let end = line.length
  while (end > 0 && isWhitespace(line.charCodeAt(end - 1))) end--
  if (end === 0 || !CONTINUATION_ENDS.has(line.charCodeAt(end - 1))) return undefined
  const text = withoutWhitespace(line)
  const token = CONTINUATIONS.find((token) => text.endsWith(token))
  return token && { text, head: text.slice(0, -token.length) }
}

/** @param {string} text */
function withoutOperators(text) {
  return text.replace(/[|&?]/g, '')
}

/**
 * Whether a text has both parts, one before the other.
 * @param {string} text
 * @param {string} first
 * @param {string} second
 */
function holdsInOrder(text, first, second) {
  const at = text.indexOf(first)
  return at !== -1 && text.indexOf(second) > at
}

/**
 * The neighbour that a new line includes: -1 for the line above the replaced one, 1 for the line
 * below, 0 for none.
 * @param {string} line
 * @param {string} replaced
 * @param {(side: -1 | 1) => string | undefined} neighbour undefined if it cannot be included
 * @returns {-1 | 0 | 1}
 */
function mergedNeighbour(line, replaced, neighbour) {
  const own = headOf(replaced)
  const below = own && neighbour(1)
  const above = neighbour(-1)
  const previous = above === undefined ? undefined : headOf(above)
  if (below === undefined && !previous) return 0
  const text = withoutWhitespace(line)
  const old = withoutWhitespace(replaced)
  if (text === '' || old === '') return 0
  const fits = (/** @type {string} */ other) =>
    text.length <= old.length + other.length + MERGE_SLACK_UNITS
  if (own && below !== undefined) {
    const next = withoutWhitespace(below)
    if (holdsInOrder(text, own.head, next) && fits(next)) return 1
  }
  if (previous && fits(previous.text)) {
    const head = withoutOperators(previous.head)
    if (holdsInOrder(withoutOperators(text), head, withoutOperators(old))) return -1
  }
  return 0
}

module.exports = { indented, mergedNeighbour, unwrapped, withoutEchoes }
