// Patches in oh-my-pi's language, compared with its published package under Bun.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../scripts/packages.mjs'
import { runOnce } from '../workers.mjs'

/** @import { Bench, Row } from '../run.mjs' */

const packages = fileURLToPath(new URL('../tokens/packages/', import.meta.url))

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function scriptRows({ corpora: { page, ascii }, scratchDir, bun }) {
  const lacking = installPackages(packages)
  if (lacking) throw new Error(lacking)
  const cwd = join(scratchDir, 'script')
  mkdirSync(cwd, { recursive: true })
  return await runOnce(bun, 'cases/script-worker-bun.mjs', {
    corpora: { page, ascii },
    peer: join(packages, 'node_modules/@oh-my-pi/hashline/src/index.ts'),
    cwd,
    stateDir: join(scratchDir, 'script-state'),
  })
}
