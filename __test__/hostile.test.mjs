// Repositories that are made to crash the host process, each in a process of its own.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { applyHashToText, searchHashedSync } from 'hashline-native'
import { assertThrows, withDir } from './support.mjs'

const depth = 30_000
const nested = `${'{'.repeat(depth)}a${'}'.repeat(depth)}`

const source = `
  const [addon, root] = process.argv.slice(-2)
  const { searchHashed, searchHashedSync } = require(addon)
  const options = { root }
  const found = searchHashedSync({ search: 'needle' }, options)
  searchHashed({ search: 'needle' }, options).then((same) => {
    console.log(JSON.stringify([found.warnings, same.warnings.length, found.matchCount]))
  })
`

for (const name of ['.gitignore', '.ignore', '.git/info/exclude']) {
  test(`deep braces in ${name} do not end the process`, () =>
    withDir({ [name]: `${nested}\n`, '.git/HEAD': '', 'a.txt': 'needle\n' }, (root) => {
      const module = fileURLToPath(new URL('../index.js', import.meta.url))
      const child = spawnSync(process.execPath, ['-e', source, module, root], { encoding: 'utf8' })
      assert.equal(child.status, 0, `${child.signal} ${child.stderr}`)
      const [warnings, again, matches] = JSON.parse(child.stdout)
      assert.deepEqual([warnings.length, again, matches], [1, 1, 1])
      assert.equal(warnings[0].path, name)
      assert.ok(warnings[0].message.startsWith(`${name}: line 1 is ignored`))
    }))
}

test('deep braces in globs are refused', () =>
  withDir({ 'a.txt': 'needle\n' }, (root) => {
    const search = () => searchHashedSync({ search: 'needle', globs: nested }, { root })
    assertThrows(search, 'INVALID_ARGUMENT', 'braces')
  }))

test('patterns that are too expensive to compile are refused', () =>
  withDir({ 'a.txt': 'needle\n' }, (root) => {
    for (const search of ['\\pL'.repeat(100_000), '\\pL'.repeat(1000)]) {
      const call = () => searchHashedSync({ search, regex: true }, { root })
      assertThrows(call, 'INVALID_PATTERN', 'the limit is')
    }
  }))

test('a pattern that takes too many steps skips its file', () =>
  withDir({ 'a.txt': `${'a'.repeat(100_000)}\n`, 'b.txt': 'a7\n' }, (root) => {
    const search = '(?-u:.{1,50000}[0-9])'
    const found = searchHashedSync({ search, regex: true }, { root })
    assert.deepEqual(
      found.errors.map(({ path, code }) => [path, code]),
      [['a.txt', 'INVALID_PATTERN']],
    )
    assert.equal(found.matchCount, 1)
  }))

test('the relocation window is limited', () => {
  const operations = [/** @type {const} */ ({ op: 'delete', anchor: '2:00' })]
  const call = (/** @type {number} */ relocateWindow) =>
    applyHashToText('a\nb\n', operations, { relocateWindow })
  assert.equal(call(1000).status, 'rejected')
  for (const window of [1001, Number.MAX_SAFE_INTEGER]) {
    assertThrows(() => call(window), 'INVALID_ARGUMENT', 'relocateWindow', '0 to 1000')
  }
})

test('thousands of stale anchors in a file of similar lines are reported in time', () => {
  const operations = Array.from({ length: 2000 }, (_, at) => ({
    op: /** @type {const} */ ('set_line'),
    anchor: `${at + 1}:00`,
    text: 'x',
  }))
  const options = { relocateWindow: 1000 }
  const outcome = applyHashToText('}\n'.repeat(4000), operations, options)
  assert.equal(outcome.status, 'rejected')
  assert.equal(outcome.failures.length, 2000)
  const like = operations.map((one, at) => ({ ...one, anchor: `${at + 1}:18|{` }))
  const ambiguous = applyHashToText('}\n'.repeat(4000), like, options)
  assert.equal(ambiguous.status, 'rejected')
})
