// The formatter of a project: results that differ in nothing it cares about are alike.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/**
 * @typedef {object} Formatter
 * @property {RegExp} takes which paths
 * @property {(root: string) => boolean} isOf whether a project formats by it
 * @property {(path: string) => [string, string[]]} command that formats its standard input
 */

/** @param {string} root @param {string[]} names */
const hasAny = (root, names) => names.some((name) => existsSync(join(root, name)))

/** @param {string} root @param {string} file @param {RegExp} pattern */
const says = (root, file, pattern) =>
  existsSync(join(root, file)) && pattern.test(readFileSync(join(root, file), 'utf8'))

/** @type {Record<string, Formatter>} */
const FORMATTERS = {
  rustfmt: {
    takes: /\.rs$/,
    isOf: (root) => hasAny(root, ['Cargo.toml']),
    command: () => ['rustfmt', ['--edition', '2021', '--emit', 'stdout', '--quiet']],
  },
  gofmt: {
    takes: /\.go$/,
    isOf: (root) => hasAny(root, ['go.mod']),
    command: () => ['gofmt', []],
  },
  ruff: {
    takes: /\.pyi?$/,
    isOf: (root) => hasAny(root, ['ruff.toml']) || says(root, 'pyproject.toml', /\[tool\.ruff/),
    command: (path) => ['ruff', ['format', '--isolated', '--stdin-filename', path, '-']],
  },
  black: {
    takes: /\.pyi?$/,
    isOf: (root) => says(root, 'pyproject.toml', /\[tool\.black/),
    command: () => ['black', ['--quiet', '-']],
  },
  prettier: {
    takes: /\.(?:[cm]?[jt]sx?|s?css|less|json|md|ya?ml|vue)$/,
    isOf: (root) => says(root, 'package.json', /"prettier"/),
    command: (path) => ['prettier', ['--no-config', '--stdin-filepath', path]],
  },
  biome: {
    takes: /\.(?:[cm]?[jt]sx?|css|jsonc?)$/,
    isOf: (root) => hasAny(root, ['biome.json', 'biome.jsonc']),
    command: (path) => ['biome', ['format', `--stdin-file-path=file${extname(path)}`]],
  },
}

/**
 * The formatter of a project for a file, if there is one and it can be started.
 * @param {string} root
 * @param {string} path
 */
export function formatterOf(root, path) {
  const [name] =
    Object.entries(FORMATTERS).find(
      ([, { takes, isOf, command }]) => takes.test(path) && isOf(root) && isThere(command(path)[0]),
    ) ?? []
  return name
}

/** @type {Map<string, boolean>} */
const known = new Map()

/** @param {string} program */
function isThere(program) {
  const there = known.get(program)
  if (there !== undefined) return there
  const found = spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined
  known.set(program, found)
  return found
}

/**
 * Whether two texts of a file are the same, byte for byte, at the latest once they are formatted.
 * @param {string} got
 * @param {string} wanted
 * @param {string} path
 * @param {string | undefined} formatter
 */
export function isAlikeFormatted(got, wanted, path, formatter) {
  if (got === wanted) return true
  if (formatter === undefined || !Object.hasOwn(FORMATTERS, formatter)) return false
  const found = FORMATTERS[formatter]
  if (!found.takes.test(path)) return false
  const [one, other] = [got, wanted].map((text) => formatted(text, found.command(path)))
  return one !== undefined && one === other
}

/** @param {string} input @param {[string, string[]]} command */
function formatted(input, [program, args]) {
  const options = { input, encoding: /** @type {const} */ ('utf8'), maxBuffer: 1 << 28 }
  const { status, stdout } = spawnSync(program, args, options)
  return status === 0 ? stdout : undefined
}
