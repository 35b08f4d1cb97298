// The tables of a run: on the screen, and in bench/misplacement.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { interval, percent } from '../edit/proportion.mjs'

/** @import { Tallies } from './measure.mjs' */
/** @import { Tally } from './tally.mjs' */

/** The generated parts of bench/misplacement.md are between such lines. */
export const begin = (/** @type {string} */ part) =>
  `<!-- begin of the figures of ${part}, written by npm run bench -- misplacement -->`
const end = (/** @type {string} */ part) => `<!-- end of the figures of ${part} -->`

export const SESSION = 'session, pi'
export const OTHERS = 'other subjects'

const HEAD = ['subject', 'cases', 'right', 'wrong', 'wrong, of all', '95 % interval', 'refused']

/** @param {string} name @param {Tally} tally */
function cells(name, tally) {
  const { all, right, wrong, refused, repaired } = tally
  const { low, high } = interval(wrong, all)
  return [
    name,
    `${all}`,
    percent(right / all),
    repaired > 0 ? `${wrong} (${repaired} repaired)` : `${wrong}`,
    percent(wrong / all),
    `${percent(low)} to ${percent(high)}`,
    percent(refused / all),
  ]
}

/** The headings of the tables of sessions, by the start of the names of their scenarios. */
const HEADINGS = {
  commits: 'Commits',
  releases: 'Releases',
  synthetic: 'Synthetic',
  're-indented': 'Re-indented',
  formatted: 'Formatted',
  'long session': 'Long sessions',
  hunks: 'Hunks of commits, unchanged file',
  'unchanged file': 'Unchanged file',
}

/** The parts of the page. */
export const PARTS = [...Object.values(HEADINGS), OTHERS]

const SESSION_HEAD = [
  'cases',
  'count',
  'right',
  'possible',
  'wrong',
  '95 % interval of wrong',
  'refused',
  'lines not shown',
  'other indentation',
]

/** @param {string[][]} rows */
const table = (rows) =>
  [rows[0], rows[0].map(() => '---'), ...rows.slice(1)]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')

/** @param {string} name @param {Tally} tally */
function sessionCells(name, tally) {
  const { all, right, wrong, refused, possible, unshown, indented } = tally
  const { low, high } = interval(wrong, all)
  return [
    name,
    `${all}`,
    percent(right / all),
    percent(possible / all),
    `${wrong}`,
    `${percent(low)} to ${percent(high)}`,
    percent(refused / all),
    `${unshown}`,
    `${indented}`,
  ]
}

/**
 * The tables of sessions by heading: those that were measured.
 * @param {Tallies} tallies
 * @returns {Map<string, string>}
 */
export function sessionTables({ byScenario }) {
  const parts = new Map()
  for (const [prefix, heading] of Object.entries(HEADINGS)) {
    /** @type {[string, Tally][]} */
    const found = []
    for (const [scenario, bySubject] of byScenario) {
      const tally = bySubject.get(SESSION)
      if (!tally || tally.all === 0 || !scenario.startsWith(prefix)) continue
      found.push([scenario.slice(prefix.length).replace(/^[:,] (?=\S)/, ''), tally])
    }
    if (found.length === 0) continue
    const rows = found.map(([name, tally]) => sessionCells(name, tally))
    const tables = [`### ${heading}`, table([SESSION_HEAD, ...rows])]
    const remarks = found.flatMap(([name, { remarks }]) =>
      [...remarks].map(([kind, count]) => [name, kind, `${count}`]),
    )
    if (remarks.length > 0) tables.push(table([['cases', 'kind', 'count'], ...remarks.sort()]))
    parts.set(heading, tables.join('\n\n'))
  }
  return parts
}

/** The other subjects on the page; the screen shows all. */
export const ON_PAGE = [
  'plain, pi',
  'plain, pi, hints',
  'plain, pi, relocate off',
  'plain, pi26',
  'exact text, context made unique',
  'git merge-file',
  'git apply',
  'patch',
  '@oh-my-pi/hashline',
]

/**
 * @param {Tallies} tallies
 * @param {string[]} [only] the subjects to show
 */
export function tables({ byScenario }, only) {
  const parts = []
  for (const [scenario, bySubject] of byScenario) {
    const measured = [...bySubject].filter(
      ([subject, { all }]) => all > 0 && (only?.includes(subject) ?? true),
    )
    if (measured.length === 0) continue
    const heading = scenario[0].toUpperCase() + scenario.slice(1)
    parts.push(`### ${heading}`, table([HEAD, ...measured.map((entry) => cells(...entry))]))
  }
  return parts.join('\n\n')
}

/**
 * @param {string} path of the page
 * @param {string} part of it, of `PARTS`
 * @param {string} figures
 */
export function writePage(path, part, figures) {
  const text = readFileSync(path, 'utf8')
  const [before, rest] = text.split(begin(part))
  const after = rest?.split(end(part))[1]
  if (after === undefined) throw new Error(`${path} lacks the marks around the figures of ${part}`)
  writeFileSync(path, `${before}${begin(part)}\n\n${figures}\n\n${end(part)}${after}`)
}
