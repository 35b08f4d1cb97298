// The heuristics of `PI_HL_AUTOCORRECT`: new lines without what a model repeated, wrapped, merged
// or unindented. Everything here works on strings as they are, halves of surrogate pairs included.

'use strict'

const { isWhiteSpace, skipWhiteSpace } = require('./characters.cjs')

/** Tokens after which a statement goes on in the next line; longer ones first. */
const CONTINUATIONS = ['&&', '||', '??', '?', ':', '=', ',', '+', '-', '*', '/', '.', '(']

/** The last characters of these. */
const CONTINUATION_ENDS = new Set([...'&|?:=,+-*/.('].map((character) => character.charCodeAt(0)))

/** How much longer than both lines their merged form may be. */
const MERGE_SLACK_UNITS = 32

/** The longest run of new lines that is looked at as one wrapped line. */
const WRAP_LIMIT_LINES = 10

/** A shorter text says too little to tell a wrapped line by. */
const WRAP_MIN_UNITS = 6

const WHITE_SPACE = /\s+/g

/** @param {string} text */
function withoutWhiteSpace(text) {
  return text.replace(WHITE_SPACE, '')
}

/**
 * Whether two lines are the same but for white space. Most differ early.
 * @param {string} one
 * @param {string} other
 */
function areAlike(one, other) {
  if (one === other) return true
  let [at, otherAt] = [skipWhiteSpace(one, 0), skipWhiteSpace(other, 0)]
  while (at < one.length && otherAt < other.length) {
    if (one.charCodeAt(at) !== other.charCodeAt(otherAt)) return false
    at = skipWhiteSpace(one, at + 1)
    otherAt = skipWhiteSpace(other, otherAt + 1)
  }
  return at >= one.length && otherAt >= other.length
}

/**
 * New lines without a first one that is the line above, and a last one that is the line below.
 * @param {string[]} lines
 * @param {string | undefined} above undefined where such a line is no echo
 * @param {string | undefined} below
 * @param {number} least how many lines have to stay
 */
function withoutEchoes(lines, above, below, least) {
  let [from, to] = [0, lines.length]
  if (to > 1 && above !== undefined && areAlike(lines[0], above)) from++
  if (to - from > least && below !== undefined && areAlike(lines[to - 1], below)) to--
  return to - from === lines.length ? lines : lines.slice(from, to)
}

/**
 * New lines in which each run that is one of the replaced lines but for white space is that line.
 * Where several runs, or several replaced lines, are the same, none is.
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
  // From the end, so that no run moves an earlier one; where two overlap, the earlier one takes
  // in what the later one made.
  found.sort((one, other) => other.start - one.start || one.count - other.count)
  const mended = [...lines]
  for (const { start, count, text } of found) {
    mended.splice(start, count, /** @type {string} */ (old.get(text)))
  }
  return mended
}

/**
 * Whether a run of lines has as many characters as a replaced line, white space not counted. Mostly
 * none has, and counting is sooner done than taking lines apart.
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
 * How many code units of a line are no white space.
 * @param {string} line
 */
function unitsOf(line) {
  let count = 0
  for (let at = 0; at < line.length; at++) if (!isWhiteSpace(line.charCodeAt(at))) count++
  return count
}

/**
 * Lines by their text without white space, where that is long enough and of one line only.
 * @param {string[]} lines
 */
function uniqueLines(lines) {
  /** @type {Map<string, string | undefined>} */
  const found = new Map()
  for (const line of lines) {
    const text = withoutWhiteSpace(line)
    if (text.length >= WRAP_MIN_UNITS) found.set(text, found.has(text) ? undefined : line)
  }
  for (const [text, line] of found) if (line === undefined) found.delete(text)
  return found
}

/**
 * The runs of lines whose text without white space is one of the keys.
 * @param {string[]} lines
 * @param {Map<string, unknown>} keys
 */
function* runsAmong(lines, keys) {
  let longest = 0
  for (const key of keys.keys()) longest = Math.max(longest, key.length)
  const texts = lines.map(withoutWhiteSpace)
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
 * New lines, as many as there were old ones: one without indentation gets the old one's.
 * @param {string[]} replaced
 * @param {string[]} lines
 */
function indented(replaced, lines) {
  if (replaced.length !== lines.length) return lines
  const mends = (/** @type {string} */ line, /** @type {number} */ at) =>
    line !== '' && skipWhiteSpace(line, 0) === 0 && skipWhiteSpace(replaced[at], 0) > 0
  if (!lines.some(mends)) return lines
  return lines.map((line, at) => {
    return mends(line, at) ? replaced[at].slice(0, skipWhiteSpace(replaced[at], 0)) + line : line
  })
}

/**
 * A text without white space, without the token at its end after which it goes on; undefined when
 * it does not go on.
 * @param {string} line
 */
function headOf(line) {
  // Only few lines end in such a token, and those are seen without taking the line apart.
  let end = line.length
  while (end > 0 && isWhiteSpace(line.charCodeAt(end - 1))) end--
  if (end === 0 || !CONTINUATION_ENDS.has(line.charCodeAt(end - 1))) return undefined
  const text = withoutWhiteSpace(line)
  const token = CONTINUATIONS.find((token) => text.endsWith(token))
  return token && { text, head: text.slice(0, -token.length) }
}

/** @param {string} text */
function withoutOperators(text) {
  return text.replace(/[|&?]/g, '')
}

/**
 * Whether a text holds both parts, one before the other.
 * @param {string} text
 * @param {string} first
 * @param {string} second
 */
function holdsInOrder(text, first, second) {
  const at = text.indexOf(first)
  return at !== -1 && text.indexOf(second) > at
}

/**
 * Which neighbour a new line has taken in: -1 the line above the replaced one, 1 the line below,
 * 0 none.
 * @param {string} line
 * @param {string} replaced
 * @param {(side: -1 | 1) => string | undefined} neighbour undefined where it cannot be taken in
 * @returns {-1 | 0 | 1}
 */
function mergedNeighbour(line, replaced, neighbour) {
  const own = headOf(replaced)
  const below = own && neighbour(1)
  const above = neighbour(-1)
  const previous = above === undefined ? undefined : headOf(above)
  if (below === undefined && !previous) return 0
  const text = withoutWhiteSpace(line)
  const old = withoutWhiteSpace(replaced)
  if (text === '' || old === '') return 0
  const fits = (/** @type {string} */ other) =>
    text.length <= old.length + other.length + MERGE_SLACK_UNITS
  if (own && below !== undefined) {
    const next = withoutWhiteSpace(below)
    if (holdsInOrder(text, own.head, next) && fits(next)) return 1
  }
  if (previous && fits(previous.text)) {
    const head = withoutOperators(previous.head)
    if (holdsInOrder(withoutOperators(text), head, withoutOperators(old))) return -1
  }
  return 0
}

module.exports = { indented, mergedNeighbour, unwrapped, withoutEchoes }
