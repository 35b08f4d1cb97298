// Runs under Bun: edits by `@oh-my-pi/hashline` and prints what it has for an answer, the header of
// the file with its new tag and the compact preview of a diff with three lines of context.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , packages, calls] = process.argv
const { buildCompactDiffPreview, InMemoryFilesystem, InMemorySnapshotStore, Patch, Patcher } =
  await import(join(packages, 'node_modules/@oh-my-pi/hashline/src/index.ts'))

const CONTEXT = 3
/** The tag in the arguments, which stands for the one that the file gets. */
const TAG = /^(\[.*#)\w+\]/

/**
 * The rows of the one changed place, with the line numbers that the preview is made from.
 * @param {string[]} before
 * @param {string[]} after
 */
function numberedDiff(before, after) {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let behind = 0
  const isSame = (/** @type {number} */ back) =>
    before[before.length - back] === after[after.length - back]
  while (behind < shorter - start && isSame(behind + 1)) behind++
  const row = (
    /** @type {string} */ mark,
    /** @type {number} */ at,
    /** @type {string[]} */ lines,
  ) => `${mark}${at + 1}|${lines[at]}`
  const rows = []
  for (let at = Math.max(0, start - CONTEXT); at < start; at++) rows.push(row(' ', at, before))
  for (let at = start; at < before.length - behind; at++) rows.push(row('-', at, before))
  for (let at = start; at < after.length - behind; at++) rows.push(row('+', at, after))
  const end = before.length - behind
  for (let at = end; at < Math.min(before.length, end + CONTEXT); at++)
    rows.push(row(' ', at, before))
  return rows.join('\n')
}

const answers = []
for (const { path, old, args } of JSON.parse(readFileSync(calls, 'utf8'))) {
  const fs = new InMemoryFilesystem()
  const snapshots = new InMemorySnapshotStore()
  const tag = snapshots.record(path, old.replaceAll('\r\n', '\n'))
  fs.set(path, old)
  const patch = Patch.parse(JSON.parse(args).input.replace(TAG, `$1${tag}]`))
  const { sections } = await new Patcher({ fs, snapshots }).apply(patch)
  const [{ before, after, header, warnings }] = sections
  const { preview } = buildCompactDiffPreview(numberedDiff(before.split('\n'), after.split('\n')))
  answers.push([header, preview, ...warnings].join('\n'))
}
console.log(JSON.stringify(answers))
