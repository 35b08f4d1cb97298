// What the terminal of opencode draws of a call: it takes the file from the argument `filePath`, and
// a diff from the metadata of the result.

import { isAbsolute, join } from 'node:path'

/**
 * @import { ApplyData, HashTool, ReadData, SearchData, ToolResult } from 'hashline-native/tools'
 *
 * @typedef {ReadData | SearchData | ApplyData} Data of a result, by its tool
 */

/**
 * A tool whose argument `path` is called `filePath`.
 * @template {HashTool<any>} Tool
 * @param {Tool} tool
 * @returns {Tool}
 */
export function withFilePath(tool) {
  const { properties = {}, required = [] } = tool.inputSchema
  const renamed = (/** @type {string} */ name) => (name === 'path' ? 'filePath' : name)
  const fields = Object.entries(properties).map(([name, field]) => [renamed(name), field])
  return {
    ...tool,
    // The example of a call.
    description: tool.description.replace('{"path":', '{"filePath":'),
    inputSchema: {
      ...tool.inputSchema,
      properties: Object.fromEntries(fields),
      required: required.map(renamed),
    },
  }
}

/** Joins the names of several files. */
const AND = ', '

/**
 * The arguments of a call as the tool takes them.
 * @param {Record<string, any>} args
 */
export function withPath({ filePath, ...args }) {
  if (filePath === undefined) return args
  if ('path' in args) return { filePath, ...args }
  // Written by `addFilePath`, and perhaps copied from there.
  const listed = Array.isArray(args.operations) ? args.operations : []
  const paths = [...new Set(listed.map((one) => one?.path ?? one?.from))]
  if (paths.length > 1 && paths.join(AND) === filePath) return args
  return { path: filePath, ...args }
}

/**
 * Adds the files of a call to its arguments, where opencode reads their names.
 * @param {Record<string, any>} args
 */
export function addFilePath(args) {
  if (args.filePath !== undefined) return
  if (typeof args.path === 'string') {
    args.filePath = args.path
    delete args.path
    return
  }
  const listed = Array.isArray(args.operations) ? args.operations : []
  const paths = new Set(listed.map((one) => one?.path ?? one?.from))
  const names = [...paths].filter((path) => typeof path === 'string')
  if (names.length > 0) args.filePath = names.join(AND)
}

/**
 * A diff that opencode draws as a whole: it draws only the first file of a diff, so the changes of
 * several files are those of one, each after a row with the file's name.
 * @param {ToolResult<any>} result
 */
export function diffOf({ diff = '', structured }) {
  const files = structured.files ?? []
  if (files.length < 2) return diff
  const hunks = files.map((/** @type {any} */ file) => {
    const from = file.from === undefined ? '' : `${file.from} → `
    const all = file.diff ?? ''
    const start = all.search(/^@@ /m)
    return `@@ -0,1 +0,1 @@\n ── ${from}${file.path} ──\n${start < 0 ? '' : all.slice(start)}`
  })
  return `--- a/${files[0].path}\n+++ b/${files[0].path}\n${hunks.join('')}`
}

/** What happened to a file, in opencode's words. */
const TYPES = { created: 'add', deleted: 'delete', moved: 'move' }

/**
 * The metadata of a result: the diff, the files of a patch, the number of matches.
 * @param {ToolResult<any>} result
 * @param {{ directory: string }} context
 */
export function metadataOf(result, { directory }) {
  const { structured } = result
  if (result.diff === undefined) {
    return structured.matchCount === undefined ? {} : { matches: structured.matchCount }
  }
  const absolute = (/** @type {string} */ path) => (isAbsolute(path) ? path : join(directory, path))
  const files = (structured.files ?? []).map((/** @type {any} */ file) => ({
    type: TYPES[/** @type {keyof typeof TYPES} */ (file.change)] ?? 'update',
    relativePath: file.path,
    filePath: absolute(file.from ?? file.path),
    ...(file.from !== undefined && { movePath: absolute(file.path) }),
    patch: file.diff ?? '',
    additions: file.added ?? 0,
    deletions: file.removed ?? 0,
  }))
  return { diff: diffOf(result), files }
}
