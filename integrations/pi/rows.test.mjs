// The rows of calls in the terminal of pi.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashSession } from '../../index.js'
import { hashTools } from '../../js/tools.mjs'

// Its types are those of the packed extension, where `hashline-native` is installed.
const { callRow, previewRows, resultRows } = await import(new URL('rows.js', import.meta.url).href)

const THEME = {
  fg: (/** @type {string} */ colour, /** @type {string} */ text) =>
    colour.startsWith('toolDiff') ? `${colour.slice(8)}:${text}` : text,
  bold: (/** @type {string} */ text) => text,
}

test('an edit that is still arriving has its counts and its diff', () => {
  const session = new HashSession({ disk: false, cwd: '/work' })
  session.setDocument('a.txt', 'one\ntwo\n')
  const { apply } = hashTools(session)
  const anchor = session.readSync('a.txt').text.split('|')[0]
  const done = { op: 'set_line', path: 'a.txt', anchor, text: 'ONE' }
  const args = { operations: [done, { op: 'set_line', path: 'a.txt', text: 'TW' }] }
  const preview = apply.preview(args, { partial: true })
  const row = callRow(apply, args, THEME, undefined, preview)
  assert.equal(row, ' apply a.txt ×2 · +1 -1')
  assert.deepEqual(previewRows(preview, THEME, false), [
    ' Removed:-1 one',
    ' Added:+1 ONE',
    ' Context: 2 two',
  ])
  assert.equal(callRow(apply, {}, THEME, undefined, apply.preview({})), ' apply …')
  assert.deepEqual(previewRows(undefined, THEME, false), [])
})

const detailsOf = (/** @type {string | undefined} */ diff) => ({
  summary: '',
  isError: false,
  ...(diff !== undefined && { diff }),
})

test('a diff has the numbers of its lines, and the names of several files', () => {
  const edited = '--- a/a.js\n+++ b/a.js\n@@ -1,2 +1,2 @@\n-- x\n+++ y\n z\n@@ -9 +9,0 @@\n-\tend\n'
  const rows = [
    ' Removed:-1 - x',
    ' Added:+1 ++ y',
    ' Context: 2 z',
    ' Context: …',
    ' Removed:-9     end',
  ]
  assert.deepEqual(resultRows([], detailsOf(edited), THEME, false), rows)
  const created = '--- /dev/null\n+++ b/b.js\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n'
  const deleted = '--- a/c.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n'
  assert.deepEqual(resultRows([], detailsOf(edited + created + deleted), THEME, false), [
    ' Context:a.js',
    ...rows,
    ' Context:b.js',
    ' Added:+1 new',
    ' Context:c.js',
    ' Removed:-1 old',
  ])
  assert.deepEqual(resultRows([], detailsOf(''), THEME, false), [])
})

test('a long diff is cut and a text is hidden until they are expanded', () => {
  const lines = Array.from({ length: 100 }, (_, line) => `+${line}\n`).join('')
  const details = detailsOf(`--- /dev/null\n+++ b/a.js\n@@ -0,0 +1,100 @@\n${lines}`)
  const cut = resultRows([], details, THEME, false)
  assert.equal(cut.length, 61)
  assert.equal(cut.at(-1), ' … 40 more (ctrl+o)')
  assert.equal(resultRows([], details, THEME, true).length, 100)
  const content = [{ type: 'text', text: 'one\ntwo\n' }]
  assert.deepEqual(resultRows(content, detailsOf(undefined), THEME, false), [])
  assert.deepEqual(resultRows(content, detailsOf(undefined), THEME, true), [' one', ' two'])
})
