// Writes the counts as bench/slips.md.

import { percent } from '../edit/proportion.mjs'
import { table } from '../edit/report.mjs'

class Tally {
  all = 0
  told = 0
  right = 0
  silent = 0
  suggestedRight = 0
  suggestedWrong = 0
  /** @type {Map<string, number>} by the code of a refusal or warning */
  codes = new Map()
}

/** Tallies by language and kind of edit, in the order of their first edit. */
export class Tallies {
  /** @type {Map<string, Map<string, Tally>>} */
  byKind = new Map()

  /** @param {string} language @param {string} kind */
  of(language, kind) {
    const byLanguage = this.byKind.get(kind) ?? new Map()
    this.byKind.set(kind, byLanguage)
    const tally = byLanguage.get(language) ?? new Tally()
    byLanguage.set(language, tally)
    return /** @type {Tally} */ (tally)
  }
}

const INTRODUCTION = `# Slips

What does a session say of edits that went wrong as those of models do? \`npm run bench -- slips --write\` measures it and writes this page.

Each edit is a hunk of a commit, made alone to the file before the commit, in a session that was shown the whole file. It is changed as models slip: the range, the text's ends, its indentation. Nothing is changed: the patches are dry runs. Slips are made only of hunks that parse alone, and only where they make another file.

- **told**: the edit is refused, or there is a warning.
- **put right**: a repair made of it what was meant, in silence.
- **silent**: neither. Not all of these are broken files: a line that is gone, or a statement too many, may parse.
- **suggestion**: of those told, how many name another edit (\`SYNTAX\`), and how often that is the edit that was meant.

Correct edits that are told are blamed for nothing. A hunk alone may not parse where the commit does.
`

const SLIP_HEAD = [
  'language',
  'edits',
  'told',
  'put right',
  'silent',
  'suggestion',
  'of these right',
]
const CORRECT_HEAD = ['language', 'edits', 'told', 'why']

/**
 * @param {Tallies} tallies
 * @param {ReturnType<typeof import('./recorded.mjs').replayRecorded>} recorded
 * @param {string} origin
 */
export function pageOf({ byKind }, recorded, origin) {
  const parts = [INTRODUCTION.trimEnd(), origin, recordedPart(recorded)]
  const kinds = [...byKind.keys()].sort()
  for (const kind of kinds) {
    const byLanguage = /** @type {Map<string, Tally>} */ (byKind.get(kind))
    const rows = [...byLanguage].sort().map(([language, tally]) => ({ language, tally }))
    if (rows.length > 1) rows.push({ language: 'all', tally: sum(rows.map(({ tally }) => tally)) })
    const isCorrect = kind.startsWith('correct')
    const head = isCorrect ? CORRECT_HEAD : SLIP_HEAD
    const cells = rows.map(({ language, tally }) => [
      language,
      ...(isCorrect ? correctCells(tally) : slipCells(tally)),
    ])
    parts.push(`## ${kind[0].toUpperCase()}${kind.slice(1)}`, table(head, cells))
  }
  return `${parts.join('\n\n')}\n`
}

/** @param {ReturnType<typeof import('./recorded.mjs').replayRecorded>} recorded */
const recordedPart = ({ told, right, wrong, unclear }) => `## Recorded mistakes

\`vectors/mispaired.jsonl\` has ${told + right + wrong + unclear} edits that models sent with the number of one line and the hash of another. Of these ${told} are told. ${right} edits the line that its text shows was meant, ${wrong} another one; ${unclear} do not show it.`

/** @param {Tally} tally */
function correctCells({ all, told, codes }) {
  const why = [...codes].sort().map(([code, count]) => `${code} ${count}`)
  return [`${all}`, share(told, all), why.join(', ')]
}

/** @param {Tally} tally */
function slipCells({ all, told, right, silent, suggestedRight, suggestedWrong }) {
  const suggested = suggestedRight + suggestedWrong
  const shares = [told, right, silent].map((part) => share(part, all))
  return [`${all}`, ...shares, share(suggested, told), share(suggestedRight, suggested)]
}

/** @param {number} part @param {number} all */
const share = (part, all) => (all === 0 ? '' : percent(part / all))

/** @param {Tally[]} tallies */
function sum(tallies) {
  const whole = new Tally()
  for (const { codes, ...counts } of tallies) {
    for (const [name, count] of Object.entries(counts)) {
      whole[/** @type {'all'} */ (name)] += count
    }
    for (const [code, count] of codes) whole.codes.set(code, (whole.codes.get(code) ?? 0) + count)
  }
  return whole
}
