// Runs under Bun: applies cases from standard input with `@oh-my-pi/hashline` and prints results.

import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { sectionsOf } from './section.mjs'

/** @import { Edit } from '../../edit/history/text.mjs' */
/** @import { Result } from './subject.mjs' */

/** The folder where it is installed. */
const [, , packages] = process.argv
const { InMemoryFilesystem, InMemorySnapshotStore, Patch, Patcher } = await import(
  join(packages, 'node_modules/@oh-my-pi/hashline/src/index.ts')
)

/**
 * @param {{ path: string, old: string, current: string, operations: Edit[] }} one
 * @returns {Promise<Result>}
 */
async function resultOf({ path, old, current, operations }) {
  // It supports some languages, which it detects by the name.
  const name = `file${extname(path)}`
  const fs = new InMemoryFilesystem()
  const snapshots = new InMemorySnapshotStore()
  // Snapshots are only of texts with `\n` terminators.
  const tag = snapshots.record(name, old.replaceAll('\r\n', '\n'))
  fs.set(name, current)
  const text = sectionsOf(`[${name}#${tag}]`, operations)
  try {
    await new Patcher({ fs, snapshots }).apply(Patch.parse(text))
  } catch (error) {
    return { status: 'refused', code: error instanceof Error ? error.name : String(error) }
  }
  return { status: 'applied', text: fs.get(name) }
}

const results = []
for (const one of JSON.parse(readFileSync(0, 'utf8'))) {
  results.push(await resultOf(one))
}
console.log(JSON.stringify(results))
