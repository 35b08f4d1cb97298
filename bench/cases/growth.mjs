// Growth: the same work on files of doubling size.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { applyHash, readHashed } from 'hashline-native'
import { memoryDirWith } from '../corpora.mjs'
import { compare } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */

const MIB = 2 ** 20
/** A view is one string, and the longest string of V8 has 512 MiB. */
const VIEW_LIMIT_BYTES = 320 * MIB

/** The space for all files, and for a second version of the largest. */
const ROOM_BYTES = 5 * 1024 * MIB

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function growthRows({ scratchDir, ...bench }) {
  // Disks become slower during writes of gigabytes.
  const memoryDir = memoryDirWith(ROOM_BYTES)
  const dir = mkdtempSync(join(memoryDir ?? scratchDir, 'hashline-bench-'))
  try {
    const rows = await growthRowsIn(dir, bench)
    const place = memoryDir ? 'files in memory' : 'files on disk'
    return rows.map((row) => ({ ...row, note: `${row.note}; ${place}` }))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * @param {string} scratchDir
 * @param {Pick<Bench, 'corpora' | 'growthMib'>} bench
 * @returns {Promise<Row[]>}
 */
async function growthRowsIn(scratchDir, { corpora: { large }, growthMib }) {
  const files = growthMib.map((mib) => ({ mib, path: grown(large, mib, scratchDir) }))
  const rows = []
  for (const [name, work] of Object.entries(works(scratchDir))) {
    const fitting = files.filter(({ mib }) => name !== 'view' || mib * MIB <= VIEW_LIMIT_BYTES)
    const contestants = fitting.map(({ mib, path }) => [String(mib), work(path)])
    const samples = await compare(Object.fromEntries(contestants), { seconds: 60, rounds: 25 })
    const steps = fitting.slice(1).map(({ mib }, at) => {
      const [before, now] = [samples[String(fitting[at].mib)], samples[String(mib)]]
      return { ratio: now.median / before.median, before, now, mib, from: fitting[at].mib }
    })
    const worst = steps.reduce((worst, step) => (step.ratio > worst.ratio ? step : worst))
    const all = fitting.map(
      ({ mib }) => `${mib} MiB ${(samples[String(mib)].median / 1e6).toFixed(0)} ms`,
    )
    rows.push({
      id: `growth-${name}`,
      own: `${worst.mib} MiB`,
      peer: `${worst.from} MiB`,
      samples: { own: worst.now, peer: worst.before },
      note:
        all.join(', ') +
        (fitting.length < files.length ? '; longer views exceed a string of V8' : ''),
    })
  }
  return rows
}

/** @param {string} scratchDir @returns {Record<string, (path: string) => () => Promise<unknown>>} */
function works(scratchDir) {
  const options = {
    stateDir: join(scratchDir, 'state'),
    durability: /** @type {const} */ ('process'),
  }
  return {
    view: (path) => () => readHashed(path),
    read: (path) => () => readHashed({ path, maxLines: 2000 }),
    search: (path) => () =>
      readHashed({
        path,
        search: 'getUnionOrIntersectionProperty',
        contextBefore: 2,
        contextAfter: 2,
      }),
    apply: (path) => {
      let turn = 0
      return async () => {
        // Grows by about a byte: the size stays nearly the same.
        const anchor = 'EOF'
        const outcome = await applyHash(
          { operations: [{ op: 'insert_after', path, anchor, text: `// ${turn++}` }] },
          options,
        )
        if (outcome.status !== 'applied') throw new Error(outcome.text)
      }
    },
  }
}

/**
 * A file of the given number of MiB, minus a page, with the text of another file.
 * @param {string} from
 * @param {number} mib
 * @param {string} dir
 */
function grown(from, mib, dir) {
  const path = join(dir, `grown-${mib}.js`)
  const text = readFileSync(from)
  const file = openSync(path, 'w')
  let left = mib * MIB - 4096
  while (left > 0) left -= writeSync(file, text, 0, Math.min(left, text.length))
  closeSync(file)
  return path
}
