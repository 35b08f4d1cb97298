// Small calls of `hashline-native/omp13`, and calls with many edits, compared with the peer under
// Bun.

import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function dropinRows({ corpora: { page, ascii, cjk }, peer, bun }) {
  return await runOnce(bun, 'cases/dropin-worker-bun.mjs', { corpora: { page, ascii, cjk }, peer })
}
