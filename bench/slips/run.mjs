// `npm run bench -- slips [name=]repository …`: the verdicts on edits with mistakes of models, and
// on correct ones. Edits are hunks of commits of git repositories (by default this one), applied
// separately to the file before the commit.
//
//   --limit N     the most hunks of each repository and language: 200
//   --commits N   the newest commits of each repository
//   --seed TEXT   draws other hunks
//   --silent FILE writes mistakes that passed in silence as lines of JSON
//   --harmed FILE writes correct edits that were changed or reported as lines of JSON
//   --write       writes bench/slips.md

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { changesIn, pairsOfRepository } from '../edit/history/git.mjs'
import { randomFrom } from '../edit/history/random.mjs'
import { edited, withLines } from '../edit/history/text.mjs'
import { languageOf } from '../edit/tasks/languages.mjs'
import { Judge } from './judge.mjs'
import { parses } from './parsers.mjs'
import { replayRecorded } from './recorded.mjs'
import { pageOf, Tallies } from './report.mjs'
import { copyingMistakesOf, meantEdit, mistakesOf } from './slips.mjs'

/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = fileURLToPath(new URL('../slips.md', import.meta.url))
const MAX_BYTES = 256 << 10

/** The most hunks of one file in one commit. */
const HUNKS_OF_A_PAIR = 3

/** Languages in which no tasks are made, by file extension. @type {Record<string, string>} */
const DATA = {
  '.bash': 'Shell',
  '.css': 'CSS',
  '.dart': 'Dart',
  '.ex': 'Elixir',
  '.exs': 'Elixir',
  '.gradle': 'Groovy',
  '.graphql': 'GraphQL',
  '.groovy': 'Groovy',
  '.h': 'C',
  '.hcl': 'Terraform',
  '.hpp': 'C++',
  '.htm': 'HTML',
  '.html': 'HTML',
  '.json': 'JSON',
  '.kts': 'Kotlin',
  '.less': 'Less',
  '.md': 'Markdown',
  '.proto': 'Protobuf',
  '.ps1': 'PowerShell',
  '.psm1': 'PowerShell',
  '.rake': 'Ruby',
  '.rdoc': 'text',
  '.sbt': 'Scala',
  '.scss': 'SCSS',
  '.sql': 'SQL',
  '.svelte': 'Svelte',
  '.tf': 'Terraform',
  '.toml': 'TOML',
  '.tpl': 'templates',
  '.txt': 'text',
  '.xml': 'XML',
  '.yaml': 'YAML',
  '.yml': 'YAML',
  Dockerfile: 'Dockerfile',
}

/** @param {string} path */
const measuredLanguageOf = (path) => languageOf(path) ?? DATA[extname(path) || basename(path)]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: 'string', default: '200' },
    commits: { type: 'string', default: '7000' },
    seed: { type: 'string', default: '1' },
    silent: { type: 'string' },
    harmed: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [limit, commits] = [values.limit, values.commits].map(Number)
const named = positionals.length > 0 ? positionals : [`${basename(root)}=${root}`]
const repositories = named.map((argument) => {
  const [path, name] = argument.split('=').reverse()
  return { name: name ?? basename(path), path }
})
const tallies = new Tallies()
/** @type {string[]} */
const silent = []
/** @type {string[]} */
const harmed = []
const scratchDir = mkdtempSync(join(tmpdir(), 'hashline-slips-'))
/** @type {ReturnType<typeof replayRecorded>} */
let recorded
try {
  recorded = replayRecorded(scratchDir)
  for (const repository of repositories) await measure(repository)
} finally {
  rmSync(scratchDir, { recursive: true, force: true })
}
const heads = repositories.map(({ name, path }) => {
  const args = ['-C', path, 'rev-parse', '--short=10', 'HEAD']
  return `${name} at ${execFileSync('git', args, { encoding: 'utf8' }).trim()}`
})
const text = pageOf(
  tallies,
  recorded,
  `Commits: ${heads.join(', ')}. Seed ${values.seed}, limit ${limit}.`,
)
if (values.write) writeFileSync(page, text)
else console.log(text)
if (values.silent) writeFileSync(values.silent, silent.join(''))
if (values.harmed) writeFileSync(values.harmed, harmed.join(''))

/** @param {{ name: string, path: string }} repository */
async function measure(repository) {
  const changes = await changesIn(repository.path, commits, 1)
  const known = changes.filter(({ path }) => measuredLanguageOf(path) !== undefined)
  const random = randomFrom(values.seed, `slips ${repository.name}`)
  /** @type {Map<string, number>} */
  const left = new Map()
  for (const pair of pairsOfRepository(repository, known, random, { maxBytes: MAX_BYTES })) {
    const language = measuredLanguageOf(pair.path) ?? ''
    const room = left.get(language) ?? limit
    if (room <= 0) continue
    const judge = new Judge(pair, scratchDir)
    const at = random.shuffled([...pair.hunks.keys()]).slice(0, Math.min(HUNKS_OF_A_PAIR, room))
    left.set(language, room - at.length)
    measureWhole(judge, pair, language)
    for (const hunk of at) measureHunk(judge, pair, hunk, language, random)
  }
}

/**
 * All hunks of a commit in one patch.
 * @param {Judge} judge
 * @param {Pair} pair
 * @param {string} language
 */
function measureWhole(judge, pair, language) {
  const edits = pair.hunks.map((_, at) => meantEdit(pair, at))
  measureCorrect('whole commit', judge, pair, language, edits)
}

/**
 * @param {string} what
 * @param {Judge} judge
 * @param {Pair} pair
 * @param {string} language
 * @param {import('../edit/history/text.mjs').Edit[]} edits
 */
function measureCorrect(what, judge, { source, change, path }, language, edits) {
  const truth = judge.judge(edits, true)
  const verdict = judge.judge(edits)
  const kind = `correct: ${what}`
  count(language, kind, verdict, truth.snapshot)
  if (verdict.reported || verdict.snapshot !== truth.snapshot) {
    const { codes, repairs } = verdict
    harmed.push(
      `${JSON.stringify({ kind, language, source, change, path, codes, repairs, edits })}\n`,
    )
  }
  return truth
}

/**
 * @param {Judge} judge
 * @param {Pair} pair
 * @param {number} at
 * @param {string} language
 * @param {Random} random
 */
function measureHunk(judge, pair, at, language, random) {
  const meant = meantEdit(pair, at)
  const around = meantEdit(pair, at, 1 + random.below(3))
  const truth = measureCorrect('one hunk', judge, pair, language, [meant])
  measureCorrect('one hunk with context', judge, pair, language, [around])
  if (truth.syntax !== 'broken') {
    for (const { meant: wanted, ...mistake } of copyingMistakesOf(meant, around, judge)) {
      const { snapshot } = judge.judge([wanted], true, mistake.form)
      measureMistake(judge, pair, language, wanted, snapshot, mistake)
    }
  }
  // If the file, or the file with this hunk, does not parse, there is no verdict.
  if (truth.syntax !== 'ok') return
  for (const mistake of mistakesOf(meant, pair.old.lines, random)) {
    measureMistake(judge, pair, language, meant, truth.snapshot, mistake)
  }
}

/**
 * @param {Judge} judge
 * @param {Pair} pair
 * @param {string} language
 * @param {import('../edit/history/text.mjs').Edit} meant
 * @param {string | undefined} wanted the snapshot of the intended file
 * @param {import('./slips.mjs').Mistake} mistake
 */
function measureMistake(judge, pair, language, meant, wanted, { mistake, edit, form }) {
  const exact = judge.judge([edit], true, form)
  if (exact.snapshot === wanted || exact.snapshot === 'unchanged') return
  const verdict = judge.judge([edit], false, form)
  count(language, mistake, verdict, wanted)
  if (verdict.suggested) {
    const right = judge.judge([verdict.suggested], true).snapshot === wanted
    tallies.of(language, mistake)[right ? 'suggestedRight' : 'suggestedWrong']++
  }
  if (!verdict.reported && verdict.snapshot !== wanted) {
    const { source, change, path, old } = pair
    const parsed = parses(language, withLines(old, edited(old.lines, [edit])), scratchDir)
    if (parsed !== undefined) tallies.of(language, mistake)[parsed ? 'valid' : 'broken']++
    silent.push(`${JSON.stringify({ mistake, source, change, path, meant, edit })}\n`)
  }
}

/**
 * @param {string} language
 * @param {string} kind
 * @param {import('./judge.mjs').Verdict} verdict
 * @param {string | undefined} truth
 */
function count(language, kind, verdict, truth) {
  const tally = tallies.of(language, kind)
  tally.all++
  if (verdict.reported) {
    tally.reported++
    for (const code of new Set(verdict.codes)) {
      tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1)
    }
  } else if (verdict.snapshot === truth) tally.right++
  else tally.silent++
}
