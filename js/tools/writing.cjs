// How the host writes an edit: one step for each file, all of them or none.

'use strict'

/**
 * @import { HostFiles } from '../tools.cjs'
 *
 * @typedef {string | Uint8Array | null} Content `null` if there is no file
 *
 * @typedef {object} Change of a document, as an outcome reports it
 * @property {string} path
 * @property {string} [from]
 * @property {'edited' | 'created' | 'moved' | 'deleted'} change
 * @property {string | Uint8Array} [content]
 * @property {any[]} [textEdits]
 *
 * What a call needs of its host.
 * @typedef {object} Asking
 * @property {AbortSignal | undefined} signal
 * @property {Map<string, Content>} contents what the host has
 * @property {boolean} isWritten whether all steps are made
 * @property {(path: string) => Promise<Content>} read
 * @property {<T>(path: string, what: string, call: () => Promise<T> | T) => Promise<T>} ask
 * @property {<T>(call: () => Promise<T> | T) => Promise<T>} within
 * @property {() => Uncancelled} uncancelled
 *
 * The host, for steps that are undone after the signal.
 * @typedef {Pick<Asking, 'read' | 'within'> & { files: HostFiles }} Uncancelled
 *
 * @typedef {object} Step
 * @property {string} path
 * @property {Content} before
 * @property {Content} after
 * @property {Content} now what the host has
 * @property {boolean} isWritten whether the host has finished the step
 * @property {(context: { signal?: AbortSignal | undefined }) => unknown} make
 * @property {'write' | 'remove' | 'rename'} what
 * @property {string} [from] the file that is renamed
 */

/** How long the host may take for each step that is undone. */
const UNDO_LIMIT_MS = 3_000

/** The host failed, and said why. */
class HostError extends Error {}

/**
 * The steps that make the changes: files get their final texts first, then those that are gone are
 * removed. So moves may form chains and swaps.
 * @param {Asking} host
 * @param {HostFiles} files
 * @param {Change[]} changes
 * @returns {Step[]}
 */
function stepsOf({ contents }, files, changes) {
  /** @type {Map<string, Content>} */
  const final = new Map()
  for (const { path, from, change, content = null } of changes) {
    for (const gone of [from, change === 'deleted' ? path : undefined]) {
      if (gone !== undefined && !final.has(gone)) final.set(gone, null)
    }
    if (change !== 'deleted') final.set(path, content)
  }
  const before = (/** @type {string} */ path) => contents.get(path) ?? null
  /** @type {Record<Step['what'], Step[]>} */
  const made = { rename: [], write: [], remove: [] }
  for (const { path, from } of changes) {
    const isPlain = from !== undefined && before(path) === null && final.get(from) === null
    if (!isPlain || files.rename === undefined || before(from) === null) continue
    made.rename.push(step(files, 'rename', path, null, before(from), [], from))
    // From here on, the file has its new name.
    final.delete(from)
  }
  for (const [path, after] of final) {
    const from = made.rename.find((one) => one.path === path)
    const now = from ? from.after : before(path)
    if (isSame(now, after)) continue
    const change = changes.find((one) => one.path === path && one.from === undefined)
    const edits = change?.change === 'edited' ? (change.textEdits ?? []) : []
    const what = after === null ? 'remove' : 'write'
    made[what].push(step(files, what, path, now, after, edits))
  }
  return [...made.rename, ...made.write, ...made.remove]
}

/**
 * @param {HostFiles} files
 * @param {Step['what']} what
 * @param {string} path
 * @param {Content} before
 * @param {Content} after
 * @param {any[]} edits
 * @param {string} [from]
 * @returns {Step}
 */
function step(files, what, path, before, after, edits, from) {
  /** @type {Step['make']} */
  const make = ({ signal }) => {
    if (what === 'rename') return files.rename?.(/** @type {string} */ (from), path, { signal })
    if (what === 'write') {
      return files.write(path, given(after), { edits, signal })
    }
    if (files.remove === undefined) throw new Error('it has no function for that')
    return files.remove(path, { signal })
  }
  const renaming = from === undefined ? {} : { from }
  return { path, what, before, after, now: before, isWritten: false, make, ...renaming }
}

/**
 * Makes steps, or none of them. Returns why they were not made.
 * @param {Asking} host
 * @param {Step[]} steps
 * @returns {Promise<string | undefined>}
 */
async function write(host, steps) {
  /** @type {Step[]} */
  const begun = []
  /** @type {Promise<unknown>} */
  let last = Promise.resolve()
  const uncancelled = host.uncancelled()
  const finish = async (/** @type {Step} */ step) => {
    step.isWritten = true
    // What a formatter made of it.
    const read = () => limited(uncancelled.read(step.path)).catch(() => step.after)
    step.now = step.after === null ? null : await read()
  }
  try {
    for (const step of steps) {
      const { path, from, what, before, after, make } = step
      const expected = /** @type {[string, Content][]} */ ([[path, before]])
      if (from !== undefined) expected.push([from, after])
      for (const [path, content] of expected) {
        if (isSame(await host.read(path), content)) continue
        throw new HostError(`${path}: was changed by the host meanwhile`)
      }
      begun.unshift(step)
      await host.ask(path, what, () => {
        last = host.within(() => make({ signal: host.signal }))
        return last
      })
      if (step === steps.at(-1)) host.isWritten = true
      await finish(step)
    }
    return undefined
  } catch (error) {
    // A host that does not know the signal may still write.
    const isMade = await limited(last).then(
      () => true,
      () => false,
    )
    const [step] = begun
    if (isMade && step !== undefined && !step.isWritten) await finish(step)
    const undone = await undo(host, begun)
    if (!(error instanceof HostError)) throw error
    return `${error.message}.${undone}`
  }
}

/**
 * Undoes steps, the last one first, where the host still has what they wrote. Returns what became of
 * them.
 * @param {Asking} host
 * @param {Step[]} steps
 */
async function undo(host, steps) {
  const became = {
    restored: /** @type {Set<string>} */ (new Set()),
    changed: /** @type {Set<string>} */ (new Set()),
    left: /** @type {Set<string>} */ (new Set()),
    failed: /** @type {Set<string>} */ (new Set()),
  }
  // What is undone must not be cancelled.
  const asking = host.uncancelled()
  for (const step of steps) {
    try {
      const state = await limited(restore(asking, step))
      if (state !== 'untouched') became[state].add(step.from ?? step.path)
    } catch {
      became.failed.add(step.path)
    }
  }
  const said = (/** @type {string} */ what, /** @type {Set<string>} */ paths, more = '') =>
    paths.size > 0 ? ` ${what}: ${[...paths].join(', ')}${more}.` : ''
  return (
    said('Written back', became.restored) +
    said('Written back, and changed by the host', became.changed) +
    said('Has another text meanwhile, so it was left', became.left) +
    said('NOT written back', became.failed, '; read them again')
  )
}

/**
 * @param {Uncancelled} host
 * @param {Step} step
 * @returns {Promise<'untouched' | 'restored' | 'changed' | 'left'>}
 */
async function restore({ files, read, within }, { path, from, before, after, now, isWritten }) {
  const current = await read(path)
  if (isSame(current, before)) return 'untouched'
  if (!isSame(current, isWritten ? now : after)) return 'left'
  await within(() => {
    if (from !== undefined) return files.rename?.(path, from, {})
    if (before !== null) return files.write(path, given(before), { edits: [] })
    if (files.remove === undefined) throw new Error('it has no function for that')
    return files.remove(path, {})
  })
  return from !== undefined || isSame(await read(path), before) ? 'restored' : 'changed'
}

/**
 * Rejects if a promise takes too long.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
function limited(promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the host does not answer')), UNDO_LIMIT_MS)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** @param {Content} content @returns {Content} */
const copyOf = (content) =>
  content === null || typeof content === 'string' ? content : Buffer.from(content)

/** What the host receives: it may change it. @param {Content} content */
const given = (content) => /** @type {string | Uint8Array} */ (copyOf(content))

/** @param {Content} one @param {Content} other */
function isSame(one, other) {
  if (one === null || other === null || typeof one !== typeof other) return one === other
  if (typeof one === 'string' || typeof other === 'string') return one === other
  return Buffer.compare(one, other) === 0
}

module.exports = { HostError, copyOf, isSame, limited, stepsOf, undo, write }
