// The package `@oh-my-pi/hashline`: a tag for each file, and a language for patches.

import { fileURLToPath } from 'node:url'
import { sectionsOf } from '../../misplacement/subjects/section.mjs'
import { childOf } from './child.mjs'
import { linesIn, searched, whole } from './player.mjs'

/** @import { Scheme, Window } from './player.mjs' */

const bun = fileURLToPath(new URL('../../../node_modules/.bin/bun', import.meta.url))
const worker = fileURLToPath(new URL('publishedWorker.mjs', import.meta.url))

/** @param {string} packages the folder where it is installed @returns {Scheme} */
export function publishedIn(packages) {
  const child = childOf(bun, [worker, packages])
  let count = 0
  return {
    name: 'file tag (`@oh-my-pi/hashline`)',
    end: child.end,
    playerIn: (cwd) => {
      const id = ++count
      /** @type {Map<string, string>} */
      const headers = new Map()
      /**
       * The header of the current file, with its tag.
       * @param {string} path
       * @param {Window} window
       */
      const seen = async (path, window) => {
        const { header } = await child.ask({ id, cwd, path, window })
        headers.set(path, header)
        return header
      }
      const read = async (/** @type {string} */ path, /** @type {Window} */ window) => {
        const { from, to } = window
        const rows = linesIn(cwd, path)
          .lines.slice(from - 1, to)
          .map((line, at) => `${from + at}:${line}`)
        const args = { path: `${path}:${from}-${to}` }
        return { args: JSON.stringify(args), text: [await seen(path, window), ...rows].join('\n') }
      }
      /** @param {string} input @param {Window} [block] the block that its parser finds */
      const apply = async (input, block) => ({
        args: JSON.stringify({ input }),
        ...(await child.ask({ id, cwd, input, block })),
      })
      return {
        read,
        edit: (path, _lines, edits) => apply(sectionsOf(headers.get(path) ?? '', edits)),
        move: async (body, other) => {
          const { path, first, last } = body
          const end = linesIn(cwd, other).lines.length
          const header = await seen(path, { from: first, to: first })
          const hits = searched(cwd, body, (lines, line) => `${line}:${lines[line - 1]}`)
          const target = await read(other, { from: end, to: end })
          const input = `${header}\nCUT ${first}*\n${headers.get(other)}\nPUT >$`
          return [
            { ...hits, text: `${header}\n${hits.text}` },
            target,
            await apply(input, { from: first, to: last }),
          ]
        },
        overview: async (path) => [await read(path, whole(linesIn(cwd, path).lines))],
      }
    },
  }
}
