// The functions of `hashline-native/omp13` compared with the peer's in the same process: prints
// rows.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as omp13 from 'hashline-native/omp13'
import { compare } from '../measure.mjs'
import { look, spreadEdits, turns, versions } from '../texts.mjs'
import { serve } from '../workers.mjs'

const { corpora, peer } = JSON.parse(process.argv[2])
/** @type {typeof omp13} */
const rival = await import(peer)

/** The length of the lines in Chinese, Japanese and Korean that are hashed. */
const WIDE_LINE_UNITS = 40

/**
 * @template Task
 * @param {string} id
 * @param {string} name
 * @param {Task[]} tasks run in turns
 * @param {(module: typeof omp13, task: Task) => number} call
 * @param {string} [note]
 */
async function row(id, name, tasks, call, note) {
  for (const task of tasks) assert.equal(call(omp13, task), call(rival, task))
  const [mine, peers] = [turns(tasks), turns(tasks)]
  const samples = await compare({
    own: () => call(omp13, mine()),
    peer: () => call(rival, peers()),
  })
  return { id, own: `omp13 ${name} (Bun)`, peer: 'peer (Bun)', samples, note }
}

/**
 * @param {string} id
 * @param {string} path
 * @param {number} lines
 * @param {number} count
 */
function manyEdits(id, path, lines, count) {
  const tasks = versions(path, lines).map((text) => ({
    text,
    edits: spreadEdits(rival, text, count),
  }))
  return row(id, 'applyHashlineEdits', tasks, (module, { text, edits }) =>
    look(module.applyHashlineEdits(text, [...edits]).lines),
  )
}

/** @param {string} id */
function staleAnchor(id) {
  const tasks = versions(corpora.ascii, 10_000).map((text) => {
    const line = 5001
    const hash = rival.computeLineHash(line, text.split('\n')[line - 1]) === 'ZZ' ? 'PP' : 'ZZ'
    return {
      text,
      edit: { op: /** @type {const} */ ('replace_line'), pos: { line, hash }, lines: ['x'] },
    }
  })
  return row(id, 'applyHashlineEdits', tasks, (module, { text, edit }) => {
    try {
      module.applyHashlineEdits(text, [edit])
    } catch (error) {
      assert.ok(error instanceof module.HashlineMismatchError)
      return error.message.length + error.fileLines.length
    }
    throw new Error('the anchor is not stale')
  })
}

/** @param {string} id */
function oneLine(id) {
  const lines = ['const x = 1', '  return foo(bar)', '}', '', "    throw new Error('not here')"]
  return row(id, 'formatHashLines', lines, (module, line) => look(module.formatHashLines(line)))
}

/** @param {string} id */
function wideHashes(id) {
  const all = readFileSync(corpora.cjk, 'utf8').split('\n')
  const lines = all.filter((line) => line.length <= WIDE_LINE_UNITS && /[^\0-\x7f]/.test(line))
  const some = lines.slice(0, 500).map((line) => Buffer.from(line).toString())
  return row(
    id,
    'computeLineHash',
    [some],
    (module, lines) => {
      let sum = 0
      for (let at = 0; at < lines.length; at++) {
        sum += module.computeLineHash(at + 1, lines[at]).charCodeAt(0)
      }
      return sum
    },
    `for ${some.length} calls, lines of at most ${WIDE_LINE_UNITS} characters that are not all ASCII`,
  )
}

await serve(
  () => undefined,
  [
    await manyEdits('omp-apply-200', corpora.page, 2000, 200),
    await manyEdits('omp-apply-5000', corpora.ascii, 10_000, 5000),
    await manyEdits('omp-apply-20000', corpora.ascii, 50_000, 20_000),
    await manyEdits('omp-apply-small', corpora.page, 100, 1),
    await staleAnchor('omp-stale'),
    await oneLine('omp-format-line'),
    await wideHashes('omp-hash-wide'),
  ],
)
