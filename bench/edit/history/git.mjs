// Old and new versions of files, from the history of a git repository.

import { execFileSync, spawn } from 'node:child_process'
import { decoded } from './text.mjs'

/** @import { Random } from './random.mjs' */
/** @import { Hunk, Lines } from './text.mjs' */

/**
 * A file before and after a change with several hunks.
 * @typedef {object} Pair
 * @property {string} source the repository or package
 * @property {string} change the commit, or the two releases
 * @property {string} path
 * @property {Lines} old
 * @property {Lines} new
 * @property {Hunk[]} hunks in the order of the lines
 */
/**
 * @typedef {object} Change the log of one file in one commit
 * @property {string} commit
 * @property {string} path
 * @property {string} oldBlob
 * @property {string} newBlob
 * @property {Hunk[]} hunks
 */

/** Files that are not edited by hand. */
export const GENERATED =
  /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|[Cc]argo\.lock|go\.sum)$|[.-]min[./-]|\.(?:map|snap|svg|po|patch|diff)$/

/** How many blobs are requested at a time. */
const BATCH = 64
const MAX_BATCH_BYTES = 1 << 30

/**
 * The pairs of a repository in random order.
 * @param {{ name: string, path: string }} repository
 * @param {Change[]} changes
 * @param {Random} random
 * @param {{ maxBytes: number }} limits
 * @returns {Generator<Pair>}
 */
export function* pairsOfRepository({ name, path: repository }, changes, random, { maxBytes }) {
  const shuffled = random.shuffled(changes)
  for (let at = 0; at < shuffled.length; at += BATCH) {
    const batch = shuffled.slice(at, at + BATCH)
    const blobs = contentsOf(
      repository,
      batch.flatMap(({ oldBlob, newBlob }) => [oldBlob, newBlob]),
      maxBytes,
    )
    for (const { commit, path, oldBlob, newBlob, hunks } of batch) {
      const [before, after] = [oldBlob, newBlob].map((id) => {
        const bytes = blobs.get(id)
        return bytes && bytes.length <= maxBytes ? decoded(bytes) : undefined
      })
      if (!before || !after || !isAlike(before, after)) continue
      yield { source: name, change: commit, path, old: before, new: after, hunks }
    }
  }
}

/** Whether only lines differ. @param {Lines} one @param {Lines} other */
export const isAlike = (one, other) => one.eol === other.eol && one.final === other.final

/**
 * Files that a commit (no merge) changed at several places.
 * @param {string} repository
 * @param {number} commits the newest
 * @param {number} [places] the minimum number of places
 * @param {string[]} [options] of `git log`
 */
export async function changesIn(repository, commits, places = 2, options = []) {
  /** @type {Change[]} */
  const changes = []
  const reader = readerOfDiffs((change) => {
    if (change.hunks.length >= places && !GENERATED.test(change.path)) changes.push(change)
  })
  // biome-ignore format: one option a line says less
  const args = ['-C', repository, '-c', 'core.quotePath=false', '-c', 'diff.relative=false',
    'log', '-p', '-U0', '--no-merges',
    '--no-renames', '--diff-filter=M', '--full-index', '--no-color', '--no-ext-diff',
    // The user's settings for these would change the paths and the hunks.
    '--src-prefix=a/', '--dst-prefix=b/', '--inter-hunk-context=0', '--no-show-signature',
    '--no-notes', '--no-textconv', '--diff-algorithm=myers', `--max-count=${commits}`, '--format=commit %H', ...options]
  await linesFrom('git', args, reader.line)
  reader.end()
  return changes
}

/**
 * Marks the hunks of changes whose place is unsure: another algorithm, which ignores whitespace, does
 * not find them. In a re-indented file, for instance, similar lines are paired.
 * @param {string} repository
 * @param {number} commits the newest
 * @param {Change[]} changes of these
 */
export async function markUnsure(repository, commits, changes) {
  const keyOf = (/** @type {Hunk} */ { oldAt, oldCount, newAt, newCount }) =>
    `${oldAt} ${oldCount} ${newAt} ${newCount}`
  const options = ['--diff-algorithm=histogram', '--ignore-all-space']
  /** @type {Map<string, Set<string>>} */
  const sure = new Map()
  for (const { commit, path, hunks } of await changesIn(repository, commits, 1, options)) {
    sure.set(`${commit} ${path}`, new Set(hunks.map(keyOf)))
  }
  for (const { commit, path, hunks } of changes) {
    const keys = sure.get(`${commit} ${path}`)
    for (const hunk of hunks) hunk.isUnsure = !keys?.has(keyOf(hunk))
  }
}

/**
 * Parses the output of `git log -p -U0 --full-index`, line by line.
 * @param {(change: Change) => void} found
 */
export function readerOfDiffs(found) {
  let commit = ''
  /** @type {Change | undefined} */
  let change
  const end = () => {
    if (change?.oldBlob && change.path) found(change)
    change = undefined
  }
  /** @param {string} line */
  const line = (line) => {
    if (line.startsWith('@@ ')) change?.hunks.push(hunkOf(line))
    else if (line.startsWith('diff --git ')) {
      end()
      change = { commit, path: '', oldBlob: '', newBlob: '', hunks: [] }
    } else if (line.startsWith('commit ')) {
      end()
      commit = line.slice('commit '.length)
    } else if (change && change.hunks.length === 0) {
      const blobs = /^index ([0-9a-f]+)\.\.([0-9a-f]+)(?: 100\d+)?$/.exec(line)
      // Links and submodules have other modes; unusual names are quoted.
      if (blobs) [, change.oldBlob, change.newBlob] = blobs
      else if (line.startsWith('+++ b/')) change.path = line.slice('+++ b/'.length).split('\t')[0]
    }
  }
  return { line, end }
}

/** @param {string} header @returns {Hunk} */
function hunkOf(header) {
  const parts = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header)
  if (!parts) throw new Error(`git wrote ${header}`)
  const [oldLine, oldCount, newLine, newCount] = parts.slice(1).map((part) => Number(part ?? 1))
  // A hunk without lines has the number of the line before it.
  return {
    oldAt: oldCount === 0 ? oldLine : oldLine - 1,
    oldCount,
    newAt: newCount === 0 ? newLine : newLine - 1,
    newCount,
  }
}

/**
 * @param {string} repository
 * @param {string[]} blobs
 * @param {number} [maxBytes] larger ones are not loaded
 */
export function contentsOf(repository, blobs, maxBytes = Number.POSITIVE_INFINITY) {
  const output = execFileSync('git', ['-C', repository, 'cat-file', '--batch'], {
    input: `${withinSize(repository, blobs, maxBytes).join('\n')}\n`,
    maxBuffer: MAX_BATCH_BYTES,
  })
  /** @type {Map<string, Buffer>} */
  const contents = new Map()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    const [id, kind, size] = output.toString('latin1', at, end).split(' ')
    at = end + 1
    if (kind !== 'blob') continue
    contents.set(id, output.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return contents
}

/**
 * @param {string} repository
 * @param {string[]} blobs
 * @param {number} maxBytes
 */
function withinSize(repository, blobs, maxBytes) {
  if (maxBytes === Number.POSITIVE_INFINITY) return blobs
  const sizes = execFileSync(
    'git',
    ['-C', repository, 'cat-file', '--batch-check=%(objectname) %(objectsize)'],
    { input: `${blobs.join('\n')}\n`, encoding: 'utf8' },
  )
  return sizes.split('\n').flatMap((row) => {
    const [id, size] = row.split(' ')
    return Number(size) <= maxBytes ? [id] : []
  })
}

/**
 * Yields the output of a program, line by line. The exit code is checked at the end; `diff` exits
 * with 1 if there are differences.
 * @param {string} command
 * @param {string[]} args
 * @param {(line: string) => void} line
 */
export async function linesFrom(command, args, line) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  let rest = ''
  child.stdout.setEncoding('utf8')
  for await (const chunk of child.stdout) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const one of lines) line(one)
  }
  if (rest !== '') line(rest)
  const code = await ended
  if (code !== 0 && code !== 1) throw new Error(`${command} ${args.join(' ')}: exit code ${code}`)
}
