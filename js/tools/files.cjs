// Tools over files that the host holds: an editor's buffers, a container, a project in memory.
//
// Before a call, the files that it names become documents of the session. An edit is planned first.
// Then the host writes the planned texts, and only if it wrote all of them the session applies the
// same edit: so a write that fails changes neither files nor memory.

'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')
const { types } = require('node:util')

const addon = require('../addon.cjs')
const { called, copied } = require('./after.cjs')
const { abortable, asked, messageOf } = require('./approval.cjs')
const { HostError, copyOf, isSame, limited, stepsOf, undo, write } = require('./writing.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { Approve, ExecuteOptions, HostFiles, ToolResult } from '../tools.cjs'
 * @import { Callable, Hook, Written } from './after.cjs'
 * @import { CallOptions, Kind } from './tool.cjs'
 * @import { Change, Content, Step } from './writing.cjs'
 *
 * @typedef {object} HostTool a tool over files of the host
 * @property {HashSession} session
 * @property {HostFiles} files
 * @property {Approve | undefined} approve
 * @property {Hook | undefined} hook
 * @property {Kind} kind
 * @property {(args: unknown, options: CallOptions, mark: unknown) => Promise<any>} run runs a call on
 *   the documents of the session
 * @property {Callable['settle']} settle answers an edit once its files are formatted
 * @property {(code: string, message: string) => ToolResult<any>} refusal
 */

/** At most this many files are loaded for a search, and this many bytes. */
const SEARCHED_FILES = 10_000
const SEARCHED_BYTES = 256 * 2 ** 20

/** Documents that were loaded earlier take at most this many bytes. */
const KEPT_BYTES = 64 * 2 ** 20

/** An answer says why this many files could not be read. */
const SHOWN_FAILURES = 3

/** At most this many files are read at a time. */
const READS = 8

/** A written edit is applied again if the host changes a document meanwhile, at most this often. */
const APPLIES = 20

/** An edit is planned again when its plan names further files, at most this many times. */
const PLANS = 4

/**
 * The last call over the files of each host. A call waits for the one before: it would otherwise
 * read files that the other is about to write.
 * @type {WeakMap<HostFiles, Promise<unknown>>}
 */
const QUEUES = new WeakMap()

/**
 * The documents of each session that were loaded here, with their sizes; those used last come last.
 * @type {WeakMap<HashSession, Map<string, number>>}
 */
const LOADED = new WeakMap()

/**
 * The sizes of all documents that were loaded from each host: a forked session has them already.
 * @type {WeakMap<HostFiles, Map<string, number>>}
 */
const SIZES = new WeakMap()

/**
 * The function of a host that is running. A tool that it calls would wait for it forever.
 * @type {AsyncLocalStorage<{ files: HostFiles, isRunning: boolean }>}
 */
const RUNNING = new AsyncLocalStorage()

/**
 * Runs a call of a tool over files of the host.
 * @param {HostTool} tool
 * @param {unknown} args
 * @param {ExecuteOptions} options
 * @returns {Promise<ToolResult<any>>}
 */
async function executeOn(tool, args, options) {
  const { session, files, refusal } = tool
  const running = RUNNING.getStore()
  if (running?.isRunning && running.files === files) {
    const message = 'a function of the host called a tool that waits for this function'
    return refusal('INVALID_ARGUMENT', message)
  }
  // What the model has read now counts, and the arguments as they are now.
  const [mark, given] = [addon.tools.mark(session), copied(args)]
  const before = QUEUES.get(files)
  const host = new Host(tool, given, options, mark)
  const call = async () => {
    await before
    try {
      options.signal?.throwIfAborted()
      return await host.call()
    } catch (error) {
      if (error instanceof HostError) return refusal('IO', error.message)
      throw error
    } finally {
      host.release()
      addon.tools.unmark(mark)
    }
  }
  const made = call()
  // The next call runs even if this one fails.
  QUEUES.set(
    files,
    made.catch(() => undefined),
  )
  return await abortable(made, options.signal, () => !host.isWritten)
}

/** One call over the files of the host. */
class Host {
  /**
   * @param {HostTool} tool
   * @param {unknown} args
   * @param {ExecuteOptions} options
   * @param {unknown} mark
   */
  constructor(tool, args, options, mark) {
    this.tool = tool
    this.args = args
    this.options = options
    this.signal = options.signal
    this.mark = mark
    /** Whether all files of an edit are written: then it is not cancelled any more. */
    this.isWritten = false
    /** What the host has, as this call has read it. @type {Map<string, Content>} */
    this.contents = new Map()
    this.sizes = SIZES.get(tool.files) ?? new Map()
    SIZES.set(tool.files, this.sizes)
    this.kept = LOADED.get(tool.session) ?? this.inherited()
    LOADED.set(tool.session, this.kept)
    /** The documents that the host has set by itself. @type {Map<string, number | undefined>} */
    this.own = new Map()
  }

  /** The documents that a new session was given by the one that it was forked from. */
  inherited() {
    const paths = this.tool.session.documents().map(({ path }) => path)
    return new Map(
      paths.flatMap((path) => {
        const size = this.sizes.get(path)
        return size === undefined ? [] : [/** @type {[string, number]} */ ([path, size])]
      }),
    )
  }

  /** @param {CallOptions} [more] */
  run(more) {
    return this.tool.run(this.args, { ...this.options, ...more }, this.mark)
  }

  /** @returns {Promise<ToolResult<any>>} */
  async call() {
    const { session, kind } = this.tool
    for (const { path, version } of session.documents()) {
      if (!this.kept.has(path)) this.own.set(absolute(session, path) ?? path, version)
    }
    const { paths, globs } = JSON.parse(addon.tools.named(session, kind, this.args))
    if (kind === 'search') return await this.search(paths, globs)
    if (kind === 'apply' || kind === 'apply_json' || kind === 'undo') {
      await this.load(paths)
      return this.options.dryRun ? await this.planned() : await this.apply()
    }
    /** @type {string[]} */
    const failures = []
    await this.load(paths, { failures })
    if (failures.length === paths.length && paths.length > 0) throw new HostError(failures[0])
    return withNotes(await this.run(), failures, [])
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
      return await abortable(this.within(call), this.signal)
    } catch (error) {
      this.signal?.throwIfAborted()
      if (error instanceof HostError) throw error
      throw new HostError(`${path}: the host cannot ${what} it: ${messageOf(error)}`)
    }
  }

  /**
   * Runs a function of the host, which cannot call tools over the same files.
   * @template T
   * @param {() => Promise<T> | T} call
   * @returns {Promise<T>}
   */
  within(call) {
    const running = { files: this.tool.files, isRunning: true }
    return RUNNING.run(running, async () => {
      try {
        return await call()
      } finally {
        running.isRunning = false
      }
    })
  }

  /** The host, for steps that are undone after the signal. */
  uncancelled() {
    const host = new Host(this.tool, this.args, { ...this.options, signal: undefined }, this.mark)
    return {
      files: this.tool.files,
      read: (/** @type {string} */ path) => host.read(path),
      within: (/** @type {() => any} */ call) => host.within(call),
    }
  }

  /** @param {string} path @returns {Promise<Content>} */
  async read(path) {
    const { files } = this.tool
    const content = await this.ask(path, 'read', () => files.read(path, { signal: this.signal }))
    const isContent = content === null || typeof content === 'string' || types.isUint8Array(content)
    // A host may change its bytes in place.
    if (isContent) return copyOf(content)
    throw new HostError(`${path}: the host read ${typeof content}: expected text, bytes or null`)
  }

  /**
   * Makes files documents of the session; what does not exist is none.
   * @param {string[]} paths
   * @param {{ limitBytes?: number, failures?: string[] }} [how] `failures` receives why files were
   *   not read; otherwise the first reason is thrown
   * @returns {Promise<number>} how many were not loaded because of the limit
   */
  async load(paths, { limitBytes = Number.POSITIVE_INFINITY, failures } = {}) {
    let bytes = 0
    const waiting = paths.filter((path) => !this.contents.has(path))
    const loadSome = async () => {
      while (waiting.length > 0 && bytes < limitBytes) {
        const path = /** @type {string} */ (waiting.shift())
        try {
          const content = await this.read(path)
          bytes += sizeOf(content)
          await this.set(path, content)
          this.contents.set(path, content)
        } catch (error) {
          if (failures === undefined || !(error instanceof HostError)) throw error
          failures.push(error.message)
          this.close(path)
        }
      }
    }
    await Promise.all(Array.from({ length: READS }, loadSome))
    return waiting.length
  }

  /** Reads again what this call has read. */
  async reload() {
    const paths = [...this.contents.keys()]
    this.contents.clear()
    await this.load(paths)
  }

  /**
   * Sets or closes a document.
   * @param {string} path
   * @param {Content} content
   */
  async set(path, content) {
    if (content === null) return this.close(path)
    try {
      this.open(path, content)
    } catch (error) {
      if (codeOf(error) !== 'NOT_A_FILE') throw new HostError(messageOf(error))
      // What was a file may be a directory now, or the reverse.
      const [above, below] = [
        (/** @type {string} */ other) => path.startsWith(other),
        startsWith(path),
      ]
      const others = [...this.kept.keys()].filter((other) => above(other) || below(other))
      for (const other of others) if ((await this.read(other)) === null) this.close(other)
      try {
        this.open(path, content)
      } catch (again) {
        throw new HostError(messageOf(again))
      }
    }
  }

  /** @param {string} path @param {string | Uint8Array} content */
  open(path, content) {
    const version = this.own.get(path)
    this.tool.session.setDocument(path, content, version === undefined ? {} : { version })
    if (this.own.has(path)) return
    this.kept.delete(path)
    this.kept.set(path, sizeOf(content))
    this.sizes.set(path, sizeOf(content))
  }

  /** Closes a document, unless the host has set it by itself. @param {string} path */
  close(path) {
    if (this.kept.delete(path)) this.tool.session.closeDocument(path)
  }

  /** Closes the documents that were not used for longest, if they take too much memory. */
  release() {
    let bytes = 0
    for (const size of this.kept.values()) bytes += size
    for (const [path, size] of this.kept) {
      if (bytes <= KEPT_BYTES) return
      if (this.contents.has(path)) continue
      this.close(path)
      bytes -= size
    }
  }

  /**
   * Searches the files that the host lists; without a list, those that were read before.
   * @param {string[]} paths
   * @param {string[]} globs
   */
  async search(paths, globs) {
    const { files } = this.tool
    const known = [...this.kept.keys()]
    /** @type {string[]} */
    const failures = []
    if (files.list === undefined) {
      await this.load([...paths, ...known], { failures: [] })
      const note = '(Searched only files that were read before: the host cannot list files.)'
      return withNotes(await this.run(), [], [note])
    }
    const listed = await this.list(paths, globs)
    const wanted = listed.slice(0, SEARCHED_FILES)
    try {
      const unread = await this.load(wanted, { limitBytes: SEARCHED_BYTES, failures })
      // A file that is not in the list may not exist any more.
      for (const path of known) if (!this.contents.has(path)) this.close(path)
      const omitted = unread + listed.length - wanted.length
      return withNotes(await this.run(), failures, [], omitted)
    } finally {
      // Their memory would grow with each search. Those that the model edits are loaded again.
      for (const path of wanted) if (!known.includes(path)) this.close(path)
    }
  }

  /**
   * The files that the host lists, without those that no call can reach.
   * @param {string[]} paths
   * @param {string[]} globs
   */
  async list(paths, globs) {
    const { session, files } = this.tool
    const query = { paths, globs, signal: this.signal }
    const listed = await this.ask(paths.join(', '), 'list', () => files.list?.(query))
    if (!Array.isArray(listed) || !listed.every((path) => typeof path === 'string')) {
      throw new HostError('the host listed no array of paths')
    }
    return [...new Set(listed.flatMap((path) => absolute(session, path) ?? []))]
  }

  /** Plans an edit, with all files that it touches. @returns {Promise<ToolResult<any>>} */
  async planned() {
    for (let plans = 1; ; plans += 1) {
      const planned = await this.run({ dryRun: true })
      const touched = this.changes(planned).flatMap(({ path, from }) => [path, from ?? path])
      const missing = touched.filter((path) => !this.contents.has(path))
      if (missing.length === 0 || plans === PLANS) return planned
      await this.load(missing)
    }
  }

  /** Applies an edit and writes it through the host. @returns {Promise<ToolResult<any>>} */
  async apply() {
    const { approve, refusal } = this.tool
    const first = await this.planned()
    if (first.isError) return first
    const asks = approve !== undefined && !this.options.plan
    const declined = asks && (await this.within(() => asked(approve, first, this.signal)))
    if (declined) return declined
    // The user may have typed meanwhile. What was approved is then refused; any other edit follows.
    await this.reload()
    const planned = await this.run({ dryRun: true, ...(asks && { plan: first.plan }) })
    if (planned.isError) return planned
    const steps = stepsOf(this, this.tool.files, this.changes(planned))
    const failure = await write(this, steps)
    if (failure) return refusal('IO', failure)
    const result = await this.applied(planned.plan)
    if (result.isError) {
      return refusal(
        result.structured.code,
        `${result.text}\n${await undo(this, [...steps].reverse())}`,
      )
    }
    const formatted = steps.filter(({ isWritten, after, now }) => isWritten && !isSame(after, now))
    for (const { path, now } of steps) {
      this.contents.set(path, now)
      await this.set(path, now)
    }
    if (result.written !== undefined) return await this.settled(result, steps)
    if (formatted.length === 0) return result
    const names = formatted.map(({ path }) => path).join(', ')
    const note = `(The host changed ${names} further, such as by a formatter. Anchors stay valid; read it to see the text.)`
    return withNotes(result, [], [note])
  }

  /**
   * Applies an edit to the documents, once its files are written. It cannot be cancelled any more.
   * @param {string | undefined} plan
   */
  async applied(plan) {
    for (let applies = 1; ; applies += 1) {
      try {
        // The host may have set and closed documents by itself while it wrote.
        for (const [path, content] of this.contents) {
          await this.set(path, content)
          if (content === null) this.tool.session.closeDocument(path)
        }
      } catch (error) {
        return this.tool.refusal(codeOf(error) ?? 'IO', messageOf(error))
      }
      const settles = this.tool.hook !== undefined
      const result = await this.run({ signal: undefined, plan, settles })
      const isChanged = result.isError && result.structured.code === 'CONCURRENT_CHANGE'
      if (!isChanged || applies === APPLIES) return result
    }
  }

  /**
   * Calls the function that works on written files, reads them again, and answers the edit.
   * @param {Written} written
   * @param {Step[]} steps
   */
  async settled({ files, written }, steps) {
    const { session, hook, settle } = this.tool
    const call = () => called(session, /** @type {Hook} */ (hook), files, this.signal)
    const { returned, note } = await this.within(call)
    const host = this.uncancelled()
    const failures = []
    for (const { path } of steps) {
      try {
        const now = await limited(host.read(path))
        this.contents.set(path, now)
        await this.set(path, now)
      } catch (error) {
        failures.push(messageOf(error))
      }
    }
    return withNotes(await settle(written, returned, note), failures, [])
  }

  /**
   * The changes of documents that a result reports, with absolute paths.
   * @param {ToolResult<any>} result
   * @returns {Change[]}
   */
  changes({ structured }) {
    const { session } = this.tool
    const files = structured.files?.filter((/** @type {any} */ file) => file.document) ?? []
    return files.map((/** @type {any} */ file) => ({
      ...file,
      path: absolute(session, file.path),
      ...(file.from !== undefined && { from: absolute(session, file.from) }),
    }))
  }
}

/**
 * A result with notes below its text: why files were not read, and others.
 * @param {ToolResult<any>} result
 * @param {string[]} failures
 * @param {string[]} notes
 * @param {number} [omitted] files that a limit omitted
 */
function withNotes(result, failures, notes, omitted = 0) {
  const all = failures.slice(0, SHOWN_FAILURES).map((failure) => `(Not read: ${failure}.)`)
  const others = omitted + failures.length - all.length
  if (others > 0) all.push(`(${others} more files were not read: name fewer paths or globs.)`)
  all.push(...notes)
  return all.length === 0 ? result : { ...result, text: [result.text, ...all].join('\n') }
}

/**
 * The absolute path of a file; nothing for one that no call can reach.
 * @param {HashSession} session
 * @param {string} path
 * @returns {string | undefined}
 */
function absolute(session, path) {
  try {
    return addon.tools.absolute(session, path)
  } catch {
    return undefined
  }
}

/** The size in bytes. @param {Content} content */
const sizeOf = (content) => (content === null ? 0 : Buffer.byteLength(content))

/** @param {string} path */
const startsWith = (path) => (/** @type {string} */ other) => other.startsWith(path)

/** @param {unknown} error */
const codeOf = (error) => /** @type {any} */ (error)?.code

module.exports = { executeOn }
