// Cases with re-indented files, and with whitespace added or removed at the ends of lines. Half of
// them also have another change.

import { withLines } from '../edit/history/text.mjs'
import { casesOfLines } from './identities.mjs'
import { CHANGES } from './synthetic.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { TextFile } from './corpus.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */

/** @typedef {{ from: string, to: string }} Units the text of one unit before and after */

/** @type {Record<string, Units>} */
const UNITS = {
  '2 to 4 spaces': { from: '  ', to: '    ' },
  '4 to 2 spaces': { from: '    ', to: '  ' },
  '2 to 3 spaces': { from: '  ', to: '   ' },
  '3 to 2 spaces': { from: '   ', to: '  ' },
  '2 spaces to tabs': { from: '  ', to: '\t' },
  '4 spaces to tabs': { from: '    ', to: '\t' },
  'tabs to 4 spaces': { from: '\t', to: '    ' },
}

const WITHOUT_TABS = /\.ya?ml$/
/** A tab at the start of a line is syntax. */
const WITH_TABS = /(?:^|\/)Makefile|\.mk$/
const OTHERS = ['insert', 'delete', 'replace', 'move', 'swap', 'duplicate']
const MOST_BLOCK = 8
const CASES_OF_A_TEXT = 12
const LEAST_LINES = 12
/** The part of the lines that must be indented. */
const LEAST_INDENTED = 0.1

/** @typedef {{ depth: number, rest: string }} Parts of a line: units, then its other text */

/**
 * The lines as units of indentation and the rest, which may begin with spaces for alignment.
 * @param {string[]} lines
 * @returns {Parts[] | undefined} undefined if the text is hardly indented, or with both spaces and
 * tabs
 */
function partsOf(lines) {
  const fronts = lines.map((line) => /^[ \t]*/.exec(line)?.[0] ?? '')
  const indented = fronts.filter((front, at) => front !== '' && front.length < lines[at].length)
  if (indented.length < lines.length * LEAST_INDENTED) return undefined
  const isTabbed = indented.filter((front) => front.startsWith('\t')).length
  if (isTabbed > 0 && isTabbed < indented.length) return undefined
  if (isTabbed === 0 && indented.some((front) => front.includes('\t'))) return undefined
  const unit = isTabbed > 0 ? 1 : unitOf(fronts.filter((front, at) => front !== lines[at]))
  return lines.map((line, at) => {
    const front = fronts[at]
    if (front === line) return { depth: 0, rest: line }
    const units = isTabbed > 0 ? (/^\t*/.exec(front)?.[0].length ?? 0) : front.length
    const depth = Math.floor(units / unit)
    return { depth, rest: line.slice(depth * unit) }
  })
}

/** The most frequent step to deeper lines. @param {string[]} fronts */
function unitOf(fronts) {
  /** @type {Map<number, number>} */
  const counts = new Map()
  for (const [at, front] of fronts.entries()) {
    const step = at === 0 ? 0 : front.length - fronts[at - 1].length
    if (step > 1) counts.set(step, (counts.get(step) ?? 0) + 1)
  }
  const [[unit] = [2]] = [...counts].sort((one, other) => other[1] - one[1])
  return unit
}

/** @param {Parts} parts @param {string} unit */
const written = ({ depth, rest }, unit) => unit.repeat(depth) + rest

/** @param {string} line @param {Random} random */
const trailed = (line, random) =>
  line.trim() !== '' && random.below(3) === 0 ? line + random.pick([' ', '  ', '\t']) : line

/**
 * @param {TextFile} file
 * @param {Random} random
 * @returns {Generator<Case>}
 */
export function* reindentedCases({ source, path, text }, random) {
  if (text.lines.length < LEAST_LINES) return
  for (const [name, before, after] of formsOf(path, text.lines, random)) {
    const old = { ...text, lines: before }
    const kept = after.map((line, id) => ({ text: line, id }))
    const names = { scenario: `re-indented: ${name}`, source, change: 'none', path }
    if (withLines(old, before) === withLines(old, after)) continue
    yield* casesOfLines(names, old, kept, random, CASES_OF_A_TEXT / 2)
    const change = random.pick(OTHERS)
    const lines = after.map((line, id) => ({ text: line, id }))
    const count = 1 + random.below(Math.min(MOST_BLOCK, lines.length - 1))
    CHANGES[change](lines, random.below(lines.length - count + 1), count, random)
    const scenario = `${names.scenario}, and another change`
    yield* casesOfLines({ ...names, scenario, change }, old, lines, random, CASES_OF_A_TEXT / 2)
  }
}

/**
 * One re-indentation of a text and one change of the whitespace at the ends of lines: the name, the
 * lines before and after.
 * @param {string} path
 * @param {string[]} lines
 * @param {Random} random
 * @returns {Generator<[string, string[], string[]]>}
 */
function* formsOf(path, lines, random) {
  const parts = WITH_TABS.test(path) ? undefined : partsOf(lines)
  const fitting = Object.keys(UNITS).filter(
    (name) => !(WITHOUT_TABS.test(path) && name.includes('tabs')),
  )
  if (parts) {
    const name = random.pick(fitting)
    const { from, to } = UNITS[name]
    yield [name, parts.map((part) => written(part, from)), parts.map((part) => written(part, to))]
  }
  const bare = lines.map((line) => line.trimEnd())
  const trailing = bare.map((line) => trailed(line, random))
  if (random.below(2) === 0) yield ['trailing whitespace added', bare, trailing]
  else yield ['trailing whitespace removed', trailing, bare]
}
