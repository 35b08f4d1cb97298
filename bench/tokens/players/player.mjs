// Shared by all schemes: a model in a folder that reads, searches and edits with the tools of its
// scheme.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { split } from '../../edit/history/text.mjs'

/** @import { Edit, Lines } from '../../edit/history/text.mjs' */

/**
 * The arguments of a call, and its result for the model.
 * @typedef {{ args: string, text: string }} Exchange
 * @typedef {Exchange & { done: boolean }} Edited
 * @typedef {{ from: number, to: number }} Window
 * @typedef {{ path: string, first: number, last: number, pattern: string }} Body a function, and
 * the pattern to find it
 *
 * @typedef {object} Player
 * @property {(path: string, window: Window) => Promise<Exchange>} read
 * @property {(path: string, lines: string[], edits: Edit[]) => Promise<Edited>} edit lines as they
 * were read
 * @property {(output: string) => Promise<Exchange>} [annotated] what the host appends to the output
 * of a tool
 * @property {(path: string, edits: Edit[]) => boolean} [hasSeen] whether all lines were shown that
 * edits replace
 * @property {(output: string, lines: string[], edits: Edit[]) => boolean} [canQuote] whether an
 * output has all lines that edits quote
 * @property {(body: Body, other: string) => Promise<Exchange[]>} move a function to the end of
 * another file, starting with a search for it
 * @property {(path: string, body: Body) => Promise<Exchange[]>} overview the reads that find a
 * function in a long file, in order to change it
 *
 * @typedef {object} Scheme
 * @property {string} name
 * @property {(cwd: string) => Player} playerIn
 * @property {() => void} [end]
 */

/** The text of a file. @param {string} cwd @param {string} path */
export const textIn = (cwd, path) => readFileSync(join(cwd, path), 'utf8')

/** The lines of a file. @param {string} cwd @param {string} path @returns {Lines} */
export function linesIn(cwd, path) {
  const lines = split(textIn(cwd, path))
  if (!lines) throw new Error(`${path} has mixed line terminators`)
  return lines
}

/** All lines. @param {string[]} lines @returns {Window} */
export const whole = (lines) => ({ from: 1, to: lines.length })

/**
 * The matches of a search, as `rg -n` prints them.
 * @param {string} cwd
 * @param {Body} body
 * @param {(lines: string[], line: number) => string} row
 * @returns {Exchange}
 */
export function searched(cwd, { path, pattern }, row) {
  const { lines } = linesIn(cwd, path)
  const found = lines.flatMap((line, at) => (line.includes(pattern) ? [row(lines, at + 1)] : []))
  return { args: JSON.stringify({ pattern, literal: true, paths: [path] }), text: found.join('\n') }
}
