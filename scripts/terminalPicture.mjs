// Draws the screen of a terminal, with its colours, as SVG: the pictures of agents in docs/agents.md.
//
// `npm run screens` runs the tests of the agents' terminals with HASHLINE_SCREENS set, and each
// draws what it reads.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs/screens')

const [COLUMN, ROW, PADDING] = [7.8, 17, 12]
const [PAPER, TEXT] = ['#0d1117', '#e6edf3']
/** The sixteen colours of a terminal. */
const NAMED = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
]

/** @typedef {{ fill: string, paper: string, isBold: boolean, isDim: boolean, isReverse: boolean }} Style */
/** @typedef {{ text: string, column: number } & Style} Run */

/** @type {Style} */
const PLAIN = { fill: TEXT, paper: '', isBold: false, isDim: false, isReverse: false }

/** Whether pictures are drawn. */
export const isDrawing = process.env.HASHLINE_SCREENS === '1'

/**
 * Writes a picture.
 * @param {string} name of the file, without its ending
 * @param {string} screen the text of a terminal with its escapes, as `tmux capture-pane -ep` prints
 * @param {string} label what it shows
 */
export function draw(name, screen, label) {
  mkdirSync(FOLDER, { recursive: true })
  // The directory of a test has another name each time.
  const fixed = screen.replace(/[\w./-]*hashline-test-\w+\/work/g, ({ length }) =>
    '~/work'.padEnd(length),
  )
  writeFileSync(join(FOLDER, `${name}.svg`), picture(fixed, label))
}

/** @param {string} screen @param {string} label */
export function picture(screen, label) {
  const rows = withoutBlank(rowsOf(screen))
  const columns = Math.max(...rows.flat().map(({ column, text }) => column + [...text].length))
  const [width, height] = [
    Math.ceil(columns * COLUMN + 2 * PADDING),
    rows.length * ROW + 2 * PADDING,
  ]
  const drawn = rows.flatMap((runs, row) => runs.map((run) => drawnRun(run, row)))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" role="img" aria-label="${escaped(label)}">
<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>
${drawn.filter(Boolean).join('\n')}
</svg>
`
}

/** Parses the rows of a screen. @param {string} screen @returns {Run[][]} */
function rowsOf(screen) {
  let style = PLAIN
  return screen.split('\n').map((line) => {
    /** @type {Run[]} */
    const runs = []
    let column = 0
    for (const [at, part] of line.split('\x1b[').entries()) {
      const end = at === 0 ? -1 : part.indexOf('m')
      if (at > 0) style = styled(style, part.slice(0, end).split(/[;:]/).map(Number))
      const text = part.slice(end + 1)
      if (text !== '') runs.push({ text, column, ...style })
      column += [...text].length
    }
    return runs
  })
}

/** The style after a sequence of codes. @param {Style} before @param {number[]} codes */
function styled(before, codes) {
  const style = { ...before }
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]
    if (code === 0) Object.assign(style, PLAIN)
    else if (code === 1) style.isBold = true
    else if (code === 2) style.isDim = true
    else if (code === 22) style.isBold = style.isDim = false
    else if (code === 7) style.isReverse = true
    else if (code === 27) style.isReverse = false
    else if (code === 39) style.fill = TEXT
    else if (code === 49) style.paper = ''
    else if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5
      const colour = isIndexed ? indexed(codes[at + 2]) : rgb(codes.slice(at + 2, at + 5))
      at += isIndexed ? 2 : 4
      if (code === 38) style.fill = colour
      else style.paper = colour
    } else if (code >= 30 && code <= 37) style.fill = NAMED[code - 30]
    else if (code >= 90 && code <= 97) style.fill = NAMED[code - 82]
    else if (code >= 40 && code <= 47) style.paper = NAMED[code - 40]
    else if (code >= 100 && code <= 107) style.paper = NAMED[code - 92]
  }
  return style
}

/** A colour of the table of 256. @param {number} index */
function indexed(index) {
  if (index < 16) return NAMED[index]
  if (index >= 232) return rgb([1, 1, 1].map(() => 8 + 10 * (index - 232)))
  const level = (/** @type {number} */ step) => (step === 0 ? 0 : 55 + 40 * step)
  const cube = index - 16
  return rgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level))
}

/** @param {number[]} parts */
const rgb = (parts) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`

/** Without blank rows at both ends, and with one in place of several. @param {Run[][]} rows */
function withoutBlank(rows) {
  const isBlank = (/** @type {Run[] | undefined} */ row) =>
    row?.every(({ text, paper }) => text.trim() === '' && paper === '') ?? true
  const last = rows.findLastIndex((row) => !isBlank(row))
  return rows
    .slice(0, last + 1)
    .filter((row, at) => !isBlank(row) || (at > 0 && !isBlank(rows[at - 1])))
}

/** A run with its background. Its width is fixed, so that columns align in any font. @param {Run} run @param {number} row */
function drawnRun({ text, column, fill, paper, isBold, isDim, isReverse }, row) {
  const [front, back] = isReverse ? [paper || PAPER, fill] : [fill, paper]
  const [x, y] = [PADDING + column * COLUMN, PADDING + row * ROW]
  const wide = [...text].length * COLUMN
  const box = back
    ? `<rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${ROW}" fill="${back}"/>`
    : ''
  const shown = text.trim()
  if (shown === '') return box
  const start = x + ([...text].length - [...text.trimStart()].length) * COLUMN
  const length = ([...shown].length * COLUMN).toFixed(1)
  const style = `${isBold ? ' font-weight="bold"' : ''}${isDim ? ' opacity="0.6"' : ''}`
  return `${box}<text x="${start.toFixed(1)}" y="${y + 13}" textLength="${length}" fill="${front}"${style} xml:space="preserve">${escaped(shown)}</text>`
}

/** @param {string} text */
const escaped = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
