// The formatter of a project: results that differ only in formatting are equal. A task includes the
// settings that apply to its file, so that its result is the same everywhere. Tasks may come from
// others: their settings contain no code and name none.

import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isObject, readJson } from '../json.mjs'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 1 << 26

/** @typedef {{ name: string, settings?: string }} Formatting `settings`: the text of their file */
/**
 * @typedef {object} Formatter
 * @property {RegExp} takes the accepted paths
 * @property {Record<string, (text: string) => string | undefined>} signs files that show that a
 * project uses the formatter, and a function that returns the settings; undefined if it does not
 * @property {(settings: string) => string} [fileOf] the name of the settings file
 * @property {(settings: string) => string} [harmless] removes settings that may contain code
 * @property {(path: string, settings: string) => [string, string[]]} command formats its standard
 * input with the settings in a file
 */

const same = (/** @type {string} */ text) => text
const saying = (/** @type {RegExp} */ pattern) => (/** @type {string} */ text) =>
  pattern.test(text) ? text : undefined
const RUFF = /^\[tool\.ruff/m
const PYTHON = /\.pyi?$/

/** @type {Record<string, Formatter>} */
const FORMATTERS = {
  rustfmt: {
    takes: /\.rs$/,
    signs: { 'rustfmt.toml': withEdition, '.rustfmt.toml': withEdition, 'Cargo.toml': editionOf },
    fileOf: () => 'rustfmt.toml',
    command: (_, settings) => [
      'rustfmt',
      ['--emit', 'stdout', '--quiet', '--config-path', settings],
    ],
  },
  gofmt: {
    takes: /\.go$/,
    signs: { 'go.mod': () => '' },
    command: () => ['gofmt', []],
  },
  ruff: {
    takes: PYTHON,
    signs: { 'ruff.toml': same, '.ruff.toml': same, 'pyproject.toml': saying(RUFF) },
    fileOf: (settings) => (RUFF.test(settings) ? 'pyproject.toml' : 'ruff.toml'),
    command: (path, settings) => [
      'ruff',
      ['format', '--no-cache', '--config', settings, `--stdin-filename=${path}`, '-'],
    ],
  },
  black: {
    takes: PYTHON,
    signs: { 'pyproject.toml': saying(/^\[tool\.black/m) },
    fileOf: () => 'pyproject.toml',
    command: (path, settings) => [
      'black',
      ['--quiet', '--config', settings, `--stdin-filename=${path}`, '-'],
    ],
  },
  prettier: {
    takes: /\.(?:[cm]?[jt]sx?|s?css|less|json|md|ya?ml|vue)$/,
    signs: {
      '.prettierrc': prettierOf,
      '.prettierrc.json': prettierOf,
      'package.json': (text) => prettierOf(JSON.stringify(readJson(text).value?.prettier ?? 0)),
    },
    fileOf: () => 'prettier.json',
    harmless: (settings) => prettierOf(settings) ?? '{}',
    command: (path, settings) => [
      'prettier',
      ['--config', settings, '--no-editorconfig', `--stdin-filepath=${path}`],
    ],
  },
  biome: {
    takes: /\.(?:[cm]?[jt]sx?|css|jsonc?)$/,
    signs: { 'biome.json': same, 'biome.jsonc': same },
    fileOf: () => 'biome.jsonc',
    command: (path, settings) => [
      'biome',
      ['format', `--config-path=${dirname(settings)}`, `--stdin-file-path=${path}`],
    ],
  },
}

/** @param {string} manifest of cargo */
function editionOf(manifest) {
  const edition = /^edition\s*=\s*"(\d{4})"/m.exec(manifest)?.[1] ?? '2021'
  return `edition = "${edition}"\n`
}

/** @param {string} settings of rustfmt */
function withEdition(settings) {
  return /^edition\s*=/m.test(settings) ? settings : `edition = "2021"\n${settings}`
}

/** Its plain options: others, such as plugins, name code. */
const PRETTIER_OPTIONS =
  /^(?:printWidth|tabWidth|useTabs|semi|singleQuote|jsxSingleQuote|quoteProps|trailingComma|bracketSpacing|bracketSameLine|objectWrap|arrowParens|proseWrap|endOfLine|vueIndentScriptAndStyle|singleAttributePerLine|experimentalTernaries|experimentalOperatorPosition)$/

/** @param {string} text @returns {string | undefined} undefined if it is not a JSON object */
function prettierOf(text) {
  const { value } = readJson(text)
  if (!isObject(value)) return undefined
  const plain = Object.entries(value).filter(([name]) => PRETTIER_OPTIONS.test(name))
  return JSON.stringify(Object.fromEntries(plain))
}

/**
 * The formatter of a project for a file, if there is one and it can be started: the one whose
 * settings are nearest to the file, on the path to the root.
 * @param {string} root
 * @param {string} path below it, with `/`
 * @returns {Formatting | undefined}
 */
export function formatterOf(root, path) {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    for (const [name, { takes, signs, command }] of Object.entries(FORMATTERS)) {
      if (!takes.test(path)) continue
      const settings = settingsIn(join(root, dir), signs)
      if (settings === undefined || !isThere(command('', '')[0])) continue
      return { name, ...(settings !== '' && { settings }) }
    }
    if (dir === '.' || dir === '/') return undefined
  }
}

/** @param {string} dir @param {Formatter['signs']} signs */
function settingsIn(dir, signs) {
  for (const [name, settingsOf] of Object.entries(signs)) {
    const path = join(dir, name)
    const settings = existsSync(path) ? settingsOf(readFileSync(path, 'utf8')) : undefined
    if (settings !== undefined) return settings
  }
  return undefined
}

/** @type {Map<string, boolean>} */
const known = new Map()

/** @param {string} program */
function isThere(program) {
  const there = known.get(program)
  if (there !== undefined) return there
  const options = { stdio: /** @type {const} */ ('ignore'), timeout: TIMEOUT_MS }
  const found = spawnSync(program, ['--version'], options).error === undefined
  known.set(program, found)
  return found
}

/** Whether a value, possibly of another author, names a formatter. @param {any} value */
export const isFormatting = (value) =>
  Object.hasOwn(FORMATTERS, value?.name) && ['string', 'undefined'].includes(typeof value.settings)

/**
 * Whether two texts of a file are equal, byte for byte or after formatting.
 * @param {string} got
 * @param {string} wanted
 * @param {string} path
 * @param {Formatting} [formatting]
 */
export async function isAlikeFormatted(got, wanted, path, formatting) {
  if (got === wanted) return true
  if (formatting === undefined || !FORMATTERS[formatting.name].takes.test(path)) return false
  const one = await formatted(got, path, formatting)
  return one !== undefined && one === (await formatted(wanted, path, formatting))
}

/**
 * @param {string} input
 * @param {string} path
 * @param {Formatting} formatting
 * @returns {Promise<string | undefined>} undefined if it cannot be formatted
 */
async function formatted(input, path, { name, settings = '' }) {
  const { fileOf = () => 'settings', harmless = same, command } = FORMATTERS[name]
  // A separate directory, so that no other settings apply.
  const dir = mkdtempSync(join(tmpdir(), 'hashline-bench-format-'))
  try {
    const whole = join(dir, fileOf(settings))
    writeFileSync(whole, harmless(settings))
    const [program, args] = command(path, whole)
    return await outputOf(program, args, { cwd: dir, input })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, input: string }} options
 * @returns {Promise<string | undefined>}
 */
function outputOf(program, args, { cwd, input }) {
  return new Promise((resolve) => {
    const options = { cwd, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES }
    const child = execFile(program, args, options, (error, output) =>
      resolve(error === null ? output : undefined),
    )
    // A formatter that does not read its whole input shows that by its exit code.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
