// What the guard of commands goes by.

/**
 * @import { GuardOptions } from 'hashline-native/tools'
 * @typedef {NonNullable<GuardOptions['policy']>} CommandPolicy
 */

/**
 * The tools show files of all these directories, and write those of the root alone.
 * @param {{ root: string, readRoots: string[] }} places where the tools work
 * @param {string} cwd where the command runs
 * @param {CommandPolicy} [given] what the user says, which goes before
 * @returns {CommandPolicy}
 */
export function policyFor({ root, readRoots }, cwd, given) {
  const writablePaths = [...readRoots, ...(given?.writablePaths ?? [])]
  return { roots: [root, ...readRoots], cwd, checkFiles: true, ...given, writablePaths }
}
