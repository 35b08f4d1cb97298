// How a scripted model reads and edits in oh-my-pi: with the tools of the extension, and with
// oh-my-pi's own. Both follow the answers: lines in a refusal are used, other lines are read again.

import { call } from '../../scripts/modelServer.mjs'

/** @import { ToolCall } from '../../scripts/modelServer.mjs' */

/**
 * A line and its replacement.
 * @typedef {{ path: string, line: number, text: string, newText: string }} Change
 * `line`: the expected number, from 1
 *
 * What the model knows about lines: by path and text, the name that an edit needs.
 * @typedef {Map<string, Map<string, string>>} Known
 *
 * @typedef {object} Hands
 * @property {string} name
 * @property {(path: string, from: number, to: number) => ToolCall} read
 * @property {(known: Known, path: string, shown: string) => void} learn from a result
 * @property {(changes: Change[], known: Known) => ToolCall} edit
 * @property {(result: string) => boolean} isRefused
 * @property {(refusal: string, known: Known, changes: Change[]) => boolean} learnFromRefusal
 * whether the next edit needs no read
 */

/** @param {Known} known @param {string} path @param {string} text @param {string} name */
function note(known, path, text, name) {
  const lines = known.get(path) ?? new Map()
  lines.set(text, name)
  known.set(path, lines)
}

/** @param {Known} known @param {Change} change */
const nameOf = (known, { path, text }) => known.get(path)?.get(text)

/** @type {Hands} */
const anchors = {
  name: 'the extension',
  read: (path, from, to) =>
    call('read', { path, start_line: from, max_lines: to - from + 1 }).calls[0],
  learn(known, path, shown) {
    for (const [, anchor, text] of shown.matchAll(/^(\d+:\w\w)\|(.*)$/gm)) {
      note(known, path, text, anchor)
    }
  },
  edit(changes, known) {
    const operations = changes.map((change) => ({
      op: 'set_line',
      path: change.path,
      anchor: nameOf(known, change) ?? `${change.line}:00`,
      text: change.newText,
    }))
    return call('apply_hash', { operations }).calls[0]
  },
  isRefused: (result) => result.startsWith('Nothing was written'),
  learnFromRefusal(refusal, known, changes) {
    const paths = new Set(changes.map(({ path }) => path))
    // For a single file there is no heading.
    if (paths.size === 1) anchors.learn(known, changes[0].path, refusal)
    return paths.size === 1
  },
}

/** @type {Hands} */
const tags = {
  name: 'its own tools',
  read: (path, from, to) => call('read', { path: `${path}:${from}-${to}` }).calls[0],
  learn(known, path, shown) {
    const [, tag] = /^\[.*#(\w{4})\]/m.exec(shown) ?? []
    for (const [, number, text] of shown.matchAll(/^(\d+):(.*)$/gm)) {
      note(known, path, text, `${tag} ${number}`)
    }
  },
  edit(changes, known) {
    /** @type {Map<string, string[]>} */
    const sections = new Map()
    for (const change of changes) {
      const [tag, number] = (nameOf(known, change) ?? `0000 ${change.line}`).split(' ')
      const heading = `[${change.path}#${tag}]`
      const hunk = `PUT ${number}.=${number}:\n+${change.newText}`
      sections.set(heading, [...(sections.get(heading) ?? []), hunk])
    }
    const input = [...sections].map(([heading, hunks]) => [heading, ...hunks].join('\n'))
    return call('edit', { input: `${input.join('\n')}\n` }).calls[0]
  },
  isRefused: (result) => !/^\[.*#\w{4}\]/.test(result),
  // The refusal asks for another read.
  learnFromRefusal: () => false,
}

export const HANDS = { extension: anchors, own: tags }
