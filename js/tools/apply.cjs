// The tool that edits files.

'use strict'

const { formatHashed } = require('../../index.js')
const { operations } = require('./operations.cjs')
const { makeTool, NOTHING_WRITTEN, plural } = require('./tool.cjs')
const { isObject } = require('./arguments.cjs')
const { fieldSoFar, listSoFar, oneLine } = require('./title.cjs')

/**
 * @import { ApplyOutcome, Dialect, FileChange, HashSession } from '../..'
 * @import { HashTool, JsonSchema } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 * @import { Answer, Names } from './tool.cjs'
 */

/** @type {JsonSchema} */
const SCHEMA = {
  type: 'object',
  properties: {
    operations: {
      type: 'array',
      description: 'All are carried out, or none',
      items: {
        type: 'object',
        properties: {
          op: {
            type: 'string',
            enum: [
              'set_line',
              'replace_range',
              'insert_after',
              'insert_before',
              'delete',
              'replace_text',
              'add_file',
              'move_file',
              'delete_file',
            ],
          },
          path: { type: 'string', description: 'The file; of move_file: where it is' },
          anchor: {
            type: 'string',
            description: 'set_line, delete: the line. insert_after, insert_before: also BOF, EOF',
          },
          start_anchor: { type: 'string', description: 'replace_range, delete: the first line' },
          end_anchor: { type: 'string', description: 'replace_range, delete: the last line' },
          text: {
            type: 'string',
            description: 'set_line, replace_range, insert_*: the new lines, without anchors',
          },
          old_text: { type: 'string', description: 'replace_text: exact text, found once' },
          new_text: { type: 'string', description: 'replace_text: its replacement' },
          all: { type: 'boolean', description: 'replace_text: every occurrence' },
          content: { type: 'string', description: 'add_file: the whole content' },
          to: { type: 'string', description: 'move_file: the new path' },
          verbatim: { type: 'boolean', description: 'Take the text to the letter' },
        },
        required: ['op', 'path'],
      },
    },
  },
  required: ['operations'],
}

/**
 * @param {HashSession} session
 * @param {Names} names
 * @returns {HashTool}
 */
function applyTool(session, names) {
  return makeTool({
    name: names.apply,
    title: 'Apply',
    description:
      `Edits, creates, moves and deletes files, any number in one call: all operations are carried out, or none. ` +
      `Lines are named by the anchors that ${names.read}, ${names.search} and earlier answers of ${names.apply} showed; copy them exactly. ` +
      `All anchors of a call refer to the files before it. The answer shows the changed lines with new anchors, so no new ${names.read} is needed. ` +
      `A refusal shows the lines as they are: correct the anchors and send all operations again.\n\n${example(names, session.dialect)}`,
    snippet: `Edit, create, move and delete files by the anchors that ${names.read} and ${names.search} show`,
    guidelines: [
      `Change files with ${names.apply} alone; put all edits that belong together into one call.`,
      `After ${names.apply}, use the anchors of its answer; ${names.read} again only what it did not show.`,
    ],
    inputSchema: SCHEMA,
    writes: true,
    otherNames: {},
    callTitle,
    run: async (given, { signal, dryRun }) =>
      answer(await session.apply(patch(session, given), { signal, dryRun })),
  })
}

const EXAMPLE_LINES = ['function greet(name) {', "  const hi = 'Hi'", '  log(hi)', '}']

/**
 * A read and an edit of what it showed.
 * @param {Names} names
 * @param {Dialect} dialect
 */
function example(names, dialect) {
  const rows = formatHashed(EXAMPLE_LINES.join('\n'), { dialect }).split('\n')
  // Behind the hash, whose length depends on the dialect, stands the line.
  const anchors = rows.map((row, at) => row.slice(0, row.length - EXAMPLE_LINES[at].length - 1))
  const edits = [
    { op: 'set_line', path: 'greet.js', anchor: anchors[1], text: "  const hi = 'Hi, ' + name" },
    { op: 'insert_after', path: 'greet.js', anchor: anchors[2], text: '  return hi' },
  ]
  return `Example. ${names.read} showed of greet.js\n${rows.join('\n')}\nand this changes line 2 and adds a line below line 3:\n${JSON.stringify({ operations: edits })}`
}

/**
 * The patch as the session takes it.
 * @param {HashSession} session
 * @param {Arguments} given
 * @returns {any} a patch, as far as a model's arguments are one: the session checks it
 */
function patch(session, given) {
  const { operations: _, ...others } = given.values
  // The session reads other shapes, in which other tools have edits, on its own.
  if (Array.isArray(others.edits)) return given.values
  return { operations: operations(session, given) }
}

/**
 * @param {ApplyOutcome} outcome
 * @returns {Answer}
 */
function answer(outcome) {
  if (outcome.status === 'rejected') {
    const { text, ...structured } = outcome
    const [{ path, anchor }] = outcome.failures
    const where = [path, anchor].filter((part) => part !== undefined).join(' ')
    return {
      text: `${NOTHING_WRITTEN}\n${within(text)}`,
      isError: true,
      summary: oneLine(`refused: ${outcome.code}${where ? ` at ${where}` : ''}`),
      structured,
    }
  }
  const { text, repairs, ...structured } = outcome
  const diffs = outcome.files.flatMap(({ diff }) => (diff === undefined ? [] : [diff]))
  return {
    text: within(text),
    isError: false,
    summary: outcome.files.map(summary).join(', ') || 'no change',
    structured,
    repairs,
    ...(diffs.length > 0 && { diff: diffs.join('') }),
  }
}

/** @param {FileChange} file */
function summary({ path, from, change, added, removed }) {
  const name = from === undefined ? path : `${from} → ${path}`
  const counts = [added > 0 && `+${added}`, removed > 0 && `-${removed}`].filter(Boolean).join(' ')
  const what = change === 'edited' || change === 'moved' ? '' : `${change} `
  return `${name} ${what}${counts}`.trim()
}

const MAX_LINES = 2000
const MAX_BYTES = 51_200

/**
 * The part of a text that one answer may hold, in whole lines.
 * @param {string} text
 */
function within(text) {
  const lines = text.split('\n')
  let bytes = 0
  const fits = lines.findIndex((line, at) => {
    bytes += Buffer.byteLength(line) + 1
    return at >= MAX_LINES || bytes > MAX_BYTES + 1
  })
  if (fits === -1) return text
  const rest = plural(lines.length - fits, 'further line is', 'further lines are')
  return `${lines.slice(0, fits).join('\n')}\n(${rest} left out. Read the files for their anchors.)`
}

/** @param {unknown} args */
function callTitle(args) {
  const shared = fieldSoFar(args, 'path')
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const operation of listSoFar(args, 'operations')) {
    const path = isObject(operation) ? (operation.path ?? operation.from ?? shared) : undefined
    if (typeof path === 'string' && path !== '') counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  const files = [...counts].map(([path, count]) => (count > 1 ? `${path} ×${count}` : path))
  return oneLine(files.join(', '))
}

module.exports = { applyTool }
