// The tools of an agent in an editor. If the editor lets the agent read and write, all text goes
// through the editor. If the agent may only read, it writes the disk, and only where the editor has
// the same text. Otherwise it reads and writes the disk.

import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { HashSession, readHashed } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'

/**
 * @import { AgentContext, FileSystemCapabilities } from '@agentclientprotocol/sdk'
 * @import { Approve, HashTool, HostFiles, SearchData } from 'hashline-native/tools'
 *
 * @typedef {{ client: AgentContext, sessionId: string, cwd: string }} Editor
 * @typedef {Required<Pick<HostFiles, 'read' | 'write' | 'remove'>>} Files
 *
 * @typedef {object} State of a file
 * @property {Buffer} [bytes] what is on the disk
 * @property {boolean} isOfEditor whether the editor can have it: no image, and not too large
 * @property {string} [text] what is in the editor
 */

/** Codes of the protocol. */
const [RESOURCE_NOT_FOUND, METHOD_NOT_FOUND] = [-32002, -32601]

/** What other editors say of a file that does not exist. */
const NOT_FOUND_WORDS = /ENOENT|no such file|not ?found|not exist|nonexist/i

/** Messages of the protocol have at most 32 MiB, and JSON may need six bytes for one. */
const MAX_BYTES = 4 << 20

const { readTextFile: READ, writeTextFile: WRITE } = methods.client.fs

const UNSAVED = 'the editor has other text than the disk. Ask the user to save the file first'

/**
 * @param {Editor & { fs: FileSystemCapabilities, approve: Approve }} editor
 * @returns {HashTool[]}
 */
export function editorTools({ fs, approve, ...editor }) {
  const { cwd } = editor
  const disk = hashTools(new HashSession({ cwd }), { approve })
  if (!fs.readTextFile) return Object.values(disk)
  const session = new HashSession({ cwd, disk: false })
  const files = fs.writeTextFile ? editorFiles(editor) : savedFiles(editor)
  /** The files whose text the editor has sent. @type {Set<string>} */
  const opened = new Set()
  /** The files for the next search. @type {string[]} */
  let searched = []
  /** @type {HostFiles['read']} */
  const readOne = async (path, context) => {
    const content = await files.read(path, context)
    if (typeof content === 'string') opened.add(path)
    return content
  }
  const { read, search, apply } = hashTools(session, {
    approve,
    files: { ...files, read: readOne, list: () => searched },
  })
  /**
   * The protocol cannot list files. So a search of the disk finds the files that the editor is then
   * asked for; unsaved text is found in these and in files that were read before.
   * @type {HashTool['execute']}
   */
  const execute = async (args, options) => {
    const { structured } = await disk.search.execute(args, options)
    const { files: found = [], truncated } = /** @type {SearchData} */ (structured)
    searched = [...opened, ...found.map(({ path }) => resolve(cwd, path))]
    const result = await search.execute(args, options)
    if (!truncated) return result
    return { ...result, text: `${result.text}\n(There may be more matches. Narrow the search.)` }
  }
  return [read, { ...search, execute }, apply]
}

/**
 * Files that are read and written through the editor.
 * @param {Editor} editor
 * @returns {Files}
 */
function editorFiles(editor) {
  const { client, sessionId, cwd } = editor
  return {
    async read(path) {
      const { bytes, isOfEditor, text } = await stateOf(editor, path)
      if (text !== undefined) return text
      if (bytes && isOfEditor) throw new Error('the editor does not open it')
      return bytes ?? null
    },
    async write(path, content) {
      if (typeof content !== 'string') return writeBytes(path, content, await onDisk(path, cwd))
      await client.request(WRITE, { sessionId, path, content }).catch(rethrow)
    },
    async remove(path) {
      const state = await stateOf(editor, path)
      await removeFile(path, isSaved(state))
    },
  }
}

/**
 * Files that are read through the editor and written to the disk.
 * @param {Editor} editor
 * @returns {Files}
 */
function savedFiles(editor) {
  /**
   * The text in the editor before the last write and the bytes after it: an editor notices late
   * that a file has changed.
   * @type {Map<string, { before?: string, after: Buffer }>}
   */
  const written = new Map()
  const isCurrent = (/** @type {string} */ path, /** @type {State} */ state) => {
    const own = written.get(path)
    if (own && state.bytes?.equals(own.after) && state.text === own.before) return true
    written.delete(path)
    return isSaved(state)
  }
  return {
    async read(path) {
      const state = await stateOf(editor, path)
      // The bytes, because an editor may show other line ends than the disk has.
      return (isCurrent(path, state) ? state.bytes : state.text) ?? null
    },
    async write(path, content) {
      const state = await stateOf(editor, path)
      if (!isCurrent(path, state)) throw new Error(UNSAVED)
      await writeBytes(path, content, state)
      written.set(path, { before: state.text, after: Buffer.from(content) })
    },
    async remove(path) {
      const state = await stateOf(editor, path)
      await removeFile(path, isCurrent(path, state))
    },
  }
}

/** @param {State} state */
function isSaved({ bytes, text }) {
  return text === undefined || (bytes !== undefined && plain(bytes.toString()) === plain(text))
}

/** A text without what editors do not show. @param {string} text */
const plain = (text) => text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')

/**
 * @param {Editor} editor
 * @param {string} path
 * @returns {Promise<State>}
 */
async function stateOf({ client, sessionId, cwd }, path) {
  const file = await onDisk(path, cwd)
  if (!file.isOfEditor) return file
  try {
    const { content: text } = await client.request(READ, { sessionId, path })
    if (typeof text !== 'string') throw new Error('it answered without a text')
    // Some editors have an empty text for every file that does not exist.
    return text === '' && !file.bytes ? file : { ...file, text }
  } catch (error) {
    if (isNotFound(error, file)) return file
    return rethrow(error)
  }
}

/** @param {any} error @param {State} file */
function isNotFound(error, { bytes }) {
  if (error.code === RESOURCE_NOT_FOUND) return true
  if (error.code === METHOD_NOT_FOUND || bytes) return false
  return NOT_FOUND_WORDS.test(reasonOf(error))
}

/**
 * The state of a file without the editor. It throws for a directory, and for a path that leads out
 * of the directory of the session.
 * @param {string} path
 * @param {string} cwd
 * @returns {Promise<State>}
 */
async function onDisk(path, cwd) {
  const [{ kind, error }] = await readHashed([{ path, maxLines: 1 }], { root: cwd })
  const exists = await lstat(path).catch(() => undefined)
  if (error?.code === 'FILE_NOT_FOUND' && !exists) return { isOfEditor: true }
  // Also for a link without a target, which may lead anywhere.
  if (error) throw new Error(error.message)
  const bytes = await readFile(path)
  return { bytes, isOfEditor: kind === 'text' && bytes.length <= MAX_BYTES }
}

/**
 * @param {string} path
 * @param {string | Uint8Array} content
 * @param {State} state
 */
async function writeBytes(path, content, { bytes, isOfEditor }) {
  if (bytes && !isOfEditor) throw new Error('it is too large for the editor')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** @param {string} path @param {boolean} isCurrent */
async function removeFile(path, isCurrent) {
  if (!isCurrent) throw new Error(UNSAVED)
  await rm(path, { force: true })
}

/** What an error of the editor says. @param {any} error @returns {string} */
const reasonOf = ({ message, data }) =>
  [data?.details, data?.message, data].find((text) => typeof text === 'string') ?? message

/** @param {unknown} error @returns {never} */
function rethrow(error) {
  throw new Error(reasonOf(error))
}
