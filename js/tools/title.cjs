// A call in a few words, from arguments of which only a part may have arrived.

'use strict'

const { isObject } = require('./arguments.cjs')

const TITLE_CHARS = 100
const LOOKED_AT_CHARS = 2000

/**
 * A text for one line of a terminal.
 * @param {string} text
 */
function oneLine(text) {
  const line = text
    .slice(0, LOOKED_AT_CHARS)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not get through
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/gu, ' ')
    // What turns the direction of writing round, and halves of characters.
    .replace(/[\u202a-\u202e\u2066-\u2069\p{Cs}]/gu, '')
    .trim()
  const chars = [...line]
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join('')}…` : line
}

/**
 * The string or number that the first of some fields holds so far.
 * @param {unknown} args
 * @param {string[]} fields
 * @returns {string | undefined}
 */
function fieldSoFar(args, ...fields) {
  const object = objectSoFar(args)
  for (const field of fields) {
    const value = object[field]
    if (typeof value === 'number') return String(value)
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/**
 * The items that the list in the first of some fields has so far.
 * @param {unknown} args
 * @param {string[]} fields
 * @returns {unknown[]}
 */
function listSoFar(args, ...fields) {
  const object = objectSoFar(args)
  for (const field of fields) {
    const value = object[field]
    const list = typeof value === 'string' ? valueSoFar(value) : value
    if (Array.isArray(list)) return list
    if (isObject(list)) return [list]
  }
  return []
}

/** @param {unknown} args @returns {Record<string, unknown>} */
function objectSoFar(args) {
  const value = typeof args === 'string' ? valueSoFar(args) : args
  return isObject(value) ? value : {}
}

/**
 * What JSON text that breaks off says until then.
 * @param {string} text
 * @returns {unknown}
 */
function valueSoFar(text) {
  /** @type {string[]} what closes the objects and arrays that are open */
  const open = []
  let [isInString, isEscaped] = [false, false]
  let safeChars = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '"' && !isEscaped) isInString = false
      isEscaped = char === '\\' && !isEscaped
      continue
    }
    if (char === '"') isInString = true
    if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']')
    if (char === '}' || char === ']') open.pop()
    if ('{[}],'.includes(char)) safeChars = char === ',' ? at : at + 1
  }
  const ended = isInString ? `${isEscaped ? text.slice(0, -1) : text}"` : text
  // Behind the last safe place nothing is opened or closed, so that one closing serves both.
  const closing = open.reverse().join('')
  return parsedOr(ended + closing, () =>
    parsedOr(text.slice(0, safeChars) + closing, () => undefined),
  )
}

/**
 * @param {string} text
 * @param {() => unknown} otherwise
 * @returns {unknown}
 */
function parsedOr(text, otherwise) {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise()
  }
}

module.exports = { fieldSoFar, listSoFar, objectSoFar, oneLine }
