// Cases with a formatted file. The old line of each formatted line is not always known, but the
// place of an edit is: the file that is edited and then formatted must equal the formatted file
// that is edited and formatted again.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { edited, editOf, withLines } from '../edit/history/text.mjs'
import { installedDir } from './releases.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */

/**
 * @typedef {object} Formatter
 * @property {string} name
 * @property {RegExp} takes the accepted paths
 * @property {(texts: string[], extension: string) => Promise<(string | undefined)[]>} format
 * undefined for invalid input
 */

const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url))

/** @type {Formatter[]} */
export const formatters = [
  { name: 'prettier', takes: /\.(?:[cm]?[jt]sx?|s?css|less|md|ya?ml|vue)$/, format: withPrettier },
  { name: 'biome', takes: /\.(?:[cm]?[jt]sx?|css)$/, format: withBiome },
  { name: 'rustfmt', takes: /\.rs$/, format: withRustfmt },
]

/** @type {Formatter['format']} */
async function withPrettier(texts, extension) {
  const module = pathToFileURL(join(installedDir, 'prettier/index.mjs')).href
  const { format } = await import(module)
  const results = []
  for (const text of texts) {
    const result = format(text, { filepath: `file${extension}` })
    results.push(await result.catch(() => undefined))
  }
  return results
}

/** Files that biome cannot parse stay unchanged. @type {Formatter['format']} */
async function withBiome(texts, extension) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-misplacement-'))
  try {
    const paths = texts.map((_, at) => join(dir, `file${at}${extension}`))
    for (const [at, path] of paths.entries()) writeFileSync(path, texts[at])
    const { error } = spawnSync(biome, ['format', '--write', '.'], { cwd: dir, stdio: 'ignore' })
    if (error) throw error
    return paths.map((path) => readFileSync(path, 'utf8'))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Files in this style are formatted with shorter lines. @type {Formatter['format']} */
async function withRustfmt(texts) {
  return texts.map((text) => {
    const { status, stdout, error } = spawnSync(
      'rustfmt',
      ['--edition', '2024', '--config', 'max_width=80'],
      { input: text, encoding: 'utf8' },
    )
    if (error) throw error
    return status === 0 ? stdout : undefined
  })
}

/**
 * @param {Pair} pair
 * @param {Random} random
 * @returns {AsyncGenerator<Case>}
 */
export async function* formattedCases({ source, change, path, old, new: wanted, hunks }, random) {
  const taking = formatters.filter(({ takes }) => takes.test(path))
  if (taking.length === 0) return
  const formatter = random.pick(taking)
  const hunk = random.pick(hunks)
  const operations = [editOf(hunk, old.lines, wanted.lines, { before: 0, after: 0 })]
  const before = withLines(old, old.lines)
  const after = withLines(old, edited(old.lines, operations))
  const [current, truth] = await formatter.format([before, after], extname(path))
  // An edit that formatting removes has no place.
  if (!current || !truth || current === before || current === truth) return
  yield {
    scenario: `formatted by ${formatter.name}`,
    source,
    change,
    path,
    old: before,
    oldLines: old.lines,
    current,
    operations,
    formatted: { formatter, truth },
  }
}
