// A tour of the engine on real files: the sources of this repository.
//
// Every box shows exactly what a model would see, and every anchor that is used below is copied
// from such a box, as a model would do. Reads and searches access the sources themselves; edits are
// made to copies in a temporary directory, which is not deleted.

import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyHash, readHashed, searchHashed } from 'hashline-native'

/** @import { AppliedOutcome, Operation, RejectedOutcome } from 'hashline-native' */

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)))
const LINES = 'crates/lines/src/lines.rs'
const HASH = 'crates/lines/src/hash.rs'
const SIMILARITY = 'crates/lines/src/similarity.rs'
const CANCEL = 'crates/base/src/cancel.rs'

await readAWindow()
await searchInAFile()
await searchADirectory()
const copy = copyFiles([LINES, HASH, SIMILARITY, CANCEL])
await editFourFilesAtOnce()
await staleAnchor()
await relocation()
checkTheDisk()

async function readAWindow() {
  heading('Read: every line carries its anchor, a line number and a hash')
  const [view] = await readHashed({ path: LINES, maxLines: 10 }, { root: REPOSITORY })
  show(`readHashed ${LINES}, 10 lines`, view.text)
  console.log(
    `The file has ${view.lineCount} lines; the next read would start at ${view.nextLine}.`,
  )
}

async function searchInAFile() {
  heading('Search in one file: matches and their context carry anchors, too')
  const [view] = await readHashed(
    { path: LINES, search: 'const STRIDE_LINES', contextBefore: 2, contextAfter: 1 },
    { root: REPOSITORY },
  )
  show(`readHashed ${LINES}, search "const STRIDE_LINES"`, view.text)
  console.log(`Matching lines: ${view.matchLines?.join(', ')}`)
}

async function searchADirectory() {
  heading('Search in a directory: ignore rules honoured, always in the same order')
  const result = await searchHashed(
    {
      search: String.raw`fn (read|apply)_\w+\(`,
      regex: true,
      paths: 'src',
      contextBefore: 1,
      maxMatches: 6,
    },
    { root: REPOSITORY },
  )
  show('searchHashed src/, 6 matches', result.text)
  const cut = result.truncated ? ', and there is more' : ''
  console.log(`${result.matchCount} matches in ${result.filesSearched} searched files${cut}.`)
}

async function editFourFilesAtOnce() {
  heading('Edit: four files and a new one, in one patch, all or nothing')
  const [lines, hash, similarity, cancel] = await readCopies(LINES, HASH, SIMILARITY, CANCEL)
  const outcome = await apply([
    {
      op: 'set_line',
      path: LINES,
      anchor: anchorOf(lines, 'const STRIDE_LINES'),
      text: 'const STRIDE_LINES: u64 = 128;',
    },
    {
      op: 'replace_range',
      path: HASH,
      start_anchor: anchorOf(hash, '/// Longer lines are hashed in pieces'),
      end_anchor: anchorOf(hash, 'const PIECE_LIMIT_BYTES'),
      text: '/// Longer lines are hashed in pieces.\nconst PIECE_LIMIT_BYTES: usize = 32 * 1024;',
    },
    {
      op: 'insert_after',
      path: SIMILARITY,
      anchor: anchorOf(similarity, 'use std::collections::HashMap;'),
      text: 'use std::collections::BTreeMap;',
    },
    { op: 'delete', path: CANCEL, anchor: anchorOf(cancel, '/// A flag shared between') },
    // Line edits of a moved file use its old path.
    { op: 'move_file', from: CANCEL, to: 'crates/base/src/stop.rs' },
    { op: 'add_file', path: 'NOTES.md', content: '# Notes\n\nMade by the tour.\n' },
  ])
  assert.equal(outcome.status, 'applied', outcome.text)
  show('applyHash: applied; the anchors are fresh, so the next edit needs no read', outcome.text)
}

async function staleAnchor() {
  heading('A stale anchor: someone else changed the line, so nothing is written')
  const [seen] = await readCopies(LINES)
  const anchor = anchorOf(seen, 'const STRIDE_LINES')
  changeByHand(LINES, (text) => text.replace('STRIDE_LINES: u64 = 128;', 'STRIDE_LINES: u64 = 32;'))
  const patch = (/** @type {string} */ strideAnchor) => [
    insertAtEnd(HASH, '// Seen by the tour.'),
    setLine(LINES, strideAnchor, 'const STRIDE_LINES: u64 = 256;'),
  ]
  const before = readCopy(HASH)
  const refused = await apply(patch(anchor))
  assert.equal(refused.status, 'rejected', refused.text)
  assert.equal(readCopy(HASH), before, 'the other file of the patch is untouched')
  show(`applyHash with ${anchor}: ${refused.code}`, refused.text)

  // The model reads the refusal, finds its line in it and tries again.
  const fresh = anchorOf(refused.text, 'const STRIDE_LINES')
  const applied = await apply(patch(fresh))
  assert.equal(applied.status, 'applied', applied.text)
  show(`The same patch with ${fresh}, out of the refusal`, applied.text)
}

async function relocation() {
  heading('A relocation: lines were added above, the line itself is the same')
  const [seen] = await readCopies(SIMILARITY)
  // A whole row is an anchor, too: the text after the separator must then match the line, so a line
  // with the same hash is not edited by accident.
  const row = rowOf(seen, 'const COMPARE_LIMIT_CHARS')
  changeByHand(
    SIMILARITY,
    (text) => `${'// A licence, put in by someone else.\n'.repeat(5)}${text}`,
  )
  const outcome = await apply([
    setLine(SIMILARITY, row, 'const COMPARE_LIMIT_CHARS: usize = 1024;'),
  ])
  assert.equal(outcome.status, 'applied', outcome.text)
  assert.equal(outcome.relocations[0].distance, 5)
  show(`applyHash with ${row}`, outcome.text)
}

/** Verifies the files: they have the requested changes, and none of the replaced text. */
function checkTheDisk() {
  heading('On disk')
  /** @type {[string, string, boolean][]} path, text, whether the file has it */
  const claims = [
    [LINES, 'const STRIDE_LINES: u64 = 256;', true],
    [HASH, 'const PIECE_LIMIT_BYTES: usize = 32 * 1024;', true],
    [HASH, '// Seen by the tour.', true],
    [SIMILARITY, 'use std::collections::BTreeMap;', true],
    [SIMILARITY, 'const COMPARE_LIMIT_CHARS: usize = 1024;', true],
    ['crates/base/src/stop.rs', 'pub struct Cancel', true],
    ['crates/base/src/stop.rs', '/// A flag shared between', false],
    ['NOTES.md', 'Made by the tour.', true],
  ]
  for (const [path, text, expected] of claims) {
    const at = readCopy(path)
      .split('\n')
      .findIndex((line) => line.includes(text))
    assert.equal(at >= 0, expected, `${path}: ${text}`)
    console.log(expected ? `${path}:${at + 1}  ${text}` : `${path}  no longer has: ${text}`)
  }
  assert.equal(existsSync(join(copy, CANCEL)), false)
  console.log(`${CANCEL}  is gone: it is crates/base/src/stop.rs now`)
  console.log(`\nThe edited files are in ${copy}`)
}

/**
 * Copies files of the repository to a new directory.
 * @param {string[]} paths
 */
function copyFiles(paths) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-tour-'))
  for (const path of paths) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    copyFileSync(join(REPOSITORY, path), join(dir, path))
  }
  return dir
}

/**
 * Reads the copies: all files in one call.
 * @param {...string} paths
 */
async function readCopies(...paths) {
  const views = await readHashed(paths, { root: copy })
  return views.map((view) => {
    assert.equal(view.error, undefined, view.error?.message)
    return view.text
  })
}

/** @param {string} path */
function readCopy(path) {
  return readFileSync(join(copy, path), 'utf8')
}

/**
 * An edit by another process, without anchors.
 * @param {string} path
 * @param {(text: string) => string} edit
 */
function changeByHand(path, edit) {
  const before = readCopy(path)
  const after = edit(before)
  assert.notEqual(after, before)
  writeFileSync(join(copy, path), after)
}

/**
 * @param {Operation[]} operations
 * @returns {Promise<AppliedOutcome | RejectedOutcome>}
 */
function apply(operations) {
  return applyHash({ operations }, { root: copy })
}

/**
 * @param {string} path
 * @param {string} anchor
 * @param {string} text
 * @returns {Operation}
 */
function setLine(path, anchor, text) {
  return { op: 'set_line', path, anchor, text }
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {Operation}
 */
function insertAtEnd(path, text) {
  return { op: 'insert_after', path, anchor: 'EOF', text }
}

/**
 * The row whose line starts with `start`, as a model would find it.
 * @param {string} shown
 * @param {string} start
 */
function rowOf(shown, start) {
  const row = shown.split('\n').find((one) => one.replace(/^\d+:\w+\|/, '').startsWith(start))
  assert.ok(row, `no line starts with ${start}`)
  return row
}

/**
 * The anchor of that row.
 * @param {string} shown
 * @param {string} start
 */
function anchorOf(shown, start) {
  return rowOf(shown, start).split('|')[0]
}

/** @param {string} text */
function heading(text) {
  console.log(`\n== ${text} ==`)
}

/**
 * @param {string} title
 * @param {string} text exactly what a model would see
 */
function show(title, text) {
  console.log(`┌ ${title}`)
  for (const line of text.split('\n')) console.log(`│ ${line}`)
  console.log('└')
}
