// Runs the tests that need third-party packages from npm: examples and integrations. One after the
// other, because agents are large programs.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folders = ['examples', 'integrations'].flatMap((parent) =>
  readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name)),
)
const tests = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.mjs'))
    .map((name) => join(folder, name)),
)
const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', ...tests]
process.exit(spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1)
