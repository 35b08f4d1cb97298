// `npm run bench -- misplacement [repository …]`: how often an edit with anchors of an older version
// is applied at the wrong place. A repository is `[name=]directory`, or a name of the list in
// corpus.mjs; without any, all of the list are measured. Those of the list are cloned on first use.
//
//   --family NAME,…    only these: commits, releases, synthetic, reindented, formatted, long, hunks,
//                      unchanged
//   --without-packages installs no packages and draws the cases from repositories alone
//   --only TEXT        only the subject of this name, or those whose names contain it; may be
//                      given several times
//   --limit N          the most cases of commits, releases and hunks from each source; of other
//                      families a multiple of it
//   --sample N         the number of cases of each scenario for subjects that start a process for
//                      each; the main subjects get all cases, the others ten times this number
//   --commits N        the newest commits of each repository
//   --max-bytes N      no larger files
//   --seed TEXT        draws other cases
//   --from URL         where the repositories of the list are cloned from: https://github.com/
//   --wrong FILE       writes every wrong result as a line of JSON
//   --refused FILE     writes refusals likewise: of cases that have a right place, and those that do not
//                      show the lines meant
//
//   --write            writes the measured parts of bench/misplacement.md, as a run without options
//                      does

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { changesIn, markUnsure, pairsOfRepository } from '../edit/history/git.mjs'
import { randomFrom } from '../edit/history/random.mjs'
import { casesOf } from './cases.mjs'
import { COMMITS, filesOf, repositories } from './corpus.mjs'
import { formattedCases, installedFormatters } from './formatters.mjs'
import { measureLong } from './long.mjs'
import { isShown, measure, Tallies } from './measure.mjs'
import { reindentedCases } from './reindented.mjs'
import { changesOfPackage, install, packages, pairsOfPackage } from './releases.mjs'
import { ON_PAGE, OTHERS, SESSION, sessionTables, tables, writePage } from './report.mjs'
import { exactSubject } from './subjects/exact.mjs'
import { plainSubjects } from './subjects/plain.mjs'
import { programSubjects } from './subjects/programs.mjs'
import { publishedSubject } from './subjects/published.mjs'
import { sessionSubjects } from './subjects/session.mjs'
import { shownSubjects } from './subjects/shown.mjs'
import { syntheticCases } from './synthetic.mjs'
import { hunkCases, unchangedCases } from './unchanged.mjs'

/** @import { Case } from './cases.mjs' */
/** @import { TextFile } from './corpus.mjs' */
/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Subject } from './subjects/subject.mjs' */

/**
 * The origin of texts. Its changes take much memory, so there is one at a time.
 * @typedef {object} Source
 * @property {string} name
 * @property {'commits' | 'releases'} family
 * @property {(random: Random) => Iterable<Pair>} pairs
 * @property {(random: Random) => Iterable<TextFile>} files
 */
/**
 * @typedef {object} Family
 * @property {number} share of the limit, for each source
 * @property {(source: Source, random: Random) => Iterable<Case>} cases
 */

const page = fileURLToPath(new URL('../misplacement.md', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    family: {
      type: 'string',
      default: 'commits,releases,synthetic,reindented,formatted,long,hunks,unchanged',
    },
    'without-packages': { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    limit: { type: 'string', default: '1000' },
    sample: { type: 'string', default: '100' },
    commits: { type: 'string', default: '2000' },
    'max-bytes': { type: 'string', default: '400000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: 'https://github.com/' },
    wrong: { type: 'string' },
    refused: { type: 'string' },
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
const needsChanges = families.some((name) => !['reindented', 'formatted', 'long'].includes(name))
const withPackages = !values['without-packages'] && values.family !== 'commits'
const isWritten =
  values.write || !process.argv.slice(2).some((argument) => argument.startsWith('-'))

/** @param {'limit' | 'sample' | 'commits' | 'max-bytes'} option */
function number(option) {
  const value = Number(values[option])
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`--${option} takes a whole number from 1, not ${values[option]}`)
}

/**
 * @template Item
 * @param {Iterable<Item>} items
 * @param {(item: Item) => Iterable<Case>} make
 * @returns {Generator<Case>}
 */
function* each(items, make) {
  for (const item of items) yield* make(item)
}

/** @param {(pair: Pair, random: Random) => Iterable<Case>} make @returns {Family['cases']} */
const ofPairs = (make) => (source, random) =>
  each(source.pairs(random), (pair) => make(pair, random))

/** The families whose cases are drawn from every source. @type {Record<string, Family>} */
const FAMILIES = {
  synthetic: { share: 2, cases: ofPairs(syntheticCases) },
  reindented: {
    share: 2,
    cases: (source, random) => each(source.files(random), (file) => reindentedCases(file, random)),
  },
  hunks: { share: 1, cases: ofPairs(hunkCases) },
  unchanged: { share: 2, cases: ofPairs(unchangedCases) },
}
/** The cases of each formatter. */
const FORMATTED_SHARE = 0.5

/** @param {import('./corpus.mjs').Repository[]} from @returns {AsyncGenerator<Source>} */
async function* sources(from) {
  for (const repository of from) {
    const changes = needsChanges ? await changesIn(repository.path, commits) : []
    if (families.includes('commits')) await markUnsure(repository.path, commits, changes)
    yield {
      name: repository.name,
      family: 'commits',
      pairs: (random) => pairsOfRepository(repository, changes, random, { maxBytes }),
      files: (random) => filesOf(repository, random, { maxBytes }),
    }
  }
  for (const one of withPackages ? packages() : []) {
    const changes = await changesOfPackage(one)
    yield {
      name: one.name,
      family: 'releases',
      pairs: (random) => pairsOfPackage(one.name, changes, random, { maxBytes }),
      files: () => [],
    }
  }
}

/**
 * @param {Iterable<Case> | AsyncIterable<Case>} cases
 * @param {number} most
 */
async function* first(cases, most) {
  let left = Math.ceil(most)
  for await (const one of cases) {
    if (left-- <= 0) return
    yield one
  }
}

/** @param {Source} source @returns {AsyncGenerator<Case>} */
async function* allCases(source) {
  const randomOf = (/** @type {string} */ purpose) =>
    randomFrom(values.seed, `${purpose} ${source.name}`)
  const { family } = source
  if (families.includes(family)) {
    const random = randomOf(family)
    const cases = ofPairs((pair) => casesOf(pair, random, family))(source, random)
    yield* first(cases, limit)
  }
  for (const [name, { share, cases }] of Object.entries(FAMILIES)) {
    if (families.includes(name)) yield* first(cases(source, randomOf(name)), share * limit)
  }
  for (const formatter of formatters) {
    const random = randomOf(formatter.name)
    const cases = formattedCases(formatter, source.files(random), random)
    yield* first(cases, FORMATTED_SHARE * limit)
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
  const isChosen = (/** @type {string} */ name) =>
    values.only.some((part) => {
      const isName = all.some((other) => other.name === part)
      return isName ? name === part : name.includes(part)
    })
  return all.filter(({ name }) => values.only.length === 0 || isChosen(name))
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
const plainCase = ({ oldLines, mispaired, ...rest }) => ({
  ...rest,
  ...(mispaired && { mispaired: [...mispaired] }),
})

/** @param {import('./corpus.mjs').Repository[]} from */
function origin(from) {
  const isList =
    from.length === Object.keys(COMMITS).length &&
    from.every(({ name, commit }) => COMMITS[name] === commit)
  const heads = from.map(({ name, commit }) => `${name} at ${commit.slice(0, 10)}`)
  const releases = (withPackages ? packages() : []).map(
    ({ releases }) => `${releases[0]} to ${releases.at(-1)}`,
  )
  const memory = (process.resourceUsage().maxRSS / 2 ** 20).toFixed(1)
  return [
    isList ? `All ${from.length} repositories.` : `Repositories: ${heads.join(', ')}.`,
    ...(withPackages ? [`Releases: ${releases.join(', ')}.`] : []),
    `Seed ${values.seed}, limit ${limit}, sample ${sample}, ${commits} commits.`,
    `Node ${process.version}, ${process.platform}; at most ${memory} GiB of memory.`,
  ].join(' ')
}

const from = repositories(positionals, { commits, from: values.from })
if (withPackages) install()
const formatters = families.includes('formatted') ? installedFormatters() : []
const measured = subjects()
const [wrong, refused] = [jsonLines(values.wrong), jsonLines(values.refused)]
const tallies = new Tallies()
const count = from.length + (withPackages ? packages().length : 0)
try {
  let at = 0
  for await (const source of sources(from)) {
    // The samples of slow subjects come from all sources.
    const part = ++at / count
    const most = {
      main: Number.POSITIVE_INFINITY,
      usual: Math.ceil(10 * sample * part),
      slow: Math.ceil(sample * part),
    }
    await measure(allCases(source), measured, {
      tallies,
      most,
      onWrong: ({ subject, one, text }) =>
        wrong?.write({ subject: subject.name, ...plainCase(one), got: text }),
      onRefused: ({ subject, one, result }) => {
        const { code, shown } = result
        if (one.truth !== undefined || !isShown(one, result)) {
          refused?.write({
            subject: subject.name,
            ...plainCase(one),
            code,
            shown: [...(shown ?? [])],
          })
        }
      },
    })
    if (families.includes('long') && measured.some(({ name }) => name === SESSION)) {
      const random = randomFrom(values.seed, `long ${source.name}`)
      measureLong(source.files(random), random, tallies, {
        most: limit,
        onWrong: (result) => wrong?.write(result),
      })
    }
    console.error(`${source.name}: measured, ${Math.round(process.uptime())} s`)
  }
  const parts = sessionTables(tallies)
  console.log([origin(from), ...parts.values(), tables(tallies)].join('\n\n'))
  const others = tables(tallies, ON_PAGE)
  if (others !== '') parts.set(OTHERS, others)
  // What was not measured stays on the page.
  for (const [part, figures] of isWritten ? parts : []) {
    writePage(page, part, `${figures}\n\n${origin(from)}`)
  }
} finally {
  for (const { end } of measured) end?.()
  wrong?.end()
  refused?.end()
}
