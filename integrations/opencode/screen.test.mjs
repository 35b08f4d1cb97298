// Arguments and diffs in the form that opencode's terminal draws.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashSession } from '../../index.js'
import { hashTools } from '../../js/tools.mjs'
import { addFilePath, diffOf, metadataOf, withFilePath, withPath } from './screen.js'

const tools = hashTools(new HashSession())

test('the path of a call is called filePath in schemas and examples', () => {
  for (const tool of [tools.read, tools.apply]) {
    const { description, inputSchema } = withFilePath(tool)
    const { properties = {}, required = [] } = inputSchema
    assert.ok('filePath' in properties && !('path' in properties))
    assert.ok(!required.includes('path'))
    assert.doesNotMatch(description, /\{"path"/)
  }
})

const OPERATIONS = [
  { op: 'delete', path: 'a.js' },
  { op: 'move_file', from: 'b.js' },
]

test('a call has the argument filePath, from which its paths can be restored', () => {
  /** @type {[Record<string, any>, string | undefined, object][]} */
  const cases = [
    [{ path: 'a.js' }, 'a.js', { path: 'a.js' }],
    [{ filePath: 'a.js', fold: true }, 'a.js', { path: 'a.js', fold: true }],
    [{ operations: OPERATIONS }, 'a.js, b.js', { operations: OPERATIONS }],
    [{ path: 'c.js', operations: OPERATIONS }, 'c.js', { path: 'c.js', operations: OPERATIONS }],
    [{}, undefined, {}],
    [{ operations: [null, 1, {}] }, undefined, { operations: [null, 1, {}] }],
    [{ operations: '[]' }, undefined, { operations: '[]' }],
  ]
  for (const [args, filePath, restored] of cases) {
    const given = { ...args }
    addFilePath(given)
    assert.equal(given.filePath, filePath)
    assert.deepEqual(withPath(given), restored)
  }
})

const FILES = [
  {
    path: 'a.js',
    change: 'edited',
    added: 1,
    removed: 1,
    diff: '--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-a\n+b\n',
  },
  { from: 'b.js', path: 'c.js', change: 'moved' },
  {
    path: 'd.js',
    change: 'created',
    added: 1,
    diff: '--- /dev/null\n+++ b/d.js\n@@ -0,0 +1 @@\n+d\n',
  },
]

/** @param {string | undefined} diff @param {object} structured */
const result = (diff, structured) => ({
  text: '',
  isError: false,
  images: [],
  summary: '',
  structured,
  ...(diff !== undefined && { diff }),
})

test('the diff of several files is drawn as that of one', () => {
  assert.equal(diffOf(result('x', { files: FILES.slice(0, 1) })), 'x')
  assert.equal(diffOf(result(undefined, {})), '')
  assert.equal(
    diffOf(result('x', { files: FILES })),
    `--- a/a.js
+++ b/a.js
@@ -0,1 +0,1 @@
 ── a.js ──
@@ -1 +1 @@
-a
+b
@@ -0,1 +0,1 @@
 ── b.js → c.js ──
@@ -0,1 +0,1 @@
 ── d.js ──
@@ -0,0 +1 @@
+d
`,
  )
})

test('the metadata has the changes of each file, or the number of matches', () => {
  const { files } = metadataOf(result('x', { files: FILES }), { directory: '/w' })
  assert.deepEqual(
    files.map((/** @type {any} */ { type, filePath, movePath, deletions }) => [
      type,
      filePath,
      movePath,
      deletions,
    ]),
    [
      ['update', '/w/a.js', undefined, 1],
      ['move', '/w/b.js', '/w/c.js', 0],
      ['add', '/w/d.js', undefined, 0],
    ],
  )
  assert.deepEqual(metadataOf(result(undefined, { matchCount: 3 }), { directory: '/w' }), {
    matches: 3,
  })
  assert.deepEqual(metadataOf(result(undefined, {}), { directory: '/w' }), {})
})
