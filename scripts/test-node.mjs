// Runs the JavaScript tests under Node, with several files in parallel: one fewer than there are
// cores, as in Node, but at least two. Arguments are passed to Node, such as `--test-name-pattern`.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root } from './tools.mjs'

const names = readdirSync(join(root, '__test__')).filter((name) => name.endsWith('.test.mjs'))
const tests = names.map((name) => join('__test__', name))
const concurrency = Math.max(2, availableParallelism() - 1)
const options = ['--test', '--test-reporter=spec', `--test-concurrency=${concurrency}`]
const args = [...options, ...process.argv.slice(2), ...tests]
process.exit(spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1)
