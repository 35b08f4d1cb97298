// Writes CHANGELOG.md by git-cliff, from the history and cliff.toml.
// `npm run changelog`, or with arguments for git-cliff: `npm run changelog -- --latest`

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { npmPackage, root } from './tools.mjs'

const program = join(npmPackage('git-cliff', '2.14.2'), 'lib', 'cli', 'cli.js')
const args = process.argv.slice(2)
const wanted = args.length > 0 ? args : ['--output', 'CHANGELOG.md']
const { status, error } = spawnSync(process.execPath, [program, ...wanted], {
  cwd: root,
  stdio: 'inherit',
})
if (error) throw error
process.exitCode = status ?? 1
