// Runs the tests of the kernels on an emulated processor with AVX-512 (scripts/bochs.mjs), for
// machines that have none: each kernel against one line at a time, on generated text, in every
// dialect, and with memory behind the texts that must not be touched. Chance is the same in each run.

import assert from 'node:assert/strict'
import { BARE_TARGET, bareEnvironment, prepareEmulator, runEmulated } from '../scripts/bochs.mjs'
import { run } from '../scripts/tools.mjs'

/** Programs of tests, and what of them has to do with kernels. */
const PROGRAMS = [
  {
    name: 'hashline_core',
    filters: ['text::hash', 'text::normalize', 'text::simd', 'view::render::block'],
    required: 'text::simd::tests::avx512_is_the_best_level',
    // Many minutes, for lines that are written as they are with AVX2.
    skipped: ['--skip', 'texts_that_change_meanwhile_do_no_harm'],
  },
  { name: 'blocks', filters: [], required: 'texts_like_sources', skipped: [] },
]

prepareEmulator()
const executables = buildTests()
let hasFailed = false
for (const { name, filters, required, skipped } of PROGRAMS) {
  const args = [...filters, '--test-threads=1', '--include-ignored', ...skipped]
  const { output, status } = runEmulated(executables[name], args)
  console.log(`${name} ${args.join(' ')}:${output.trimEnd()}\n`)
  if (status !== 0) {
    console.error(`${name} failed: ${status}`)
    hasFailed = true
  } else {
    assert(output.includes(`test ${required} ... ok`), `${required} ran`)
  }
}
process.exitCode = hasFailed ? 1 : 0

/** The paths of the test programs by name: fast ones that check their assertions all the same. */
function buildTests() {
  const env = {
    ...bareEnvironment,
    CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS: 'true',
    CARGO_PROFILE_RELEASE_LTO: 'off',
    CARGO_PROFILE_RELEASE_STRIP: 'symbols',
  }
  const tests = ['-p', 'hashline-core', '--lib', '--test', 'blocks', '--no-run']
  const build = ['test', '--release', '--target', BARE_TARGET, ...tests]
  const rows = run('cargo', [...build, '--message-format', 'json'], { env })
    .trim()
    .split('\n')
  /** @type {Record<string, string>} */
  const found = {}
  for (const row of rows) {
    const { executable, target } = JSON.parse(row)
    if (executable) found[target.name] = executable
  }
  for (const { name } of PROGRAMS) assert(found[name], `${name} was built`)
  return found
}
