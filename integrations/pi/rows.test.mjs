// The rows of calls in the terminal of pi.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashSession } from '../../index.js'
import { hashTools } from '../../js/tools.mjs'

// Its types are those of the packed extension, where `hashline-native` is installed.
const { callRow, previewRows } = await import(new URL('rows.js', import.meta.url).href)

const THEME = {
  fg: (/** @type {string} */ colour, /** @type {string} */ text) =>
    colour.startsWith('toolDiff') ? `${colour.slice(8)}:${text}` : text,
  bold: (/** @type {string} */ text) => text,
}

test('an edit that is still arriving has its counts, and its diff when it is expanded', () => {
  const session = new HashSession({ disk: false, cwd: '/work' })
  session.setDocument('a.txt', 'one\ntwo\n')
  const { apply } = hashTools(session)
  const anchor = session.readSync('a.txt').text.split('|')[0]
  const done = { op: 'set_line', path: 'a.txt', anchor, text: 'ONE' }
  const args = { operations: [done, { op: 'set_line', path: 'a.txt', text: 'TW' }] }
  const preview = apply.preview(args, { partial: true })
  const row = callRow(apply, args, THEME, undefined, preview)
  assert.equal(row, ' apply_hash a.txt ×2 · +1 -1')
  assert.deepEqual(previewRows(preview, THEME).slice(-3), [
    ' Removed:-one',
    ' Added:+ONE',
    ' Context: two',
  ])
  assert.equal(callRow(apply, {}, THEME, undefined, apply.preview({})), ' apply_hash …')
  assert.deepEqual(previewRows(undefined, THEME), [])
})
