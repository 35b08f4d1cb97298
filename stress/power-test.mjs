// Cuts the power of a simulated disk during patches and checks the state after a recovery
// (crates/core/tests/all/power.rs). `npm run stress -- power-test --states 500` for more than 50
// states of the disk after each cut.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { states: { type: 'string', default: '50' } } })
if (!/^[1-9]\d*$/.test(values.states)) {
  throw new Error(`--states ${values.states}: expected a positive integer`)
}
const rest = ['--nocapture', '--include-ignored', '--test-threads=1']
const args = ['test', '-p', 'hashline-core', '--test', 'all', '--', 'power::', ...rest]
const env = { ...process.env, HASHLINE_POWER_STATES: values.states }
const { status, error } = spawnSync('cargo', args, { stdio: 'inherit', env })
if (error) throw error
process.exitCode = status ?? 1
