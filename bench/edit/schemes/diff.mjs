// Unified diffs, read as leniently as tools for models do: hunks are found by their lines, and the
// numbers in their headers only say which place is meant when there are several.

import { fileAt, Refusal, refusing, textOf } from './files.mjs'

/** @import { Tool } from '../schemes.mjs' */

/**
 * @typedef {object} Hunk
 * @property {number | undefined} line where it says that it begins, from 1
 * @property {string[]} old
 * @property {string[]} lines what takes their place
 * @typedef {{ path: string, hunks: Hunk[] }} Part of one file
 */

/** @param {string} cwd @returns {Tool} */
export const diffTool = (cwd) => ({
  name: 'apply_diff',
  description:
    'Edits files by a unified diff, as `git diff` prints it: lines `--- a/PATH` and `+++ b/PATH` for each file, and hunks that begin with `@@ -LINE,COUNT +LINE,COUNT @@`. Lines of context and removed lines must be exactly those of the file. All hunks are applied, or none.',
  inputSchema: {
    type: 'object',
    properties: { patch: { type: 'string', description: 'The unified diff' } },
    required: ['patch'],
  },
  guidelines: [
    'Read a file before you edit it. Give each hunk three lines of context, without the line numbers that the read shows.',
  ],
  edits: true,
  execute: refusing((args) => {
    const parts = partsOf(textOf(args, 'patch', 'diff', 'input').replaceAll('\r\n', '\n'))
    // All of them are known to fit before one is written.
    const done = parts.map(({ path, hunks }) => {
      const file = fileAt(cwd, path)
      return { path, hunks, text: patched(file.text, hunks, path), write: file.write }
    })
    for (const { text, write } of done) write(text)
    return done.map(({ path, hunks }) => `Applied ${counted(hunks.length)} to ${path}.`).join('\n')
  }),
})

const counted = (/** @type {number} */ count) => (count === 1 ? 'one hunk' : `${count} hunks`)

/** @param {string} patch @returns {Part[]} */
function partsOf(patch) {
  /** @type {Map<string, Hunk[]>} */
  const parts = new Map()
  /** @type {Hunk[] | undefined} */
  let hunks
  /** @type {Hunk | undefined} */
  let hunk
  const rows = patch.replace(/\n+$/, '').split('\n')
  for (const [at, row] of rows.entries()) {
    const header = /^--- (.*)$/.exec(row)
    if (header && rows[at + 1]?.startsWith('+++ ')) {
      const path = pathIn(rows[at + 1].slice(4))
      hunks = parts.get(path) ?? []
      parts.set(path, hunks)
      hunk = undefined
    } else if (row.startsWith('@@')) {
      if (hunks === undefined) throw new Refusal('A hunk has no lines `---` and `+++` before it.')
      const line = /^@@ -(\d+)/.exec(row)
      hunk = { line: line ? Number(line[1]) : undefined, old: [], lines: [] }
      hunks.push(hunk)
    } else if (hunk && !isGap(rows, at)) take(hunk, row)
  }
  const found = [...parts].map(([path, hunks]) => ({ path, hunks }))
  if (found.some(({ hunks }) => hunks.length > 0)) return found
  throw new Refusal('The patch has no hunk: write it as `git diff` prints it.')
}

/** Whether a row is an empty one between hunks. @param {string[]} rows @param {number} at */
const isGap = (rows, at) => rows[at] === '' && /^(?:@@|--- |diff )/.test(rows[at + 1] ?? '')

/** @param {string} text */
function pathIn(text) {
  const path = text.split('\t')[0].trim()
  return path.replace(/^b\//, '')
}

/** @param {Hunk} hunk @param {string} row */
function take(hunk, row) {
  const [mark, line] = [row[0], row.slice(1)]
  if (mark === '-') hunk.old.push(line)
  else if (mark === '+') hunk.lines.push(line)
  // An empty line of context is often written without its blank.
  else if (mark === ' ' || mark === undefined) {
    hunk.old.push(line)
    hunk.lines.push(line)
  } else if (mark !== '\\' && !/^(?:diff|index|new|old|similarity|rename) /.test(row)) {
    throw new Refusal(`A line of a hunk begins with none of ' ', '-' and '+': ${row}`)
  }
}

/** @param {string} text @param {Hunk[]} hunks @param {string} path */
function patched(text, hunks, path) {
  const final = text.endsWith('\n')
  const lines = (final ? text.slice(0, -1) : text).split('\n')
  let shift = 0
  let from = 0
  for (const [at, hunk] of hunks.entries()) {
    const place = placeOf(lines, hunk, from, shift)
    if (typeof place === 'string') throw new Refusal(`Hunk ${at + 1} of ${path}: ${place}`)
    lines.splice(place, hunk.old.length, ...hunk.lines)
    from = place + hunk.lines.length
    shift += hunk.lines.length - hunk.old.length
  }
  const result = lines.join('\n') + (final ? '\n' : '')
  if (result === text) throw new Refusal(`That leaves ${path} as it is.`)
  return result
}

/**
 * Where the old lines of a hunk are: of several places, the one next to where it says.
 * @param {string[]} lines
 * @param {Hunk} hunk
 * @param {number} from hunks come in the order of their lines
 * @param {number} shift of the lines by earlier hunks
 * @returns {number | string} why there is none
 */
function placeOf(lines, { line, old }, from, shift) {
  const stated = line === undefined ? undefined : line - 1 + shift
  if (old.length === 0) {
    if (stated === undefined) return 'it has no lines of context.'
    // The number of a hunk without old lines is that of the line before it.
    return Math.min(lines.length, Math.max(from, stated + 1))
  }
  const places = []
  for (let at = from; at + old.length <= lines.length; at++) {
    if (old.every((one, index) => lines[at + index] === one)) places.push(at)
  }
  if (places.length === 0) {
    const first = old.find((one) => !lines.includes(one))
    const which = first === undefined ? '' : ` This one is nowhere in the file: ${first}`
    return `its lines of context and removed lines are not there.${which}`
  }
  if (places.length > 1 && stated === undefined) {
    return `its lines are there ${places.length} times: give line numbers or more context.`
  }
  const distance = (/** @type {number} */ at) => Math.abs(at - (stated ?? at))
  return places.reduce((best, at) => (distance(at) < distance(best) ? at : best))
}
