// How calls appear in the terminals of pi and oh-my-pi: one line for each call, and the diff of an
// edit below its line. When they are expanded (ctrl+o), other calls show their text, too.

/**
 * @import { EditPreview, HashTool } from 'hashline-native/tools'
 * @import { Details } from './session.js'
 *
 * @typedef {'accent' | 'error' | 'muted' | 'toolDiffAdded' | 'toolDiffContext' | 'toolDiffRemoved' | 'toolOutput' | 'toolTitle'} Colour
 * @typedef {{ fg(colour: Colour, text: string): string, bold(text: string): string }} Theme
 * @typedef {{ type: string, text?: string }} Part
 */

/**
 * The line of a call: its title, and its result once there is one. Before that, how many lines an
 * edit adds and removes as far as it has arrived.
 * @param {HashTool} tool
 * @param {unknown} args
 * @param {Theme} theme
 * @param {Details} [details]
 * @param {EditPreview} [preview]
 */
export function callRow(tool, args, theme, details, preview) {
  const name = theme.fg('toolTitle', theme.bold(tool.name))
  const about = tool.callTitle(args)
  const title = theme.fg('accent', about || '…')
  if (details === undefined) {
    const counts = countsOf(preview)
    return ` ${name} ${title}${counts && theme.fg('muted', ` · ${counts}`)}`
  }
  const colour = details.isError ? 'error' : 'muted'
  return ` ${name} ${title} ${theme.fg(colour, `· ${withoutName(details.summary, about)}`)}`
}

/** @param {EditPreview} [preview] */
function countsOf({ files } = { files: [], refused: [], omitted: [] }) {
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return [added && `+${added}`, removed && `-${removed}`].filter(Boolean).join(' ')
}

/** The summary without the file name that the title already has. */
const withoutName = (/** @type {string} */ summary, /** @type {string} */ name) =>
  summary.startsWith(`${name}: `) || summary.startsWith(`${name} `)
    ? summary.slice(name.length).replace(/^:? /, '')
    : summary

/** The most rows of a diff that is not expanded. */
const COLLAPSED_ROWS = 60

/**
 * The rows below the line.
 * @param {Part[]} content
 * @param {Details | undefined} details
 * @param {Theme} theme
 * @param {boolean} isExpanded
 */
export function resultRows(content, details, theme, isExpanded) {
  if (details?.diff !== undefined) return diffRows(details.diff, theme, isExpanded)
  if (!isExpanded) return []
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''))
  const rows = texts.join('\n').trimEnd().split('\n')
  return rows.map((row) => ` ${theme.fg('toolOutput', untabbed(row))}`)
}

/**
 * The rows below the line of an edit that is still arriving: its diff so far.
 * @param {EditPreview | undefined} preview
 * @param {Theme} theme
 * @param {boolean} isExpanded
 */
export function previewRows(preview, theme, isExpanded) {
  const diffs = (preview?.files ?? []).map(({ diff }) => diff)
  return diffs.length === 0 ? [] : diffRows(diffs.join(''), theme, isExpanded)
}

/**
 * A unified diff with the number of each line, as pi draws its own.
 * @param {string} diff
 * @param {Theme} theme
 * @param {boolean} isExpanded
 */
function diffRows(diff, theme, isExpanded) {
  const rows = numbered(diff)
  const limit = isExpanded ? rows.length : COLLAPSED_ROWS
  const shown = rows.slice(0, limit).map(({ sign, text }) => {
    const colour = sign === '+' ? 'Added' : sign === '-' ? 'Removed' : 'Context'
    return ` ${theme.fg(`toolDiff${colour}`, untabbed(text))}`
  })
  const hidden = rows.length - shown.length
  return hidden === 0 ? shown : [...shown, ` ${theme.fg('muted', `… ${hidden} more (ctrl+o)`)}`]
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/**
 * The lines of a unified diff: the name of each file, if there are several, and the changes.
 * @param {string} diff
 */
function numbered(diff) {
  /** @type {{ sign: string, text: string }[]} */
  const rows = []
  const before = { line: 0, rest: 0 }
  const after = { line: 0, rest: 0 }
  let [names, previous, isFirst] = [0, '', true]
  for (const line of diff.trimEnd().split('\n')) {
    const sign = line.charAt(0)
    const hunk = HUNK.exec(line)
    if (before.rest + after.rest > 0 && sign !== '\\') {
      const sides = [...(sign === '+' ? [] : [before]), ...(sign === '-' ? [] : [after])]
      rows.push({ sign, text: `${sign || ' '}${sides.at(-1)?.line} ${line.slice(1)}` })
      for (const side of sides) {
        side.line++
        side.rest--
      }
    } else if (hunk) {
      const [, oldStart, oldLines = 1, newStart, newLines = 1] = hunk
      Object.assign(before, { line: Number(oldStart), rest: Number(oldLines) })
      Object.assign(after, { line: Number(newStart), rest: Number(newLines) })
      if (!isFirst) rows.push({ sign: '', text: ' …' })
      isFirst = false
    } else if (line.startsWith('+++ ')) {
      names++
      isFirst = true
      const name = line === '+++ /dev/null' ? previous : line
      rows.push({ sign: '', text: name.slice('+++ b/'.length) })
    }
    previous = line
  }
  // The line above has the name of a single file.
  return names === 1 ? rows.slice(1) : rows
}

const untabbed = (/** @type {string} */ row) => row.replaceAll('\t', '    ')

/**
 * A terminal component that creates its rows when it is drawn.
 * @param {() => string[]} rows
 * @param {(row: string, width: number) => string} fit cuts a row to a width
 */
export const component = (rows, fit) => ({
  render: (/** @type {number} */ width) => rows().map((row) => fit(row, width)),
  invalidate() {},
})
