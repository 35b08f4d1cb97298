// Writes the counts as a page.

import { percent } from '../edit/proportion.mjs'
import { table } from '../edit/report.mjs'

class Tally {
  all = 0
  reported = 0
  right = 0
  silent = 0
  suggestedRight = 0
  suggestedWrong = 0
  /** What the own parser of the language rejects and accepts of the silent ones. */
  broken = 0
  valid = 0
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

const INTRODUCTION = `# Mistakes of models

How does a session react to edits with typical mistakes of models? \`npm run bench -- slips --write DIRECTORY…\` measures it and writes this page. Each directory is a clone of a repository below; without any, this repository is measured.

Each edit is a hunk of a commit, applied separately to the file before the commit, in a session that has shown the whole file. It is changed as models do by mistake: in its range, at the ends of its text, in its indentation, by the \`+\` of a diff and the anchors of a view. The patches are dry runs. Mistakes of ranges and depths are derived only from hunks that parse separately, and all only if they change the result.

- **reported**: the edit is refused, or there is a warning.
- **fixed**: a repair restored the intended edit, without a warning.
- **silent**: neither. Not all of these are broken files: a missing line or a surplus statement may parse.
- **rejected**: how many silent ones the language's own parser rejects (\`php -l\`, \`ruby -c\`, \`luac -p\`, \`bash -n\`, if installed).
- **suggestion**: how many reported edits have another edit in the message (\`SYNTAX\`), and how often that is the intended edit.

Reported correct edits are false alarms, and those that a repair changed are harmed. A separate hunk may not parse although the commit does.
`

const MISTAKE_HEAD = [
  'language',
  'edits',
  'reported',
  'fixed',
  'silent',
  'rejected',
  'suggestion',
  'right suggestions',
]
const CORRECT_HEAD = ['language', 'edits', 'changed', 'reported', 'why']

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
    const head = isCorrect ? CORRECT_HEAD : MISTAKE_HEAD
    const cells = rows.map(({ language, tally }) => [
      language,
      ...(isCorrect ? correctCells(tally) : mistakeCells(tally)),
    ])
    parts.push(`## ${kind[0].toUpperCase()}${kind.slice(1)}`, table(head, cells))
  }
  return `${parts.join('\n\n')}\n`
}

/** @param {ReturnType<typeof import('./recorded.mjs').replayRecorded>} recorded */
const recordedPart = ({ reported, right, wrong, unclear }) => `## Recorded mistakes

\`vectors/mispaired.jsonl\` has ${reported + right + wrong + unclear} edits that models sent with the number of one line and the hash of another. ${reported} of them are reported. ${right} edits the line that its text identifies, ${wrong} another one; the text of ${unclear} does not identify a line.`

/** @param {Tally} tally */
function correctCells({ all, silent, reported, codes }) {
  const why = [...codes].sort().map(([code, count]) => `${code} ${count}`)
  return [`${all}`, `${silent}`, share(reported, all), why.join(', ')]
}

/** @param {Tally} tally */
function mistakeCells(tally) {
  const { all, reported, right, silent, suggestedRight, suggestedWrong, broken, valid } = tally
  const suggested = suggestedRight + suggestedWrong
  const shares = [reported, right, silent].map((part) => share(part, all))
  const rejected = broken + valid > 0 ? `${broken} of ${broken + valid}` : ''
  return [
    `${all}`,
    ...shares,
    rejected,
    share(suggested, reported),
    share(suggestedRight, suggested),
  ]
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
