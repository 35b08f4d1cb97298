// `hashline-native/omp13` beside the published module, under Bun: `npm run bench:omp`.

import * as ours from 'hashline-native/omp13'
import { PEER, peerModule } from '../scripts/peer.mjs'
import { printTable } from './measure.mjs'

/** @typedef {typeof ours} Hashline */
/** @import { HashlineEdit } from 'hashline-native/omp13' */

/** @type {Hashline} */
const peer = await import(peerModule())

const LINES = 2000

/**
 * A file as programs are: indentation, short lines and long ones, empty ones.
 * @param {string} word what its names and messages are made of
 */
function program(word) {
  const block = (/** @type {number} */ n) => [
    `/** The ${word} number ${n}, and what becomes of it. */`,
    `export function ${word}${n}(input, options = {}) {`,
    `  const { limit = ${n * 10}, strict = true } = options`,
    `  if (input.length > limit) throw new RangeError('${word} is longer than ' + limit)`,
    '  const parts = []',
    '  for (const part of input.split(separator)) {',
    `    if (strict && !isValid(part)) return null // ${word}`,
    `    parts.push(convert(part.trim(), ${n}))`,
    '  }',
    "  return parts.join(', ')",
    '}',
    '',
  ]
  return Array.from({ length: Math.ceil(LINES / 12) }, (_, n) => block(n))
    .flat()
    .slice(0, LINES)
}

/**
 * Edits spread over a file.
 * @param {string[]} lines
 * @param {number} count
 * @returns {HashlineEdit[]}
 */
function spreadEdits(lines, count) {
  return Array.from({ length: count }, (_, index) => {
    const line = Math.floor(((index + 0.5) * lines.length) / count)
    const tag = (/** @type {number} */ at) => ({
      line: at,
      hash: peer.computeLineHash(at, lines[at - 1]),
    })
    /** @type {HashlineEdit[]} */
    const kinds = [
      { op: 'replace_line', pos: tag(line), lines: ['  changed()'] },
      { op: 'replace_range', pos: tag(line), end: tag(line + 3), lines: ['  a()', '  b()'] },
      { op: 'append_at', pos: tag(line), lines: ['  added()'] },
    ]
    return kinds[index % kinds.length]
  })
}

/**
 * The same call of both modules.
 * @param {string} name
 * @param {(module: Hashline) => unknown} call
 * @param {number} [calls]
 */
function contest(name, call, calls) {
  return { name, contestants: { ours: () => call(ours), peer: () => call(peer) }, calls }
}

/** @param {string} text of which a character is looked at, so that no part of it is put off */
const flat = (text) => text.charCodeAt(text.length >> 1)

const contests = [
  ['ASCII', program('value')],
  ['Unicode', program('größe変数')],
].flatMap(([kind, lines]) => {
  const text = /** @type {string[]} */ (lines).join('\n')
  return [
    contest(`formatHashLines, ${LINES} lines of ${kind}`, (module) =>
      flat(module.formatHashLines(text)),
    ),
    ...[1, 3, 10, 100].map((count) => {
      const edits = spreadEdits(/** @type {string[]} */ (lines), count)
      return contest(
        `applyHashlineEdits, ${count} edits, ${kind}`,
        (module) => flat(module.applyHashlineEdits(text, [...edits]).lines),
        20,
      )
    }),
  ]
})

const singles = [
  ['short', '  }'],
  ['of 34 characters', "  return parts.join(', ') // joined"],
  ['of 82 characters', program('value')[3]],
  ['of 1,000 characters', 'x'.repeat(1000)],
  ['of 34, not ASCII', "  return größe変数.join(', ') // joind"],
].map(([name, line]) =>
  contest(`computeLineHash, a line ${name}`, (module) => module.computeLineHash(7, line), 2000),
)

console.log(`ours: hashline-native/omp13. peer: ${PEER}. Bun ${process.versions.bun}, medians.\n`)
printTable([...contests, ...singles])
