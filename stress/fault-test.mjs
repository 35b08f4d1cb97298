// Lets the operations of patches and recoveries fail: those of the engine's own interface
// (crates/core/tests/all/faults.rs, and of recoveries in recovery.rs), and system calls, through
// strace (crates/core/tests/processes/syscalls.rs).
import { spawnSync } from 'node:child_process'

const programs = ['--test', 'all', '--test', 'processes']
const tests = ['faults::', 'fault_in_the_recovery', 'syscalls::']
const flags = ['--nocapture', '--include-ignored']
const args = ['test', '-p', 'hashline-core', ...programs, '--', ...tests, ...flags]
const { status, error } = spawnSync('cargo', args, { stdio: 'inherit' })
if (error) throw error
process.exitCode = status ?? 1
