// The tool that reads files.

'use strict'

const { plainPath } = require('./arguments.cjs')
const { anchorForm, lineForm, makeTool, plural } = require('./tool.cjs')
const { fieldSoFar, listSoFar, oneLine } = require('./title.cjs')

/**
 * @import { FileView, HashSession, ReadReport, ReadRequest } from '../..'
 * @import { HashTool, JsonSchema } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 * @import { Answer, Names } from './tool.cjs'
 */

/** How tools of other agents call these fields. */
const OTHER_NAMES = {
  file_path: 'path',
  filePath: 'path',
  file: 'path',
  offset: 'start_line',
  startLine: 'start_line',
  limit: 'max_lines',
  maxLines: 'max_lines',
  paths: 'more_paths',
  files: 'more_paths',
}

/** @type {JsonSchema} */
const SCHEMA = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The file, relative to the working directory' },
    start_line: { type: 'integer', description: 'The first line to show, from 1' },
    max_lines: { type: 'integer', description: 'The most lines to show' },
    more_paths: {
      type: 'array',
      items: { type: 'string' },
      description: 'Further files to show in the same call',
    },
  },
  required: ['path'],
}

/**
 * @param {HashSession} session
 * @param {Names} names
 * @returns {HashTool}
 */
function readTool(session, names) {
  return makeTool({
    name: names.read,
    title: 'Read',
    description:
      `Reads files. Each line comes as ${lineForm(session.dialect)}, where ${anchorForm(session.dialect)} is its anchor: ${names.apply} edits by these anchors. ` +
      `Shows at most 2,000 lines and 50 KB, and says where to go on (start_line). Images are shown as images. ` +
      `${names.search} finds lines in many files.`,
    snippet: `Read files, each line with the anchor that ${names.apply} edits by`,
    guidelines: [
      `Read files with ${names.read} rather than cat, head, tail or sed: only lines that ${names.read} or ${names.search} showed have anchors to edit by.`,
    ],
    inputSchema: SCHEMA,
    writes: false,
    advice: 'Ask for fewer files at once, or go on by start_line.',
    otherNames: OTHER_NAMES,
    callTitle,
    run: async (given, { signal }) =>
      answer(names, await session.read(requests(session, given), { signal })),
  })
}

/**
 * @param {HashSession} session
 * @param {Arguments} given
 * @returns {ReadRequest[]}
 */
function requests(session, given) {
  const paths = [...given.texts('more_paths')]
  const first = given.optionalText('path') || paths.shift()
  // Asks for the field, in case there is no path at all.
  const path = first || given.text('path', 'the path of a file')
  const startLine = given.count('start_line', { min: 1 })
  const maxLines = given.count('max_lines', { min: 1 })
  const window = {
    path: plainPath(session, path, 'path', given.repairs),
    ...(startLine !== undefined && { startLine }),
    ...(maxLines !== undefined && { maxLines }),
  }
  const more = paths.map((one, at) => ({
    path: plainPath(session, one, `more_paths[${at}]`, given.repairs),
  }))
  return [window, ...more]
}

/** The images that vendors of models take. */
const SHOWABLE = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/**
 * What a session says of a file, in the words of the tool. No row of a file begins with a bracket,
 * since its number comes first.
 * @param {Names} names
 * @param {string} text
 */
function inOwnWords(names, text) {
  return text
    .replace(
      /^(\(.* Go on from line (\d+))\.\)$/gm,
      (_, start, line) => `${start}: ${names.read} with start_line ${line}.)`,
    )
    .replace(/^\(image, (image\/\S+), (\d+ bytes)\)$/gm, (row, type, size) =>
      SHOWABLE.includes(type)
        ? row
        : `(image, ${type}, ${size}; not shown: only png, jpeg, gif and webp are)`,
    )
}

/**
 * @param {Names} names
 * @param {ReadReport} report
 * @returns {Answer}
 */
function answer(names, { text, views, images, next }) {
  const failed = views.filter((view) => view.error !== undefined)
  const isError =
    failed.length > 0 && views.every((view) => view.error !== undefined || view.kind === 'unread')
  const files = views.map(({ text, ...about }) => about)
  const code = isError ? failed[0].error?.code : undefined
  // A line may be cut within at the very end of a file, where there is nothing to go on to.
  const truncated =
    next !== undefined || views.some((view) => 'truncated' in view && view.truncated)
  return {
    text: inOwnWords(names, text),
    isError,
    images: images.filter(({ mimeType }) => SHOWABLE.includes(mimeType)),
    summary: views.map(summary).join(', '),
    structured: { files, truncated, ...(code && { code }) },
  }
}

/** @param {FileView} view */
function summary({ path, kind, startLine, endLine, lineCount, error }) {
  if (error) return `${path}: ${error.code}`
  if (kind === 'unread') return `${path}: not shown`
  if (kind !== 'text') return `${path}: ${kind}`
  if (startLine === 1 && endLine === lineCount) return `${path}: ${plural(lineCount, 'line')}`
  return `${path}: lines ${startLine}–${endLine} of ${lineCount}`
}

const LIST_NAMES = ['more_paths', 'paths', 'files']

/** The first path of a list, where none stands outside. @param {unknown} args */
function first(args) {
  const [path] = [...listSoFar(args, ...LIST_NAMES), fieldSoFar(args, ...LIST_NAMES)]
  return typeof path === 'string' ? path : undefined
}

/** @param {unknown} args */
function callTitle(args) {
  const path = fieldSoFar(args, 'path', 'file_path', 'filePath', 'file') ?? first(args)
  if (path === undefined) return ''
  const start = fieldSoFar(args, 'start_line', 'offset', 'startLine')
  const listed = listSoFar(args, ...LIST_NAMES).length
  const more = fieldSoFar(args, 'path', 'file_path', 'filePath', 'file') ? listed : listed - 1
  return oneLine(`${path}${start ? `:${start}` : ''}${more > 0 ? ` and ${more} more` : ''}`)
}

module.exports = { OTHER_NAMES, readTool, requests }
