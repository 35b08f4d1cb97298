// Repairs of new lines, which are the engine's own (crates/core/src/edit/repair).

'use strict'

const native = require('./native.cjs')
const { LONE_SURROGATES } = require('./surrogates.cjs')

/** Characters without meaning: no white space, no operator, and as long as half a pair is. */
const FIRST_PRIVATE = 0xe000
const LAST_PRIVATE = 0xf8ff

/**
 * New lines without what a model repeated, wrapped or unindented.
 * @param {string | undefined} above the line above the place they go to
 * @param {string[]} replaced none for an insert
 * @param {string | undefined} below
 * @param {string[]} lines
 * @returns {string[]}
 */
function mendLines(above, replaced, below, lines) {
  const disguise = new Disguise([above ?? '', ...replaced, below ?? '', ...lines])
  if (!disguise.fits) return lines
  const mended = native.mendLines(
    'omp',
    disguise.on(above),
    replaced.map((line) => disguise.put(line)),
    disguise.on(below),
    lines.map((line) => disguise.put(line)),
  )
  return mended?.map((line) => disguise.off(line)) ?? lines
}

/**
 * Which neighbour a new line has taken in: -1 the line above the replaced one, 1 the line below,
 * 0 none.
 * @param {string | undefined} above
 * @param {string} replaced
 * @param {string | undefined} below
 * @param {string} line
 */
function mergedNeighbour(above, replaced, below, line) {
  const disguise = new Disguise([above ?? '', replaced, below ?? '', line])
  if (!disguise.fits) return 0
  return native.mergedNeighbour(
    'omp',
    disguise.on(above),
    [disguise.put(replaced)],
    disguise.on(below),
    [disguise.put(line)],
  )
}

/**
 * Native code takes UTF-8, which has no halves of surrogate pairs. While lines are there, each
 * such half is a character that occurs in none of them.
 */
class Disguise {
  /** Whether there are characters enough. Lines with thousands of private ones are no text. */
  fits = true
  /** @type {Map<string, string>} */
  #masks = new Map()
  /** @type {Map<string, string>} */
  #faces = new Map()

  /** @param {string[]} lines */
  constructor(lines) {
    const halves = new Set(lines.flatMap((line) => line.match(LONE_SURROGATES) ?? []))
    if (halves.size === 0) return
    const used = new Set(lines.join(''))
    let mask = FIRST_PRIVATE
    for (const half of halves) {
      while (used.has(String.fromCharCode(mask))) mask++
      if (mask > LAST_PRIVATE) {
        this.fits = false
        return
      }
      this.#masks.set(half, String.fromCharCode(mask))
      this.#faces.set(String.fromCharCode(mask++), half)
    }
  }

  /** @param {string | undefined} line */
  on(line) {
    return line === undefined ? null : this.put(line)
  }

  /** @param {string} line */
  put(line) {
    if (this.#masks.size === 0) return line
    return line.replace(LONE_SURROGATES, (half) => this.#masks.get(half) ?? half)
  }

  /** @param {string} line */
  off(line) {
    if (this.#faces.size === 0) return line
    return line.replace(/[\uE000-\uF8FF]/g, (mask) => this.#faces.get(mask) ?? mask)
  }
}

module.exports = { mendLines, mergedNeighbour }
