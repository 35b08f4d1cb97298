// What a model wrote as arguments → values of the right type. What is plainly meant is taken as
// meant, and each such repair is reported; the rest is refused in the words of the schema.

'use strict'

const { fileURLToPath } = require('node:url')

/**
 * @import { HashSession } from '../..'
 * @import { ArgumentRepair } from '../tools.cjs'
 */

/** Arguments that nobody can make sense of. */
class Malformed extends Error {}

/** How deep arguments may nest, and how many values they may hold. */
const MAX_DEPTH = 64
const MAX_VALUES = 1_000_000

/**
 * The arguments of a call. A model's null means that the field is left out.
 * @param {unknown} args an object, or its JSON text
 * @param {Record<string, string>} otherNames fields as other tools call them
 * @param {string[]} known the fields of the schema
 * @param {ArgumentRepair[]} repairs
 */
function takeObject(args, otherNames, known, repairs) {
  let value = typeof args === 'string' ? parsed(args) : plain(args ?? {})
  if (typeof value === 'string') value = parsed(value)
  if (!isObject(value)) {
    throw new Malformed(`the arguments are ${noun(value)}: expected an object`)
  }
  const result = renamed(value, otherNames, '', repairs)
  for (const field of [...known, ...Object.keys(otherNames)]) {
    if (result[field] !== null) continue
    delete result[field]
    repairs.push({ rule: 'unused', field, message: 'left out, since empty' })
  }
  return new Given(result, repairs)
}

/**
 * A copy of a value that is data and nothing else, as if it had come as JSON text: what comes after
 * meets no getters, proxies, functions or circles.
 * @param {unknown} value
 */
function plain(value) {
  let count = 0
  /** @param {unknown} inner @param {number} depth @returns {unknown} */
  const copy = (inner, depth) => {
    if (typeof inner === 'function' || typeof inner === 'symbol' || typeof inner === 'bigint') {
      throw new Malformed(`the arguments hold a ${typeof inner}: expected what JSON can say`)
    }
    count += 1
    if (count > MAX_VALUES) throw new Malformed(`the arguments hold over ${MAX_VALUES} values`)
    if (typeof inner !== 'object' || inner === null) return inner
    if (depth >= MAX_DEPTH) {
      throw new Malformed(`the arguments nest deeper than ${MAX_DEPTH} levels`)
    }
    if (Array.isArray(inner)) return Array.from(inner, (item) => copy(item, depth + 1))
    const entries = Object.entries(inner).filter(([, held]) => held !== undefined)
    return Object.fromEntries(entries.map(([name, held]) => [name, copy(held, depth + 1)]))
  }
  try {
    return copy(value, 0)
  } catch (error) {
    if (error instanceof Malformed) throw error
    throw new Malformed('the arguments cannot be read: expected plain data')
  }
}

/**
 * Fields that a model gave, and where repairs are noted.
 * @typedef {Given} Arguments
 */
class Given {
  /**
   * @param {Record<string, unknown>} values
   * @param {ArgumentRepair[]} repairs
   */
  constructor(values, repairs) {
    this.values = values
    this.repairs = repairs
  }

  /** @param {string} field @returns {string | undefined} */
  optionalText(field) {
    const value = this.values[field] ?? undefined
    if (value === undefined || typeof value === 'string') return value
    throw wrong(field, value, 'a string')
  }

  /** @param {string} field @param {string} what */
  text(field, what) {
    const text = this.optionalText(field)
    if (text === undefined || text === '') throw missing(field, what, this.values)
    return text
  }

  /**
   * A list of strings: an array, JSON text of one, or a single one.
   * @param {string} field
   * @returns {string[]}
   */
  texts(field) {
    const held = this.values[field] ?? undefined
    const value = held === undefined || held === '' ? [] : held
    // A path may begin as JSON does: `[id]/page.tsx`.
    const inside = typeof value === 'string' ? jsonOf(value) : value
    const isList = Array.isArray(inside) && inside.every((item) => typeof item === 'string')
    if (isList && inside === value) return /** @type {string[]} */ (inside)
    if (isList) {
      this.repairs.push({ rule: 'json-text', field, message: TAKEN_AS_JSON })
      return /** @type {string[]} */ (inside)
    }
    if (typeof value !== 'string') throw wrong(field, value, 'an array of strings')
    this.repairs.push({ rule: 'wrapped', field, message: TAKEN_AS_ONE })
    return [value]
  }

  /**
   * A whole number within bounds.
   * @param {string} field
   * @param {{ min: number, max?: number }} bounds
   * @returns {number | undefined}
   */
  count(field, { min, max = Number.MAX_SAFE_INTEGER }) {
    const value = this.values[field] ?? undefined
    if (value === undefined) return undefined
    const isDigits = typeof value === 'string' && /^\s*\d+\s*$/.test(value)
    const number = isDigits ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0) {
      throw wrong(field, value, `a whole number from ${min}`)
    }
    const bounded = Math.min(Math.max(number, min), max)
    if (isDigits || bounded !== number) {
      this.repairs.push({ rule: 'number', field, message: `taken as ${bounded}` })
    }
    return bounded
  }

  /** @param {string} field @returns {boolean} */
  flag(field) {
    const value = this.values[field] ?? false
    if (typeof value === 'boolean') return value
    if (value === 'true' || value === 'false') {
      this.repairs.push({ rule: 'json-text', field, message: `taken as ${value}` })
      return value === 'true'
    }
    throw wrong(field, value, 'true or false')
  }
}

/**
 * An object whose fields have the names of the schema. A field that has its right name, too, stays.
 * @param {Record<string, unknown>} value
 * @param {Record<string, string>} otherNames
 * @param {string} place in front of the name in a report
 * @param {ArgumentRepair[]} repairs
 */
function renamed(value, otherNames, place, repairs) {
  const result = { ...value }
  for (const [other, name] of Object.entries(otherNames)) {
    if (!Object.hasOwn(result, other) || (result[name] ?? undefined) !== undefined) continue
    if (result[other] === null) continue
    result[name] = result[other]
    delete result[other]
    repairs.push({ rule: 'other-name', field: place + other, message: `taken as ${name}` })
  }
  return result
}

const TAKEN_AS_JSON = 'taken as the JSON that the string holds'
const TAKEN_AS_ONE = 'taken as an array of one'

/** The value that JSON text holds, if it is JSON. @param {string} text @returns {unknown} */
function jsonOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A path as the session takes it: that of a `file:` URL, and without the `@` in front with which
 * people and agents mention files, unless something of that name is there.
 * @param {HashSession} session
 * @param {string} path
 * @param {string} field
 * @param {ArgumentRepair[]} repairs
 */
function plainPath(session, path, field, repairs) {
  if (/^@file:\/\//i.test(path)) {
    const url = path.slice(1)
    repairs.push({ rule: 'at-path', field, message: `taken as ${JSON.stringify(url)}` })
    return plainPath(session, url, field, repairs)
  }
  // Half a character would become another one in a URL: the session refuses such a path.
  if (/^file:\/\//i.test(path) && !/\p{Cs}/u.test(path)) {
    const local = pathOfUrl(path)
    if (local === undefined) throw new Malformed(`${field} is ${noun(path)}: expected a path`)
    repairs.push({ rule: 'file-url', field, message: `taken as ${JSON.stringify(local)}` })
    return local
  }
  if (!/^@./.test(path) || exists(session, path) || exists(session, firstPart(path))) {
    return path
  }
  const plain = path.slice(1)
  repairs.push({ rule: 'at-path', field, message: `taken as ${JSON.stringify(plain)}` })
  return plain
}

/** @param {string} path */
const firstPart = (path) => path.split(/[/\\]/, 1)[0]

/** @param {string} url */
function pathOfUrl(url) {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

/**
 * Whether there is something at a path. A new file there is tried, and not made: that looks at the
 * name alone, where a read would take in the file.
 * @param {HashSession} session
 * @param {string} path
 */
function exists(session, path) {
  const operations = [{ op: /** @type {const} */ ('add_file'), path, content: '' }]
  const outcome = session.applySync({ operations }, { dryRun: true })
  return outcome.status === 'rejected' && ['FILE_EXISTS', 'NOT_A_FILE'].includes(outcome.code)
}

/** JSON text of a model. @param {string} text @param {string} [field] @returns {unknown} */
function parsed(text, field) {
  if (text.trim() === '') return {}
  try {
    return plain(JSON.parse(text))
  } catch (error) {
    if (error instanceof Malformed) throw error
    const why = error instanceof Error ? error.message : String(error)
    const what =
      field === undefined ? 'the arguments are' : `the field ${field} is a string that is`
    throw new Malformed(`${what} no JSON: ${why}`)
  }
}

/**
 * The value in a field that holds JSON text, which may be encoded twice.
 * @param {string} text
 * @param {string} field
 * @param {ArgumentRepair[]} repairs
 */
function decoded(text, field, repairs) {
  let value = parsed(text, field)
  if (typeof value === 'string') value = parsed(value, field)
  repairs.push({ rule: 'json-text', field, message: TAKEN_AS_JSON })
  return value
}

/**
 * @param {string} field
 * @param {unknown} value
 * @param {string} expected
 */
const wrong = (field, value, expected) =>
  new Malformed(`the field ${field} is ${noun(value)}: expected ${expected}`)

/**
 * @param {string} field
 * @param {string} what
 * @param {Record<string, unknown>} values
 */
function missing(field, what, values) {
  const given = Object.keys(values).join(', ') || 'none'
  return new Malformed(`the field ${field} is missing: expected ${what} (fields given: ${given})`)
}

const QUOTED_CHARS = 80

/** How a message calls a value. @param {unknown} value */
function noun(value) {
  if (typeof value === 'string') {
    const cut = value.length > QUOTED_CHARS ? `${value.slice(0, QUOTED_CHARS)}…` : value
    return `the string ${JSON.stringify(cut)}`
  }
  if (typeof value === 'number') return `the number ${value}`
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

module.exports = {
  decoded,
  isObject,
  Malformed,
  missing,
  noun,
  plainPath,
  renamed,
  takeObject,
  TAKEN_AS_ONE,
}
