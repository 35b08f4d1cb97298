// Hashing on one core: bytes per second compared with a scan for newlines of the same bytes.

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { summary } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */

const ROUNDS = 60
const repository = fileURLToPath(new URL('../..', import.meta.url))

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function hashRows({ corpora: { ascii, cyrillic, cjk, long } }) {
  const files = [ascii, cyrillic, cjk, long]
  const cargo = ['run', '--quiet', '--release', '--package', 'hashline-core', '--example', 'rates']
  const printed = execFileSync('cargo', [...cargo, '--', String(ROUNDS), ...files], {
    cwd: repository,
    encoding: 'utf8',
  })
  const times = JSON.parse(printed)
  const size = (/** @type {string} */ file) => statSync(file).size
  /** Rows compare two times, so times are scaled to the same number of bytes. */
  const sample = (/** @type {string} */ file, /** @type {string} */ stage, bytes = size(file)) =>
    summary(times[file][stage].map((/** @type {number} */ time) => (time * bytes) / size(file)))
  /** @type {string} */
  const best = times[ascii].best
  const note = (/** @type {string} */ file, /** @type {string} */ stage) =>
    `${(size(file) / sample(file, stage).median).toFixed(2)} GB/s`
  const beside = (/** @type {string} */ id, /** @type {string} */ file, stage = best) => ({
    id,
    own: stage,
    peer: 'newline scan',
    samples: { own: sample(file, stage), peer: sample(file, 'scan') },
    note: note(file, stage),
  })
  const besideAscii = (/** @type {string} */ id, /** @type {string} */ file, stage = best) => ({
    id,
    own: stage,
    peer: 'ASCII source',
    samples: { own: sample(file, stage, size(ascii)), peer: sample(ascii, stage) },
    note: note(file, stage),
  })
  const wide = 'hash-ascii-avx512'
  const cannot = 'this processor has no AVX-512'
  return [
    best === 'avx512'
      ? beside(wide, ascii)
      : { id: wide, own: 'avx512', peer: 'newline scan', cannot },
    // If the best level has a goal of its own, the level below it is measured, too.
    beside('hash-ascii', ascii, best === 'avx512' ? 'avx2' : best),
    beside('hash-ascii-portable', ascii, 'portable'),
    beside('hash-long', long),
    besideAscii('hash-cyrillic', cyrillic),
    besideAscii('hash-cjk', cjk),
    besideAscii('hash-cyrillic-portable', cyrillic, 'portable'),
    besideAscii('hash-cjk-portable', cjk, 'portable'),
  ]
}
