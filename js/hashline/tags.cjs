// Anchors from a caller: parses them, and compares them with the lines.

'use strict'

/**
 * @typedef {{ line: number, hash: string }} LineTag
 * @typedef {{ line: number, expected: string, actual: string }} HashMismatch
 */

/** The lines of context above and below a changed line. */
const CONTEXT_LINES = 2

/**
 * Reads an anchor as a model wrote it.
 * @param {string} ref
 * @returns {LineTag}
 */
function parseTag(ref) {
  const match = ref.match(/^\s*[>+-]*\s*(\d+)\s*#\s*([ZPMQVRWSNKTXJBYH]{2})/)
  if (!match) {
    throw new Error(`Invalid line reference "${ref}". Expected format "LINE#ID" (e.g. "5#aa").`)
  }
  const line = Number.parseInt(match[1], 10)
  if (line < 1) throw new Error(`Line number must be >= 1, got ${line} in "${ref}".`)
  return { line, hash: match[2] }
}

/**
 * Throws unless the line exists.
 * @param {LineTag} ref
 * @param {number} lineCount
 */
function checkLineExists(ref, lineCount) {
  if (ref.line < 1 || ref.line > lineCount) {
    throw new Error(`Line ${ref.line} does not exist (file has ${lineCount} lines)`)
  }
}

/**
 * The numbers of the lines that a message shows, ascending.
 * @param {HashMismatch[]} mismatches
 * @param {number} lineCount
 */
function shownLines(mismatches, lineCount) {
  const shown = new Set()
  for (const { line } of mismatches) {
    const last = Math.min(lineCount, line + CONTEXT_LINES)
    for (let number = Math.max(1, line - CONTEXT_LINES); number <= last; number++) {
      shown.add(number)
    }
  }
  return [...shown].sort((one, other) => one - other)
}

/**
 * The error and the check of a dialect. Dialects differ only in the hash of a line.
 * @param {(line: number, content: string) => string} formatLineTag
 * @param {(idx: number, line: string) => string} computeLineHash
 */
function checking(formatLineTag, computeLineHash) {
  /** Anchors whose lines have changed; the message shows the current lines, for a model. */
  class HashlineMismatchError extends Error {
    /**
     * @param {HashMismatch[]} mismatches
     * @param {string[]} fileLines
     */
    constructor(mismatches, fileLines) {
      super(HashlineMismatchError.formatMessage(mismatches, fileLines))
      // Programs list and print the properties in this order.
      this.mismatches = mismatches
      this.fileLines = fileLines
      /** @type {ReadonlyMap<string, string>} from the stale anchor to the fresh one */
      this.remaps = new Map(
        mismatches.map(({ line, expected }) => [
          `${line}#${expected}`,
          formatLineTag(line, fileLines[line - 1]),
        ]),
      )
      this.name = 'HashlineMismatchError'
    }

    /**
     * @param {HashMismatch[]} mismatches
     * @param {string[]} fileLines
     * @returns {string}
     */
    static formatMessage(mismatches, fileLines) {
      const changed = new Set(mismatches.map(({ line }) => line))
      const count = `${mismatches.length} line${mismatches.length > 1 ? 's have' : ' has'}`
      const rows = [
        `${count} changed since last read. Use the updated LINE#ID references shown below (>>> marks changed lines).`,
        '',
      ]
      let previous = -1
      for (const number of shownLines(mismatches, fileLines.length)) {
        if (previous !== -1 && number > previous + 1) rows.push('    ...')
        const text = fileLines[number - 1]
        const mark = changed.has(number) ? '>>>' : '   '
        rows.push(`${mark} ${formatLineTag(number, text)}:${text}`)
        previous = number
      }
      return rows.join('\n')
    }
  }

  /**
   * How an anchor differs from its line; undefined if it matches.
   * @param {LineTag} ref
   * @param {string} text
   * @returns {HashMismatch | undefined}
   */
  function mismatchOf(ref, text) {
    const actual = computeLineHash(ref.line, text)
    if (actual === ref.hash) return undefined
    return { line: ref.line, expected: ref.hash, actual }
  }

  /**
   * Throws unless the anchor is that of a line of the file.
   * @param {LineTag} ref
   * @param {string[]} fileLines
   */
  function validateLineRef(ref, fileLines) {
    checkLineExists(ref, fileLines.length)
    const mismatch = mismatchOf(ref, fileLines[ref.line - 1])
    if (mismatch) throw new HashlineMismatchError([mismatch], fileLines)
  }

  return { HashlineMismatchError, mismatchOf, validateLineRef }
}

module.exports = { checking, checkLineExists, parseTag }
