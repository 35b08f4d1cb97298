// The tools of this package compared with those of pi, in one process: the Node that pi needs.

import { fileURLToPath } from 'node:url'
import { installPackages, laterNode } from '../../scripts/packages.mjs'
import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

const agent = fileURLToPath(new URL('../../integrations/pi/agent', import.meta.url))

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function toolRows({ corpora: { tree }, scratchDir }) {
  const reason = installPackages(agent)
  if (reason !== undefined) throw new Error(reason)
  const task = { agent, corpora: { tree }, scratchDir }
  return await runOnce(laterNode(agent), 'cases/tools-worker.mjs', task)
}
