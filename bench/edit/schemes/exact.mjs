// Replacement of exact text, as most agents edit: the old text must be there exactly once.

import { fileAt, isObject, Refusal, refusing, textOf } from './files.mjs'

/** @import { Tool } from '../schemes.mjs' */

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
    },
    required: ['old_text', 'new_text'],
  },
}

/** @param {string} cwd @returns {Tool} */
export const exactTool = (cwd) => ({
  name: 'edit',
  description:
    'Edits a file by replacing exact text. Each old_text must occur exactly once in the file: give as many lines around as make it unique. Replacements must not overlap. All are made, or none.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file, relative to the working directory' },
      edits: EDITS,
    },
    required: ['path', 'edits'],
  },
  guidelines: [
    'Read a file before you edit it. Quote old_text from it exactly, without the line numbers, and no more of it than makes it unique.',
  ],
  edits: true,
  execute: refusing((args) => {
    const path = textOf(args, 'path', 'file_path', 'filePath')
    const file = fileAt(cwd, path)
    const edits = editsOf(args)
    file.write(replaced(file.text, edits, path))
    return `Replaced ${edits.length === 1 ? 'one text' : `${edits.length} texts`} in ${path}.`
  }),
})

/** @param {Record<string, unknown>} args */
function editsOf(args) {
  const listed = listOf(args.edits) ?? [args]
  if (listed.length === 0) throw new Refusal('edits is empty.')
  return listed.map((edit) => {
    if (!isObject(edit)) throw new Refusal('An edit is not an object.')
    const old = textOf(edit, 'old_text', 'oldText', 'old_string', 'old_str').replaceAll(
      '\r\n',
      '\n',
    )
    const text = textOf(edit, 'new_text', 'newText', 'new_string', 'new_str')
    if (old === '') throw new Refusal('old_text is empty.')
    return { old, text: text.replaceAll('\r\n', '\n') }
  })
}

/** @param {unknown} edits @returns {unknown[] | undefined} */
function listOf(edits) {
  if (edits === undefined || edits === null) return undefined
  if (Array.isArray(edits)) return edits
  if (isObject(edits)) return [edits]
  try {
    const value = typeof edits === 'string' ? JSON.parse(edits) : undefined
    if (Array.isArray(value)) return value
  } catch {}
  throw new Refusal('edits is not a list.')
}

/** @param {string} text @param {{ old: string, text: string }[]} edits @param {string} path */
function replaced(text, edits, path) {
  const places = edits.map((edit) => ({ ...edit, at: placeOf(text, edit.old, path) }))
  places.sort((one, other) => other.at - one.at)
  let limit = text.length
  let result = text
  for (const { at, old, text: lines } of places) {
    if (at + old.length > limit) throw new Refusal('Two of the texts overlap: make them one edit.')
    result = result.slice(0, at) + lines + result.slice(at + old.length)
    limit = at
  }
  if (result === text) throw new Refusal(`That leaves ${path} as it is.`)
  return result
}

/** @param {string} text @param {string} old @param {string} path */
function placeOf(text, old, path) {
  const at = text.indexOf(old)
  if (at < 0) {
    throw new Refusal(`old_text is not in ${path}: it must be there exactly, white space included.`)
  }
  let count = 0
  for (let next = at; next >= 0; next = text.indexOf(old, next + 1)) count++
  if (count === 1) return at
  throw new Refusal(`old_text occurs ${count} times in ${path}: give more lines around it.`)
}
