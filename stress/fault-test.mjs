// Lets the operations of patches and recoveries fail: those of the engine's own interface
// (crates/core/tests/faults.rs), and system calls, through strace (crates/core/tests/syscalls.rs).
import { spawnSync } from 'node:child_process'

const tests = ['--test', 'faults', '--test', 'syscalls']
const args = ['test', '-p', 'hashline-core', ...tests, '--', '--nocapture', '--include-ignored']
const { status, error } = spawnSync('cargo', args, { stdio: 'inherit' })
if (error) throw error
process.exitCode = status ?? 1
