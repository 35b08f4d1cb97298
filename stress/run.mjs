// `npm run stress -- NAME [ARGUMENT…]` runs one of the long tests; without a name it lists them.

import { refuse, runProgram, tableOf } from '../scripts/programs.mjs'

/** @import { Program } from '../scripts/programs.mjs' */

const FAULTS = 'faults:: fault_in_the_recovery syscalls:: --nocapture --include-ignored'

/** @type {Record<string, Program>} */
const PROOFS = {
  'crash-test': {
    run: 'node stress/crash-test.mjs',
    does: 'kills processes during 1,000 patches: each patch is absent or complete; --kills 5000',
  },
  'power-test': {
    run: 'node stress/power-test.mjs',
    does: 'cuts the power of a simulated disk: each patch is absent or complete; --states 500',
  },
  'fault-test': {
    run: `cargo test -p hashline-core --test all --test processes -- ${FAULTS}`,
    does: 'makes operations and system calls of patches and recoveries fail: files stay consistent',
    needs: 'strace; without it that part is skipped',
  },
  rivals: {
    run: 'node stress/rivals.mjs',
    does: 'processes that edit the same files: no edit is lost; --processes, --edits, --powered, --lanes',
    needs: 'the addon',
    takes: '13 s and more',
  },
  writers: {
    run: 'node stress/writers.mjs',
    does: 'writers that take no locks: how many of their changes are lost; --rounds, --kinds',
    needs: 'the addon',
    takes: '30 s',
  },
  swapper: {
    run: 'node stress/swapper.mjs',
    does: 'links out of the root that change all the time: nothing outside is read or written; --calls',
    needs: 'the addon',
    takes: '5 s',
  },
  'shrink-test': {
    run: 'node stress/shrink-test.mjs',
    does: 'files that shrink while they are read: no process dies; --seconds, --mebibytes',
    needs: 'the addon',
    takes: '20 s',
  },
  'stream-test': {
    run: 'node stress/stream-test.mjs',
    does: 'formats a stream of 1 GB: memory does not grow; --megabytes 100',
    needs: 'the addon',
  },
  'c-check': {
    run: 'node stress/capi.mjs',
    does: 'the C interface under AddressSanitizer and valgrind; --rounds, --only rust,c,valgrind',
    needs: 'the addon, cc, valgrind, nightly Rust',
  },
  'ffi-memory': {
    run: 'bun stress/ffi-memory.mjs',
    does: '100,000 calls of hashline-native/bun: memory does not grow; --calls',
    needs: 'the addon',
  },
  oracle: {
    run: 'bun stress/oracle.mjs',
    does: 'hashline-native/omp13 answers as the published module; --cases, --seed',
    needs: 'the addon; network the first time',
  },
  oracle18: {
    run: 'bun stress/oracle18.mjs',
    does: "patches in oh-my-pi's language leave the same bytes as the published package, on files of this repository; --cases, --seed, --show CLASS",
    needs: 'the addon, git; network the first time',
    takes: '6 minutes; 15 s with --cases 500',
  },
  fuzz: {
    run: 'node stress/fuzz.mjs',
    does: 'fuzzes each target; --seconds 600 edit for one',
    needs: 'nightly Rust and cargo-fuzz',
    takes: '60 s for each target',
  },
  sweep: {
    run: 'cargo run --release -p hashline-syntax --example sweep --',
    does: 'parses generated nests in all languages: none takes more than 64 MB or 1.5 s of processor time; Java Rust for some',
    takes: '30 minutes',
  },
  smoke: {
    run: 'node scripts/smoke.mjs',
    does: "TARGET: a platform's tests in JavaScript, in an emulator where needed; TARGET --rust: the core's tests in Rust",
    needs: "the platform's addon by build:all; Debian's emulators, network",
  },
  'install-test': {
    run: 'node scripts/install-test.mjs',
    does: 'publishes the packages to a registry on this machine, installs them by npm, pnpm, yarn 1 and 4 and Bun, and uses them; npm bun for some',
    needs: 'build:release; network the first time',
  },
}

const [name, ...args] = process.argv.slice(2)
if (name === undefined) console.log(`npm run stress -- NAME [ARGUMENT…]\n\n${tableOf(PROOFS)}`)
else if (Object.hasOwn(PROOFS, name)) runProgram(PROOFS[name], args)
else refuse(`${name} is not a stress test`, PROOFS)
