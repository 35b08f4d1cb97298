// `npm run tokens`: what a model reads and writes for an edit, and what it is answered, in several
// schemes, in bytes and tokens, and what two whole tasks take. It also counts the edits that apply
// after the file moved on. Edits are hunks of this repository's own commits, drawn at random.
//
//   --cases N   so many edits: 200
//   --seed TEXT draws others
//   --tasks     measures the whole tasks alone
//   --write     writes bench/tokens.md

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPackages } from '../../scripts/packages.mjs'
import { changesIn, pairsOfRepository } from '../edit/history/git.mjs'
import { randomFrom } from '../edit/history/random.mjs'
import { caseOf } from '../misplacement/cases.mjs'
import { exactSubject } from '../misplacement/subjects/exact.mjs'
import { programSubjects } from '../misplacement/subjects/programs.mjs'
import { publishedSubjectIn } from '../misplacement/subjects/published.mjs'
import { sessionSubjects } from '../misplacement/subjects/session.mjs'
import { resultsOf } from '../misplacement/subjects/subject.mjs'
import { pageOf, sectionOf, WHOLE_TASKS } from './page.mjs'
import { schemesIn } from './schemes.mjs'
import { measuredTasks } from './tasks.mjs'

/** @import { Case } from '../misplacement/cases.mjs' */
/** @import { Row } from './page.mjs' */

const root = fileURLToPath(new URL('../../', import.meta.url))
const packages = fileURLToPath(new URL('packages', import.meta.url))
const page = fileURLToPath(new URL('../tokens.md', import.meta.url))

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    tasks: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

/** Around each operation so many lines are read. */
const LINES_AROUND = 30
const MAX_COMMITS = 7000
const MAX_BYTES = 400_000

const lacking = installPackages(packages)
if (lacking !== undefined) throw new Error(lacking)
const { countTokens } = await import(
  `${packages}/node_modules/gpt-tokenizer/esm/encoding/o200k_base.js`
)

const tasks = await measuredTasks(root, (text) => countTokens(text))
const text = values.tasks ? pageWithTasks() : await wholePage()
if (values.write) writeFileSync(page, text)
else console.log(text)

/** The page as it is, with the tasks measured anew. */
function pageWithTasks() {
  const before = readFileSync(page, 'utf8').split(`\n${WHOLE_TASKS}`)[0]
  return `${before.trimEnd()}\n\n${sectionOf(tasks)}`
}

async function wholePage() {
  // Before the cases are drawn: others may commit meanwhile.
  const head = execFileSync('git', ['-C', root, 'rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
  })
  const cases = await drawnCases(Number(values.cases))
  /** @type {Row[]} */
  const rows = []
  for (const scheme of schemesIn(packages)) rows.push(await measured(scheme, cases))
  const about = { cases: cases.length, commit: head.trim(), linesAround: LINES_AROUND }
  return pageOf(rows, tasks, about)
}

/**
 * One hunk of each of so many changes of files that have several hunks: the others are made by
 * somebody else while the model edits.
 * @param {number} count
 */
async function drawnCases(count) {
  const random = randomFrom(values.seed, 'tokens')
  const changes = await changesIn(root, MAX_COMMITS)
  /** @type {Case[]} */
  const drawn = []
  const repository = { name: 'this repository', path: root }
  for (const pair of pairsOfRepository(repository, changes, random, { maxBytes: MAX_BYTES })) {
    drawn.push(caseOf(pair, 'tokens', [random.below(pair.hunks.length)], 0))
    if (drawn.length === count) return drawn
  }
  throw new Error(`there are only ${drawn.length} changes with several hunks, not ${count}`)
}

/** The lines that are read for an edit. @param {Case} one */
function windowOf({ operations: [edit], oldLines }) {
  const [first, last] = 'after' in edit ? [edit.after, edit.after] : [edit.first, edit.last]
  const to = Math.min(oldLines.length, last + LINES_AROUND)
  return { from: Math.max(1, first - LINES_AROUND), to }
}

/** @param {ReturnType<typeof schemesIn>[number]} scheme @param {Case[]} cases @returns {Promise<Row>} */
async function measured({ name, subject, read, write, answers }, cases) {
  const reads = cases.map((one) => read(one, windowOf(one).from, windowOf(one).to))
  const writes = cases.map(write)
  const calls = cases.map((one, at) => {
    const { path, old } = one
    return { path, old, ...windowOf(one), args: writes[at] }
  })
  const answered = await answers(calls)
  const results = resultsOf(subjectOf(subject), cases)
  const isRight = (/** @type {number} */ at) => {
    const result = results[at]
    return result.status === 'applied' && result.text === cases[at].truth
  }
  const applied = results.filter(({ status }) => status === 'applied').length
  const right = results.filter((_, at) => isRight(at)).length
  const sizes = { read: sizeOf(reads), write: sizeOf(writes), answer: sizeOf(answered) }
  return { name, ...sizes, right, wrong: applied - right }
}

/** @param {string[]} texts */
function sizeOf(texts) {
  const bytes = texts.map((text) => Buffer.byteLength(text))
  const tokens = texts.map((text) => countTokens(text))
  return { bytes: meanOf(bytes), tokens: meanOf(tokens), medianTokens: medianOf(tokens) }
}

/** @param {number[]} numbers */
function meanOf(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

/** @param {number[]} numbers */
function medianOf(numbers) {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1]
}

/** @param {string} name */
function subjectOf(name) {
  const all = [...sessionSubjects, exactSubject, ...programSubjects, publishedSubjectIn(packages)]
  const found = all.find((subject) => subject.name === name)
  if (!found) throw new Error(`no subject ${name}`)
  return found
}
