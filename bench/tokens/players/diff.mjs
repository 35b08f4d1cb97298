// Unified diffs with three lines of context and correct line numbers, which `patch` applies.

import { spawnSync } from 'node:child_process'
import { unifiedDiff } from '../../misplacement/diff.mjs'
import { linesIn, whole } from './player.mjs'
import { plain, plainReads } from './views.mjs'

/** @import { Scheme } from './player.mjs' */

/** @type {Scheme} */
export const diff = {
  name: 'unified diff',
  playerIn: (cwd) => {
    const { read, search } = plainReads(cwd, plain)
    /** @param {string} patch */
    const apply = (patch) => {
      const options = { cwd, input: patch, encoding: /** @type {const} */ ('utf8') }
      const { status, stdout, stderr } = spawnSync('patch', ['-p1', '--force', '--binary'], options)
      return { args: JSON.stringify({ patch }), text: `${stdout}${stderr}`, done: status === 0 }
    }
    /** @param {string} path @param {string[]} lines @param {import('../../edit/history/text.mjs').Edit[]} edits */
    const diffOf = (path, lines, edits) => {
      const { eol, final } = linesIn(cwd, path)
      return unifiedDiff(lines, edits, { eol, final, path })
    }
    return {
      read,
      edit: async (path, lines, edits) => apply(diffOf(path, lines, edits)),
      move: async (body, other) => {
        const { path, first, last } = body
        const { lines } = linesIn(cwd, path)
        const end = linesIn(cwd, other).lines
        const text = lines.slice(first - 1, last)
        const cut = diffOf(path, lines, [{ first, last, lines: [] }])
        const put = diffOf(other, end, [{ after: end.length, lines: ['', ...text] }])
        return [
          search(body),
          await read(path, { from: first - 3, to: last + 3 }),
          await read(other, { from: end.length - 3, to: end.length }),
          apply(cut + put),
        ]
      },
      overview: async (path) => [await read(path, whole(linesIn(cwd, path).lines))],
    }
  },
}
