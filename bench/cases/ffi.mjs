// The same binary under Bun with both interfaces: `bun:ffi` compared with Node-API.

import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function ffiRows({ corpora: { page }, scratchDir, bun }) {
  return await runOnce(bun, 'cases/ffi-worker-bun.mjs', { page, scratchDir })
}
