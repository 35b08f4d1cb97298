// The page of a result, and its charts.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartOf } from './chart.mjs'
import { figuresOf } from './figures.mjs'
import { percent } from './proportion.mjs'

/** @import { Bar } from './chart.mjs' */
/** @import { Figures, Interval, Price } from './figures.mjs' */
/** @import { Result } from './result.mjs' */

/** @typedef {ReturnType<typeof figuresOf>} All */

const READING = `- *Solved*: at the end the file is byte for byte as wanted, or equal to that after the formatter of the project has run. In parentheses: the 95 % interval (Wilson). Several runs of a task are not independent, so they count as fewer attempts.
- *First try*: solved in the first turn that did anything but read. A task in two files may take two such turns, if none of them was refused: some tools change one file a call.
- What was not solved is in one of five columns. *Wrong and believed done*: the model said that it is done, and left a changed file that is wrong. *No change*: it said so and changed nothing. *Cut*: its last answer was truncated at the token limit. *Not done in time*: it still called tools after the last turn. *Refused*: the endpoint refused to continue.
- *Wrong file left*: not solved, and the file is changed, whatever the ending.
- *Refusals*: calls without effect, such as a text that was not found or a stale anchor.
- *Difference* is the part that the first way solved less the part that the second one solved, in points of a hundred, with its 95 % interval (Agresti and Min).
- *p* is how likely a difference like this is if both ways are equally good: McNemar's exact test of the tasks that one way solved more often. Below 0.05 is commonly taken for a difference. A task that was run several times counts once.`

/**
 * Writes `report.md` and the charts.
 * @param {Result} result
 * @param {string} dir
 * @param {Price} [price]
 */
export function writeReport(result, dir, price) {
  const figures = figuresOf(result, price)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'report.md'), pageOf(result, figures))
  for (const [name, chart] of Object.entries(chartsOf(result, figures))) {
    writeFileSync(join(dir, `${name}.svg`), chart)
  }
}

/** @param {Result} result @param {All} figures @returns {string} */
export function pageOf({ model, api, bench, engine, set, started, told }, figures) {
  const { groups, comparisons, tasks, runs, leftOut } = figures
  const which = set === 'fixed' ? `tasks of the fixed set of hashline-bench ${bench}` : 'own tasks'
  const often = runs > 1 ? `, up to ${runs} times each` : ''
  return `# Ways to edit: ${escaped(model)}

${tasks} ${which}${often}, begun on ${started}, through ${api}, with the engine ${engine}.${leftOut === 0 ? '' : ` All figures are of attempts that all ways have had; ${leftOut} others are left out.`}

![Solved tasks](solved.svg)

${totals(figures)}

${toldNote(figures.names, told)}

## Which is better

${table(
  ['', 'tasks', 'the first more often', 'the second more often', 'difference', 'p'],
  comparisons.map(({ one, other, tasks, moreOne, moreOther, difference, p }) => [
    `${one} and ${other}`,
    `${tasks}`,
    `${moreOne}`,
    `${moreOther}`,
    `${points(difference.mean)} (${points(difference.low)} to ${points(difference.high)})`,
    p < 0.0001 ? 'below 0.0001' : p.toFixed(4),
  ]),
)}

## Groups of tasks

Solved, of the attempts.

![Solved tasks by language](languages.svg)

${groups.map((group) => groupTable(group, figures.names)).join('\n\n')}

## How to read this

${READING}
`
}

/** @param {string[]} names @param {Result['told']} told */
function toldNote(names, told) {
  const lengths = names.map((name) => `${name}: ${((told[name] ?? 0) / 1000).toFixed(1)} KB`)
  return `The prompt and the descriptions of the tools, which the model reads in each turn: ${lengths.join(', ')}.`
}

/** @param {number} part */
const points = (part) => `${part > 0 ? '+' : ''}${(100 * part).toFixed(1)}`

/** Escapes text for a page that may be shown as HTML. @param {string} text */
const escaped = (text) =>
  text.replace(/[\p{Cc}]/gu, ' ').replace(/[&<>\\`*_[\]|]/g, (mark) => `&#${mark.charCodeAt(0)};`)

/** @param {All} figures */
function totals({ names, schemes }) {
  const hasCost = schemes.some(({ cost }) => cost !== undefined)
  const head = [
    'way',
    'attempts',
    'solved',
    'first try',
    'wrong and believed done',
    'no change',
    'cut',
    'not done in time',
    'refused',
    'wrong file left',
    'turns',
    'refusals',
    'tokens read',
    'tokens written',
    ...(hasCost ? ['cost'] : []),
    'seconds',
  ]
  const rows = schemes.map((figures, at) => [names[at], ...cells(figures, hasCost)])
  return `${table(head, rows)}\n\nTurns, refusals, tokens and cost are means of an attempt, seconds the median. Waits, and tries that failed, are not in the seconds.${estimatedNote(schemes)}${operationsNote(names, schemes)}`
}

/** @param {Figures[]} schemes */
function estimatedNote(schemes) {
  const parts = schemes.map(({ estimated }) => estimated)
  if (Math.max(...parts) === 0) return ''
  return ` The endpoint does not report all tokens: for each scheme ${parts.map(percent).join(', ')} are estimated, as four bytes each.`
}

/** @param {string[]} names @param {Figures[]} schemes */
function operationsNote(names, schemes) {
  const shares = schemes.flatMap(({ byAnchor, byText }, at) => {
    const all = byAnchor + byText
    const parts = `${percent(byAnchor / all)} by anchors, ${percent(byText / all)} by exact text`
    return all === 0 ? [] : [`${names[at]}: ${parts}`]
  })
  if (shares.length === 0) return ''
  return `\n\nThe tool of anchors replaces exact text as well. Its applied operations by kind: ${shares.join('; ')}.`
}

/** @param {Figures} figures @param {boolean} hasCost */
function cells(figures, hasCost) {
  const { attempts, solved, first, wrong, untouched, cut, endless, refused, touched } = figures
  const { intervals, rounds, refusals, input, output, cost = 0, seconds } = figures
  return [
    `${attempts}`,
    share(solved, attempts, intervals.solved),
    share(first, attempts, intervals.first),
    share(wrong, attempts, intervals.wrong),
    ...[untouched, cut, endless, refused, touched].map((count) => `${count}`),
    rounds.toFixed(2),
    refusals.toFixed(2),
    `${Math.round(input)}`,
    `${Math.round(output)}`,
    ...(hasCost ? [`$${cost.toFixed(4)}`] : []),
    seconds.toFixed(1),
  ]
}

/** @param {number} count @param {number} all @param {Interval} interval */
function share(count, all, { low, high }) {
  if (all === 0) return ''
  return `${percent(count / all)} (${percent(low)} to ${percent(high)})`
}

/** @param {All['groups'][number]} group @param {string[]} names */
function groupTable({ name, rows }, names) {
  const body = rows.map(({ value, schemes }) => [
    value,
    ...schemes.map(({ solved, attempts, intervals }) =>
      attempts === 0 ? '' : `${share(solved, attempts, intervals.solved)}, of ${attempts}`,
    ),
  ])
  return table([name, ...names], body)
}

/** @param {string[]} head @param {string[][]} rows */
export const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** @param {Result} result @param {All} figures */
export function chartsOf({ model }, { names, schemes, groups }) {
  const bars = (/** @type {Figures[]} */ of) => of.map(barOf)
  const all = { label: 'all tasks', bars: bars(schemes) }
  const language = groups.find(({ name }) => name === 'language')
  const others = groups.filter(({ name }) => name !== 'language')
  const rows = (/** @type {typeof others} */ of) =>
    of.flatMap(({ rows }) =>
      rows.map(({ value, schemes }) => ({ label: value, bars: bars(schemes) })),
    )
  return {
    solved: chartOf(`Solved tasks: ${model}`, names, [all, ...rows(others)]),
    languages: chartOf(
      `Solved tasks by language: ${model}`,
      names,
      rows(language ? [language] : []),
    ),
  }
}

/** @param {Figures} figures @returns {Bar | undefined} */
function barOf({ solved, attempts, intervals }) {
  if (attempts === 0) return undefined
  const part = solved / attempts
  return { part, ...intervals.solved, said: `${percent(part)} of ${attempts}` }
}
