// What the three tools have in common: their names, how a call is carried out, how it is answered.

'use strict'

const { formatHashed } = require('../../index.js')
const { Malformed, takeObject } = require('./arguments.cjs')
const { bounded, boundedNotes } = require('./bounds.cjs')
const { oneLine } = require('./title.cjs')

/**
 * @import { Dialect, Repair } from '../..'
 * @import { ArgumentRepair, ExecuteOptions, HashTool, JsonSchema, ToolImage, ToolNames, ToolResult } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 */

/**
 * @typedef {Required<ToolNames>} Names
 * @typedef {object} Answer a result, as far as the tools differ
 * @property {string} text
 * @property {boolean} isError
 * @property {string} summary
 * @property {Record<string, unknown>} structured
 * @property {Repair[]} [repairs] of texts, by the session
 * @property {ToolImage[]} [images]
 * @property {string} [diff]
 * @typedef {object} Definition
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {string} snippet
 * @property {string[]} guidelines
 * @property {JsonSchema} inputSchema
 * @property {boolean} writes
 * @property {string} advice what to do about an answer that is cut
 * @property {Record<string, string>} otherNames fields as other tools call them
 * @property {(args: unknown) => string} callTitle
 * @property {(given: Arguments, options: ExecuteOptions) => Promise<Answer>} run
 */

/** How the answer to a patch that was refused begins. */
const NOTHING_WRITTEN = 'Nothing was written.'

/**
 * @param {ToolNames | undefined} names
 * @returns {Names}
 */
function toolNames(names) {
  const { read = 'read', search = 'search', apply = 'apply_hash' } = names ?? {}
  const all = { read, search, apply }
  for (const [kind, name] of Object.entries(all)) {
    if (typeof name === 'string' && /^[^\s\p{C}]{1,128}$/u.test(name)) continue
    const what = typeof name === 'string' ? JSON.stringify(name) : String(name)
    throw new TypeError(`names.${kind} is ${what}: expected a name without spaces`)
  }
  if (new Set(Object.values(all)).size < 3) {
    throw new TypeError(`names are ${read}, ${search} and ${apply}: expected three different ones`)
  }
  return all
}

/**
 * @param {Definition} definition
 * @returns {HashTool}
 */
function makeTool(definition) {
  const { name, title, description, snippet, guidelines, inputSchema, callTitle } = definition
  const annotations = {
    title,
    readOnlyHint: !definition.writes,
    destructiveHint: definition.writes,
    idempotentHint: !definition.writes,
    openWorldHint: false,
  }
  return {
    name,
    title,
    description,
    snippet,
    guidelines,
    inputSchema,
    annotations,
    callTitle: (args) => {
      try {
        return callTitle(args)
      } catch {
        // A getter of theirs, say: a title is not worth a fault.
        return ''
      }
    },
    execute: (args, options) => execute(definition, args, options ?? {}),
  }
}

/**
 * Carries out a call. Only a fired signal makes it throw. Nothing is waited for before the session
 * is called: so it hears of calls in the order in which they are made.
 * @param {Definition} definition
 * @param {unknown} args
 * @param {ExecuteOptions} options
 * @returns {Promise<ToolResult>}
 */
async function execute(definition, args, options) {
  /** @type {ArgumentRepair[]} */
  const repairs = []
  const { repairs: ofTexts = [], ...answer } = await answered(definition, args, options, repairs)
  return {
    images: [],
    ...answer,
    text:
      bounded(answer.text, answer.isError && !definition.writes ? '' : ` ${definition.advice}`) +
      told(repairs),
    summary: oneLine(answer.summary),
    structured: { ...answer.structured, repairs: [...repairs, ...ofTexts] },
  }
}

/**
 * @param {Definition} definition
 * @param {unknown} args
 * @param {ExecuteOptions} options
 * @param {ArgumentRepair[]} repairs
 * @returns {Promise<Answer>}
 */
async function answered(definition, args, options, repairs) {
  try {
    const known = Object.keys(definition.inputSchema.properties ?? {})
    return await definition.run(takeObject(args, definition.otherNames, known, repairs), options)
  } catch (error) {
    if (options.signal?.aborted && error instanceof Error && error.name === 'AbortError') {
      throw error
    }
    return failed(definition, error instanceof Error ? error : new Error('an unknown fault'))
  }
}

/** Errors that come before anything is looked at. */
const MISUSE = ['INVALID_ARGUMENT', 'UNENCODABLE_TEXT']

/**
 * A call that ended in an error. Of misuse it is certain that it wrote nothing; a fault of the
 * disk says itself what became of the files.
 * @param {Definition} definition
 * @param {Error & { code?: string }} error
 * @returns {Answer}
 */
function failed({ name, writes }, error) {
  const isMalformed = error instanceof Malformed
  const code = isMalformed ? 'INVALID_ARGUMENT' : (error.code ?? 'INTERNAL')
  const text = isMalformed ? `${name}: ${error.message}` : `${code}: ${error.message}`
  const isUntouched = writes && MISUSE.includes(code)
  return {
    text: isUntouched ? `${NOTHING_WRITTEN}\n${text}` : text,
    isError: true,
    summary: code,
    structured: { code },
  }
}

/** Repairs of what the schema itself asks for: a strict one for empty fields. */
const UNTOLD = ['unused', 'move-path']

/**
 * What the model is told of repairs.
 * @param {ArgumentRepair[]} repairs
 */
function told(repairs) {
  const worth = repairs.filter(({ rule }) => !UNTOLD.includes(rule))
  return boundedNotes(worth.map(({ field, message }) => `${field}: ${message}`))
}

/**
 * How a line with its anchor looks in a dialect: `NUMBER:HASH|TEXT`.
 * @param {Dialect} dialect
 */
const lineForm = (dialect) =>
  formatHashed('x', { dialect }).replace(/^1(\W)\w+(\W)x$/, 'NUMBER$1HASH$2TEXT')

/** @param {number} count @param {string} one @param {string} [several] */
const plural = (count, one, several = `${one}s`) => `${count} ${count === 1 ? one : several}`

/**
 * The anchor of such a line: `NUMBER:HASH`.
 * @param {Dialect} dialect
 */
const anchorForm = (dialect) => lineForm(dialect).replace(/\WTEXT$/, '')

module.exports = { anchorForm, lineForm, makeTool, NOTHING_WRITTEN, plural, toolNames }
