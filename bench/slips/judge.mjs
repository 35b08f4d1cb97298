// Tries edits of a file in a session, without changing it, and reports the verdicts.

import { writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { HashSession, hashLines } from 'hashline-native'
import { withLines } from '../edit/history/text.mjs'

/** @import { Edit } from '../edit/history/text.mjs' */
/** @import { Pair } from '../edit/history/git.mjs' */

/**
 * @typedef {object} Verdict
 * @property {boolean} reported whether a refusal or a warning reported it
 * @property {string} [snapshot] of the result, if there is one
 * @property {string[]} codes of the refusal or the warnings
 * @property {string[]} [repairs] the rules that changed the text
 * @property {string} [syntax] the parser's verdict on the result
 * @property {Edit} [suggested] the edit that the warning names
 */

export class Judge {
  /**
   * @param {Pair} pair
   * @param {string} scratchDir
   */
  constructor({ path, old }, scratchDir) {
    // The language of `Dockerfile` is known by its name.
    this.path = extname(path) ? `file${extname(path)}` : basename(path)
    const text = withLines(old, old.lines)
    this.hashes = hashLines(text)
    this.lines = old.lines
    writeFileSync(join(scratchDir, this.path), text)
    const limits = { maxLines: 1_000_000, maxBytes: 64 << 20, maxLineChars: 1_000_000 }
    const stateDir = join(scratchDir, '.state')
    const options = { dialect: /** @type {const} */ ('pi'), cwd: scratchDir, stateDir, limits }
    this.session = new HashSession({ ...options, durability: 'process' })
    this.session.readSync(this.path)
    this.warm()
  }

  /** Makes an edit and undoes it, so that the session's memory has the tree of the file. */
  warm() {
    const { path, session } = this
    const inserted = session.applySync({
      operations: [{ op: 'insert_after', path, anchor: 'BOF', text: 'x' }],
    })
    const anchor = inserted.text.split('\n').find((row) => row.endsWith('|x'))
    session.applySync({ operations: [{ op: 'delete', path, anchor: anchor ?? '' }] })
  }

  /** @param {number} line */
  anchor(line) {
    return `${line}:${this.hashes[line - 1]}`
  }

  /**
   * An edit as an operation: on the lines, on their text, or as a new file with the new lines.
   * @param {Edit} edit
   * @param {boolean} [verbatim]
   * @param {'lines' | 'text' | 'file'} [form]
   */
  operation(edit, verbatim, form = 'lines') {
    const { path } = this
    if (form === 'file') {
      const content = `${edit.lines.join('\n')}\n`
      return { op: 'add_file', path: `new-${path}`, content, ...(verbatim && { verbatim }) }
    }
    if (form === 'text' && !('after' in edit)) {
      const old_text = this.lines.slice(edit.first - 1, edit.last).join('\n')
      const new_text = edit.lines.join('\n')
      return { op: 'replace_text', path, old_text, new_text, ...(verbatim && { verbatim }) }
    }
    const rest = { path, text: edit.lines, ...(verbatim && { verbatim }) }
    if ('after' in edit) {
      const anchor = edit.after === 0 ? 'BOF' : this.anchor(edit.after)
      return { op: 'insert_after', anchor, ...rest }
    }
    const range = { start_anchor: this.anchor(edit.first), end_anchor: this.anchor(edit.last) }
    return { op: 'replace_range', ...range, ...rest }
  }

  /**
   * @param {Edit[]} edits
   * @param {boolean} [verbatim]
   * @param {'lines' | 'text' | 'file'} [form]
   * @returns {Verdict}
   */
  judge(edits, verbatim, form) {
    const operations = edits.map((edit) => this.operation(edit, verbatim, form))
    const outcome = this.session.applySync(
      /** @type {any} */ ({ operations }),
      /** @type {any} */ ({ dryRun: true }),
    )
    if (outcome.status === 'rejected') return { reported: true, codes: [outcome.code] }
    const [file] = outcome.files
    return {
      reported: outcome.warnings.length > 0,
      codes: outcome.warnings.map(({ code }) => code),
      // Without a change the result is the current file.
      snapshot: file?.snapshot ?? 'unchanged',
      syntax: file?.syntax,
      repairs: outcome.repairs.map(({ rule }) => rule),
      suggested: edits.length === 1 ? suggestedEdit(edits[0], outcome.warnings) : undefined,
    }
  }
}

/**
 * @param {Edit} edit
 * @param {{ message: string }[]} warnings
 * @returns {Edit | undefined}
 */
function suggestedEdit(edit, warnings) {
  const named = warnings
    .map(({ message }) => /would parse if operation 0 (.*)\.$/m.exec(message)?.[1])
    .find(Boolean)
  if (!named) return undefined
  if (named.startsWith('omitted the first')) return { ...edit, lines: edit.lines.slice(1) }
  if (named.startsWith('omitted the last')) return { ...edit, lines: edit.lines.slice(0, -1) }
  const line = Number(/at `?(\d+)/.exec(named)?.[1])
  return named.includes('ended') ? { ...edit, last: line } : { ...edit, first: line }
}
