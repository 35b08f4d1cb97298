// Texts and edits for measurements in memory.

import { readFileSync } from 'node:fs'

/** @import { HashlineEdit } from 'hashline-native/omp13' */

/** How many texts take turns, so that caches of the last one do not help. */
const TEXTS = 8

/**
 * The first lines of a text, in versions that differ in one line.
 * @param {string} path
 * @param {number} count
 */
export function versions(path, count) {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, count)
  return Array.from({ length: TEXTS }, (_, version) => {
    const own = lines.with(count >> 2, `version ${version}`)
    // Joined and split again: one flat string, as after reading a file.
    return Buffer.from(own.join('\n')).toString()
  })
}

/**
 * A function that returns the next of some values each time.
 * @template T
 * @param {T[]} values
 */
export function turns(values) {
  let at = 0
  return () => values[at++ % values.length]
}

/** @param {string} text */
export const look = (text) => text.charCodeAt(text.length >> 1)

/**
 * Edits spread over a text.
 * @param {{ computeLineHash: (idx: number, line: string) => string }} module
 * @param {string} text
 * @param {number} count
 * @returns {HashlineEdit[]}
 */
export function spreadEdits(module, text, count) {
  const lines = text.split('\n')
  const tag = (/** @type {number} */ line) => ({
    line,
    hash: module.computeLineHash(line, lines[line - 1]),
  })
  return Array.from({ length: count }, (_, at) => {
    const line = Math.floor(((at + 0.5) * lines.length) / count) + 1
    return { op: 'replace_line', pos: tag(line), lines: [`${lines[line - 1]} // changed`] }
  })
}
