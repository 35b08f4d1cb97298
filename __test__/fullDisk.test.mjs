// A full disk: a tmpfs that is too small for a patch. Mounting needs root; without it the tests are
// skipped with the reason.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyHashSync, recoverTransactionsSync } from 'hashline-native'
import { leftovers } from '../stress/attack.mjs'
import { isEmulated, withMess } from './support.mjs'

/** @import { ApplyOptions, HashlineError, Operation } from 'hashline-native' */

const KIB = 1024

/** @param {string} dir */
function mount(dir) {
  const args = ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir]
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** Why mounting is not possible, if so. */
async function whyNot() {
  if (process.platform !== 'linux') return 'needs a tmpfs of Linux'
  return withMess({}, (dir) => {
    const why = mount(dir)
    if (why !== undefined) return `mounting a tmpfs is not allowed here: ${why}`
    unmount(dir)
    return undefined
  })
}

/** @param {string} dir */
function unmount(dir) {
  assert.equal(spawnSync('umount', [dir]).status, 0, `${dir} is still mounted`)
}

/**
 * Runs `body` with a directory on a disk of 1 MiB, and one on a large disk.
 * @param {(small: string, large: string) => void} body
 */
function withSmallDisk(body) {
  return withMess({ 'small/.keep': '', 'large/.keep': '' }, (dir) => {
    const small = join(dir, 'small')
    assert.equal(mount(small), undefined)
    try {
      body(small, join(dir, 'large'))
    } finally {
      unmount(small)
    }
  })
}

/**
 * Fills a disk except for some bytes.
 * @param {string} dir
 * @param {number} free
 */
function fill(dir, free) {
  const { bavail, bsize } = statfsSync(dir)
  writeFileSync(join(dir, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - free)))
}

/** All names below a directory, with contents. @param {string} dir */
function snapshot(dir) {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  return new Map(files.sort().map((path) => [path, readFileSync(path, 'latin1')]))
}

/**
 * The code of the refusal of a patch; fails if the patch is not refused.
 * @param {Operation[]} operations
 * @param {ApplyOptions} options
 */
function refusal(operations, options) {
  try {
    const outcome = applyHashSync({ operations }, options)
    return outcome.status === 'applied' ? 'applied' : outcome.code
  } catch (thrown) {
    const error = /** @type {HashlineError} */ (thrown)
    return `thrown ${error.code}: ${error.message}`
  }
}

/**
 * @param {string} path
 * @returns {Operation}
 */
const longer = (path) => ({
  op: 'insert_after',
  path,
  anchor: 'EOF',
  text: 'x'.repeat(200 * KIB),
})

const skip = await whyNot()

for (const durability of /** @type {const} */ (['power', 'process'])) {
  test(`a patch that a disk cannot hold is refused (${durability})`, { skip }, () =>
    withSmallDisk((small, large) => {
      for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(small, name), `${name}\n`)
      const stateDir = join(large, 'state')
      const before = snapshot(small)
      const operations = [
        ...['a', 'b', 'c', 'd'].map(longer),
        /** @type {const} */ ({
          op: 'add_file',
          path: 'new/deep/e',
          content: 'y'.repeat(500 * KIB),
        }),
      ]
      assert.equal(refusal(operations, { root: small, stateDir, durability }), 'NO_SPACE')
      assert.deepEqual(snapshot(small), before)
      assert.deepEqual(readdirSync(small).sort(), ['a', 'b', 'c', 'd'])
      assert.deepEqual(leftovers(small, stateDir), [])
      assert.equal(
        refusal(operations.slice(0, 2), { root: small, stateDir, durability }),
        'applied',
      )
    }),
  )

  test(
    `a state directory on a full disk refuses, whenever it is full (${durability})`,
    { skip },
    () =>
      withSmallDisk((small, large) => {
        // Enough files that the journal has several pages, and that each record needs a new page.
        const names = Array.from({ length: 40 }, (_, at) => `file-${at}-${'n'.repeat(50)}`)
        for (const name of names) writeFileSync(join(large, name), 'old\n')
        // Rewritten in place: the old and the new content are stored in the state directory.
        linkSync(join(large, names[0]), join(large, 'link'))
        const stateDir = join(small, 'state')
        const operations = names.map((name) => {
          const path = join(large, name)
          return /** @type {const} */ ({
            op: 'replace_text',
            path,
            old_text: 'old',
            new_text: 'new',
          })
        })
        const before = snapshot(large)
        const results = new Set()
        for (let free = 0; free <= 100 * KIB; free += (isEmulated ? 20 : 4) * KIB) {
          for (const name of ['journals', 'locks'])
            mkdirSync(join(stateDir, name), { recursive: true })
          fill(small, free)
          const result = refusal(operations, { stateDir, durability })
          results.add(result)
          rmSync(join(small, 'filler'))
          const where = `with ${free} bytes: ${result}`
          assert.deepEqual(leftovers(large, stateDir), [], where)
          if (result === 'applied') {
            for (const name of [...names, 'link']) {
              assert.equal(readFileSync(join(large, name), 'utf8'), 'new\n', where)
            }
            for (const name of names) {
              writeFileSync(join(large, name), 'old\n')
            }
          } else {
            assert.equal(result, 'NO_SPACE', where)
            assert.deepEqual(snapshot(large), before, where)
          }
          const { finished, undone, failed } = recoverTransactionsSync({ stateDir })
          assert.deepEqual([finished, undone, failed], [[], [], []], where)
        }
        assert.deepEqual([...results].sort(), ['NO_SPACE', 'applied'])
      }),
  )
}

test('a file that is rewritten in place on a full disk keeps its content', { skip }, () =>
  withSmallDisk((small, large) => {
    writeFileSync(join(small, 'a'), 'a\n')
    linkSync(join(small, 'a'), join(small, 'link'))
    writeFileSync(join(large, 'b'), 'b\n')
    fill(small, 16 * KIB)
    const stateDir = join(large, 'state')
    const before = snapshot(small)
    const operations = [longer(join(large, 'b')), longer(join(small, 'a'))]
    assert.equal(refusal(operations, { stateDir }), 'NO_SPACE')
    assert.deepEqual(snapshot(small), before)
    assert.equal(readFileSync(join(large, 'b'), 'utf8'), 'b\n')
    assert.deepEqual(leftovers(large, stateDir), [])
  }),
)

test('a journal that is full at any byte refuses, and nothing is left', { skip }, () =>
  withSmallDisk((small, large) => {
    const [stateDir, dir] = [join(small, 'state'), join(large, 'files')]
    // Longer names move the end of the first record towards the end of its last page.
    for (let longer = 0; longer < 4200; longer += isEmulated ? 400 : 40) {
      mkdirSync(dir)
      const names = Array.from({ length: 20 }, (_, at) => {
        return `${at}-${'n'.repeat(Math.min(220, Math.max(0, longer - at * 220)))}`
      })
      for (const name of names) writeFileSync(join(dir, name), 'old\n')
      const operations = names.map((name) => {
        const path = join(dir, name)
        return /** @type {const} */ ({ op: 'replace_text', path, old_text: 'old', new_text: 'new' })
      })
      for (const pages of [1, 2]) {
        for (const name of ['journals', 'locks']) {
          mkdirSync(join(stateDir, name), { recursive: true })
        }
        fill(small, pages * 4 * KIB)
        const result = refusal(operations, { stateDir, durability: 'process' })
        rmSync(join(small, 'filler'))
        const where = `names longer by ${longer}, ${pages} pages: ${result}`
        assert.match(result, /^(NO_SPACE|applied)$/, where)
        assert.deepEqual(leftovers(dir, stateDir), [], where)
        const content = result === 'applied' ? 'new\n' : 'old\n'
        for (const name of names)
          assert.equal(readFileSync(join(dir, name), 'utf8'), content, where)
        for (const name of names) writeFileSync(join(dir, name), 'old\n')
      }
      rmSync(dir, { recursive: true })
    }
  }),
)
