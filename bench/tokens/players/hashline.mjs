// The tools of this package, in a separate session for each case.

import { join } from 'node:path'
import { HashSession } from 'hashline-native'
import { annotation, hashTools } from 'hashline-native/tools'
import { startOf } from '../../edit/history/text.mjs'

/** @import { Edit } from '../../edit/history/text.mjs' */
/** @import { Body, Exchange, Player, Scheme, Window } from './player.mjs' */

/**
 * @param {string} name
 * @param {object} options of the session
 * @returns {Scheme}
 */
export const hashline = (name, options) => ({ name, playerIn: (cwd) => playerIn(cwd, options) })

/** Without the lines that a host appends to the output of a tool. @type {Scheme} */
export const unannotated = {
  name: 'anchors, without annotation',
  playerIn: (cwd) => ({ ...playerIn(cwd, {}), annotated: undefined }),
}

/** @param {string} cwd @param {object} options @returns {Player} */
function playerIn(cwd, options) {
  const stateDir = join(cwd, '.state')
  const session = new HashSession({ cwd, stateDir, durability: 'process', ...options })
  const tools = hashTools(session)
  /** @type {Map<string, Map<number, string>>} */
  const anchors = new Map()

  /** @param {'read' | 'search' | 'apply'} name @param {object} args */
  async function call(name, args) {
    const { text, isError } = await tools[name].execute(args)
    return { args: JSON.stringify(args), text, done: !isError }
  }

  /** Remembers anchors; returns the last line shown. @param {string} path @param {string} text */
  function learn(path, text) {
    const known = anchors.get(path) ?? new Map()
    anchors.set(path, known)
    const rows = Array.from(text.matchAll(/^((\d+)[^|\s]*)\|/gm))
    for (const [, anchor, line] of rows) known.set(Number(line), anchor)
    return Number(rows.at(-1)?.[2])
  }

  /** @param {string} path @param {number} line */
  function anchorOf(path, line) {
    const anchor = anchors.get(path)?.get(line)
    if (anchor === undefined) throw new Error(`line ${line} of ${path} was not shown`)
    return anchor
  }

  /** @param {'read' | 'search'} name @param {string} path @param {object} args */
  async function shown(name, path, args) {
    const exchange = await call(name, args)
    if (!exchange.done) throw new Error(exchange.text)
    return { ...exchange, last: learn(path, exchange.text) }
  }

  /** Page by page, because reads are limited. @param {string} path @param {Window} window */
  async function read(path, { from, to }) {
    /** @type {Exchange[]} */
    const pages = []
    for (let next = from; next <= to; ) {
      const page = await shown('read', path, { path, start_line: next, max_lines: to - next + 1 })
      if (!(page.last >= next)) throw new Error(`line ${next} of ${path} is not shown`)
      pages.push(page)
      next = page.last + 1
    }
    const joined = (/** @type {'args' | 'text'} */ part) => pages.map((one) => one[part]).join('\n')
    return { args: joined('args'), text: joined('text') }
  }

  return {
    read,
    annotated: async (output) => {
      const text = await annotation(session, output)
      for (const part of text.split(/^--- /m).slice(1))
        learn(part.slice(0, part.indexOf(' ---')), part)
      return { args: '', text }
    },
    hasSeen: (path, edits) =>
      edits.every((edit) => linesOf(edit).every((line) => anchors.get(path)?.has(line))),
    edit: (path, _lines, edits) => {
      const operations = edits.map((edit) => operationOf(edit, (line) => anchorOf(path, line)))
      return call('apply', { path, operations })
    },
    move: async (body, other) => {
      const { path, pattern } = body
      const hits = await shown('search', path, { pattern, literal: true, paths: [path] })
      const anchor = anchorOf(path, body.first)
      const move = { op: 'move_lines', anchor, block: true, to: other, to_anchor: 'EOF' }
      return [hits, await call('apply', { path, operations: [move] })]
    },
    overview: async (path, { first, last }) => [
      await shown('read', path, { path, fold: true }),
      await read(path, { from: first, to: last }),
    ],
  }
}

/** The lines whose anchors an edit needs, and those between. @param {Edit} edit */
const linesOf = (edit) =>
  'after' in edit
    ? [edit.after]
    : Array.from({ length: edit.last - startOf(edit) }, (_, at) => edit.first + at)

/**
 * An edit as a model writes it: text as a string, and one line by one anchor. The path is given
 * separately.
 * @param {Edit} edit
 * @param {(line: number) => string} anchorOf
 */
export function operationOf(edit, anchorOf) {
  // One final newline is ignored.
  const text =
    edit.lines.join('\n') + (edit.lines.length > 1 && edit.lines.at(-1) === '' ? '\n' : '')
  if ('after' in edit) {
    return { op: 'insert_after', anchor: edit.after === 0 ? 'BOF' : anchorOf(edit.after), text }
  }
  const { first, last } = edit
  const ends =
    first === last
      ? { anchor: anchorOf(first) }
      : { start_anchor: anchorOf(first), end_anchor: anchorOf(last) }
  if (edit.lines.length === 0) return { op: 'delete', ...ends }
  return { op: first === last ? 'set_line' : 'replace_range', ...ends, text }
}
