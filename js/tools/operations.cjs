// The operations of a patch as a model wrote them → as the session takes them.

'use strict'

const {
  isObject,
  missing,
  parsed,
  plainPath,
  renamed,
  TAKEN_AS_JSON,
  TAKEN_AS_ONE,
} = require('./arguments.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { ArgumentRepair } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 */

const OTHER_NAMES = { file_path: 'path', filePath: 'path', file: 'path' }

/** The fields that each operation has, beside `op`, `path` and `verbatim`. */
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

/** Fields that hold a path. */
const PATHS = ['path', 'from', 'to', 'from_path', 'to_path']

/**
 * @param {HashSession} session
 * @param {Arguments} given
 * @returns {unknown[]} what is still wrong with them, the session says
 */
function operations(session, { values, repairs }) {
  const list = items(values, repairs)
  const shared = typeof values.path === 'string' ? values.path : undefined
  return list.map((item, at) => {
    const place = `operations[${at}]`
    const value = itemOf(item, place, repairs)
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
  /** @type {any} */
  const given = values.operations ?? (values.op === undefined ? undefined : values)
  if (given === undefined) throw missing(field, 'an array of operations', values)
  let list = given
  if (typeof given === 'string') {
    list = parsed(given, field)
    repairs.push({ rule: 'json-text', field, message: TAKEN_AS_JSON })
  }
  if (isObject(list) && Array.isArray(list.operations)) list = list.operations
  if (Array.isArray(list)) return list
  repairs.push({ rule: 'wrapped', field, message: TAKEN_AS_ONE })
  return [list]
}

/**
 * @param {unknown} item
 * @param {string} field
 * @param {ArgumentRepair[]} repairs
 */
function itemOf(item, field, repairs) {
  if (typeof item !== 'string') return item
  const value = parsed(item, field)
  repairs.push({ rule: 'json-text', field, message: TAKEN_AS_JSON })
  return value
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
  const result = withoutUnused(named, place, repairs)
  const isMove = result.op === 'move_file'
  if (isMove && result.from === undefined && result.from_path === undefined) {
    // That is how the schema has it; the session calls it `from`.
    result.from = result.path ?? shared
    delete result.path
  } else if (!isMove && result.path === undefined && shared !== undefined) {
    result.path = shared
    const field = `${place}.path`
    repairs.push({ rule: 'shared-path', field, message: 'taken from beside the operations' })
  }
  for (const field of PATHS) {
    const path = result[field]
    if (typeof path === 'string') {
      result[field] = plainPath(session, path, `${place}.${field}`, repairs)
    }
  }
  return result
}

/** Fields in which an empty string says something. */
const TEXTS = ['text', 'old_text', 'new_text', 'content']

/**
 * An operation without the fields that models leave empty: null anywhere but in a text, where it
 * deletes, an empty string where no text belongs, and nothing in fields of other operations.
 * @param {Record<string, unknown>} value
 * @param {string} place
 * @param {ArgumentRepair[]} repairs
 */
function withoutUnused(value, place, repairs) {
  const own = FIELDS.get(String(value.op))
  // What is empty in an operation that is not described here may say something.
  if (own === undefined) return { ...value }
  const isOwn = (/** @type {string} */ field) => ['op', 'path', 'verbatim', ...own].includes(field)
  const isUnused = (/** @type {string} */ field, /** @type {unknown} */ held) => {
    if (!isOwn(field)) return isEmpty(held)
    return field !== 'text' && (held === null || (held === '' && !TEXTS.includes(field)))
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
const isEmpty = (held) => held === null || held === '' || held === false

module.exports = { operations }
