// Runs under Bun: reads and edits with `@oh-my-pi/hashline`, one request and one answer per line.
// The answer to an edit is the header of each file with its new tag, and the package's preview of a
// diff with three lines of context.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** @import { Window } from './player.mjs' */
/** @typedef {{ id: number, cwd: string, path: string, window: Window }} Reading */
/** @typedef {{ id: number, cwd: string, input: string, block?: Window }} Edit */

const [, , packages] = process.argv
const { buildCompactDiffPreview, InMemoryFilesystem, InMemorySnapshotStore, Patch, Patcher } =
  await import(join(packages, 'node_modules/@oh-my-pi/hashline/src/index.ts'))

const CONTEXT = 3
const OUTPUT = /** @type {const} */ ({ encoding: 'utf8', maxBuffer: 1 << 28 })
const scratch = mkdtempSync(join(tmpdir(), 'hashline-published-'))
/** The current case, and what was read in it. */
let played = 0
let snapshots = new InMemorySnapshotStore()

/** Snapshots are only of texts with `\n` terminators. @param {string} cwd @param {string} path */
const textOf = (cwd, path) => readFileSync(join(cwd, path), 'utf8').replaceAll('\r\n', '\n')

/** @param {Reading} reading */
function headerOf({ cwd, path, window: { from, to } }) {
  const lines = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  return { header: `[${path}#${snapshots.record(path, textOf(cwd, path), lines)}]` }
}

/** @param {Edit} edit */
async function answerOf({ cwd, input, block }) {
  const fs = new InMemoryFilesystem()
  const paths = Array.from(input.matchAll(/^\[(.+)#\w{4}\]$/gm), ([, path]) => path)
  for (const path of paths) fs.set(path, readFileSync(join(cwd, path), 'utf8'))
  const blockResolver = () => block && { start: block.from, end: block.to }
  try {
    const patcher = new Patcher({ fs, snapshots, blockResolver })
    const { sections } = await patcher.apply(Patch.parse(input))
    for (const path of paths) writeFileSync(join(cwd, path), fs.get(path))
    return { text: sections.map(resultOf).join('\n'), done: true }
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), done: false }
  }
}

/** @param {{ header: string, before: string, after: string, warnings: string[] }} section */
function resultOf({ header, before, after, warnings }) {
  const { preview } = buildCompactDiffPreview(numberedDiff(before, after))
  return [header, preview, ...warnings].join('\n')
}

/**
 * The output of `diff`, with the line numbers that the preview needs.
 * @param {string} before
 * @param {string} after
 */
function numberedDiff(before, after) {
  const paths = ['before', 'after'].map((name) => join(scratch, name))
  writeFileSync(paths[0], before)
  writeFileSync(paths[1], after)
  const { stdout } = spawnSync('diff', [`-U${CONTEXT}`, ...paths], OUTPUT)
  let [old, current] = [0, 0]
  return stdout
    .split('\n')
    .slice(2, -1)
    .flatMap((row) => {
      const hunk = /^@@ -(\d+)\S* \+(\d+)/.exec(row)
      if (hunk) {
        old = Number(hunk[1])
        current = Number(hunk[2])
        return ['']
      }
      const line = row.slice(1)
      if (row.startsWith('-')) return [`-${old++}|${line}`]
      if (row.startsWith('+')) return [`+${current++}|${line}`]
      current++
      return row.startsWith(' ') ? [` ${old++}|${line}`] : []
    })
    .join('\n')
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  if (request.id !== played) {
    played = request.id
    snapshots = new InMemorySnapshotStore()
  }
  console.log(JSON.stringify('path' in request ? headerOf(request) : await answerOf(request)))
}
rmSync(scratch, { recursive: true })
