// Tools over files that the host holds: an editor's buffers, a container, a project in memory.
//
// Before a call, the files that it names become documents of the session. An edit is planned first.
// Then the host writes the planned texts, and only if it wrote all of them the session applies the
// same edit: so a write that fails changes neither files nor memory.

'use strict'

const addon = require('../addon.cjs')
const { abortable, asked } = require('./approval.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { Approve, ExecuteOptions, HostFiles, ToolResult } from '../tools.cjs'
 * @import { Kind } from './tool.cjs'
 *
 * @typedef {string | Uint8Array | null} Content `null` if there is no file
 * @typedef {{ path: string, content?: string | Uint8Array, contentBase64?: string, textEdits?: any[],
 *   change: string, from?: string }} Change of a document
 * @typedef {(options: ExecuteOptions) => Promise<ToolResult<any>>} Run
 */

/** At most this many files are loaded for a search, and this many bytes. */
const SEARCHED_FILES = 10_000
const SEARCHED_BYTES = 256 * 2 ** 20

/** A search says why this many files could not be read. */
const SHOWN_FAILURES = 3

/** At most this many files are read at a time. */
const READS = 8

/**
 * The last call of each session. A call waits for the one before: it would otherwise read files that
 * the other is about to write.
 * @type {WeakMap<HashSession, Promise<unknown>>}
 */
const QUEUES = new WeakMap()

/**
 * Runs a call of a tool over files of the host.
 * @param {HashSession} session
 * @param {{ files: HostFiles, approve: Approve | undefined }} functions
 * @param {Kind} kind
 * @param {unknown} args
 * @param {ExecuteOptions} options
 * @param {Run} run runs the call on the documents of the session
 * @param {(code: string, message: string) => ToolResult<any>} refusal
 * @returns {Promise<ToolResult<any>>}
 */
function executeOn(session, { files, approve }, kind, args, options, run, refusal) {
  const { signal, dryRun } = options
  const before = QUEUES.get(session)
  const call = async () => {
    await before
    signal?.throwIfAborted()
    const { paths, globs } = JSON.parse(addon.tools.named(session, kind, args))
    const host = new Host(session, files, signal)
    try {
      if (kind === 'search') return await searched(host, paths, globs, run, options)
      await host.load(paths)
      const writes = kind === 'apply' || kind === 'apply_json'
      if (!writes || dryRun) return await run(options)
      return await written(host, run, options, approve, refusal)
    } catch (error) {
      if (error instanceof HostError) return refusal('IO', error.message)
      throw error
    }
  }
  const running = call()
  // The next call runs even if this one fails.
  QUEUES.set(
    session,
    running.catch(() => undefined),
  )
  return abortable(running, signal)
}

/** The host failed, and said why. */
class HostError extends Error {}

/** The files of the host in one call. */
class Host {
  /**
   * @param {HashSession} session
   * @param {HostFiles} files
   * @param {AbortSignal | undefined} signal
   */
  constructor(session, files, signal) {
    this.session = session
    this.files = files
    this.signal = signal
    /** @type {Map<string, Content>} */
    this.loaded = new Map()
  }

  /**
   * Calls a function of the host.
   * @template T
   * @param {string} path
   * @param {string} what
   * @param {() => Promise<T> | T} call
   * @returns {Promise<T>}
   */
  async ask(path, what, call) {
    this.signal?.throwIfAborted()
    try {
      return await abortable(Promise.resolve(call()), this.signal)
    } catch (error) {
      this.signal?.throwIfAborted()
      throw new HostError(`${path}: the host cannot ${what} it: ${messageOf(error)}`)
    }
  }

  /** @param {string} path @returns {Promise<Content>} */
  async read(path) {
    const { signal, files } = this
    const content = (await this.ask(path, 'read', () => files.read(path, { signal }))) ?? null
    const isContent =
      content === null || typeof content === 'string' || content instanceof Uint8Array
    if (isContent) return content
    throw new HostError(`${path}: the host read ${typeof content}: expected text, bytes or null`)
  }

  /**
   * Makes files documents of the session; what does not exist is none.
   * @param {string[]} paths
   * @param {number} [limitBytes]
   * @param {string[]} [failures] receives why files were not read; otherwise the first one is thrown
   * @returns {Promise<number>} how many were not loaded because of the limit
   */
  async load(paths, limitBytes = Infinity, failures) {
    let bytes = 0
    const waiting = paths.filter((path) => !this.loaded.has(path))
    const loadSome = async () => {
      while (waiting.length > 0 && bytes < limitBytes) {
        const path = /** @type {string} */ (waiting.shift())
        const content = await this.read(path).catch((error) => {
          if (failures === undefined || !(error instanceof HostError)) throw error
          failures.push(error.message)
          return null
        })
        bytes += content?.length ?? 0
        this.loaded.set(path, content)
        this.set(path, content)
      }
    }
    await Promise.all(Array.from({ length: READS }, loadSome))
    return waiting.length
  }

  /** Reads again what was read. */
  async reload() {
    const paths = [...this.loaded.keys()]
    this.loaded.clear()
    await this.load(paths)
  }

  /** @param {string} path @param {Content} content */
  set(path, content) {
    try {
      if (content === null) this.session.closeDocument(path)
      else this.session.setDocument(path, content)
    } catch {
      // The path is that of a directory. The call itself reports it.
    }
  }
}

/**
 * Searches the files that the host lists; without a list, the documents of the session.
 * @param {Host} host
 * @param {string[]} paths
 * @param {string[]} globs
 * @param {Run} run
 * @param {ExecuteOptions} options
 */
async function searched(host, paths, globs, run, options) {
  const { session, files, signal } = host
  if (files.list === undefined) {
    const result = await run(options)
    const note = '(Searched only files that were read before: the host cannot list files.)'
    return { ...result, text: `${result.text}\n${note}` }
  }
  const list = files.list.bind(files)
  const listed = await host.ask(paths.join(', '), 'list', () => list({ paths, globs, signal }))
  if (!Array.isArray(listed) || !listed.every((path) => typeof path === 'string')) {
    throw new HostError('the host listed no array of paths')
  }
  const known = new Set(session.documents().map((document) => document.path))
  const wanted = [...new Set(listed)].slice(0, SEARCHED_FILES)
  /** @type {string[]} */
  const failures = []
  const unread = await host.load(wanted, SEARCHED_BYTES, failures)
  try {
    const result = await run(options)
    const omitted = unread + listed.length - wanted.length
    const notes = failures.slice(0, SHOWN_FAILURES).map((failure) => `(Not searched: ${failure}.)`)
    const others = omitted + failures.length - notes.length
    if (others > 0)
      notes.push(`(${others} more files were not searched: name fewer paths or globs.)`)
    return { ...result, text: [result.text, ...notes].join('\n') }
  } finally {
    // Their memory would grow with each search. Those that the model edits are loaded again.
    for (const path of wanted) if (!known.has(path)) host.set(path, null)
  }
}

/**
 * Applies an edit and writes it through the host.
 * @param {Host} host
 * @param {Run} run
 * @param {ExecuteOptions} options
 * @param {Approve | undefined} approve
 * @param {(code: string, message: string) => ToolResult<any>} refusal
 */
async function written(host, run, options, approve, refusal) {
  const planned = await run({ ...options, dryRun: true })
  if (planned.isError) return planned
  const declined = approve && (await asked(approve, planned, options.signal))
  if (declined) return declined
  if (approve) {
    // The person who approved it may have typed meanwhile.
    await host.reload()
    const again = await run({ ...options, dryRun: true, plan: planned.plan })
    if (again.isError) return again
  }
  const changes = documentsOf(host, planned)
  /** @type {Step[]} */
  const done = []
  try {
    for (const step of changes.flatMap((change) => steps(host, change))) {
      // Before the attempt: a write that fails may have written a part.
      done.unshift(step)
      await host.ask(step.path, step.what, step.make)
    }
  } catch (error) {
    // After an abort the host may still be working on the step, so it is undone in any case.
    if (error instanceof HostError && (await isUntouched(host, done[0]))) done.shift()
    const { failed, restored } = await rolledBack(done)
    if (!(error instanceof HostError)) throw error
    const names = (/** @type {string[]} */ paths) => paths.join(', ')
    const back = restored.length > 0 ? ` Written back: ${names(restored)}.` : ''
    const broken = failed.length > 0 ? ` NOT written back: ${names(failed)}; read them again.` : ''
    return refusal('IO', `${error.message}.${back}${broken}`)
  }
  // The files are written, so the call cannot be cancelled any more.
  const result = await run({ ...options, signal: undefined, plan: planned.plan })
  if (result.isError) {
    const paths = changes.map(({ path }) => path).join(', ')
    const message = `${paths}: written, but the host set another text meanwhile: read it again`
    return refusal('CONCURRENT_CHANGE', message)
  }
  const changed = await changedByHost(host, changes)
  if (changed.length === 0) return result
  const note = `(The host changed ${changed.join(', ')} further, such as by a formatter. Anchors stay valid; read it to see the text.)`
  return { ...result, text: `${result.text}\n${note}` }
}

/**
 * A step of writing an edit, and how to undo it.
 * @typedef {object} Step
 * @property {string} path
 * @property {'write' | 'remove' | 'rename'} what
 * @property {() => Promise<unknown> | unknown} make
 * @property {() => Promise<unknown> | unknown} undo
 */

/**
 * @param {Host} host
 * @param {Change} change
 * @returns {Step[]}
 */
function steps({ files, signal, loaded }, { path, from, content, change, textEdits }) {
  const context = { edits: textEdits ?? [], signal }
  // What is undone must not be cancelled.
  const undoing = { edits: [] }
  const old = (/** @type {string} */ at) => loaded.get(at) ?? null
  const restore = (/** @type {string} */ at) => {
    const before = old(at)
    return before === null ? remover(files)(at, {}) : files.write(at, before, undoing)
  }
  const write = (/** @type {string} */ at) => ({
    path: at,
    what: /** @type {const} */ ('write'),
    make: () => files.write(at, /** @type {string | Uint8Array} */ (content), context),
    undo: () => restore(at),
  })
  const remove = (/** @type {string} */ at) => ({
    path: at,
    what: /** @type {const} */ ('remove'),
    make: () => remover(files)(at, { signal }),
    undo: () => restore(at),
  })
  if (change === 'deleted') return [remove(path)]
  if (from === undefined) return [write(path)]
  const rename = files.rename?.bind(files)
  if (rename === undefined) return [write(path), remove(from)]
  const moved = {
    path: from,
    what: /** @type {const} */ ('rename'),
    make: () => rename(from, path, { signal }),
    undo: () => rename(path, from, {}),
  }
  return content === old(from)
    ? [moved]
    : [
        moved,
        {
          ...write(path),
          undo: () => files.write(path, /** @type {string | Uint8Array} */ (old(from)), undoing),
        },
      ]
}

/** @param {HostFiles} files @returns {NonNullable<HostFiles['remove']>} */
function remover(files) {
  if (files.remove !== undefined) return files.remove.bind(files)
  throw new Error('it has no function for that')
}

/**
 * Whether a step that failed has changed nothing. To undo it would save an unsaved text, or fail
 * for the reason for which the step failed.
 * @param {Host} host
 * @param {Step} step
 */
async function isUntouched({ files, loaded }, { path }) {
  try {
    return isSame((await files.read(path, {})) ?? null, loaded.get(path) ?? null)
  } catch {
    return false
  }
}

/**
 * Undoes steps, the last one first.
 * @param {Step[]} done
 */
async function rolledBack(done) {
  const [restored, failed] = [new Set(), new Set()]
  for (const { path, undo } of done) {
    try {
      await undo()
      restored.add(path)
    } catch {
      failed.add(path)
    }
  }
  for (const path of failed) restored.delete(path)
  return { restored: [...restored], failed: [...failed] }
}

/**
 * The changes of documents that a result reports, with absolute paths.
 * @param {Host} host
 * @param {ToolResult<any>} result
 * @returns {Change[]}
 */
function documentsOf({ session }, result) {
  const changes = result.structured.files?.filter((/** @type {any} */ file) => file.document) ?? []
  const absolute = (/** @type {string} */ path) => addon.tools.absolute(session, path)
  return changes.map((/** @type {any} */ file) => ({
    ...file,
    path: absolute(file.path),
    ...(file.from !== undefined && { from: absolute(file.from) }),
    ...(file.contentBase64 !== undefined && { content: Buffer.from(file.contentBase64, 'base64') }),
  }))
}

/**
 * The written files whose text the host changed, such as by a formatter. The session follows.
 * @param {Host} host
 * @param {Change[]} changes
 */
async function changedByHost(host, changes) {
  const changed = []
  for (const { path, content } of changes) {
    if (content === undefined) continue
    let now
    try {
      now = await host.read(path)
    } catch {
      // It was written. The next call reads it again.
      continue
    }
    if (isSame(now, content)) continue
    host.set(path, now)
    changed.push(path)
  }
  return changed
}

/** @param {Content} one @param {Content} other */
function isSame(one, other) {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  return one === other || (one !== null && other !== null && Buffer.compare(one, other) === 0)
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error))

module.exports = { executeOn }
