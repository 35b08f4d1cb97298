// Where opencode's agent `plan` writes its plans without a repository: in a directory of the user
// that all projects share. With one it writes them in the worktree.

import { isAbsolute, join, relative } from 'node:path'
import { dataDirectory } from './output.js'

/** The directory of plans outside of worktrees, which opencode's interface does not provide. */
export const plansDirectory = (env = process.env) => join(dataDirectory(env), 'plans')

/**
 * Whether a call names only plans outside of the worktree.
 * @param {Record<string, any>} args
 * @param {string} plans
 */
export function isAboutPlans(args, plans) {
  const { path, more_paths: more, paths, operations } = args
  const edited = listOf(operations).flatMap((one) => [one?.path, one?.from, one?.to])
  const all = [path, ...listOf(more), ...listOf(paths), ...edited].filter(
    (one) => typeof one === 'string',
  )
  return all.length > 0 && all.every((one) => isAbsolute(one) && isBelow(plans, one))
}

/** @param {unknown} value @returns {any[]} */
const listOf = (value) => (Array.isArray(value) ? value : [])

/** @param {string} dir @param {string} path */
function isBelow(dir, path) {
  const way = relative(dir, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}
