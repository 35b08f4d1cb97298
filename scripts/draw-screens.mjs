// `npm run screens`: draws the pictures of docs/agents.md, by the tests of the agents' terminals.

import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tests = ['claude-code/plugin.test.mjs', 'opencode/plugin.test.mjs', 'pi/extension.test.mjs']
const files = [...tests, 'omp/agent.mjs'].map((file) => join(root, 'integrations', file))
// The names of the tests that draw.
const names = 'question shows the diff|in the terminal'
const args = ['--test', '--test-concurrency=1', `--test-name-pattern=${names}`, ...files]
const env = { ...process.env, HASHLINE_SCREENS: '1' }
process.exit(spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1)
