// Texts as lines, and the results of edits by line number.

/**
 * Lines without their terminators. Only texts with equal terminators are measured, so the lines
 * determine the text.
 * @typedef {object} Lines
 * @property {string[]} lines
 * @property {'\n' | '\r\n'} eol
 * @property {boolean} final whether the last line has a terminator
 */

/**
 * A replacement of lines or, with `after`, an insertion; line numbers start at 1, and 0 is the
 * place before the first line. Zero lines delete.
 * @typedef {{ first: number, last: number, lines: string[] } | { after: number, lines: string[] }} Edit
 */

/**
 * The lines from `oldAt` of the old text became those from `newAt` of the new one; indices start at
 * 0.
 * @typedef {object} Hunk
 * @property {number} oldAt
 * @property {number} oldCount
 * @property {number} newAt
 * @property {number} newCount
 * @property {boolean} [isUnsure] other algorithms find other lines
 */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text of a file, unless its edits would measure something other than places: binary, another
 * encoding, a byte order mark, or mixed terminators.
 * @param {Uint8Array} bytes
 * @returns {Lines | undefined}
 */
export function decoded(bytes) {
  if (bytes.length === 0 || bytes.includes(0)) return undefined
  try {
    return split(utf8.decode(bytes))
  } catch {
    return undefined
  }
}

/**
 * @param {string} text
 * @returns {Lines | undefined}
 */
export function split(text) {
  if (text === '' || text.startsWith('\ufeff')) return undefined
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text.split(eol)
  if (lines.some((line) => line.includes('\r') || line.includes('\n'))) return undefined
  const final = lines.at(-1) === ''
  if (final) lines.pop()
  return { lines, eol, final }
}

/** @param {Lines} text */
export function joined({ lines, eol, final }) {
  return lines.join(eol) + (final && lines.length > 0 ? eol : '')
}

/**
 * The text with other lines.
 * @param {Lines} text
 * @param {string[]} lines
 */
export const withLines = ({ eol, final }, lines) => joined({ lines, eol, final })

/**
 * Edits that do not overlap, applied to the lines for which they were made.
 * @param {string[]} lines
 * @param {Edit[]} edits
 */
export function edited(lines, edits) {
  const result = [...lines]
  for (const edit of [...edits].sort((one, other) => startOf(other) - startOf(one))) {
    const count = 'after' in edit ? 0 : edit.last - edit.first + 1
    result.splice(startOf(edit), count, ...edit.lines)
  }
  return result
}

/** How many lines precede those that an edit replaces, or its insertion.
 * @param {Edit} edit */
export const startOf = (edit) => ('after' in edit ? edit.after : edit.first - 1)

/**
 * A hunk as an edit of the old lines, with unchanged lines around it.
 * @param {Hunk} hunk
 * @param {string[]} oldLines
 * @param {string[]} newLines
 * @param {{ before: number, after: number }} context
 * @returns {Edit}
 */
export function editOf(hunk, oldLines, newLines, { before, after }) {
  const { oldAt, oldCount, newAt, newCount } = hunk
  const lines = newLines.slice(newAt, newAt + newCount)
  if (oldCount + before + after === 0) return { after: oldAt, lines }
  const [first, end] = [oldAt - before, oldAt + oldCount + after]
  const prefix = oldLines.slice(first, oldAt)
  const suffix = oldLines.slice(oldAt + oldCount, end)
  return { first: first + 1, last: end, lines: [...prefix, ...lines, ...suffix] }
}
