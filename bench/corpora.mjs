// The texts for measurements: the sources of large npm packages, and files made from them.

import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The extensions of source files. */
const SOURCE = /\.(?:[cm]?[jt]s|css|json|md)$/
/** Output of bundlers, which is not source and goes into the corpus of long lines. */
const GENERATED = /[.-]min[./-]|\/min\/|\.map$/
const LARGE_BYTES = 86_000_000
const MIXED_BYTES = 16_000_000
const TREE_FILES = 10_000
const PAGE_LINES = 2_000
const PAGE_BYTES = 62_000

/**
 * @typedef {object} Corpora
 * @property {string} page a file of 2,000 lines and 62 KB
 * @property {string} large one file of 86 MB of ASCII source
 * @property {string} mixed the same, but some files have other characters
 * @property {string} ascii ASCII source, one file
 * @property {string} cyrillic messages and locales in Cyrillic, one file
 * @property {string} cjk the same in Chinese, Japanese and Korean
 * @property {string} long minified bundles: very long lines
 * @property {string} tree a directory of 10,000 source files
 * @property {string[]} batch every second one of them
 */

/**
 * Creates the corpora on first use.
 * @param {string} packagesDir the directory of the packages
 * @param {string} cacheDir
 * @returns {Corpora}
 */
export function corpora(packagesDir, cacheDir) {
  const dir = join(cacheDir, `corpora-${recipe(packagesDir)}`)
  if (!existsSync(dir)) {
    const unfinished = `${dir}.new`
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { recursive: true })
    make(packagesDir, unfinished)
    renameSync(unfinished, dir)
  }
  const file = (/** @type {string} */ name) => join(dir, name)
  const tree = file('tree')
  return {
    page: file('page.ts'),
    large: file('large.js'),
    mixed: file('mixed.js'),
    ascii: file('ascii.js'),
    cyrillic: file('cyrillic.txt'),
    cjk: file('cjk.txt'),
    long: file('long.js'),
    tree,
    batch: filesBelow(tree).filter((_, at) => at % 2 === 0),
  }
}

/**
 * A directory of an in-memory file system with enough space, if there is one.
 * @param {number} bytes
 */
export function memoryDirWith(bytes) {
  const dir = '/dev/shm'
  if (!existsSync(dir)) return undefined
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize > bytes ? dir : undefined
}

/**
 * A key of the packages and the code that create the corpora: other ones create other corpora.
 * @param {string} packagesDir
 */
function recipe(packagesDir) {
  const parts = [new URL(import.meta.url), join(packagesDir, '../package-lock.json')]
  const hash = createHash('sha256')
  for (const part of parts) hash.update(readFileSync(part))
  return hash.digest('hex').slice(0, 12)
}

/**
 * Sorts in a fixed order that mixes the packages.
 * @param {string} dir
 * @param {string[]} paths
 */
function mixedUp(dir, paths) {
  const keyOf = (/** @type {string} */ path) =>
    createHash('sha256').update(relative(dir, path)).digest('hex')
  const keyed = paths.map((path) => ({ path, key: keyOf(path) }))
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ path }) => path)
}

/** @param {string} dir */
function filesBelow(dir) {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/**
 * @param {string} packagesDir
 * @param {string} dir
 */
function make(packagesDir, dir) {
  const sources = mixedUp(packagesDir, filesBelow(packagesDir)).filter((path) => SOURCE.test(path))
  const written = sources.filter((path) => !GENERATED.test(path))
  makeTree(packagesDir, join(dir, 'tree'), written)
  const save = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(join(dir, name), text)
  const compiler = readFileSync(join(packagesDir, 'typescript/lib/typescript.js'), 'utf8')
  save('page.ts', page(compiler))
  save('large.js', fill(written, LARGE_BYTES, isAscii))
  save(
    'mixed.js',
    fill(written, LARGE_BYTES, () => true),
  )
  save(
    'ascii.js',
    fill(written, MIXED_BYTES, (text) => isAscii(text)),
  )
  save(
    'cyrillic.txt',
    fill(written, MIXED_BYTES / 4, (text) => share(text, /\p{Script=Cyrillic}/gu) > 0.2),
  )
  const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
  save(
    'cjk.txt',
    fill(written, MIXED_BYTES / 4, (text) => share(text, cjk) > 0.1),
  )
  save(
    'long.js',
    fill(
      sources.filter((path) => GENERATED.test(path)),
      MIXED_BYTES,
      (text) => text.length / text.split('\n').length > 5_000,
    ),
  )
}

/** Consecutive lines of a large source file whose size is that of a page.
 * @param {string} text */
function page(text) {
  const lines = text.split('\n')
  let best = { distance: Infinity, at: 0 }
  for (let at = 0; at + PAGE_LINES < lines.length; at += PAGE_LINES / 4) {
    const distance = Math.abs(lines.slice(at, at + PAGE_LINES).join('\n').length - PAGE_BYTES)
    if (distance < best.distance) best = { distance, at }
  }
  return `${lines.slice(best.at, best.at + PAGE_LINES).join('\n')}\n`
}

/**
 * Concatenates whole files, repeatedly, until the given number of bytes is reached.
 * @param {string[]} paths
 * @param {number} bytes
 * @param {(text: string) => boolean} isWanted
 */
function fill(paths, bytes, isWanted) {
  const texts = []
  let size = 0
  for (const path of paths) {
    if (size >= bytes) break
    if (statSync(path).size > bytes) continue
    const text = readFileSync(path, 'utf8')
    if (!isWanted(text)) continue
    texts.push(text.endsWith('\n') ? text : `${text}\n`)
    size += Buffer.byteLength(text)
  }
  if (texts.length === 0) throw new Error('the packages have no text of this kind')
  const once = texts.join('')
  return once.repeat(Math.max(1, Math.ceil(bytes / Buffer.byteLength(once))))
}

/** @param {string} text */
const isAscii = (text) => /^[\0-\x7f]*$/.test(text)

/**
 * The fraction of the characters that the pattern matches.
 * @param {string} text
 * @param {RegExp} pattern
 */
const share = (text, pattern) =>
  isAscii(text) ? 0 : (text.match(pattern)?.length ?? 0) / text.length

/**
 * @param {string} packagesDir
 * @param {string} tree
 * @param {string[]} paths
 */
function makeTree(packagesDir, tree, paths) {
  if (paths.length < TREE_FILES) throw new Error(`only ${paths.length} files for the tree`)
  for (const path of paths.slice(0, TREE_FILES)) {
    const to = join(tree, path.slice(packagesDir.length + 1))
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(path, to)
  }
}
