// The formats in which agents show a file to a model that edits by exact text.

import { linesIn, searched } from './player.mjs'

/** @import { Body, Exchange, Window } from './player.mjs' */

/** @typedef {(lines: string[], window: Window) => string} View */

/** @param {(number: number) => string} prefix @returns {View} */
const prefixed =
  (prefix) =>
  (lines, { from, to }) =>
    lines
      .slice(from - 1, to)
      .map((line, at) => prefix(from + at) + line)
      .join('\n')

/** The text without line numbers. */
export const plain = prefixed(() => '')
/** As `cat -n`. */
export const numbered = prefixed((number) => `${String(number).padStart(6)}\t`)
/** As Claude Code. */
export const arrows = prefixed((number) => `${String(number).padStart(6)}→`)

/**
 * Reads and searches as in most agents.
 * @param {string} cwd
 * @param {View} view
 */
export const plainReads = (cwd, view) => ({
  /** @param {string} path @param {Window} window @returns {Promise<Exchange>} */
  read: async (path, window) => ({
    args: JSON.stringify({ path, offset: window.from, limit: window.to - window.from + 1 }),
    text: view(linesIn(cwd, path).lines, window),
  }),
  /** @param {Body} body */
  search: (body) => searched(cwd, body, (lines, line) => `${body.path}:${line}:${lines[line - 1]}`),
})
