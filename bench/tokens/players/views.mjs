// The ways in which agents show a file to a model that edits by exact text.

/** @import { Window } from './player.mjs' */

/** @typedef {(lines: string[], window: Window) => string} View */

/** @param {(number: number) => string} prefix @returns {View} */
const prefixed =
  (prefix) =>
  (lines, { from, to }) =>
    lines
      .slice(from - 1, to)
      .map((line, at) => prefix(from + at) + line)
      .join('\n')

/** The text alone. */
export const plain = prefixed(() => '')
/** As `cat -n`. */
export const numbered = prefixed((number) => `${String(number).padStart(6)}\t`)
/** As Claude Code. */
export const arrows = prefixed((number) => `${String(number).padStart(6)}→`)
