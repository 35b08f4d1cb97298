// Tests of the declarations; `tsc` checks this file.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyHashSync, applyHashToText, formatHashed, readHashedSync } from 'hashline-native'
import { UNUSED_STATE } from './support.mjs'

/** @import { ApplyOutcome, FileView, HashlineErrorCode, Operation, Patch } from 'hashline-native' */

/**
 * The status determines the fields.
 * @param {ApplyOutcome} outcome
 * @returns {[string[], HashlineErrorCode | undefined]}
 */
function summary(outcome) {
  // Before the status is checked, they may be absent.
  /** @type {number | undefined} */
  const count = outcome.failures?.length
  assert.ok(count !== 0)
  return outcome.status === 'applied'
    ? [outcome.files.map((file) => file.path), undefined]
    : [outcome.failures.map((failure) => failure.message), outcome.code]
}

/**
 * The kind of a view determines its fields.
 * @param {FileView} view
 * @returns {string | number}
 */
function summaryOf(view) {
  switch (view.kind) {
    case 'text':
      return view.lineCount
    case 'binary':
      return view.snapshot
    case 'image':
      return view.mimeType
    case 'directory':
      return view.fileCount
    case 'unread':
      return view.nextLine
    case 'error':
      return view.error.code
  }
}

/** @type {Operation[]} */
const operations = [
  { op: 'set_line', path: 'a', anchor: '1:18', text: null },
  { op: 'replace_range', path: 'a', start_anchor: '1:18', end_anchor: '2:18', text: ['x'] },
  { op: 'insert_before', path: 'a', anchor: 'BOF', text: 'x', verbatim: true },
  { op: 'insert_after', path: 'a', anchor: 'EOF', text: 'x' },
  { op: 'delete', path: 'a', anchor: '1:18' },
  { op: 'delete', path: 'a', start_anchor: '1:18', end_anchor: '2:18' },
  { op: 'delete', path: 'a', range: '1:18-2:18' },
  { op: 'replace_text', path: 'a', old_text: 'x', new_text: 'y', all: true },
  { op: 'add_file', path: 'a', content: '' },
  { op: 'move_file', from: 'a', to: 'b' },
  { op: 'move_file', from_path: 'a', to_path: 'b' },
  { op: 'delete_file', path: 'a' },
  // @ts-expect-error: an unknown operation
  { op: 'append', path: 'a', text: 'x' },
  // @ts-expect-error: no path
  { op: 'set_line', anchor: '1:18', text: 'x' },
  // @ts-expect-error: two ways to name lines
  { op: 'delete', path: 'a', anchor: '1:18', range: '1:18-2:18' },
  // @ts-expect-error: nothing to insert
  { op: 'insert_after', path: 'a', anchor: '1:18', text: null },
]

/** @type {Patch[]} */
const patches = [
  { operations },
  { path: 'a', edits: [{ set_line: { anchor: '1:18', new_text: 'x' } }] },
  { path: 'a', edits: [{ op: 'set', tag: '1#ZZ', content: ['x'] }], rename: 'b' },
  { path: 'a', delete: true },
  { path: 'a', edits: [], snapshots: { a: readHashedSync('a')[0].snapshot } },
  // @ts-expect-error: no path
  { edits: [] },
]

test('values that the types forbid are refused at run time', () => {
  assert.equal(patches.length, 6)
  // @ts-expect-error: an unknown name
  assert.throws(() => formatHashed('', { startline: 1 }))
  // @ts-expect-error: an unknown dialect
  assert.throws(() => formatHashed('', { dialect: 'hex' }))
  // @ts-expect-error: a synchronous call has no signal
  assert.throws(() => readHashedSync([], { signal: AbortSignal.abort() }))
  // @ts-expect-error: no such repair
  assert.throws(() => applyHashSync({ operations: [] }, { repairs: { spelling: true } }))
  // @ts-expect-error: options of files
  assert.throws(() => applyHashToText('', [], { root: '.' }))
  assert.deepEqual(readHashedSync('').map(summaryOf), ['INVALID_ARGUMENT'])
  assert.equal(summary(applyHashSync({ operations }, { stateDir: UNUSED_STATE })).length, 2)
})
