// `npm run bench -- misplacement [name=]repository …`: how often an edit with anchors of an older
// version is applied at the wrong place. It measures commits of git repositories (by default this
// one), releases of npm packages, random changes, formatted files and unchanged files.
//
//   --family commits,releases,synthetic,formatted,unchanged   only these
//   --without-packages installs no packages and draws the cases from commits alone
//   --only TEXT        only subjects whose name contains it; may be given several times
//   --limit N          the most cases of commits or releases from each source
//   --sample N         the number of cases of each scenario for subjects that start a process for
//                      each; the main subjects get all cases, the others ten times this number
//   --commits N        the newest commits of each repository
//   --max-bytes N      no larger files
//   --seed TEXT        draws other cases
//   --wrong FILE       writes every wrong result as a line of JSON
//
//   --write            writes bench/misplacement.md, as a run without options does

import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { changesIn, pairsOfRepository } from '../edit/history/git.mjs'
import { randomFrom } from '../edit/history/random.mjs'
import { casesOf } from './cases.mjs'
import { formattedCases } from './formatters.mjs'
import { measure } from './measure.mjs'
import { changesOfPackage, install, packages, pairsOfPackage } from './releases.mjs'
import { ON_PAGE, tables, writePage } from './report.mjs'
import { exactSubject } from './subjects/exact.mjs'
import { plainSubjects } from './subjects/plain.mjs'
import { programSubjects } from './subjects/programs.mjs'
import { publishedSubject } from './subjects/published.mjs'
import { sessionSubjects } from './subjects/session.mjs'
import { shownSubjects } from './subjects/shown.mjs'
import { syntheticCases } from './synthetic.mjs'
import { unchangedCases } from './unchanged.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Subject } from './subjects/subject.mjs' */

/**
 * The origin of pairs.
 * @typedef {object} Source
 * @property {string} name
 * @property {'commits' | 'releases'} family
 * @property {(random: Random) => Iterable<Pair>} pairs
 */

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = fileURLToPath(new URL('../misplacement.md', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    family: { type: 'string', default: 'commits,releases,synthetic,formatted,unchanged' },
    'without-packages': { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    limit: { type: 'string', default: '4000' },
    sample: { type: 'string', default: '500' },
    commits: { type: 'string', default: '7000' },
    'max-bytes': { type: 'string', default: '400000' },
    seed: { type: 'string', default: '1' },
    wrong: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [limit, sample, commits, maxBytes] = [
  number('limit'),
  number('sample'),
  number('commits'),
  number('max-bytes'),
]
const families = values.family.split(',')
const withPackages = !values['without-packages'] && values.family !== 'commits'
const isWritten =
  values.write || !process.argv.slice(2).some((argument) => argument.startsWith('-'))

/** @param {'limit' | 'sample' | 'commits' | 'max-bytes'} option */
function number(option) {
  const value = Number(values[option])
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`--${option} takes a whole number from 1, not ${values[option]}`)
}

/** @returns {{ name: string, path: string }[]} */
function repositories() {
  const named = positionals.length > 0 ? positionals : [`${basename(root)}=${root}`]
  return named.map((argument) => {
    const [path, name] = argument.split('=').reverse()
    return { name: name ?? nameOf(path), path }
  })
}

/** The dependencies of the families. */
async function sources() {
  /** @type {Source[]} */
  const found = []
  for (const repository of values.family === 'releases' ? [] : repositories()) {
    const changes = await changesIn(repository.path, commits)
    found.push({
      name: repository.name,
      family: 'commits',
      pairs: (random) => pairsOfRepository(repository, changes, random, { maxBytes }),
    })
  }
  for (const one of withPackages ? packages() : []) {
    const changes = await changesOfPackage(one)
    found.push({
      name: one.name,
      family: 'releases',
      pairs: (random) => pairsOfPackage(one.name, changes, random, { maxBytes }),
    })
  }
  return found
}

/** The last meaningful part of a path. @param {string} path @returns {string} */
function nameOf(path) {
  const name = basename(resolve(path))
  return ['repo', '.git'].includes(name) ? nameOf(dirname(resolve(path))) : name
}

/**
 * Cases of all sources in turns, at most `most` of each.
 * @param {Source[]} from
 * @param {string} purpose
 * @param {number} most
 * @param {(pair: Pair, random: Random, source: Source) => Iterable<Case> | AsyncIterable<Case>}
 * make @returns {AsyncGenerator<Case>}
 */
async function* byTurns(from, purpose, most, make) {
  let open = from.map((source) => {
    const random = randomFrom(values.seed, `${purpose} ${source.name}`)
    const pairs = source.pairs(random)[Symbol.iterator]()
    return { source, random, pairs, left: most }
  })
  while (open.length > 0) {
    for (const turn of open) {
      const { value: pair, done } = turn.pairs.next()
      if (done) turn.left = 0
      if (!pair) continue
      for await (const one of make(pair, turn.random, turn.source)) {
        if (turn.left-- > 0) yield one
      }
    }
    open = open.filter(({ left }) => left > 0)
  }
}

/**
 * @param {Source[]} all
 * @returns {AsyncGenerator<Case>}
 */
async function* allCases(all) {
  const share = (/** @type {number} */ count) => Math.ceil(count / all.length)
  for (const family of /** @type {const} */ (['commits', 'releases'])) {
    if (!families.includes(family)) continue
    const from = all.filter((source) => source.family === family)
    yield* byTurns(from, family, limit, (pair, random) => casesOf(pair, random, family))
  }
  if (families.includes('synthetic')) {
    yield* byTurns(all, 'synthetic', share(10 * limit), syntheticCases)
  }
  if (families.includes('formatted')) {
    yield* byTurns(all, 'formatted', share(3 * sample), formattedCases)
  }
  if (families.includes('unchanged')) {
    yield* byTurns(all, 'unchanged', share(50 * limit), unchangedCases)
  }
}

/** @returns {Subject[]} */
function subjects() {
  const installed = programSubjects.filter(({ name }) => {
    const { error } = spawnSync(name.split(' ')[0], ['--version'], { stdio: 'ignore' })
    if (error) console.error(`not measured: ${name}: ${error.message}`)
    return !error
  })
  if (sessionSubjects.length === 0) console.error('not measured: sessions, which this build lacks')
  const plain = [...plainSubjects, ...shownSubjects]
  const all = [...sessionSubjects, ...plain, exactSubject, ...installed, publishedSubject]
  const { only } = values
  return all.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)))
}

/**
 * Writes lines of JSON into a file that gets its name only when it is complete.
 * @param {string | undefined} path
 */
function jsonLines(path) {
  if (path === undefined) return undefined
  const unfinished = `${path}.new`
  const file = openSync(unfinished, 'w')
  return {
    write: (/** @type {object} */ value) => writeSync(file, `${JSON.stringify(value)}\n`),
    end: () => {
      closeSync(file)
      renameSync(unfinished, path)
    },
  }
}

/** A case as a line of JSON. @param {Case} one */
function plainCase({ oldLines, mispaired, formatted, ...rest }) {
  return {
    ...rest,
    ...(mispaired && { mispaired: [...mispaired] }),
    ...(formatted && { formatter: formatted.formatter.name, truthFormatted: formatted.truth }),
  }
}

function origin() {
  const heads = repositories().map(({ name, path }) => {
    const args = ['-C', path, 'rev-parse', '--short=10', 'HEAD']
    return `${name} at ${execFileSync('git', args, { encoding: 'utf8' }).trim()}`
  })
  const releases = (withPackages ? packages() : []).map(
    ({ releases }) => `${releases[0]} to ${releases.at(-1)}`,
  )
  return [
    `Commits: ${heads.join(', ')}.`,
    ...(withPackages ? [`Releases: ${releases.join(', ')}.`] : []),
    `Seed ${values.seed}, limit ${limit}, sample ${sample}, Node ${process.version}, ${process.platform}.`,
  ].join('\n\n')
}

if (withPackages) install()
const cases = allCases(await sources())
const measured = subjects()
const wrong = jsonLines(values.wrong)
try {
  const tallies = await measure(cases, measured, {
    most: { main: Number.POSITIVE_INFINITY, usual: 10 * sample, slow: sample },
    onWrong: ({ subject, one, text }) =>
      wrong?.write({ subject: subject.name, ...plainCase(one), got: text }),
  })
  console.log(`${origin()}\n\n${tables(tallies)}`)
  if (isWritten) writePage(page, `${origin()}\n\n${tables(tallies, ON_PAGE)}`)
} finally {
  for (const { end } of measured) end?.()
  wrong?.end()
}
