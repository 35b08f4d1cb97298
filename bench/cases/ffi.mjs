// The same binary under Bun by both of its interfaces: `bun:ffi` beside Node-API.

import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function ffiRows({ corpora: { page }, scratchDir, bun }) {
  return await runOnce(bun, 'cases/ffi-worker-bun.mjs', { page, scratchDir })
}
