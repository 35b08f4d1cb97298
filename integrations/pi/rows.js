// How calls appear in the terminal of pi and of oh-my-pi: one line each; expanded (ctrl+o), the
// diff or the text below it.

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

/**
 * The rows below the line when it is expanded.
 * @param {Part[]} content
 * @param {Details | undefined} details
 * @param {Theme} theme
 */
export function resultRows(content, details, theme) {
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''))
  const text = details?.diff ?? texts.join('\n')
  return text
    .trimEnd()
    .split('\n')
    .map((row) => ` ${coloured(row, details?.diff !== undefined, theme)}`)
}

/**
 * The rows below the line of an edit that is still arriving, when it is expanded: its diff so far.
 * @param {EditPreview | undefined} preview
 * @param {Theme} theme
 */
export const previewRows = (preview, theme) =>
  (preview?.files ?? []).flatMap(({ diff }) =>
    diff
      .trimEnd()
      .split('\n')
      .map((row) => ` ${coloured(row, true, theme)}`),
  )

/**
 * @param {string} row
 * @param {boolean} isDiff
 * @param {Theme} theme
 */
function coloured(row, isDiff, theme) {
  const plain = row.replaceAll('\t', '    ')
  if (!isDiff) return theme.fg('toolOutput', plain)
  if (plain.startsWith('+')) return theme.fg('toolDiffAdded', plain)
  return theme.fg(plain.startsWith('-') ? 'toolDiffRemoved' : 'toolDiffContext', plain)
}

/**
 * A terminal component that creates its rows when it is drawn.
 * @param {() => string[]} rows
 * @param {(row: string, width: number) => string} fit cuts a row to a width
 */
export const component = (rows, fit) => ({
  render: (/** @type {number} */ width) => rows().map((row) => fit(row, width)),
  invalidate() {},
})
