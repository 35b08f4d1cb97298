// `node scripts/screens.mjs`: the pictures of the README. Runs the program and renders its output
// as SVG for light and dark pages.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { programPath } from './targets.mjs'

const { platformName } = createRequire(import.meta.url)('../js/platform.cjs')

const root = fileURLToPath(new URL('..', import.meta.url))

/** The directory of the pictures. */
export const FOLDER = join(root, 'docs', 'screens')

const GREET = `export function greet(name) {
  const text = 'Hello, ' + name
  console.log(text)
  return text
}
`
/** @param {string} anchor */
const patch = (anchor) => {
  const edit = { set_line: { anchor, new_text: `  const text = \`Hi, \${name}\`` } }
  return `${JSON.stringify({ path: 'greet.js', edits: [edit] })}\n`
}
const FILES = { 'greet.js': GREET, 'patch.json': patch('2:3f'), 'stale.json': patch('2:00') }
/** The typed commands; the other commands only print a file. */
const COMMANDS = [
  'hashline read greet.js',
  'cat patch.json',
  'hashline apply -i patch.json --dry-run',
  'hashline apply -i stale.json',
]

const PALETTES = {
  light: {
    paper: '#ffffff',
    border: '#d0d7de',
    text: '#1f2328',
    prompt: '#656d76',
    31: '#cf222e',
    32: '#1a7f37',
    36: '#1b7c83',
  },
  dark: {
    paper: '#0d1117',
    border: '#30363d',
    text: '#e6edf3',
    prompt: '#8b949e',
    31: '#ff7b72',
    32: '#3fb950',
    36: '#39c5cf',
  },
}
const [COLUMN, ROW, PADDING] = [7.8, 18, 16]

/** @typedef {typeof PALETTES.light} Palette */
/** @typedef {'text' | 'prompt' | '31' | '32' | '36'} Colour a role, or a terminal colour number */
/** @typedef {{ text: string, colour: Colour, isBold: boolean }} Run characters in one style */

/** The program, which `npm run build` builds. */
export const PROGRAM = join(root, programPath(platformName()))

/** The pictures, by the name of their palette. */
export function screens() {
  const rows = recorded()
  return Object.fromEntries(
    Object.entries(PALETTES).map(([name, palette]) => [name, picture(rows, palette)]),
  )
}

/** The terminal output of the commands. @returns {Run[][]} */
function recorded() {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-screens-'))
  try {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(dir, name), text)
    return COMMANDS.flatMap((command, index) => [
      ...(index > 0 ? [[]] : []),
      [run('$ ', 'prompt'), run(command, 'text', true)],
      ...runsOf(printed(dir, command)),
    ])
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** @param {string} dir @param {string} command */
function printed(dir, command) {
  const [name, ...args] = command.split(' ')
  if (name === 'cat') return FILES[/** @type {keyof typeof FILES} */ (args[0])]
  const state = ['--state-dir', join(dir, 'state'), '--color', 'always']
  const env = { PATH: process.env.PATH }
  const { stdout, stderr, error } = spawnSync(PROGRAM, [...args, ...state], {
    cwd: dir,
    encoding: 'utf8',
    env,
  })
  if (error) throw error
  return stdout + stderr
}

/** @param {string} text @param {Colour} colour @returns {Run} */
const run = (text, colour, isBold = false) => ({ text, colour, isBold })

/** Parses a terminal's text into rows of runs. @param {string} text @returns {Run[][]} */
function runsOf(text) {
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => {
    /** @type {Run[]} */
    const runs = []
    /** @type {Colour} */
    let colour = 'text'
    let isBold = false
    const [plain, ...styled] = line.split('\x1b[')
    for (const part of [`0m${plain}`, ...styled]) {
      const [code, ...texts] = part.split('m')
      if (code === '0') [colour, isBold] = ['text', false]
      else if (code === '1') isBold = true
      else if (code === '31' || code === '32' || code === '36') colour = code
      else throw new Error(`no style for ${code}`)
      runs.push({ text: texts.join('m'), colour, isBold })
    }
    return runs
  })
}

/** @param {Run[][]} rows @param {Palette} palette */
function picture(rows, palette) {
  const columns = Math.max(...rows.map((runs) => lengthOf(runs)))
  const width = Math.ceil(columns * COLUMN + 2 * PADDING)
  const height = rows.length * ROW + 2 * PADDING
  const texts = rows.flatMap((runs, row) =>
    runs.map((run, at) => textOf(run, lengthOf(runs.slice(0, at)), row, palette)),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" role="img" aria-label="A terminal: a file is read, edited and refused">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${palette.paper}" stroke="${palette.border}"/>
${texts.filter(Boolean).join('\n')}
</svg>
`
}

/** @param {Run[]} runs */
const lengthOf = (runs) => runs.reduce((sum, { text }) => sum + text.length, 0)

/**
 * A run at its position. Its width is fixed, so that columns align in any font.
 * @param {Run} run @param {number} column @param {number} row @param {Palette} palette
 */
function textOf({ text, colour, isBold }, column, row, palette) {
  const blanks = text.length - text.trimStart().length
  const shown = text.trim()
  if (shown === '') return ''
  const x = (PADDING + (column + blanks) * COLUMN).toFixed(1)
  const y = PADDING + row * ROW + 13
  const weight = isBold ? ' font-weight="bold"' : ''
  const width = (shown.length * COLUMN).toFixed(1)
  return `<text x="${x}" y="${y}" textLength="${width}" fill="${palette[colour]}"${weight} xml:space="preserve">${escaped(shown)}</text>`
}

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, svg] of Object.entries(screens())) {
    writeFileSync(join(FOLDER, `${name}.svg`), svg)
  }
}
