// Replacement of exact text with the edit tool of pi, for texts shown in several ways.

import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { installPackages, laterNode } from '../../../scripts/packages.mjs'
import { edited } from '../../edit/history/text.mjs'
import { uniqueTextOf } from '../../misplacement/subjects/exact.mjs'
import { childOf } from './child.mjs'
import { linesIn, whole } from './player.mjs'
import { plainReads } from './views.mjs'

/** @import { Edit } from '../../edit/history/text.mjs' */
/** @import { Scheme } from './player.mjs' */
/** @import { View } from './views.mjs' */

const agent = fileURLToPath(new URL('../../../integrations/pi/agent', import.meta.url))
const worker = fileURLToPath(new URL('piWorker.mjs', import.meta.url))

/** @param {string} name @param {View} view @returns {Scheme} */
export function exact(name, view) {
  const reason = installPackages(agent)
  if (reason !== undefined) throw new Error(reason)
  const child = childOf(laterNode(agent), [worker, agent])
  return {
    name,
    end: child.end,
    playerIn: (cwd) => {
      const { read, search } = plainReads(cwd, view)
      /** @param {string} path @param {{ old_text: string, new_text: string }[]} edits */
      const replace = async (path, edits) => ({
        args: JSON.stringify({ path, edits }),
        ...(await child.ask({ cwd, path, edits })),
      })
      return {
        read,
        edit: (path, lines, edits) => replace(path, replacementsOf(lines, edits)),
        canQuote: (output, lines, edits) =>
          replacementsOf(lines, edits)
            .flatMap(({ old_text }) => old_text.split('\n'))
            .every((line) => stripVTControlCharacters(output).includes(line)),
        move: async (body, other) => {
          const { path, first, last } = body
          const { lines } = linesIn(cwd, path)
          const end = linesIn(cwd, other).lines
          const text = lines.slice(first - 1, last)
          const tail = end.slice(-4)
          return [
            search(body),
            await read(path, { from: first, to: last }),
            await read(other, { from: end.length - tail.length + 1, to: end.length }),
            await replace(path, replacementsOf(lines, [{ first, last, lines: [] }])),
            await replace(other, [
              { old_text: tail.join('\n'), new_text: [...tail, '', ...text].join('\n') },
            ]),
          ]
        },
        overview: async (path) => [await read(path, whole(linesIn(cwd, path).lines))],
      }
    },
  }
}

/**
 * Edits as a model writes them: each quotes what it replaces, with enough lines around to be
 * unique. Edits with overlapping quotes are merged.
 * @param {string[]} oldLines
 * @param {Edit[]} edits
 */
export function replacementsOf(oldLines, edits) {
  const old = oldLines.join('\n')
  /** @type {{ first: number, end: number, edits: Edit[] }[]} */
  const spans = []
  for (const edit of edits) {
    const { first, end } = spanOf(old, oldLines, edit)
    const last = spans.at(-1)
    if (last && first < last.end) {
      last.end = Math.max(last.end, end)
      last.edits.push(edit)
    } else spans.push({ first, end, edits: [edit] })
  }
  return spans.map(({ first, end, edits }) => {
    const before = oldLines.slice(first, end)
    return {
      old_text: before.join('\n'),
      new_text: edited(before, shifted(edits, first)).join('\n'),
    }
  })
}

/**
 * The lines that are quoted: from `first`, counted from 0, up to `end`, excluded.
 * @param {string} old
 * @param {string[]} oldLines
 * @param {Edit} edit
 */
function spanOf(old, oldLines, edit) {
  const span = uniqueTextOf({ old, oldLines }, edit, '\n') ?? { first: 0, end: oldLines.length }
  // With the terminator: otherwise an empty line would remain.
  const isAll = 'last' in edit && span.first === edit.first - 1 && span.end === edit.last
  if (edit.lines.length > 0 || !isAll) return span
  return span.end < oldLines.length
    ? { ...span, end: span.end + 1 }
    : { ...span, first: Math.max(0, span.first - 1) }
}

/** @param {Edit[]} edits @param {number} by @returns {Edit[]} */
const shifted = (edits, by) =>
  edits.map((edit) =>
    'after' in edit
      ? { ...edit, after: edit.after - by }
      : { ...edit, first: edit.first - by, last: edit.last - by },
  )
