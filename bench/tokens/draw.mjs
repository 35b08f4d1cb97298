// The edits: commits and functions of git repositories, drawn at random.

import { execFileSync } from 'node:child_process'
import { changesIn, contentsOf, pairsOfRepository } from '../edit/history/git.mjs'
import { decoded, editOf, withLines } from '../edit/history/text.mjs'

/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit, Lines } from '../edit/history/text.mjs' */
/** @import { Body } from './players/player.mjs' */

/**
 * @typedef {{ name: string, path: string }} Repository
 * @typedef {{ lines: string[], edits: Edit[] }} Version lines, and edits by their numbers
 * @typedef {object} Change the change that a model makes in a file
 * @property {string} path
 * @property {Lines} old the text that it reads
 * @property {Version} seen
 * @property {Version} current the file when it edits
 * @property {string} truth the correct result
 * @typedef {{ body: Body, text: Lines }} Found
 */

const MAX_COMMITS = 7000
const MAX_BYTES = 400_000

/** A top-level function, up to its name. */
const HEAD =
  /^(?:export (?:default )?|pub(?:\([a-z]+\))? |async )*(?:fn|function\*?|func(?: \([^)]*\))?) \w+/
const SOURCES = /(?<!\.d)\.(?:rs|[cm]?[jt]s|go)$/
const LINES_OF_BODY = { least: 36, most: 44 }
const LINES_OF_LONG_FILE = { least: 800, most: 1300 }
/** The most functions of one file. */
const FUNCTIONS_OF_A_FILE = 3

/**
 * Files that a commit changed at several places, one from each commit.
 * @param {Repository} repository
 * @param {Random} random
 * @param {number} count
 */
export async function pairsIn(repository, random, count) {
  const changes = await changesIn(repository.path, MAX_COMMITS)
  /** @type {Map<string, Pair>} */
  const pairs = new Map()
  for (const pair of pairsOfRepository(repository, changes, random, { maxBytes: MAX_BYTES })) {
    if (!pairs.has(pair.change)) pairs.set(pair.change, pair)
    if (pairs.size === count) break
  }
  if (pairs.size < count) throw new Error(`${repository.name} has ${pairs.size} such commits only`)
  return [...pairs.values()]
}

/**
 * Some hunks of a commit, after others were applied before the edit.
 * @param {Pair} pair
 * @param {number[]} own the hunks of the model
 * @param {number[]} others the hunks that others apply after the model has read the file
 * @returns {Change}
 */
export function changeOf({ path, old, new: wanted, hunks }, own, others) {
  const made = (/** @type {number[]} */ which) => {
    const lines = [...old.lines]
    for (const at of [...which].sort((one, other) => other - one)) {
      const { oldAt, oldCount, newAt, newCount } = hunks[at]
      lines.splice(oldAt, oldCount, ...wanted.lines.slice(newAt, newAt + newCount))
    }
    return lines
  }
  /** @param {number[]} before @returns {Version} */
  const version = (before) => {
    const lines = made(before)
    const edits = own.map((at) => {
      const grown = before.filter((other) => other < at).map((other) => growth(hunks[other]))
      const oldAt = grown.reduce((sum, one) => sum + one, hunks[at].oldAt)
      return editOf({ ...hunks[at], oldAt }, lines, wanted.lines, { before: 0, after: 0 })
    })
    return { lines, edits }
  }
  const truth = withLines(old, made([...own, ...others]))
  return { path, old, seen: version([]), current: version(others), truth }
}

/** @param {{ oldCount: number, newCount: number }} hunk */
const growth = ({ oldCount, newCount }) => newCount - oldCount

/**
 * Top-level functions of the newest files: those of about 40 lines, and the first ones of files of
 * about 1,000 lines.
 * @param {Repository} repository
 */
export function functionsIn({ path: repository }) {
  const tree = execFileSync('git', ['-C', repository, 'ls-tree', '-r', '-z', 'HEAD'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const sources = Array.from(
    tree.matchAll(/100\d{3} blob (\w+)\t([^\0]*)\0/g),
    ([, blob, path]) => ({
      blob,
      path,
    }),
  ).filter(({ path }) => SOURCES.test(path))
  const blobs = contentsOf(
    repository,
    sources.map(({ blob }) => blob),
  )
  /** @type {Found[]} */
  const moved = []
  /** @type {Found[]} */
  const found = []
  for (const { blob, path } of sources) {
    const bytes = blobs.get(blob)
    const text = bytes && bytes.length <= MAX_BYTES ? decoded(bytes) : undefined
    if (!text?.final) continue
    const bodies = bodiesIn(path, text.lines)
    const isFit = (/** @type {Body} */ { first, last }) => isWithin(last - first + 1, LINES_OF_BODY)
    moved.push(...bodies.filter(isFit).map((body) => ({ body, text })))
    if (!isWithin(text.lines.length, LINES_OF_LONG_FILE)) continue
    found.push(...bodies.slice(0, FUNCTIONS_OF_A_FILE).map((body) => ({ body, text })))
  }
  return { moved, found }
}

/** @param {number} count @param {{ least: number, most: number }} bounds */
const isWithin = (count, { least, most }) => count >= least && count <= most

/** @param {string} path @param {string[]} lines @returns {Body[]} */
function bodiesIn(path, lines) {
  return lines.flatMap((line, at) => {
    const [pattern] = HEAD.exec(line) ?? []
    const end = pattern ? lines.indexOf('}', at) : -1
    return pattern && end > at ? [{ path, pattern, first: at + 1, last: end + 1 }] : []
  })
}
