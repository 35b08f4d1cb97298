// Searching a tree, compared with ripgrep, whose process is started for each search, as by a
// harness.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { searchHashed } from 'hashline-native'
import { compare } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */

/** A pattern in few files, and one in most. */
const PATTERNS = { rare: 'getUnionOrIntersectionProperty', frequent: 'return' }

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function searchRows({ corpora: { tree } }) {
  const rows = []
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    const own = () =>
      searchHashed({
        search: pattern,
        caseSensitive: true,
        paths: tree,
        contextBefore: 2,
        contextAfter: 2,
        maxMatches: 10_000_000,
      })
    const peer = () => ripgrep('-n', '-C2', '-F', pattern, tree)
    const { matchCount, files } = await own()
    const counts = ripgrep('-c', '--no-filename', '-F', pattern, tree).split('\n').filter(Boolean)
    assert.ok(matchCount > 0, `${pattern} is nowhere`)
    assert.equal(files.length, counts.length, 'both find it in the same number of files')
    const lines = counts.reduce((sum, count) => sum + Number(count), 0)
    assert.equal(matchCount, lines, 'both find the same number of lines')
    const samples = await compare({ own, peer }, { seconds: 60 })
    const note = `\`${pattern}\`: ${matchCount} lines of ${files.length} files`
    rows.push({ id: `search-${name}`, own: 'searchHashed', peer: 'rg -n -C2', samples, note })
  }
  return rows
}

/** @param {string[]} args */
function ripgrep(...args) {
  const { stdout, error } = spawnSync('rg', args, { maxBuffer: 2 ** 30 })
  if (error) throw error
  return stdout.toString()
}
