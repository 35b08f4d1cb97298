// The policy of the guard.

/**
 * @import { GuardOptions } from 'hashline-native/tools'
 * @typedef {NonNullable<GuardOptions['policy']>} CommandPolicy
 */

/**
 * The tools show files of all these directories, and write only in the root.
 * @param {{ root: string, readRoots: string[] }} places the directories of the tools
 * @param {string} cwd where the command runs
 * @param {CommandPolicy} [given] the user's policy, which takes precedence
 * @returns {CommandPolicy}
 */
export function policyFor({ root, readRoots }, cwd, given) {
  const writablePaths = [...readRoots, ...(given?.writablePaths ?? [])]
  return { roots: [root, ...readRoots], cwd, checkFiles: true, ...given, writablePaths }
}
