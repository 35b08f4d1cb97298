// The tool that edits files.

'use strict'

const { formatHashed } = require('../../index.js')
const { areOperations, editsOfFile, listedEdits } = require('./edits.cjs')
const { operations } = require('./operations.cjs')
const { makeTool, NOTHING_WRITTEN } = require('./tool.cjs')
const { isObject } = require('./arguments.cjs')
const { fieldSoFar, listSoFar, objectSoFar, oneLine } = require('./title.cjs')

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
    advice: `Use ${names.read} on the files for their anchors.`,
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
  const edits = listedEdits(given)
  if (edits === undefined) return { operations: operations(session, given) }
  const { operations: others, edits: _, ...values } = given.values
  if (others !== undefined || !areOperations(edits)) return editsOfFile(session, given, edits)
  given.repairs.push({ rule: 'other-name', field: 'edits', message: 'taken as operations' })
  return {
    operations: operations(session, {
      values: { ...values, operations: edits },
      repairs: given.repairs,
    }),
  }
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
      text: `${NOTHING_WRITTEN}\n${text}`,
      isError: true,
      summary: `refused: ${outcome.code}${where ? ` at ${where}` : ''}`,
      structured,
    }
  }
  const { text, repairs, ...structured } = outcome
  const diffs = outcome.files.flatMap(({ diff }) => (diff === undefined ? [] : [diff]))
  return {
    text,
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

const PATH_NAMES = ['path', 'from', 'from_path', 'file_path', 'filePath', 'file']

/** @param {unknown} args */
function callTitle(args) {
  const shared = fieldSoFar(args, ...PATH_NAMES)
  /** @type {Map<string, number>} */
  const counts = new Map()
  const listed = listSoFar(args, 'operations', 'edits')
  const isBare = listed.length === 0 && fieldSoFar(args, 'op') !== undefined
  for (const operation of isBare ? [objectSoFar(args)] : listed) {
    const path = fieldSoFar(operation, ...PATH_NAMES) ?? (isObject(operation) ? shared : undefined)
    if (path !== undefined) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  const files = [...counts].map(([path, count]) => (count > 1 ? `${path} ×${count}` : path))
  return oneLine(files.join(', '))
}

module.exports = { applyTool }
