// Code written against the types of the original modules compiles against the declarations of
// `hashline-native/omp` and `omp13`; `tsc` checks this file.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as omp from 'hashline-native/omp'
import * as omp13 from 'hashline-native/omp13'

/** @import { EditSpec, HashlineEdit, HashlineStreamOptions, LineTag, ReplaceTextEdit } from 'hashline-native/omp' */
/** @import { Anchor, CompactHashlineDiffOptions, CompactHashlineDiffPreview, HashlineEdit as Omp13Edit } from 'hashline-native/omp13' */

// The originals export no other types, and `export *` must not duplicate the names of an agent.
// @ts-expect-error: not exported
/** @typedef {import('hashline-native/omp').HashMismatch} OmpMismatch */
// @ts-expect-error: not exported
/** @typedef {import('hashline-native/omp').HashlineResult} OmpResult */
// @ts-expect-error: not exported
/** @typedef {import('hashline-native/omp13').HashMismatch} Omp13Mismatch */
// @ts-expect-error: not exported
/** @typedef {import('hashline-native/omp13').HashlineResult} Omp13Result */
// @ts-expect-error: that generation calls it an anchor
/** @typedef {import('hashline-native/omp13').LineTag} Omp13Tag */

/** @type {LineTag} */
const tag = omp.parseTag('1#ZR')
/** @type {Anchor} */
const pos = omp13.parseTag('1#ZR')

/** @type {HashlineEdit[]} */
const edits = [
  { op: 'set', tag, content: ['x'] },
  { op: 'replace', first: tag, last: tag, content: [] },
  { op: 'append', after: tag, content: ['x'] },
  { op: 'append', content: ['x'] },
  { op: 'prepend', before: tag, content: ['x'] },
  { op: 'prepend', content: ['x'] },
  { op: 'insert', after: tag, before: tag, content: ['x'] },
  // @ts-expect-error: lines are an array
  { op: 'set', tag, content: 'x' },
  // @ts-expect-error: an anchor is not a string
  { op: 'set', tag: '1#ZR', content: [] },
]

/** @type {ReplaceTextEdit} */
const textEdit = { op: 'replaceText', old_text: 'x', new_text: 'y', all: true }
/** @type {EditSpec[]} */
const specs = [...edits, textEdit]
// @ts-expect-error: an edit by text is not an edit by anchors
edits.push(textEdit)

/** @type {Omp13Edit[]} */
const omp13Edits = [
  { op: 'replace_line', pos, lines: ['x'] },
  { op: 'replace_range', pos, end: pos, lines: [] },
  { op: 'append_at', pos, lines: ['x'] },
  { op: 'prepend_at', pos, lines: ['x'] },
  { op: 'append_file', lines: ['x'] },
  { op: 'prepend_file', lines: ['x'] },
  // @ts-expect-error: no place
  { op: 'append_at', lines: ['x'] },
]

test('results have the declared types', () => {
  assert.equal(specs.length + omp13Edits.length, 17)
  const result = omp.applyHashlineEdits('', [])
  /** @type {[string, number | undefined, string[] | undefined]} */
  const fields = [result.content, result.firstChangedLine, result.warnings]
  assert.deepEqual(fields, ['', undefined, undefined])
  /** @type {string | undefined} */
  const current = result.noopEdits?.[0].currentContent
  /** @type {string | undefined} */
  const current13 = omp13.applyHashlineEdits('', []).noopEdits?.[0].current
  assert.deepEqual([current, current13], [undefined, undefined])
})

test('a preview of a diff has the declared types', () => {
  /** @type {CompactHashlineDiffOptions} */
  const options = { maxUnchangedRun: 1, maxAdditionRun: 1, maxDeletionRun: 1, maxOutputLines: 9 }
  /** @type {CompactHashlineDiffPreview} */
  const preview = omp13.buildCompactHashlineDiffPreview('', options)
  assert.deepEqual(preview, { preview: '', addedLines: 0, removedLines: 0 })
})

test('the error has the declared type', () => {
  try {
    omp.validateLineRef({ line: 1, hash: 'ZZ' }, ['x'])
  } catch (error) {
    assert.ok(error instanceof omp.HashlineMismatchError)
    /** @type {{ line: number, expected: string, actual: string }} */
    const mismatch = error.mismatches[0]
    /** @type {ReadonlyMap<string, string>} */
    const remaps = error.remaps
    /** @type {string[]} */
    const lines = error.fileLines
    assert.deepEqual([mismatch.expected, remaps.size, lines], ['ZZ', 1, ['x']])
    // Each dialect has its own error class.
    assert.ok(!(error instanceof omp13.HashlineMismatchError))
  }
})

test('streams take and give the declared types', async () => {
  /** @type {HashlineStreamOptions} */
  const options = { startLine: 3, maxChunkLines: 1, maxChunkBytes: 100 }
  /** @type {AsyncGenerator<string>} */
  const chunks = omp.streamHashLinesFromLines(new Set(['x']), options)
  assert.equal((await chunks.next()).value, omp.formatHashLines('x', 3))
  /** @type {AsyncGenerator<string>} */
  const none = omp13.streamHashLinesFromUtf8(new Blob(['x']).stream())
  assert.equal((await none.next()).value, omp13.formatHashLines('x'))
})
