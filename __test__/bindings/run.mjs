// Runs the cases of vectors/bindings.jsonl through a binding, and writes its answers as lines that are
// the same for every binding.
//
// A line is canonical JSON: keys sorted by code point, no whitespace, no optional escapes. It has
// the answers to the calls of a case, and all files of its directory afterwards, byte for byte. The
// path of the directory is replaced by `<dir>`.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * A text, bytes that are not text, or a symbolic link.
 * @typedef {string | { base64: string } | { link: string }} Content
 *
 * One call, with its arguments and options. In a case with a session, reads, searches and patches
 * use the session.
 * @typedef {object} Call
 * @property {'read' | 'search' | 'apply' | 'readJson' | 'applyToText' | 'format' | 'hashLines'
 *   | 'checkCommand' | 'recover' | 'annotate' | 'observe' | 'forget' | 'setDocument' | 'closeDocument'
 *   | 'documents' | 'write'} call
 * @property {any} given for `write`: files that another process writes; for `setDocument`: its path
 *   and content
 * @property {string} [text]
 * @property {any} [options]
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {Record<string, Content>} files
 * @property {object} [session] its options
 * @property {Call[]} calls
 * @property {{ answers: unknown[], files: Record<string, Content> }} expected
 *
 * The functions of a binding, by their names in `hashline-native`.
 * @typedef {Pick<typeof import('hashline-native'), 'readHashedSync' | 'searchHashedSync' |
 *   'applyHashSync' | 'readJsonSync' | 'applyHashToText' | 'formatHashed' | 'hashLines' |
 *   'checkCommand' | 'recoverTransactionsSync'> & { HashSession: new (options?: any) => any }} Binding
 */

/** @param {string} path @returns {Case[]} */
export function loadCases(path) {
  const rows = readFileSync(path, 'utf8').split('\n')
  return rows.filter((row) => row !== '').map((row) => JSON.parse(row))
}

/**
 * The line for a case.
 * @param {Case} one
 */
export const expectedLine = ({ name, expected }) => canonical({ name, ...expected })

/**
 * The answers of a binding to a case.
 * @param {Case} one
 * @param {Binding} binding
 */
export function lineOf({ name, files, session, calls }, binding) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hashline-bindings-')))
  const [dir, stateDir] = [join(scratch, 'dir'), join(scratch, 'state')]
  try {
    mkdirSync(dir)
    write(dir, files)
    const open = session && new binding.HashSession({ ...session, cwd: dir, stateDir })
    const answers = calls.map((call) => answerOf(() => made(call, binding, open, dir, stateDir)))
    open?.close?.()
    const line = canonical({ name, answers, files: contents(dir) })
    return line.replaceAll(dir, '<dir>')
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @param {() => unknown} call */
function answerOf(call) {
  try {
    return { answer: call() ?? null }
  } catch (thrown) {
    const { code, message, path } = /** @type {any} */ (thrown)
    if (code === undefined) throw thrown
    return { error: path === undefined ? { code, message } : { code, message, path } }
  }
}

/**
 * @param {Call} call
 * @param {Binding} binding
 * @param {any} session
 * @param {string} dir
 * @param {string} stateDir
 */
function made({ call, given, text = '', options }, binding, session, dir, stateDir) {
  const reading = { ...options, root: dir }
  const writing = { durability: 'process', ...reading, stateDir }
  switch (call) {
    case 'read':
      return session ? readBy(session, given) : binding.readHashedSync(given, reading)
    case 'search':
      return session ? session.searchSync(given) : binding.searchHashedSync(given, reading)
    case 'apply':
      return session
        ? withBase64(session.applySync(given, options))
        : binding.applyHashSync(given, writing)
    case 'readJson':
      return binding.readJsonSync(given, reading)
    case 'applyToText':
      return binding.applyHashToText(text, given, options)
    case 'format':
      return binding.formatHashed(bytesOf(given), options)
    case 'hashLines':
      return binding.hashLines(bytesOf(given), options)
    case 'checkCommand':
      return binding.checkCommand(given, options)
    case 'recover':
      return binding.recoverTransactionsSync({ stateDir })
    case 'annotate':
      return session.annotateSync(given, options)
    case 'observe':
      return session.observe(given, options?.path)
    case 'forget':
      return session.forget(given ?? undefined)
    case 'setDocument':
      return session.setDocument(given.path, textOrBytes(given.content), options)
    case 'closeDocument':
      return session.closeDocument(given)
    case 'documents':
      return session.documents()
    case 'write':
      return write(dir, given)
  }
}

/** A string, or bytes. @param {Content} content */
const textOrBytes = (content) => (typeof content === 'string' ? content : bytesOf(content))

/** The outcome of an edit, with bytes of documents in Base64. @param {any} outcome */
function withBase64(outcome) {
  for (const file of outcome.files ?? []) {
    if (!(file.content instanceof Uint8Array)) continue
    file.contentBase64 = Buffer.from(file.content).toString('base64')
    delete file.content
  }
  return outcome
}

/** @param {any} session @param {any} given */
function readBy(session, given) {
  const report = session.readSync(given)
  const images = report.images.map((/** @type {any} */ image) => {
    return { ...image, data: Buffer.from(image.data).toString('base64') }
  })
  return { ...report, images }
}

/** @param {Content} content */
function bytesOf(content) {
  if (typeof content === 'string') return content
  return new Uint8Array(Buffer.from('base64' in content ? content.base64 : '', 'base64'))
}

/** @param {string} dir @param {Record<string, Content>} files */
function write(dir, files) {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name)
    mkdirSync(dirname(path), { recursive: true })
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, path)
    else writeFileSync(path, bytesOf(content))
  }
}

/**
 * All files below a directory.
 * @param {string} dir
 * @returns {Record<string, Content>}
 */
function contents(dir) {
  /** @type {Record<string, Content>} */
  const found = {}
  const visit = (/** @type {string} */ below) => {
    for (const name of readdirSync(join(dir, below))) {
      const path = below === '' ? name : `${below}/${name}`
      const stat = lstatSync(join(dir, path))
      if (stat.isDirectory()) visit(path)
      else if (stat.isSymbolicLink()) found[path] = { link: readlinkSync(join(dir, path)) }
      else found[path] = contentOf(readFileSync(join(dir, path)))
    }
  }
  visit('')
  return found
}

/** @param {Buffer} bytes @returns {Content} */
function contentOf(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { base64: bytes.toString('base64') }
  }
}

/**
 * Canonical JSON.
 * @param {unknown} value
 * @returns {string}
 */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  // UTF-8 sorts by code point; JavaScript strings do not.
  fields.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`
}
