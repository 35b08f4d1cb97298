// Old and new versions of files, from consecutive releases of npm packages: those in
// packages/package.json whose names have versions, such as `rxjs-7.8.0`.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GENERATED, isAlike, linesFrom, readerOfDiffs } from '../edit/history/git.mjs'
import { decoded } from '../edit/history/text.mjs'

/** @import { Change, Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @typedef {Change & { from: string, to: string }} ReleaseChange */

/** A separate package, so that only this command installs its dependencies. */
const packagesDir = fileURLToPath(new URL('packages/', import.meta.url))
export const installedDir = join(packagesDir, 'node_modules')

/** The folders of a package with sources that people wrote. @type {Record<string, string[]>} */
const FOLDERS = {
  '@types/node': ['.'],
  bootstrap: ['scss', 'js/src'],
  commander: ['lib', 'typings'],
  jquery: ['src'],
  luxon: ['src'],
  mobx: ['src'],
  preact: ['src', 'compat/src', 'hooks/src'],
  ramda: ['src'],
  rxjs: ['src'],
  svelte: ['src'],
  undici: ['docs', 'lib', 'types'],
  zod: ['src'],
}

export const install = () => installIn(packagesDir)

/** Installs the packages of a directory once. @param {string} dir */
export function installIn(dir) {
  if (existsSync(join(dir, 'node_modules'))) return
  // `npm ci` refuses a lock file without optional packages for other platforms.
  execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--legacy-peer-deps'], {
    cwd: dir,
    stdio: 'inherit',
  })
}

/** @returns {{ name: string, releases: string[] }[]} by package, its sorted releases */
export function packages() {
  const { dependencies } = JSON.parse(readFileSync(join(packagesDir, 'package.json'), 'utf8'))
  /** @type {Map<string, { directory: string, version: number[] }[]>} */
  const byName = new Map()
  for (const [directory, spec] of Object.entries(dependencies)) {
    const parts = /^npm:(.+)@(\d+)\.(\d+)\.(\d+)$/.exec(spec)
    if (!parts) continue
    const [, name, ...version] = parts
    if (!byName.has(name)) byName.set(name, [])
    byName.get(name)?.push({ directory, version: version.map(Number) })
  }
  return [...byName].map(([name, releases]) => ({
    name,
    releases: releases
      .sort((one, other) => compare(one.version, other.version))
      .map(({ directory }) => directory),
  }))
}

/** @param {number[]} one @param {number[]} other */
function compare(one, other) {
  const at = one.findIndex((part, at) => part !== other[at])
  return at < 0 ? 0 : one[at] - other[at]
}

/**
 * Files that changed at several places from one release to the next.
 * @param {{ name: string, releases: string[] }} releases
 */
export async function changesOfPackage({ name, releases }) {
  /** @type {ReleaseChange[]} */
  const changes = []
  for (const [at, to] of releases.entries()) {
    if (at === 0) continue
    const from = releases[at - 1]
    for (const folder of FOLDERS[name]) {
      const found = await changesBetween(join(from, folder), join(to, folder))
      for (const change of found) {
        const path = join(folder, change.path)
        if (!GENERATED.test(path)) changes.push({ ...change, path, from, to })
      }
    }
  }
  return changes
}

/**
 * The pairs of a package in random order.
 * @param {string} name
 * @param {ReleaseChange[]} changes
 * @param {Random} random
 * @param {{ maxBytes: number }} limits
 * @returns {Generator<Pair>}
 */
export function* pairsOfPackage(name, changes, random, { maxBytes }) {
  for (const { from, to, path, hunks } of random.shuffled(changes)) {
    const [before, after] = [from, to].map((release) => {
      const bytes = readFileSync(join(installedDir, release, path))
      return bytes.length <= maxBytes ? decoded(bytes) : undefined
    })
    if (!before || !after || !isAlike(before, after)) continue
    yield { source: name, change: `${from} to ${to}`, path, old: before, new: after, hunks }
  }
}

/**
 * @param {string} from
 * @param {string} to
 */
async function changesBetween(from, to) {
  /** @type {Change[]} */
  const changes = []
  const reader = readerOfDiffs((change) => {
    const path = change.path.slice(to.length + 1)
    if (change.hunks.length > 1) changes.push({ ...change, path })
  })
  // biome-ignore format: one option a line says less
  const args = ['-C', installedDir, '-c', 'core.quotePath=false', '-c', 'core.safecrlf=false', 'diff',
    '--no-index', '-U0', '--no-renames', '--diff-filter=M', '--full-index', '--no-color',
    '--no-ext-diff', '--no-textconv', from, to]
  await linesFrom('git', args, reader.line)
  reader.end()
  return changes
}
