// The tables of a run: on the screen, and in bench/misplacement.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { interval, percent } from '../edit/proportion.mjs'

/** @import { Tallies } from './measure.mjs' */
/** @import { Tally } from './tally.mjs' */

/** The generated part of bench/misplacement.md is between these lines. */
const BEGIN = '<!-- begin of the figures, written by npm run bench -- misplacement -->'
const END = '<!-- end of the figures -->'

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

/** The subjects on the page; the screen shows all. */
export const ON_PAGE = [
  'session, pi',
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
    const rows = [HEAD, HEAD.map(() => '---'), ...measured.map((entry) => cells(...entry))]
    const heading = scenario[0].toUpperCase() + scenario.slice(1)
    parts.push(`### ${heading}`, rows.map((row) => `| ${row.join(' | ')} |`).join('\n'))
  }
  return parts.join('\n\n')
}

/**
 * @param {string} path of the page
 * @param {string} figures
 */
export function writePage(path, figures) {
  const text = readFileSync(path, 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`${path} lacks the marks around the figures`)
  writeFileSync(path, `${before}${BEGIN}\n\n${figures}\n\n${END}${after}`)
}
