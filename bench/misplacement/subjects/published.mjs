// The published package `@oh-my-pi/hashline`, which remembers what a read showed, under Bun, which
// it needs. One process runs many cases.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** @import { Subject } from './subject.mjs' */

const MAX_OUTPUT = 1 << 30

const worker = fileURLToPath(new URL('published-worker.mjs', import.meta.url))
const bun = fileURLToPath(new URL('../../../node_modules/.bin/bun', import.meta.url))

/**
 * @param {string} packages the folder where the package is installed
 * @returns {Subject}
 */
export const publishedSubjectIn = (packages) => ({
  name: '@oh-my-pi/hashline',
  pace: 'usual',
  applyAll(cases) {
    const input = JSON.stringify(
      cases.map(({ path, old, current, operations }) => ({ path, old, current, operations })),
    )
    const { status, stdout, stderr, error } = spawnSync(bun, [worker, packages], {
      input,
      encoding: 'utf8',
      maxBuffer: MAX_OUTPUT,
    })
    if (status !== 0) throw new Error(`${worker} failed: ${error?.message ?? stderr}`)
    return JSON.parse(stdout)
  },
})

export const publishedSubject = publishedSubjectIn(
  fileURLToPath(new URL('../packages', import.meta.url)),
)
