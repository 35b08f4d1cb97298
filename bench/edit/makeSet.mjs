// Draws the fixed set again and writes set.json: `node bench/edit/makeSet.mjs`. Only for
// maintainers of the benchmark: results with another set are not comparable.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from './history/random.mjs'
import { decoded } from './history/text.mjs'
import { isLarge } from './task.mjs'
import { packageNamed, taskOfFile } from './tasks/fixed.mjs'
import { languageOf } from './tasks/languages.mjs'
import { checksum, MOVING_EACH } from './tasks/make.mjs'
import { MUTATIONS } from './tasks/mutations.mjs'
import { packageDir } from './tasks/registries.mjs'

/** @import { Random } from './history/random.mjs' */
/** @import { Named } from './tasks/fixed.mjs' */

const PER_LANGUAGE = 30
/** Every third task is in a file of 1,000 or more lines, if there are such files. */
const LARGE_EACH = 3
const FEWEST_LINES = 60
const MOST_LINES = 3000
const MOST_CHARS = 200
const MOST_OF_A_FILE = 3
const MAX_TRIES = 10_000
/** After this number of failed tries, the file of a task may have any size. */
const MAX_TRIES_OF_SIZE = 500
const GENERATED = /generated|do not edit|@flow/i
const TESTS = /(?:^|\/)(?:__tests__|examples?|benches|dist|docs)\//

/** @type {Record<string, string[]>} */
const PACKAGES = {
  JavaScript: ['npm:undici@6.18.0', 'npm:express@4.19.2', 'npm:preact@10.22.0'],
  TypeScript: ['npm:rxjs@7.8.0', 'npm:zod@4.0.0'],
  Python: ['pypi:rich@13.7.0', 'pypi:click@8.1.7', 'pypi:flask@3.0.0', 'pypi:requests@2.31.0'],
  Rust: ['crates:itertools@0.13.0', 'crates:regex-syntax@0.8.3', 'crates:serde_json@1.0.120'],
  Go: ['crates:aws-lc-fips-sys@0.12.0'],
  C: ['crates:libz-sys@1.1.18', 'crates:zstd-sys@2.0.10'],
  'C++': ['npm:re2@1.21.0'],
  Java: ['npm:@capacitor/android@6.0.0', 'npm:expo-modules-core@1.12.0'],
  Kotlin: ['npm:expo-modules-core@1.12.0'],
  Swift: ['npm:@capacitor/ios@6.0.0', 'npm:expo-modules-core@1.12.0'],
}

/** @typedef {{ package: string, file: string, bytes: Buffer, isLarge: boolean }} Source */

/** @param {string} language @returns {Source[]} */
function sourcesOf(language) {
  return PACKAGES[language].flatMap((name) => {
    const dir = packageDir(packageNamed(name))
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter(
        (file) => languageOf(file) === language && !TESTS.test(file) && !/\.d\.ts$/.test(file),
      )
      .sort()
    return files.flatMap((file) => {
      const bytes = readFileSync(join(dir, file))
      const lines = decoded(bytes)?.lines
      const isFit =
        lines !== undefined &&
        lines.length >= FEWEST_LINES &&
        lines.length <= MOST_LINES &&
        lines.every((line) => line.length <= MOST_CHARS) &&
        !GENERATED.test(lines.slice(0, 20).join('\n'))
      return isFit ? [{ package: name, file, bytes, isLarge: isLarge(lines.length) }] : []
    })
  })
}

/**
 * @param {string} language
 * @param {number} offset makes languages start differently
 * @returns {Named[]}
 */
function drawn(language, offset) {
  const random = randomFrom(1, `set ${language}`)
  const sources = sourcesOf(language)
  const kinds = Object.keys(MUTATIONS)
  /** @type {Named[]} */
  const named = []
  /** @type {Map<string, number>} */
  const taken = new Map()
  const uses = (/** @type {Source} */ { file }) => taken.get(file) ?? 0
  let vain = 0
  for (let tries = 0; named.length < PER_LANGUAGE && tries < MAX_TRIES; tries++) {
    const at = named.length + offset
    const free = sources.filter((source) => uses(source) < MOST_OF_A_FILE)
    const sized = free.filter(({ isLarge }) => isLarge === (at % LARGE_EACH === 2))
    const source = random.pick(sized.length > 0 && vain++ < MAX_TRIES_OF_SIZE ? sized : free)
    const one = taskIn(source, random, kinds[at % kinds.length], at % MOVING_EACH === 1)
    if (one === undefined || told.has(one.instruction)) continue
    told.add(one.instruction)
    taken.set(source.file, uses(source) + 1)
    named.push(one.named)
    vain = 0
  }
  const large = sources.filter(({ isLarge }) => isLarge).length
  console.log(`${language}: ${named.length} of ${sources.length} files, ${large} large`)
  return named
}

/** @param {Source} source @param {Random} random @param {string} kind @param {boolean} moving */
function taskIn({ package: name, file, bytes }, random, kind, moving) {
  const seed = random.below(1_000_000)
  const task = taskOfFile({ package: name, file, seed, kind, moving }, bytes)
  if (task === undefined) return undefined
  const named = { package: name, file, sha256: checksum(bytes), seed, kind, moving, task: task.id }
  return { named, instruction: task.instruction }
}

/** Tasks with equal instructions would be one task. @type {Set<string>} */
const told = new Set()
const byLanguage = Object.keys(PACKAGES).map(drawn)
// In turns, so that each beginning has all languages.
const all = Array.from({ length: PER_LANGUAGE }, (_, at) =>
  byLanguage.map((list) => list[at]),
).flat()
const rows = all.filter((one) => one !== undefined).map((one) => `  ${JSON.stringify(one)}`)
writeFileSync(new URL('tasks/set.json', import.meta.url), `[\n${rows.join(',\n')}\n]\n`)
console.log(`${rows.length} tasks`)
