// Edits that models sent with anchors of other lines, replayed: vectors/mispaired.jsonl.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HashSession, hashLines } from 'hashline-native'

/**
 * A row of the file, with the known facts about the intended line.
 * @typedef {{ lines: Record<string, string>, line: number, hashOfLine: number | null,
 *   text: string, meant: number | null }} Recorded
 */

const FILE = fileURLToPath(new URL('../../vectors/mispaired.jsonl', import.meta.url))
const PATH = 'file.txt'

/**
 * The outcome of each in a session that has shown the lines around it.
 * @param {string} scratchDir
 */
export function replayRecorded(scratchDir) {
  /** @type {Recorded[]} */
  const rows = readFileSync(FILE, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))
  const counts = { reported: 0, right: 0, wrong: 0, unclear: 0 }
  for (const row of rows.filter(({ hashOfLine }) => hashOfLine !== null)) {
    counts[outcomeOf(row, scratchDir)]++
  }
  return counts
}

/** @param {Recorded} row @param {string} scratchDir */
function outcomeOf({ lines, line, hashOfLine, text, meant }, scratchDir) {
  const numbers = Object.keys(lines).map(Number)
  const all = Array.from({ length: Math.max(...numbers) }, (_, at) => lines[at + 1] ?? '')
  const content = all.join('\n')
  const file = join(scratchDir, PATH)
  writeFileSync(file, content)
  const stateDir = join(scratchDir, '.state')
  const session = new HashSession({
    dialect: 'pi',
    cwd: scratchDir,
    durability: 'process',
    stateDir,
  })
  session.readSync({ path: PATH, startLine: Math.min(...numbers) })
  const anchor = `${line}:${hashLines(content)[Number(hashOfLine) - 1]}`
  const outcome = session.applySync({ operations: [{ op: 'set_line', path: PATH, anchor, text }] })
  if (outcome.status === 'rejected' || outcome.warnings.length > 0) return 'reported'
  if (meant === null) return 'unclear'
  const now = readFileSync(file, 'utf8').split('\n')
  const isRight =
    all.slice(0, meant - 1).every((one, at) => now[at] === one) &&
    all.slice(meant).every((one, at, { length }) => now[now.length - length + at] === one)
  return isRight ? 'right' : 'wrong'
}
