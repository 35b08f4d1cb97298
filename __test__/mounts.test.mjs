// Bind mounts within one file system: a rename cannot cross them, although the device is the same.
// Mounting needs root; without it the tests are skipped with the reason.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyHashSync } from 'hashline-native'
import { leftovers } from '../stress/attack.mjs'
import { withMess } from './support.mjs'

/**
 * Mounts `from` at `to` as well; returns the reason if that fails.
 * @param {string} from
 * @param {string} to
 */
function bind(from, to) {
  const { status, stderr, error } = spawnSync('mount', ['--bind', from, to], { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** @param {string} path */
function unmount(path) {
  assert.equal(spawnSync('umount', [path]).status, 0, `${path} is still mounted`)
}

/** Why mounting is not possible, if so. */
async function whyNot() {
  if (process.platform !== 'linux') return 'needs bind mounts of Linux'
  return withMess({ 'from/.keep': '', 'to/.keep': '' }, (dir) => {
    const why = bind(join(dir, 'from'), join(dir, 'to'))
    if (why !== undefined) return `bind mounts are not allowed here: ${why}`
    unmount(join(dir, 'to'))
    return undefined
  })
}

const skip = await whyNot()

test('a file moves into a bind mount', { skip }, () =>
  withMess({ 'a.txt': 'old\n', 'from/.keep': '', 'to/.keep': '' }, (dir) => {
    assert.equal(bind(join(dir, 'from'), join(dir, 'to')), undefined)
    try {
      const stateDir = join(dir, 'state')
      const move = { op: /** @type {const} */ ('move_file'), from: 'a.txt', to: 'to/b.txt' }
      const outcome = applyHashSync({ operations: [move] }, { root: dir, stateDir })
      assert.equal(outcome.status, 'applied', outcome.text)
      assert.equal(readFileSync(join(dir, 'from/b.txt'), 'utf8'), 'old\n')
      assert.equal(existsSync(join(dir, 'a.txt')), false)
      assert.deepEqual(leftovers(dir, stateDir), [])
    } finally {
      unmount(join(dir, 'to'))
    }
  }),
)

test('a bind-mounted file is rewritten in place', { skip }, () =>
  withMess({ 'from.txt': 'old\n', 'root/a.txt': '' }, (dir) => {
    const [from, at] = [join(dir, 'from.txt'), join(dir, 'root/a.txt')]
    assert.equal(bind(from, at), undefined)
    try {
      const stateDir = join(dir, 'state')
      const edit = {
        op: /** @type {const} */ ('replace_text'),
        path: at,
        old_text: 'old',
        new_text: 'new',
      }
      const { ino } = statSync(from)
      const outcome = applyHashSync({ operations: [edit] }, { stateDir })
      assert.equal(outcome.status, 'applied', outcome.text)
      assert.equal(readFileSync(from, 'utf8'), 'new\n')
      assert.equal(statSync(from).ino, ino)
      assert.deepEqual(leftovers(dir, stateDir), [])
    } finally {
      unmount(at)
    }
  }),
)
