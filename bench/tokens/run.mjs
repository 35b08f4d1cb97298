// `npm run bench -- tokens [name=]repository …`: the tokens of whole tasks, for several edit
// schemes. Tasks are commits and functions of git repositories (by default this one), drawn at
// random.
//
//   --commits N commits in total: 200
//   --seed TEXT draws others
//   --outputs   only the tasks that start from the output of a tool, without repositories
//   --write     writes bench/tokens.md, or with --outputs the sections of these tasks

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPackages } from '../../scripts/packages.mjs'
import { randomFrom } from '../edit/history/random.mjs'
import { changeOf, functionsIn, pairsIn } from './draw.mjs'
import { pageOf, withSections } from './page.mjs'
import { diff } from './players/diff.mjs'
import { exact } from './players/exact.mjs'
import { hashline } from './players/hashline.mjs'
import { publishedIn } from './players/published.mjs'
import { arrows, numbered, plain } from './players/views.mjs'
import { editing, finding, fixing, moving } from './tasks.mjs'

/** @import { Found } from './draw.mjs' */
/** @import { Row } from './page.mjs' */
/** @import { Exchange, Scheme } from './players/player.mjs' */
/** @import { End, Task } from './tasks.mjs' */

const root = fileURLToPath(new URL('../../', import.meta.url))
const packages = fileURLToPath(new URL('packages', import.meta.url))
const page = fileURLToPath(new URL('../tokens.md', import.meta.url))
const MOST_MOVED = 100
const MOST_FOUND = 50

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commits: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    outputs: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const named = positionals.length > 0 ? positionals : [`${basename(root)}=${root}`]
const repositories = named.map((argument) => {
  const [path, name] = argument.split('=').reverse()
  return { name: name ?? basename(path), path }
})

const lacking = installPackages(packages)
if (lacking !== undefined) throw new Error(lacking)
const modules = `${packages}/node_modules`
const { countTokens } = await import(`${modules}/gpt-tokenizer/esm/encoding/o200k_base.js`)
const { default: llama3 } = await import(
  `${modules}/llama3-tokenizer-js/bundle/llama3-tokenizer-with-baked-data.js`
)
/** Special tokens at the ends of a text are not counted. */
const ONLY_TEXT = { bos: false, eos: false }
/** @type {((text: string) => number)[]} */
const tokenizers = [(text) => countTokens(text), (text) => llama3.encode(text, ONLY_TEXT).length]

/** @type {Scheme[]} */
const schemes = [
  hashline('anchors', {}),
  hashline('anchors, `answer: region`', { answer: 'region' }),
  hashline('anchors, `dialect: pi`', { dialect: 'pi' }),
  exact('exact text over plain text', plain),
  exact('exact text over `cat -n`', numbered),
  exact('exact text over `1→`', arrows),
  diff,
  publishedIn(packages),
]

/** Outputs as the tools printed them. */
const failures = readFileSync(new URL('failures.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((row) => JSON.parse(row))
const fixes = [
  fixing('from the output of a tool to the edit, with reads of whole files', failures, 'whole'),
  fixing('from the output of a tool to the edit, with reads of 30 lines', failures, 'near'),
  fixing('from the output of a tool to the edit, quoting the output', failures, 'quoted'),
]
const drawn = values.outputs ? [] : await tasksOf(randomFrom(values.seed, 'tokens'))
const tasks = [...drawn, ...fixes]
/** @type {Row[]} */
const rows = []
for (const task of tasks) {
  for (const scheme of [...schemes, ...(task.schemes ?? [])]) rows.push(await rowOf(task, scheme))
}
for (const { end } of schemes) end?.()
const text = values.outputs ? withSections(readFileSync(page, 'utf8'), rows, tasks) : wholePage()
if (values.write) writeFileSync(page, text)
else console.log(text)

function wholePage() {
  const heads = repositories.map(({ name, path }) => {
    const args = ['-C', path, 'rev-parse', '--short=10', 'HEAD']
    return `${name} at ${execFileSync('git', args, { encoding: 'utf8' }).trim()}`
  })
  return pageOf(rows, tasks, { heads, seed: values.seed, commits: Number(values.commits) })
}

/** @param {ReturnType<typeof randomFrom>} random @returns {Promise<Task[]>} */
async function tasksOf(random) {
  const pairs = []
  /** @type {Found[]} */
  const moved = []
  /** @type {Found[]} */
  const found = []
  for (const [at, repository] of repositories.entries()) {
    const share = Math.floor((Number(values.commits) + at) / repositories.length)
    pairs.push(...(await pairsIn(repository, random, share)))
    const functions = functionsIn(repository)
    moved.push(...functions.moved)
    found.push(...functions.found)
  }
  const all = pairs.map(({ hunks }) => [...hunks.keys()])
  const halves = all.map((hunks) => {
    const shuffled = random.shuffled(hunks)
    const own = shuffled.slice(0, hunks.length >> 1).sort((one, other) => one - other)
    return { own, others: hunks.filter((at) => !own.includes(at)) }
  })
  return [
    editing(
      'one edit',
      pairs.map((pair, at) => changeOf(pair, [random.pick(all[at])], [])),
    ),
    editing(
      'all edits of a commit in a file',
      pairs.map((pair, at) => changeOf(pair, all[at], [])),
    ),
    editing(
      'half of them, after others have made the other half',
      pairs.map((pair, at) => changeOf(pair, halves[at].own, halves[at].others)),
    ),
    moving('a function moved to another file', random.shuffled(moved).slice(0, MOST_MOVED)),
    finding('a function found and changed', random.shuffled(found).slice(0, MOST_FOUND)),
  ]
}

/** @param {Task} task @param {Scheme} scheme @returns {Promise<Row>} */
async function rowOf(task, scheme) {
  /** @type {Record<End, number>} */
  const ends = { right: 0, wrong: 0, refused: 0 }
  const sums = tokenizers.map(() => ({ read: 0, write: 0, answer: 0 }))
  const given = tokenizers.map((count) => mean(task.outputs ?? [], count))
  let [rounds, calls, atOnce] = [0, 0, 0]
  for (let at = 0; at < task.count; at++) {
    const { reads, edits, end } = await task.play(scheme, at)
    ends[end]++
    rounds += edits.length
    const ofCase = reads.filter(({ args }) => args !== '').length + edits.length
    calls += ofCase
    atOnce += ofCase === 1 && end === 'right' ? 1 : 0
    for (const [which, count] of tokenizers.entries()) {
      const sum = (/** @type {string[]} */ texts) => texts.reduce((all, one) => all + count(one), 0)
      sums[which].read += sum(reads.flatMap(({ args, text }) => [args, text]))
      sums[which].write += sum(edits.map(({ args }) => args))
      sums[which].answer += sum(edits.map(({ text }) => text))
    }
  }
  const tokens = sums.map(({ read, write, answer }) => ({
    read: read / task.count,
    write: write / task.count,
    answer: answer / task.count,
  }))
  const means = { rounds: rounds / task.count, calls: calls / task.count }
  return { task: task.name, scheme: scheme.name, tokens, given, ends, atOnce, ...means }
}

/** @param {string[]} texts @param {(text: string) => number} count */
function mean(texts, count) {
  return texts.reduce((sum, text) => sum + count(text), 0) / Math.max(1, texts.length)
}
