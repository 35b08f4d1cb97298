// A call in a few words, from arguments of which only a part may have arrived.

'use strict'

const { isObject } = require('./arguments.cjs')

const TITLE_CHARS = 100

/**
 * A text for one line of a terminal.
 * @param {string} text
 */
function oneLine(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not get through
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/gu, ' ').trim()
  const chars = [...line]
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join('')}…` : line
}

/**
 * The string or number that a field holds so far.
 * @param {unknown} args
 * @param {string} field
 * @returns {string | undefined}
 */
function fieldSoFar(args, field) {
  const value = objectSoFar(args)[field]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * The items that the list in a field has so far.
 * @param {unknown} args
 * @param {string} field
 * @returns {unknown[]}
 */
function listSoFar(args, field) {
  const value = objectSoFar(args)[field]
  const list = typeof value === 'string' ? valueSoFar(value) : value
  return Array.isArray(list) ? list : isObject(list) ? [list] : []
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
  let [safeChars, safeClosing] = [0, '']
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
    if ('{[}],'.includes(char)) {
      safeChars = char === ',' ? at : at + 1
      safeClosing = closing(open)
    }
  }
  const ended = isInString ? `${isEscaped ? text.slice(0, -1) : text}"` : text
  return parsedOr(ended + closing(open), () =>
    parsedOr(text.slice(0, safeChars) + safeClosing, () => undefined),
  )
}

/** @param {string[]} open */
const closing = (open) => [...open].reverse().join('')

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
