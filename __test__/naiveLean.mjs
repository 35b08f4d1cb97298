// Reference implementation of the hashes of dialect `lean`, obviously correct and without regard to
// speed. `node __test__/naiveLean.mjs` writes vectors/lean.hash.jsonl: the lines of
// vectors/pi.hash.jsonl, and some of whitespace or almost only whitespace.

import { readFileSync, writeFileSync } from 'node:fs'
import { naiveXxHash32 } from './naiveHashline.mjs'

const file = (/** @type {string} */ path) => new URL(`../${path}`, import.meta.url)
const pairs = readFileSync(file('crates/lines/src/dialect/lean.txt'), 'utf8').trim().split(/\s/)

const WHITE_SPACE = [
  ...['\t', '\v', '\f', '\r', ' ', '\u00a0', '\u1680', '\u2028', '\u2029', '\u202f', '\u205f'],
  ...['\u2000', '\u2001', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008'],
  ...['\u2009', '\u200a', '\u3000', '\ufeff'],
]

const CANONICAL = Object.entries({
  "'": '\u2018\u2019\u201a\u201b',
  '"': '\u201c\u201d\u201e\u201f',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
  '...': '\u2026',
})

/** @param {string} character */
function normalized(character) {
  if (WHITE_SPACE.includes(character)) return ''
  return CANONICAL.find(([, others]) => others.includes(character))?.[0] ?? character
}

/**
 * The hash of a line; none for a blank line.
 * @param {string} line
 */
export function naiveLean(line) {
  const text = Array.from(line, normalized).join('')
  if (text === '') return ''
  return pairs[Number(naiveXxHash32(new TextEncoder().encode(text), 0n) % 512n)]
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const recorded = readFileSync(file('vectors/pi.hash.jsonl'), 'utf8').trim().split('\n')
  const blank = ['', ' '.repeat(63), ' '.repeat(64), '\t'.repeat(65), ' '.repeat(300)]
  const nearly = ['\u0085', '\u200b', '|', '\u2060', '\u180e', `${' '.repeat(300)}}`]
  const lines = [
    ...recorded.map((row) => JSON.parse(row).line),
    ...blank,
    ...WHITE_SPACE.flatMap((space) => [space, ` ${space}\t`, `${space}x`]),
    ...nearly,
  ]
  const rows = lines.map((line) => JSON.stringify({ line, hash: naiveLean(line) }))
  writeFileSync(file('vectors/lean.hash.jsonl'), `${rows.join('\n')}\n`)
}
