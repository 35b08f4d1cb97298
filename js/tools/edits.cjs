// The edits of one file in the shapes of other tools, as a model wrote them → as the session takes
// them.

'use strict'

const {
  decoded,
  isObject,
  Malformed,
  plainPath,
  renamed,
  TAKEN_AS_ONE,
} = require('./arguments.cjs')
const { isEmpty, isNoText, isOperation, OTHER_NAMES, TEXT_NAMES } = require('./operations.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { ArgumentRepair } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 */

/** The edits that take lines away when they have no text. */
const REPLACING = ['set_line', 'replace_lines']
const TEXT_FIELD = 'new_text'

/**
 * The items of `edits`; undefined when there are none.
 * @param {Arguments} given
 * @returns {unknown[] | undefined}
 */
function listedEdits({ values, repairs }) {
  const field = 'edits'
  const held = values[field] ?? undefined
  if (held === undefined || (isEmpty(held) && values.operations !== undefined)) return undefined
  const list = typeof held === 'string' ? decoded(held, field, repairs) : held
  if (!Array.isArray(list)) repairs.push({ rule: 'wrapped', field, message: TAKEN_AS_ONE })
  return (Array.isArray(list) ? list : [list]).map((item, at) =>
    typeof item === 'string' ? decoded(item, `${field}[${at}]`, repairs) : item,
  )
}

/**
 * Whether the items are operations of the schema, in a list that has another name.
 * @param {unknown[]} edits
 */
const areOperations = (edits) => edits.length > 0 && edits.every((item) => isOperation(item))

/**
 * The arguments as the session takes them, which reads these shapes on its own.
 * @param {HashSession} session
 * @param {Arguments} given
 * @param {unknown[]} edits
 * @returns {Record<string, unknown>}
 */
function editsOfFile(session, { values, repairs }, edits) {
  /** @type {Record<string, unknown>} */
  const result = { ...renamed(values, OTHER_NAMES, '', repairs), edits }
  edits.forEach((edit, at) => {
    for (const name of REPLACING) {
      const fields = isObject(edit) ? edit[name] : undefined
      if (isObject(fields)) checkText(fields, name, `edits[${at}].${name}`)
    }
  })
  for (const field of ['path', 'rename']) {
    const path = result[field]
    if (typeof path === 'string') result[field] = plainPath(session, path, field, repairs)
  }
  return result
}

/**
 * Refuses an edit that would delete for want of its text, or would lose a text. An empty string
 * deletes in this shape.
 * @param {Record<string, unknown>} fields
 * @param {string} name
 * @param {string} place
 */
function checkText(fields, name, place) {
  const other = TEXT_NAMES.find((field) => field !== TEXT_FIELD && !isEmpty(fields[field]))
  if (other !== undefined) {
    throw new Malformed(
      `${place} has no field ${other}: what it holds belongs in ${TEXT_FIELD} of ${name}`,
    )
  }
  const text = fields[TEXT_FIELD]
  if (!isNoText(text)) return
  const how = text === undefined ? 'missing' : JSON.stringify(text)
  throw new Malformed(
    `the field ${place}.${TEXT_FIELD} is ${how}: ${name} puts the lines of ${TEXT_FIELD} into the file. To take lines away, use the operation delete.`,
  )
}

module.exports = { areOperations, editsOfFile, listedEdits }
