// Patches that move every file of a directory to the next generation, for tests that stop and kill
// them. As a process: `generations.mjs DIR STATE_DIR DURABILITY [COUNT]` applies patches, COUNT of
// them or until it is killed.
//
// A patch has every kind of change: files are edited (one of them has two names, so it is rewritten
// in place), one is edited and moved back and forth, one is added, one deleted.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyHashSync } from 'hashline-native'

/** @import { Operation } from 'hashline-native' */

const EDITED = ['a.txt', 'b.txt', 'c.txt', 'linked.txt']
const MOVED = ['even.txt', 'odd.txt']
const LINES = 2000

/** @param {number} generation */
const content = (generation) => `generation ${generation}\n`.repeat(LINES)

/** Creates the files of generation 0. @param {string} dir */
export function makeFiles(dir) {
  for (const name of [...EDITED, MOVED[0], 'added-0.txt']) {
    writeFileSync(join(dir, name), content(0))
  }
  linkSync(join(dir, 'linked.txt'), join(dir, 'link.txt'))
}

/**
 * The generation of all files; fails if they have different ones, if one is torn, or if there are
 * other files.
 * @param {string} dir
 */
export function generationOf(dir) {
  const first = readFileSync(join(dir, 'a.txt'), 'utf8')
  const generation = Number(/^generation (\d+)\n/.exec(first)?.[1])
  const names = [...EDITED, 'link.txt', MOVED[generation % 2], `added-${generation}.txt`].sort()
  assert.deepEqual(readdirSync(dir).sort(), names)
  for (const name of names) {
    const isWhole = readFileSync(join(dir, name), 'utf8') === content(generation)
    assert.ok(isWhole, `${name} is not of generation ${generation}`)
  }
  return generation
}

/**
 * @param {number} generation the current generation of the files
 * @returns {Operation[]}
 */
function patch(generation) {
  const [from, to] = generation % 2 === 0 ? MOVED : MOVED.toReversed()
  const next = generation + 1
  /** @type {Operation[]} */
  const edits = [...EDITED, from].map((path) => ({
    op: 'replace_text',
    path,
    old_text: `generation ${generation}\n`,
    new_text: `generation ${next}\n`,
    all: true,
  }))
  return [
    ...edits,
    { op: 'move_file', from, to },
    { op: 'add_file', path: `added-${next}.txt`, content: content(next) },
    { op: 'delete_file', path: `added-${generation}.txt` },
  ]
}

/**
 * Starts the process; resolves before it applies its first patch.
 * @param {string} dir
 * @param {string} stateDir
 * @param {'power' | 'process'} durability
 * @param {number} [count]
 */
export async function startGenerations(dir, stateDir, durability, count) {
  const script = fileURLToPath(import.meta.url)
  const args = [script, dir, stateDir, durability, ...(count === undefined ? [] : [`${count}`])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended])
  assert.equal(child.exitCode, null, 'the child ended before its time')
  return { child, ended }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir, stateDir, durability, count = '1e9'] = process.argv.slice(2)
  // Without the option root, which refuses a file with two names.
  process.chdir(dir)
  let generation = generationOf(dir)
  const last = generation + Number(count)
  process.stdout.write('ready\n')
  for (; generation < last; generation++) {
    const operations = patch(generation)
    const outcome = applyHashSync(
      { operations },
      { stateDir, durability: durability === 'power' ? 'power' : 'process' },
    )
    if (outcome.status === 'rejected') throw new Error(outcome.text)
  }
}
