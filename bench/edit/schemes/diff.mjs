// Unified diffs, parsed as leniently as usual for models: hunks are found by their lines, and the
// numbers in their headers only decide between several places.

import { fileAt, Refusal, refusing, textOf } from './files.mjs'
import { movedNote, nearestLines, shownLines } from './shown.mjs'

/** @import { Tool } from '../schemes.mjs' */

/**
 * @typedef {object} Hunk
 * @property {number | undefined} line the start in its header, from 1
 * @property {string[]} old
 * @property {string[]} lines the replacement
 * @typedef {{ path: string, hunks: Hunk[] }} Part of one file
 */

/** @param {string} cwd @returns {Tool} */
export const diffTool = (cwd) => ({
  name: 'apply_diff',
  description: `Edits files by a unified diff, any number in one call, as \`git diff\` prints it: lines \`--- a/PATH\` and \`+++ b/PATH\` for each file, and hunks that begin with \`@@ -LINE,COUNT +LINE,COUNT @@\`, in the order of their lines. All hunks are applied, or none. Lines of context and removed lines must be exactly those of the file. The answer shows the changed lines, so no new read is needed. A refusal shows the lines that come nearest: correct the hunks and send the whole diff again.

Example. read showed of greet.js
1\tfunction greet(name) {
2\t  const hi = 'Hi'
3\t  log(hi)
4\t}
and this patch changes line 2 and adds a line below line 3:
--- a/greet.js
+++ b/greet.js
@@ -1,4 +1,5 @@
 function greet(name) {
-  const hi = 'Hi'
+  const hi = 'Hi, ' + name
   log(hi)
+  return hi
 }`,
  inputSchema: {
    type: 'object',
    properties: { patch: { type: 'string', description: 'The unified diff' } },
    required: ['patch'],
  },
  guidelines: [
    'Change files only with apply_diff; put all hunks that belong together into one call. Give each hunk three lines of context, without the line numbers that reads show.',
    'After apply_diff, go by the lines of its answer; read again only what it did not show.',
  ],
  edits: true,
  execute: refusing((args) => {
    const parts = partsOf(textOf(args, 'patch', 'diff', 'input').replaceAll('\r\n', '\n'))
    // All of them match before one is written.
    const done = parts.map(({ path, hunks }) => {
      const file = fileAt(cwd, path)
      return { file, ...patched(file.text, hunks, path) }
    })
    for (const { file, text } of done) file.write(text)
    return done.map(({ answer }) => answer).join('\n')
  }),
})

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
    if (isHeader(rows, at)) {
      const path = pathIn(rows[at + 1].slice(4))
      hunks = parts.get(path) ?? []
      parts.set(path, hunks)
      hunk = undefined
    } else if (row.startsWith('@@')) {
      if (hunks === undefined) throw new Refusal('A hunk has no lines `---` and `+++` before it.')
      const line = /^@@ -(\d+)/.exec(row)
      hunk = { line: line ? Number(line[1]) : undefined, old: [], lines: [] }
      hunks.push(hunk)
    } else if (/^diff --git /.test(row)) {
      // The rows of git about a file follow, up to its header.
      hunk = undefined
    } else if (hunk && !isGap(rows, at)) take(hunk, row)
  }
  const found = [...parts].map(([path, hunks]) => ({ path, hunks }))
  if (found.some(({ hunks }) => hunks.length > 0)) return found
  throw new Refusal('The patch has no hunk: write it as `git diff` prints it.')
}

/**
 * Whether two rows name a file. A removed line may look the same, so a hunk must follow.
 * @param {string[]} rows
 * @param {number} at
 */
const isHeader = (rows, at) =>
  rows[at].startsWith('--- ') &&
  rows[at + 1]?.startsWith('+++ ') &&
  (rows[at + 2] ?? '@@').startsWith('@@')

/** Whether a row is an empty one between hunks. @param {string[]} rows @param {number} at */
const isGap = (rows, at) =>
  rows[at] === '' &&
  rows[at + 1] !== undefined &&
  (/^(?:@@|diff --git )/.test(rows[at + 1]) || isHeader(rows, at + 1))

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
  // An empty line of context is often written without its space.
  else if (mark === ' ' || mark === undefined) {
    hunk.old.push(line)
    hunk.lines.push(line)
  } else if (mark !== '\\') {
    throw new Refusal(`A line of a hunk begins with none of ' ', '-' and '+': ${row}`)
  }
}

/** @param {string} text @param {Hunk[]} hunks @param {string} path */
function patched(text, hunks, path) {
  const final = text.endsWith('\n')
  const before = (final ? text.slice(0, -1) : text).split('\n')
  let lines = before
  let shift = 0
  let from = 0
  const spans = hunks.map((hunk, at) => {
    const place = placeOf(lines, hunk, from, shift)
    if (typeof place === 'string') throw new Refusal(`Hunk ${at + 1} of ${path}: ${place}`)
    const rest = lines.slice(place + hunk.old.length)
    lines = [...lines.slice(0, place), ...hunk.lines, ...rest]
    from = place + hunk.lines.length
    shift += hunk.lines.length - hunk.old.length
    return changedIn(hunk, place)
  })
  const result = lines.join('\n') + (final ? '\n' : '')
  if (result === text) throw new Refusal(`That leaves ${path} as it is.`)
  const last = spans[spans.length - 1].end
  const done = `Applied ${hunks.length === 1 ? 'one hunk' : `${hunks.length} hunks`} to ${path}.`
  return {
    text: result,
    answer: `${done}\n${shownLines(lines, spans)}${movedNote(before, lines, last)}`,
  }
}

/** The lines of a hunk without its context. @param {Hunk} hunk @param {number} place */
function changedIn({ old, lines }, place) {
  const most = Math.min(old.length, lines.length)
  let above = 0
  while (above < most && old[above] === lines[above]) above++
  let below = 0
  while (below < most - above && old.at(-1 - below) === lines.at(-1 - below)) below++
  return { start: place + above, end: place + lines.length - below }
}

/**
 * Finds the old lines of a hunk: of several places, the nearest to the number in its header.
 * @param {string[]} lines
 * @param {Hunk} hunk
 * @param {number} from hunks are in line order
 * @param {number} shift of the lines by earlier hunks
 * @returns {number | string} the reason if there is none
 */
function placeOf(lines, { line, old }, from, shift) {
  const stated = line === undefined ? undefined : line - 1 + shift
  if (old.length === 0) {
    if (stated === undefined) return 'it has no lines of context.'
    // A hunk without old lines has the number of the line before it.
    return Math.min(lines.length, Math.max(from, stated + 1))
  }
  const all = [...lines.keys()].filter((at) => old.every((one, index) => lines[at + index] === one))
  const places = all.filter((at) => at >= from)
  if (places.length === 0) return all.length > 0 ? OUT_OF_ORDER : notThere(lines, old)
  if (places.length > 1 && stated === undefined) {
    return `its lines are there ${places.length} times: give line numbers or more context.`
  }
  const distance = (/** @type {number} */ at) => Math.abs(at - (stated ?? at))
  return places.reduce((best, at) => (distance(at) < distance(best) ? at : best))
}

const OUT_OF_ORDER =
  'its lines are above those of the hunk before it, or in them: give the hunks in the order of their lines, and as one where they meet.'

/** @param {string[]} lines @param {string[]} old */
function notThere(lines, old) {
  const first = old.find((one) => !lines.includes(one))
  const which = first === undefined ? '' : ` This one is nowhere in the file: ${first}`
  const nearest = nearestLines(lines, old)
  const actual =
    nearest === undefined ? '' : `\nActual state of the lines nearest to them:\n${nearest}`
  return `its lines of context and removed lines are not there.${which}${actual}`
}
