// The tool that searches files.

'use strict'

const { plainPath } = require('./arguments.cjs')
const { lineForm, makeTool, plural } = require('./tool.cjs')
const { fieldSoFar, listSoFar, oneLine } = require('./title.cjs')

/**
 * @import { HashSession, SearchQuery, SearchResult } from '../..'
 * @import { HashTool, JsonSchema } from '../tools.cjs'
 * @import { Arguments } from './arguments.cjs'
 * @import { Answer, Names } from './tool.cjs'
 */

/** How tools of other agents call these fields. */
const OTHER_NAMES = {
  query: 'pattern',
  search: 'pattern',
  file_path: 'paths',
  path: 'paths',
  include: 'globs',
  glob: 'globs',
  limit: 'max_matches',
  maxMatches: 'max_matches',
}

/** @type {JsonSchema} */
const SCHEMA = {
  type: 'object',
  properties: {
    pattern: { type: 'string', description: 'A regular expression, matched within one line' },
    literal: { type: 'boolean', description: 'Take the pattern as plain text' },
    case_sensitive: { type: 'boolean', description: 'By default letters match either case' },
    paths: {
      type: 'array',
      items: { type: 'string' },
      description: 'Files and directories; the working directory when left out',
    },
    globs: {
      type: 'array',
      items: { type: 'string' },
      description: 'Only files that match, like *.ts; ! in front excludes',
    },
    context: { type: 'integer', description: 'Lines to show above and below each match' },
    max_matches: { type: 'integer', description: 'The most matches to show, 200 at most' },
    hidden: { type: 'boolean', description: 'Search hidden files, too' },
  },
  required: ['pattern'],
}
const MAX_CONTEXT_LINES = 20
const MAX_MATCHES = 200
const MAX_LINES = 2000

/**
 * @param {HashSession} session
 * @param {Names} names
 * @returns {HashTool}
 */
function searchTool(session, names) {
  return makeTool({
    name: names.search,
    title: 'Search',
    description:
      `Searches files and directories for lines that match a regular expression; ignored and binary files are passed over. ` +
      `Every line shown has its anchor, ${lineForm(session.dialect)}, so ${names.apply} can edit it without a ${names.read} first.`,
    snippet: `Search files for lines, each shown with the anchor that ${names.apply} edits by`,
    guidelines: [`Search with ${names.search} rather than grep, rg or find.`],
    inputSchema: SCHEMA,
    writes: false,
    advice: 'Narrow pattern, paths or globs.',
    otherNames: OTHER_NAMES,
    callTitle,
    run: async (given, { signal }) => {
      const query = searchQuery(session, given)
      return answer(names, query, await session.search(query, { signal }))
    },
  })
}

/**
 * @param {HashSession} session
 * @param {Arguments} given
 * @returns {SearchQuery}
 */
function searchQuery(session, given) {
  const context = given.count('context', { min: 0, max: MAX_CONTEXT_LINES }) ?? 0
  // Each match may stand in a file of its own, with a header.
  const linesOfMatch = 2 * context + (context > 0 ? 3 : 2)
  const max = Math.min(MAX_MATCHES, Math.floor(MAX_LINES / linesOfMatch))
  const paths = given
    .texts('paths')
    .map((path, at) => plainPath(session, path, `paths[${at}]`, given.repairs))
  const globs = given.texts('globs')
  return {
    search: given.text('pattern', 'what to search for'),
    regex: !given.flag('literal'),
    caseSensitive: given.flag('case_sensitive'),
    ...(paths.length > 0 && { paths }),
    ...(globs.length > 0 && { globs }),
    contextBefore: context,
    contextAfter: context,
    maxMatches: given.count('max_matches', { min: 1, max }) ?? max,
    hidden: given.flag('hidden'),
  }
}

/**
 * @param {Names} names
 * @param {SearchQuery} query
 * @param {SearchResult} result
 * @returns {Answer}
 */
function answer(names, query, result) {
  const { text, matchCount, filesSearched, errors, warnings, ...counts } = result
  const isError = matchCount === 0 && filesSearched === 0 && errors.length > 0
  const rows = [
    text || `(no match for ${JSON.stringify(query.search)} in ${plural(filesSearched, 'file')})`,
    ...(result.truncated ? [goOn(names, result)] : []),
    ...errors.map(({ code, message }) => `${code}: ${message}`),
    ...warnings.map(({ message }) => message),
  ]
  const code = isError ? errors[0].code : undefined
  return {
    text: isError ? rows.slice(1).join('\n') : rows.join('\n'),
    isError,
    summary:
      code ?? `${plural(matchCount, 'match', 'matches')} in ${plural(result.files.length, 'file')}`,
    structured: { ...counts, matchCount, filesSearched, errors, warnings, ...(code && { code }) },
  }
}

/**
 * What a model can do about a search that a limit cut.
 * @param {Names} names
 * @param {SearchResult} result
 */
function goOn(names, { matchCount, files }) {
  const last = files.at(-1)
  const line = last?.matchLines.at(-1)
  const shown = `(${plural(matchCount, 'match is', 'matches are')} shown, and there are more.`
  const hasMore = last !== undefined && line !== undefined && line < last.lineCount
  const rest = hasMore ? `, or go on with ${names.read} ${last.path} from line ${line + 1}` : ''
  return `${shown} Narrow pattern, paths or globs${rest}.)`
}

/** @param {unknown} args */
function callTitle(args) {
  const pattern = fieldSoFar(args, 'pattern', 'query', 'search')
  if (pattern === undefined) return ''
  const listed = listSoFar(args, 'paths')
  const single = fieldSoFar(args, 'paths', 'path', 'file_path')
  const paths = (listed.length > 0 ? listed : [single]).filter((path) => typeof path === 'string')
  return oneLine(`${JSON.stringify(pattern)}${paths.length > 0 ? ` in ${paths.join(', ')}` : ''}`)
}

module.exports = { searchTool }
