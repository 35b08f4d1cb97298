// Runs the tests in JavaScript under Node, several files at once: one for each core but one, as Node
// does, and two where that is one. Arguments go to Node, like `--test-name-pattern`.

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
