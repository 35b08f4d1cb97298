// Verbatim paths of Windows (`\\?\C:\…`), which resolving links returns: every function accepts
// them, and the paths in search results can be read and edited.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, toNamespacedPath } from 'node:path'
import { test } from 'node:test'
import { applyHashSync, readHashedSync, searchHashedSync } from 'hashline-native'
import { withDir } from './support.mjs'

const skip = process.platform !== 'win32' && 'only Windows has such paths'
const FILES = { 'a.txt': 'needle\n', 'sub/b.txt': 'needle\n', 'sub/.gitignore': '*.log\n' }

/** @param {string} path */
function verbatim(path) {
  const long = toNamespacedPath(path)
  assert.ok(long.startsWith('\\\\?\\'), long)
  return long
}

test('a search in a verbatim path shows paths of the files', { skip }, () =>
  withDir(FILES, (dir, stateDir) => {
    for (const paths of [
      [verbatim(dir)],
      [verbatim(join(dir, 'sub')), verbatim(join(dir, 'a.txt'))],
    ]) {
      const found = searchHashedSync({ search: 'needle', paths })
      const shown = found.files.map(({ path }) => path)
      const expected = ['a.txt', 'sub/b.txt'].map((name) => `${dir}/${name}`.replaceAll('\\', '/'))
      assert.deepEqual([shown, found.errors], [expected, []])
      for (const view of readHashedSync(shown)) assert.equal(view.error, undefined)
      const anchor = readHashedSync(shown[0])[0].text
      const edit = { op: /** @type {const} */ ('set_line'), path: shown[0], anchor, text: 'needle' }
      assert.equal(applyHashSync({ operations: [edit] }, { stateDir }).status, 'applied')
    }
  }),
)

test('verbatim paths below a root, verbatim or not', { skip }, () =>
  withDir(FILES, (dir) => {
    for (const root of [dir, verbatim(dir)]) {
      for (const path of [dir, verbatim(dir), '.']) {
        const found = searchHashedSync({ search: 'needle', paths: [path] }, { root })
        assert.deepEqual([found.matchCount, found.errors], [2, []], `${root} ${path}`)
        const [view] = readHashedSync(found.files[1].path, { root })
        assert.equal(view.error, undefined)
      }
    }
  }),
)

test('verbatim paths are read and edited', { skip }, () =>
  withDir(FILES, (dir, stateDir) => {
    const path = verbatim(join(dir, 'sub', 'b.txt'))
    const [{ text: anchor }] = readHashedSync(path)
    for (const root of [undefined, dir, verbatim(dir)]) {
      const text = `needle ${root}`
      const edit = { op: /** @type {const} */ ('insert_after'), path, anchor, text }
      const outcome = applyHashSync({ operations: [edit] }, { stateDir, root })
      assert.equal(outcome.status, 'applied', outcome.text)
      assert.equal(readFileSync(path, 'utf8').split('\n')[1], text)
    }
  }),
)
