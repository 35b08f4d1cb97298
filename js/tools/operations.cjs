// The operations of a patch as a model wrote them → as the session takes them.

'use strict'

const {
  decoded,
  isObject,
  Malformed,
  missing,
  noun,
  plainPath,
  renamed,
  TAKEN_AS_ONE,
} = require('./arguments.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { ArgumentRepair } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 */

const OTHER_NAMES = { file_path: 'path', filePath: 'path', file: 'path' }

/** The fields that each operation of the schema has, beside `op`, `path` and `verbatim`. */
const FIELDS = new Map([
  ['set_line', ['anchor', 'text']],
  ['replace_range', ['start_anchor', 'end_anchor', 'text']],
  ['insert_after', ['anchor', 'text']],
  ['insert_before', ['anchor', 'text']],
  ['delete', ['anchor', 'start_anchor', 'end_anchor', 'range']],
  ['replace_text', ['old_text', 'new_text', 'all']],
  ['add_file', ['content']],
  ['move_file', ['from', 'to', 'from_path', 'to_path']],
  ['delete_file', []],
])

/** Operations that the session has and the schema leaves out. */
const UNLISTED = ['set_path', 'insert_at_path', 'delete_path']

/** The field of an operation that holds its new text. */
const TEXT_FIELD = new Map([
  ['set_line', 'text'],
  ['replace_range', 'text'],
  ['insert_after', 'text'],
  ['insert_before', 'text'],
  ['replace_text', 'new_text'],
  ['add_file', 'content'],
])

/** How models name the new text, here and in other tools. */
const TEXT_NAMES = ['text', 'new_text', 'content', 'new_content', 'new_string', 'lines']

/** Fields that hold a path. */
const PATHS = ['path', 'from', 'to', 'from_path', 'to_path']

/**
 * @param {HashSession} session
 * @param {Pick<Arguments, 'values' | 'repairs'>} given
 * @returns {unknown[]} what is still wrong with them, the session says
 */
function operations(session, { values, repairs }) {
  const list = items(values, repairs)
  const shared = typeof values.path === 'string' ? values.path : undefined
  return list.map((item, at) => {
    const place = `operations[${at}]`
    const value = typeof item === 'string' ? decoded(item, place, repairs) : item
    return isObject(value) ? operation(session, value, shared, place, repairs) : value
  })
}

/**
 * The list of operations: as an array, JSON text of it, or the only one of it.
 * @param {Record<string, unknown>} values
 * @param {ArgumentRepair[]} repairs
 * @returns {unknown[]}
 */
function items(values, repairs) {
  const field = 'operations'
  const given = values.operations ?? (values.op === undefined ? undefined : values)
  if (given === undefined) throw missing(field, 'an array of operations', values)
  let list = typeof given === 'string' ? decoded(given, field, repairs) : given
  if (isObject(list) && list.op === undefined && list.operations !== undefined) {
    list = list.operations
    repairs.push({ rule: 'wrapped', field, message: 'taken from the object around them' })
    if (typeof list === 'string') list = decoded(list, field, repairs)
  }
  if (!Array.isArray(list)) {
    repairs.push({ rule: 'wrapped', field, message: TAKEN_AS_ONE })
    return [list]
  }
  // All of them as JSON text, in a list of one.
  if (list.length !== 1 || typeof list[0] !== 'string') return list
  const inner = decoded(list[0], `${field}[0]`, repairs)
  return Array.isArray(inner) ? inner : [inner]
}

/**
 * @param {HashSession} session
 * @param {Record<string, unknown>} value
 * @param {string | undefined} shared the path beside the operations
 * @param {string} place
 * @param {ArgumentRepair[]} repairs
 */
function operation(session, value, shared, place, repairs) {
  const named = renamed(value, OTHER_NAMES, `${place}.`, repairs)
  checkFields(named, place)
  const result = withFlags(withoutUnused(named, place, repairs), place, repairs)
  const isMove = result.op === 'move_file'
  const hasPath =
    result.path !== undefined ||
    (isMove && (result.from !== undefined || result.from_path !== undefined))
  if (!hasPath && shared !== undefined) {
    result.path = shared
    const field = `${place}.path`
    repairs.push({ rule: 'shared-path', field, message: 'taken from beside the operations' })
  }
  if (isMove && result.from === undefined && result.from_path === undefined) {
    // That is how the schema has it.
    result.from = result.path
    delete result.path
    repairs.push({ rule: 'move-path', field: `${place}.path`, message: 'taken as from' })
  }
  for (const field of PATHS) {
    const path = result[field]
    if (typeof path === 'string') {
      result[field] = plainPath(session, path, `${place}.${field}`, repairs)
    }
  }
  return result
}

/**
 * Refuses an operation that would do less than the model wrote, or something else: one without its
 * text, which would delete, and one with what belongs to another operation.
 * @param {Record<string, unknown>} value
 * @param {string} place
 */
function checkFields(value, place) {
  const { op } = value
  const own = typeof op === 'string' ? FIELDS.get(op) : undefined
  if (typeof op !== 'string' || own === undefined) {
    if (typeof op === 'string' && UNLISTED.includes(op)) return
    const what =
      typeof op === 'string'
        ? `has the unknown op ${JSON.stringify(op.slice(0, 80))}`
        : `has ${op === undefined ? 'no op' : `${noun(op)} as its op`}`
    throw new Malformed(`${place} ${what}: expected one of ${[...FIELDS.keys()].join(', ')}`)
  }
  const textField = TEXT_FIELD.get(op)
  const held = TEXT_NAMES.find((field) => field !== textField && !isEmpty(value[field]))
  const elsewhere = held === undefined ? '' : ` What ${held} holds belongs in it.`
  if (textField === 'text' && isNoText(value.text)) {
    const how = value.text === undefined ? 'missing' : JSON.stringify(value.text)
    throw new Malformed(
      `the field ${place}.text is ${how}: ${op} puts the lines of text into the file.${elsewhere || ' To take lines away, use delete; an empty string is an empty line.'}`,
    )
  }
  for (const [field, content] of Object.entries(value)) {
    if (isCommon(field) || own.includes(field) || isEmpty(content)) continue
    const owners = [...FIELDS.keys()].filter((other) => FIELDS.get(other)?.includes(field))
    if (owners.length === 0 && !TEXT_NAMES.includes(field)) continue
    const text = textField !== undefined && TEXT_NAMES.includes(field)
    const instead = text
      ? `its text belongs in ${textField}`
      : `it belongs to ${owners.join(', ')}; ${op} takes ${own.length > 0 ? own.join(', ') : 'path alone'}`
    throw new Malformed(`${place} is ${op}, which has no field ${field}: ${instead}`)
  }
}

/** Fields that every operation may have. @param {string} field */
const isCommon = (field) => ['op', 'path', 'verbatim'].includes(field)

/** @param {unknown} text */
const isNoText = (text) =>
  text === null || text === undefined || (Array.isArray(text) && text.length === 0)

/**
 * An operation whose switches are switches, not words.
 * @param {Record<string, unknown>} value
 * @param {string} place
 * @param {ArgumentRepair[]} repairs
 */
function withFlags(value, place, repairs) {
  for (const name of ['all', 'verbatim']) {
    const held = value[name]
    if (held !== 'true' && held !== 'false') continue
    value[name] = held === 'true'
    repairs.push({ rule: 'json-text', field: `${place}.${name}`, message: `taken as ${held}` })
  }
  return value
}

/** Fields in which an empty string says something. */
const TEXTS = ['text', 'old_text', 'new_text', 'content']

/**
 * An operation without the fields that models leave empty: null, an empty string where
 * no text belongs, and nothing in fields of other operations.
 * @param {Record<string, unknown>} value
 * @param {string} place
 * @param {ArgumentRepair[]} repairs
 */
function withoutUnused(value, place, repairs) {
  const own = typeof value.op === 'string' ? FIELDS.get(value.op) : undefined
  // What is empty in an operation that is not described here may say something.
  if (own === undefined) return { ...value }
  const isOwn = (/** @type {string} */ field) => isCommon(field) || own.includes(field)
  const isUnused = (/** @type {string} */ field, /** @type {unknown} */ held) => {
    if (!isOwn(field)) return isEmpty(held)
    return held === null || (held === '' && !TEXTS.includes(field))
  }
  const entries = Object.entries(value).filter(([field, held]) => {
    if (!isUnused(field, held)) return true
    repairs.push({ rule: 'unused', field: `${place}.${field}`, message: 'left out, since empty' })
    return false
  })
  /** @type {Record<string, unknown>} */
  const result = Object.fromEntries(entries)
  return result
}

/** @param {unknown} held */
const isEmpty = (held) =>
  held === null ||
  held === undefined ||
  held === '' ||
  held === false ||
  held === 'false' ||
  (Array.isArray(held) && held.length === 0)

/** Whether a value names an operation of the schema. @param {unknown} value */
const isOperation = (value) =>
  isObject(value) && typeof value.op === 'string' && FIELDS.has(value.op)

module.exports = { isEmpty, isNoText, isOperation, operations, OTHER_NAMES, TEXT_NAMES }
