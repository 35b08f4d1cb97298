// Where a formatter put the lines of a text: the characters that it neither adds nor removes are the
// same in both texts, so each line is a range of them.

/** @import { Line } from './identities.mjs' */

/** What formatters add and remove: whitespace, quotes, parentheses, and marks at the ends of items. */
const OPTIONAL = /[\s"'`,;()]+/g
const NO_LETTERS = /[^\p{L}\p{N}]+/gu

/**
 * @typedef {object} Range of characters, in all those of the text
 * @property {number} start
 * @property {number} end
 */

/** @param {string[]} lines @param {RegExp} skipped @returns {{ all: string, ranges: Range[] }} */
function rangesOf(lines, skipped) {
  const letters = lines.map((line) => line.replace(skipped, ''))
  let end = 0
  const ranges = letters.map(({ length }) => {
    const start = end
    end += length
    return { start, end }
  })
  return { all: letters.join(''), ranges }
}

/**
 * The lines of a formatted text with their identities.
 * @typedef {object} Aligned
 * @property {Line[]} lines
 * @property {Set<number>} unsure lines of the old text that are one of several current lines or none
 */
/**
 * @param {string[]} old
 * @param {string[]} current
 * @returns {Aligned | undefined} undefined if their letters and digits differ
 */
export const alignedLines = (old, current) =>
  alignedBy(old, current, OPTIONAL) ?? alignedBy(old, current, NO_LETTERS)

/**
 * A line is kept if the same characters are a line of both texts, and these lines differ only in
 * whitespace at their ends. Lines of skipped characters are kept if there are as many with this text
 * between the same characters.
 * @param {string[]} old
 * @param {string[]} current
 * @param {RegExp} skipped
 * @returns {Aligned | undefined}
 */
function alignedBy(old, current, skipped) {
  const [before, after] = [rangesOf(old, skipped), rangesOf(current, skipped)]
  if (before.all !== after.all) return undefined
  const places = placesOfTexts(old, before.ranges)
  const others = placesOfTexts(current, after.ranges)
  /** @type {Map<number, number>} */
  const ids = new Map()
  /** @type {Set<number>} */
  const unsure = new Set()
  for (const [key, found] of places) {
    const now = others.get(key) ?? []
    for (const [at, id] of found.entries()) {
      if (now.length === found.length) ids.set(now[at], id)
      else if (now.length > 0) unsure.add(id)
    }
  }
  let next = 0
  const lines = current.map((text, at) => {
    const { start, end } = after.ranges[at]
    while (next < old.length && before.ranges[next].end <= start) next++
    const holds = []
    for (let id = next; id < old.length && before.ranges[id].start < end; id++) {
      if (before.ranges[id].end > before.ranges[id].start) holds.push(id)
    }
    const id = ids.get(at)
    if (holds.length === 0 && id !== undefined) holds.push(id)
    return { text, id, holds }
  })
  return { lines, unsure }
}

/**
 * The lines of each text and range of characters.
 * @param {string[]} lines
 * @param {Range[]} ranges
 */
function placesOfTexts(lines, ranges) {
  /** @type {Map<string, number[]>} */
  const places = new Map()
  for (const [at, line] of lines.entries()) {
    const key = `${ranges[at].start} ${ranges[at].end} ${line.trim()}`
    const found = places.get(key)
    if (found) found.push(at)
    else places.set(key, [at])
  }
  return places
}
