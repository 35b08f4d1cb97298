// A chart of proportions as SVG: groups of bars, with the interval of each.

const COLOURS = ['#0b7285', '#e8590c', '#5f3dc4', '#2b8a3e', '#c92a2a', '#495057']
const LABEL_WIDTH = 190
const BARS_WIDTH = 460
const BAR_HEIGHT = 14
const GROUP_GAP = 14
const LEGEND_WIDTH = 150
const LEGENDS_OF_ROW = 4
const LEGEND_HEIGHT = 18

/**
 * @typedef {{ part: number, low: number, high: number, said: string }} Bar
 * @typedef {{ label: string, bars: (Bar | undefined)[] }} Group with a bar for each name
 */

/**
 * @param {string} title
 * @param {string[]} names
 * @param {Group[]} groups
 */
export function chartOf(title, names, groups) {
  const groupHeight = names.length * BAR_HEIGHT + GROUP_GAP
  const top = 46 + LEGEND_HEIGHT * Math.ceil(names.length / LEGENDS_OF_ROW)
  const height = top + groups.length * groupHeight + 30
  const width = LABEL_WIDTH + BARS_WIDTH + 130
  const bottom = height - 26
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(12, 22, title, 'font-size="15" font-weight="bold"'),
    ...names.map((name, at) => legend(name, at)),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((part) => gridLine(part, top, bottom)),
    ...groups.flatMap((group, at) => groupAt(group, top + at * groupHeight)),
    '</svg>',
    '',
  ].join('\n')
}

/** @param {number} part */
const across = (part) => round(LABEL_WIDTH + part * BARS_WIDTH)

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10

/** @param {number} at */
const colour = (at) => COLOURS[at % COLOURS.length]

/** @param {string} name @param {number} at */
function legend(name, at) {
  const left = LABEL_WIDTH + (at % LEGENDS_OF_ROW) * LEGEND_WIDTH
  const top = 36 + Math.floor(at / LEGENDS_OF_ROW) * LEGEND_HEIGHT
  const box = `<rect x="${left}" y="${top}" width="10" height="10" fill="${colour(at)}"/>`
  return box + text(left + 15, top + 9, name)
}

/** @param {number} part @param {number} top @param {number} bottom */
const gridLine = (part, top, bottom) => [
  `<line x1="${across(part)}" y1="${top - 8}" x2="${across(part)}" y2="${bottom}" stroke="#dee2e6"/>`,
  text(across(part), bottom + 15, `${100 * part} %`, 'text-anchor="middle" fill="#868e96"'),
]

/** @param {Group} group @param {number} top */
function groupAt({ label, bars }, top) {
  const middle = top + (bars.length * BAR_HEIGHT) / 2 + 4
  const rows = bars.flatMap((bar, at) => (bar ? barAt(bar, at, top + at * BAR_HEIGHT) : []))
  return [text(LABEL_WIDTH - 10, middle, label, 'text-anchor="end"'), ...rows]
}

/** @param {Bar} bar @param {number} at @param {number} top */
function barAt({ part, low, high, said }, at, top) {
  const [x, y] = [LABEL_WIDTH, top + BAR_HEIGHT / 2 - 1]
  const end = Math.max(across(part), across(high)) + 6
  return [
    `<rect x="${x}" y="${top}" width="${round(part * BARS_WIDTH)}" height="${BAR_HEIGHT - 3}" fill="${colour(at)}" fill-opacity="0.85"/>`,
    `<path d="M${across(low)} ${y - 3}v6m0 -3H${across(high)}m0 -3v6" stroke="#212529" fill="none"/>`,
    text(end, y + 4, said, 'font-size="11"'),
  ]
}

/** @param {number} x @param {number} y @param {string} content @param {string} [more] */
const text = (x, y, content, more = '') =>
  `<text x="${x}" y="${y}"${more === '' ? '' : ` ${more}`}>${escaped(content)}</text>`

/** XML does not allow control characters. @param {string} content */
const escaped = (content) =>
  content
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
