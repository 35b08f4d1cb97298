// Work in memory, and pages read under Bun, beside the peer, which needs Bun.

import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function memoryRows({ corpora, peer, bun }) {
  const { page, ascii } = corpora
  return await runOnce(bun, 'cases/memory-worker-bun.mjs', { corpora: { page, ascii }, peer })
}
