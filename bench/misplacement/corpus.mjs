// The git repositories that are measured: those of a list, each at one commit and cloned on first
// use, or local ones.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { contentsOf, GENERATED } from '../edit/history/git.mjs'
import { decoded } from '../edit/history/text.mjs'

/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Lines } from '../edit/history/text.mjs' */
/** @typedef {{ name: string, path: string, commit: string }} Repository `path`: its directory */
/** @typedef {{ source: string, path: string, text: Lines }} TextFile */

/** @type {Record<string, string>} */
export const COMMITS = {
  'Alamofire/Alamofire': '7595cbcf59809f9977c5f6378500de2ad73b7ddb',
  'BurntSushi/ripgrep': '3fce3b5bb0236da2df6d99672afb8a719642eca7',
  'JamesNK/Newtonsoft.Json': '09bb545d72969ad7fb4ea07db0d5c34f4fc07877',
  'caddyserver/caddy': '0cf03d32f7d99cf160d5375e8a40fbe3d910d515',
  'clap-rs/clap': '6982fb1c98c7247e38a6d4f04191b94e30497e7b',
  'encode/httpx': 'ae1b9f66238f75ced3ced5e4485408435de10768',
  'expressjs/express': 'a3714473feb3d2908add734d340e7755fd85e0a3',
  'fmtlib/fmt': '60ccad511fd680cb91d8b60a315759f71c67bef9',
  'gin-gonic/gin': 'dcaa4296d111981ffb31ac3eba90bb63e1eb5ab9',
  'gothinkster/realworld': '747190ecf0bb27d461cf1100f6cb3468c6c914ed',
  'honojs/hono': '28a9c128912de19f3fb28b00ae289c9b93f6f392',
  'jqlang/jq': '579e6f76cffd7643ba4002a2c3618a5ea710589a',
  'mybatis/mybatis-3': '69ee03634a27808553fede707dcc4ef70478e0be',
  'nvim-telescope/telescope.nvim': '7d324792b7943e4aa16ad007212e6acc6f9fe335',
  'nvm-sh/nvm': 'b17550a0b9ab691439815dfccc8b73e3a59fa103',
  'pallets/click': '2c8cd3ac958a7eb316d67f2d316c27086c4c0369',
  'pallets/flask': '2ac89889f4cc330eabd50f295dcef02828522c69',
  'prometheus-community/helm-charts': 'cf408a290aec489277a94450bb3511432477a53a',
  'psf/requests': '1f6589ec3a1ee910f9a65cc3ceac60b26677bc0e',
  'redis/redis': '4f8cdc2a1ea53e42955af758aabffee67cb455dd',
  'sharkdp/fd': 'ee20f426ddf338ac7ead5c5f00ea49258005caaf',
  'sinatra/sinatra': 'cb22afd7902b566b6eaba6c4ea89739494a65d12',
  'sindresorhus/got': 'd00d845a0b435365ec73ea5a1fca6e17ee677184',
  'slimphp/Slim': '038fd5713d5a41636fdff0e8dcceedecdd17fc17',
  'square/okio': '4164f2976ac7174f3d35d52150e8ffbdbe0acbec',
  'terraform-aws-modules/terraform-aws-eks': 'bef29c4d9523523e57fe898643fde2895106b339',
  'vuejs/core': 'e2bede96134f757aad5c5b33ac9be055022dbfc8',
  'vueuse/vueuse': '1354e69588f601f721ce2b5e4328d7c3214a0c7e',
}

/** The number of files that are loaded at a time. */
const BATCH = 32

/** Kept between runs. */
export const cacheDir = join(tmpdir(), 'hashline-bench')

/**
 * The repositories of a command line; without any, those of the list.
 * @param {string[]} named `[name=]directory`, or names of the list, complete or without the owner
 * @param {{ commits: number, from: string }} options `commits`: how many of the newest are cloned
 * @returns {Repository[]}
 */
export function repositories(named, options) {
  const all = named.length > 0 ? named : Object.keys(COMMITS)
  return all.map((argument) => {
    const listed = Object.keys(COMMITS).find(
      (name) => name === argument || basename(name) === argument,
    )
    if (listed && !existsSync(argument)) return cloned(listed, options)
    const [path, name] = argument.split('=').reverse()
    return { name: name ?? nameOf(path), path, commit: headOf(path) }
  })
}

/**
 * @param {string} name
 * @param {{ commits: number, from: string }} options
 * @returns {Repository}
 */
function cloned(name, { commits, from }) {
  const commit = COMMITS[name]
  const path = join(
    cacheDir,
    'repositories',
    `${name.replace('/', '+')}-${commit.slice(0, 10)}-${commits}`,
  )
  if (existsSync(path)) return { name, path, commit }
  const unfinished = `${path}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', ['-C', unfinished, ...args], { stdio: 'inherit' })
  git('init', '--quiet', '--bare')
  // One more, because the oldest has no parent to differ from.
  git('fetch', '--quiet', '--no-tags', `--depth=${commits + 1}`, `${from}${name}.git`, commit)
  git('update-ref', 'refs/heads/measured', commit)
  git('symbolic-ref', 'HEAD', 'refs/heads/measured')
  renameSync(unfinished, path)
  return { name, path, commit }
}

/** The last meaningful part of a path. @param {string} path @returns {string} */
function nameOf(path) {
  const name = basename(resolve(path))
  return ['repo', '.git'].includes(name) ? nameOf(dirname(resolve(path))) : name
}

/** @param {string} path */
const headOf = (path) =>
  execFileSync('git', ['-C', path, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()

/**
 * The text files of the newest commit in random order.
 * @param {Repository} repository
 * @param {Random} random
 * @param {{ maxBytes: number }} limits
 * @returns {Generator<TextFile>}
 */
export function* filesOf({ name, path: repository, commit }, random, { maxBytes }) {
  const args = ['-C', repository, 'ls-tree', '-r', '-l', '-z', '--full-tree', commit]
  const listing = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  const files = listing.split('\0').flatMap((row) => {
    const parts = /^100\d+ blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(row)
    if (!parts || Number(parts[2]) > maxBytes || GENERATED.test(parts[3])) return []
    return [{ blob: parts[1], path: parts[3] }]
  })
  const shuffled = random.shuffled(files)
  for (let at = 0; at < shuffled.length; at += BATCH) {
    const batch = shuffled.slice(at, at + BATCH)
    const blobs = contentsOf(
      repository,
      batch.map(({ blob }) => blob),
    )
    for (const { blob, path } of batch) {
      const text = decoded(blobs.get(blob) ?? new Uint8Array())
      if (text) yield { source: name, path, text }
    }
  }
}
