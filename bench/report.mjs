// The table of the measurements: on the screen, and in bench/benchmarks.md, with charts.

import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { drawCharts } from './charts.mjs'
import { GOALS, judge, round } from './goals.mjs'
import { PEER, ripgrepVersion } from './peers.mjs'

/** @import { Sample } from './measure.mjs' */
/** @import { Row } from './run.mjs' */

/** The generated part of bench/benchmarks.md is between these lines. */
const BEGIN = '<!-- begin of the figures, written by npm run bench -->'
const END = '<!-- end of the figures -->'

/** @param {Row} row */
export function judged({ id, samples, values }) {
  const goal = GOALS[id]
  const of = (/** @type {'own' | 'peer'} */ who) => samples?.[who].median ?? values?.[who] ?? 0
  return { work: goal.work, ...judge(goal, of('own'), of('peer')) }
}

/** @param {Row} row */
function cells(row) {
  const { work, text, goal, met } = judged(row)
  const { samples, values } = row
  if (row.cannot) return [work, `${row.own}: not run`, row.peer, '', goal, row.cannot]
  const time = (/** @type {'own' | 'peer'} */ who) =>
    samples ? shownTime(samples[who]) : shownBytes(values?.[who] ?? 0)
  const verdict = met === undefined ? '' : met ? 'met' : '**missed**'
  return [work, `${row.own}: ${time('own')}`, `${row.peer}: ${time('peer')}`, text, goal, verdict]
}

/** @param {Row} row */
export function printRow(row) {
  console.log([...cells(row), row.note].filter(Boolean).join(' | '))
}

/** The median, and its distance from the quartiles. @param {Sample} sample */
function shownTime({ median, low, high, steady }) {
  const spread = Math.max(high - median, median - low) / median
  const unit = [
    { from: 1e9, name: 's' },
    { from: 1e6, name: 'ms' },
    { from: 1e3, name: 'µs' },
    { from: 0, name: 'ns' },
  ].find(({ from }) => median >= from)
  const value = round(median / (unit?.from || 1))
  return `${value} ${unit?.name} ±${(100 * spread).toFixed(0)} %${steady ? '' : ' (not steady)'}`
}

/** @param {number} bytes */
const shownBytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`

/**
 * Writes the table into bench/benchmarks.md, and its charts.
 * @param {Row[]} rows
 */
export async function writeReport(rows) {
  const path = fileURLToPath(new URL('benchmarks.md', import.meta.url))
  const text = readFileSync(path, 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`${path} lacks the marks around the figures`)
  writeFileSync(path, `${before}${BEGIN}\n\n${figures(rows)}\n\n${END}${after}`)
  await drawCharts(rows, fileURLToPath(new URL('../docs/charts/', import.meta.url)))
}

/** @param {Row[]} rows */
function figures(rows) {
  const head = ['work', 'own', 'peer', 'ratio', 'goal', '']
  const table = [head, head.map(() => '---'), ...rows.map(cells)]
  const notes = rows.filter((row) => row.note).map((row) => `- ${GOALS[row.id].work}: ${row.note}`)
  return [machine(), '', ...table.map((cells) => `| ${cells.join(' | ')} |`), '', ...notes].join(
    '\n',
  )
}

function machine() {
  const [{ model }] = cpus()
  const { version } = ripgrepVersion()
  return `${cpus().length} cores of ${model.trim()}, ${process.platform}, Node ${process.version}, ${version}, peer ${PEER}.`
}
