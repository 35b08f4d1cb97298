// Pseudo-random numbers that are the same in every run, for drawing samples.

/**
 * A generator of numbers from 0 to 1, excluding 1, for one purpose: draws for another purpose do
 * not change its sequence.
 * @param {string | number} seed
 * @param {string} purpose
 */
export function randomFrom(seed, purpose) {
  let state = fingerprint(`${seed} ${purpose}`)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** A whole number from 0 to `count` - 1. @param {number} count */
  const below = (count) => Math.floor(next() * count)
  return {
    next,
    below,
    /** @type {<T>(list: readonly T[]) => T} */
    pick: (list) => list[below(list.length)],
    /** @type {<T>(list: readonly T[]) => T[]} */
    shuffled: (list) => {
      const copy = [...list]
      for (let at = copy.length - 1; at > 0; at--) {
        const other = below(at + 1)
        const kept = copy[at]
        copy[at] = copy[other]
        copy[other] = kept
      }
      return copy
    },
  }
}

/** @typedef {ReturnType<typeof randomFrom>} Random */

/** FNV-1a. @param {string} text */
function fingerprint(text) {
  let hash = 0x811c9dc5
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash
}
