// Work in memory, and page reads under Bun, compared with the peer, which needs Bun.

import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function memoryRows({ corpora, peer, bun }) {
  const { page, ascii } = corpora
  return await runOnce(bun, 'cases/memory-worker-bun.mjs', { corpora: { page, ascii }, peer })
}
