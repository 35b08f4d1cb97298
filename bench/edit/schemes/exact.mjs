// Replacement of exact text, as most agents edit: the old text must occur exactly once, or all
// occurrences are replaced.

import { isObject, readJson } from '../json.mjs'
import { fileAt, Refusal, refusing, textOf } from './files.mjs'
import { movedNote, nearestLines, shownLines } from './shown.mjs'

/** @import { Tool } from '../schemes.mjs' */

const TOLD_LINES = 5
const EDITS = {
  type: /** @type {const} */ ('array'),
  description: 'The replacements. All refer to the file as it was before the call',
  items: {
    type: /** @type {const} */ ('object'),
    properties: {
      old_text: {
        type: /** @type {const} */ ('string'),
        description: 'The text to replace, exactly as it is in the file, white space included',
      },
      new_text: { type: /** @type {const} */ ('string'), description: 'What takes its place' },
      replace_all: {
        type: /** @type {const} */ ('boolean'),
        description: 'Replace every occurrence',
      },
    },
    required: ['old_text', 'new_text'],
  },
}

/** @param {string} cwd @returns {Tool} */
export const exactTool = (cwd) => ({
  name: 'edit',
  description: `Edits a file by replacing exact text, any number of texts in one call: all replacements are made, or none. Each old_text must occur exactly once in the file, unless replace_all is set: give as many lines around as make it unique. Replacements must not overlap. All texts of a call refer to the file before it. The answer shows the changed lines, so no new read is needed. A refusal shows the lines that come nearest: correct the texts and send all replacements again.

Example. read showed of greet.js
1\tfunction greet(name) {
2\t  const hi = 'Hi'
3\t  log(hi)
4\t}
and this changes line 2 and adds a line below line 3:
{"path":"greet.js","edits":[{"old_text":"'Hi'","new_text":"'Hi, ' + name"},{"old_text":"  log(hi)\\n","new_text":"  log(hi)\\n  return hi\\n"}]}`,
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file, relative to the working directory' },
      edits: EDITS,
    },
    required: ['path', 'edits'],
  },
  guidelines: [
    'Change files only with edit; put all edits of a file into one call. Quote old_text exactly, without the line numbers, and no more of it than makes it unique.',
    'After edit, go by the lines of its answer; read again only what it did not show.',
  ],
  edits: true,
  execute: refusing((args) => {
    const path = textOf(args, 'path', 'file_path', 'filePath')
    const file = fileAt(cwd, path)
    const { text, places } = replaced(file.text, editsOf(args), path)
    file.write(text)
    return answerOf(path, file.text, text, places)
  }),
})

/** @typedef {{ old: string, text: string, isAll: boolean }} Edit */
/** @typedef {{ at: number, old: string, text: string }} Place in the text before */

/** @param {Record<string, unknown>} args @returns {Edit[]} */
function editsOf(args) {
  const listed = listOf(args.edits) ?? [args]
  if (listed.length === 0) throw new Refusal('edits is empty.')
  return listed.map((edit) => {
    if (!isObject(edit)) throw new Refusal('An edit is not an object.')
    const [old, text] = [
      textOf(edit, 'old_text', 'oldText', 'old_string', 'old_str'),
      textOf(edit, 'new_text', 'newText', 'new_string', 'new_str'),
    ].map((one) => one.replaceAll('\r\n', '\n'))
    if (old === '') throw new Refusal('old_text is empty.')
    const all = edit.replace_all ?? edit.replaceAll ?? edit.all
    return { old, text, isAll: all === true || all === 'true' }
  })
}

/** @param {unknown} edits @returns {unknown[] | undefined} */
function listOf(edits) {
  if (edits === undefined || edits === null) return undefined
  if (Array.isArray(edits)) return edits
  if (isObject(edits)) return [edits]
  const value = typeof edits === 'string' ? readJson(edits).value : undefined
  if (Array.isArray(value)) return value
  throw new Refusal('edits is not a list.')
}

/** @param {string} text @param {Edit[]} edits @param {string} path */
function replaced(text, edits, path) {
  const places = edits
    .flatMap((edit) => placesOf(text, edit, path).map((at) => ({ ...edit, at })))
    .sort((one, other) => one.at - other.at)
  const parts = []
  let end = 0
  for (const { at, old, text: lines } of places) {
    if (at < end) throw new Refusal('Two of the texts overlap: make them one edit.')
    parts.push(text.slice(end, at), lines)
    end = at + old.length
  }
  const result = [...parts, text.slice(end)].join('')
  if (result === text) throw new Refusal(`That leaves ${path} as it is.`)
  return { text: result, places }
}

/** @param {string} text @param {Edit} edit @param {string} path */
function placesOf(text, { old, isAll }, path) {
  const places = []
  // Overlapping occurrences count, too, unless all are replaced: then they are replaced in
  // sequence.
  const step = isAll ? old.length : 1
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + step)) places.push(at)
  if (places.length === 0) throw new Refusal(`old_text is not in ${path}: ${notThere(text, old)}`)
  if (places.length === 1 || isAll) return places
  const lines = places.slice(0, TOLD_LINES).map((at) => lineOf(text, at) + 1)
  const more = places.length > TOLD_LINES ? ' and more' : ''
  throw new Refusal(
    `old_text occurs ${places.length} times in ${path} (lines ${lines.join(', ')}${more}): give more lines around it, or set replace_all.`,
  )
}

/** @param {string} text @param {string} old */
function notThere(text, old) {
  const must = 'it must be there exactly, white space included.'
  const nearest = nearestLines(text.split('\n'), old.replace(/^\n+|\n+$/g, '').split('\n'))
  return nearest === undefined
    ? must
    : `${must}\nActual state of the lines nearest to it:\n${nearest}`
}

/** The line of an offset, from 0. @param {string} text @param {number} at */
const lineOf = (text, at) => text.slice(0, at).split('\n').length - 1

/** @param {string} path @param {string} before @param {string} after @param {Place[]} places */
function answerOf(path, before, after, places) {
  let shift = 0
  const spans = places.map(({ at, old, text }) => {
    const start = lineOf(after, at + shift)
    shift += text.length - old.length
    return { start, end: lineOf(after, at + shift + old.length) + 1 }
  })
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n'))
  const done = `Replaced ${places.length === 1 ? 'one text' : `${places.length} texts`} in ${path}.`
  const last = spans[spans.length - 1].end
  return `${done}\n${shownLines(now, spans)}${movedNote(old, now, last)}`
}
