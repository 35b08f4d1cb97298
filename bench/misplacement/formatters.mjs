// Cases with files that a formatter changed. The letters and digits of a file stay the same, so it
// is known where its lines are now.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { split, withLines } from '../edit/history/text.mjs'
import { cacheDir } from './corpus.mjs'
import { casesOfLines } from './identities.mjs'
import { alignedLines } from './letters.mjs'
import { installIn } from './releases.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { TextFile } from './corpus.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */

/**
 * Formats files, given as texts with the extensions of their names. A file that a program rejects
 * stays unchanged or is undefined.
 * @typedef {(texts: string[], extension: string) => Promise<(string | undefined)[]>} Format
 */
/**
 * @typedef {object} Formatter
 * @property {string} name
 * @property {RegExp} takes the accepted paths
 * @property {Format} before makes the files as the model sees them
 * @property {Format} after formats these
 * @property {() => string} [program] it needs this
 */

const BATCH = 8
const CASES_OF_A_TEXT = 12

const formattersDir = fileURLToPath(new URL('formatters/', import.meta.url))
const pythonDir = join(cacheDir, 'formatters')
const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url))

/** @param {string} program */
const ofPython = (program) =>
  join(pythonDir, process.platform === 'win32' ? 'Scripts' : 'bin', program)

function installFormatters() {
  installIn(formattersDir)
  // Programs of an environment contain its path, so it cannot be renamed when it is complete.
  const mark = join(pythonDir, 'complete')
  if (existsSync(mark)) return
  rmSync(pythonDir, { recursive: true, force: true })
  try {
    execFileSync('python3', ['-m', 'venv', pythonDir], { stdio: 'inherit' })
    const packages = ['-r', join(formattersDir, 'requirements.txt')]
    execFileSync(ofPython('pip'), ['install', '--quiet', ...packages], { stdio: 'inherit' })
    writeFileSync(mark, '')
  } catch (error) {
    console.error(`the formatters of Python are not installed: ${error}`)
  }
}

/** @param {object} options @returns {Format} */
const prettier = (options) => async (texts, extension) => {
  const module = pathToFileURL(join(formattersDir, 'node_modules/prettier/index.mjs')).href
  const { format } = await import(module)
  const results = []
  for (const text of texts) {
    const result = format(text, { filepath: `file${extension}`, ...options })
    results.push(await result.catch(() => undefined))
  }
  return results
}

/**
 * A program that formats the files of a directory in place.
 * @param {() => string} program
 * @param {string[]} args before the names of the files
 * @returns {Format}
 */
const inPlace =
  (program, ...args) =>
  async (texts, extension) => {
    const dir = mkdtempSync(join(tmpdir(), 'hashline-misplacement-'))
    try {
      const names = texts.map((_, at) => `file${at}${extension}`)
      for (const [at, name] of names.entries()) writeFileSync(join(dir, name), texts[at])
      const { error } = spawnSync(program(), [...args, ...names], { cwd: dir, stdio: 'ignore' })
      if (error) throw error
      return names.map((name) => readFileSync(join(dir, name), 'utf8'))
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

/** One file at a time, because in place it would format the modules of each file. */
/** @param {string[]} config @returns {Format} */
const rustfmt =
  (...config) =>
  async (texts) =>
    texts.map((text) => {
      const args = ['--edition', '2024', ...config.flatMap((option) => ['--config', option])]
      const { status, stdout, error } = spawnSync('rustfmt', args, {
        input: text,
        encoding: 'utf8',
      })
      if (error) throw error
      return status === 0 ? stdout : undefined
    })

const blackPath = () => ofPython('black')
const clangPath = () => ofPython('clang-format')

/** @param {string[]} args */
const black = (...args) => inPlace(blackPath, '--quiet', ...args)

/** @param {string} options */
const clang = (options) => {
  const style = `{BasedOnStyle: LLVM, SortIncludes: Never, ReflowComments: false${options}}`
  return inPlace(clangPath, '-i', `--style=${style}`)
}

/** The program of the Python package, or the user's. */
const gofmtPath = () => {
  const lib = join(pythonDir, 'lib')
  const found = spawnSync('find', [lib, '-path', '*/go/bin/gofmt'], { encoding: 'utf8' })
  return found.stdout?.trim() || 'gofmt'
}
const gofmt = inPlace(gofmtPath, '-w')

/**
 * The formatted files with another indentation.
 * @param {Format} format
 * @param {(front: string) => string} change
 * @returns {Format}
 */
const indented = (format, change) => async (texts, extension) =>
  (await format(texts, extension)).map((text) => text?.replace(/^[ \t]+/gm, change))

const SHOWN = { semi: false, singleQuote: true }
const WEB = /\.(?:[cm]?[jt]sx?|s?css|less|vue)$/
const C = /\.(?:[ch]|cc|cpp|hpp|java|cs)$/

/** @param {string} name @param {object} options @param {RegExp} [takes] @returns {Formatter} */
const withPrettier = (name, options, takes = WEB) => ({
  name: `prettier, ${name}`,
  takes,
  before: prettier(SHOWN),
  after: prettier(options),
})

/** @type {Formatter[]} */
const formatters = [
  withPrettier('tabs', { ...SHOWN, useTabs: true }),
  withPrettier('4 spaces', { ...SHOWN, tabWidth: 4 }),
  withPrettier('60 columns', { ...SHOWN, printWidth: 60 }),
  withPrettier('defaults', {}),
  withPrettier('4 spaces, YAML', { ...SHOWN, tabWidth: 4 }, /\.ya?ml$/),
  withPrettier('4 spaces, Markdown', { ...SHOWN, tabWidth: 4 }, /\.md$/),
  {
    name: 'biome, defaults',
    takes: /\.(?:[cm]?[jt]sx?|css)$/,
    before: prettier(SHOWN),
    after: inPlace(() => biome, 'format', '--write'),
  },
  {
    name: 'black, 2 to 4 spaces',
    takes: /\.py$/,
    before: indented(black(), (front) => ' '.repeat(front.length / 2)),
    after: black(),
    program: blackPath,
  },
  {
    name: 'black, 60 columns',
    takes: /\.py$/,
    before: black(),
    after: black('-l', '60'),
    program: blackPath,
  },
  {
    name: 'rustfmt, 80 columns',
    takes: /\.rs$/,
    before: rustfmt(),
    after: rustfmt('max_width=80'),
    program: () => 'rustfmt',
  },
  {
    name: 'rustfmt, tabs',
    takes: /\.rs$/,
    before: rustfmt(),
    after: rustfmt('hard_tabs=true'),
    program: () => 'rustfmt',
  },
  {
    name: 'clang-format, 4 spaces',
    takes: C,
    before: clang(''),
    after: clang(', IndentWidth: 4'),
    program: clangPath,
  },
  {
    name: 'clang-format, 60 columns',
    takes: C,
    before: clang(''),
    after: clang(', ColumnLimit: 60'),
    program: clangPath,
  },
  {
    name: 'gofmt, 4 spaces to tabs',
    takes: /\.go$/,
    before: indented(gofmt, (front) => front.replaceAll('\t', '    ')),
    after: gofmt,
    program: gofmtPath,
  },
]

/** The formatters that can be run here, installed on first use. @returns {Formatter[]} */
export function installedFormatters() {
  installFormatters()
  return formatters.filter(({ name, program }) => {
    const { error } = program ? spawnSync(program(), ['--version'], { stdio: 'ignore' }) : {}
    if (error) console.error(`not measured: ${name}: ${error.message}`)
    return !error
  })
}

/**
 * The cases of one formatter.
 * @param {Formatter} formatter
 * @param {Iterable<TextFile>} files
 * @param {Random} random
 * @returns {AsyncGenerator<Case>}
 */
export async function* formattedCases(formatter, files, random) {
  const { name, takes, before, after } = formatter
  /** @type {Map<string, TextFile[]>} */
  const waiting = new Map()
  async function* casesOf(/** @type {TextFile[]} */ batch) {
    const extension = extname(batch[0].path)
    const given = batch.map(({ text }) => withLines({ ...text, eol: '\n' }, text.lines))
    const old = (await before(given, extension)).map((text) => text ?? '')
    const formatted = await after(old, extension)
    for (const [at, { source, path }] of batch.entries()) {
      const [shown, current] = [split(old[at]), split(formatted[at] ?? '')]
      if (!shown || !current || old[at] === formatted[at]) continue
      const aligned = alignedLines(shown.lines, current.lines)
      if (!aligned) continue
      const names = { scenario: `formatted: ${name}`, source, change: 'none', path }
      const { lines, unsure } = aligned
      yield* casesOfLines(names, shown, lines, random, CASES_OF_A_TEXT, unsure)
    }
  }
  for (const file of files) {
    if (!takes.test(file.path)) continue
    const extension = extname(file.path)
    const batch = waiting.get(extension) ?? []
    waiting.set(extension, batch)
    if (batch.push(file) < BATCH) continue
    waiting.delete(extension)
    yield* casesOf(batch)
  }
  for (const batch of waiting.values()) yield* casesOf(batch)
}
