// `npm run stress -- ffi-memory [--calls 100000]`, under Bun: memory stays flat over many calls of
// `hashline-native/bun`, because each answer is copied and freed.
//
// Calls of every kind take turns: answers, refusals, errors, sessions that are opened and closed.
// In the first half, caches and heaps grow to their final size. In the second half, the memory of
// the process may grow by at most a few bytes per call; an answer that is not freed would cost a
// hundred times more.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as hashline from 'hashline-native/bun'

const { values } = parseArgs({ options: { calls: { type: 'string', default: '100000' } } })
const calls = Number(values.calls)
if (!(calls >= 1000)) throw new Error('--calls must be 1000 or more')

/** The accepted growth per call, for garbage that is not collected yet. */
const LIMIT_BYTES_A_CALL = 24
const SLACK_BYTES = 8 << 20

const scratch = mkdtempSync(join(tmpdir(), 'hashline-ffi-'))
const root = join(scratch, 'files')
const stateDir = join(scratch, 'state')
mkdirSync(root)
const text = Array.from({ length: 60 }, (_, at) => `line ${at} of a text\n`).join('')
writeFileSync(join(root, 'a.txt'), text)

/** @type {any} */
const { Bun } = globalThis

/** @type {(() => unknown)[]} */
const kinds = [
  () => hashline.readHashedSync(['a.txt', 'none.txt'], { root }),
  () => hashline.readText('a.txt', { root }),
  () => hashline.searchHashedSync({ search: 'line 7' }, { root }),
  () => hashline.hashLines(text),
  () => hashline.formatHashed(text, { dialect: 'omp' }),
  () => hashline.checkCommand('cat größe.txt | sed -n 1p > out'),
  () => hashline.applyHashToText(text, [{ op: 'delete', anchor: '1:00' }]),
  () => hashline.applyHashSync({ path: 'a.txt', edits: [] }, { root, stateDir }),
  () => failing(() => hashline.readText('none.txt', { root })),
  () => failing(() => hashline.searchHashedSync({ search: '(', regex: true }, { root })),
  () => {
    const session = new hashline.HashSession({ cwd: root, stateDir })
    session.readSync('a.txt')
    session.fork().close()
    session.close()
  },
]

/** @param {() => unknown} call */
function failing(call) {
  try {
    call()
  } catch {
    return
  }
  throw new Error('a call succeeded that must fail')
}

/** @param {number} count */
function make(count) {
  for (let at = 0; at < count; at++) kinds[at % kinds.length]()
  Bun.gc(true)
  return process.memoryUsage().rss
}

try {
  const before = make(calls / 2)
  const after = make(calls / 2)
  const grown = after - before
  console.log(
    `${calls} calls: ${(before / 1e6).toFixed(1)} MB after the first half, ${(grown / 1e6).toFixed(2)} MB more after the second`,
  )
  if (grown > SLACK_BYTES + (calls / 2) * LIMIT_BYTES_A_CALL) {
    throw new Error(`memory grows by ${(grown / (calls / 2)).toFixed(0)} bytes per call`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
