// Kills processes during patches and checks the state after a recovery
// (crates/core/tests/processes/crash.rs). `npm run stress -- crash-test --kills 5000` for more than
// 1,000.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '1000' } } })
const args = ['test', '-p', 'hashline-core', '--test', 'processes', '--', 'crash::', '--nocapture']
const env = { ...process.env, HASHLINE_KILLS: values.kills }
process.exitCode = spawnSync('cargo', args, { stdio: 'inherit', env }).status ?? 1
