// Missing permissions: tested in a process of another user, because root may do everything.
// Changing the user needs root; without it the tests are skipped with the reason.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { leftovers } from '../stress/attack.mjs'
import { withMess } from './support.mjs'

/** @import { ApplyOptions, ApplyOutcome, Operation } from 'hashline-native' */

/** The unprivileged user and group of every Linux system. */
const UNPRIVILEGED = 65534

/** @param {string[]} args of the same program as this one */
function asUnprivileged(...args) {
  const user = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups']
  return spawnSync('setpriv', [...user, process.execPath, ...args], { encoding: 'utf8', cwd: '/' })
}

const script = fileURLToPath(new URL('apply.mjs', import.meta.url))

/** Why no other user can run a patch, if so. */
function whyNot() {
  if (process.platform !== 'linux') return 'needs setpriv of Linux'
  const { status, stderr, error } = asUnprivileged(
    script,
    JSON.stringify({ patch: {}, options: {} }),
  )
  return status === 0 ? undefined : `no other user is available: ${error?.message ?? stderr}`
}

/**
 * @param {Operation[]} operations
 * @param {ApplyOptions} options
 * @returns {ApplyOutcome | { status: 'thrown', code: string, message: string }}
 */
function apply(operations, options) {
  const { stdout, stderr } = asUnprivileged(
    script,
    JSON.stringify({ patch: { operations }, options }),
  )
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

/**
 * Runs `body` with a directory of the other user, and the directory `root` in it, which also
 * belongs to that user.
 * @param {(root: string, stateDir: string) => void} body
 */
function withOthersDir(body) {
  return withMess({ 'root/.keep': '' }, (dir) => {
    const root = join(dir, 'root')
    for (const path of [dir, root]) chownSync(path, UNPRIVILEGED, UNPRIVILEGED)
    body(root, join(dir, 'state'))
    assert.deepEqual(leftovers(root, join(dir, 'state')), [])
  })
}

/**
 * @param {string} path
 * @param {number} mode
 * @param {number} owner
 */
function makeFile(path, mode, owner) {
  writeFileSync(path, 'old\n')
  chownSync(path, owner, owner)
  chmodSync(path, mode)
}

/**
 * @param {string} path
 * @returns {Operation}
 */
const edit = (path) => ({ op: 'replace_text', path, old_text: 'old', new_text: 'new' })

const skip = whyNot()

test('a read-only file is refused, although it could be replaced', { skip }, () =>
  withOthersDir((root, stateDir) => {
    makeFile(join(root, 'own.txt'), 0o444, UNPRIVILEGED)
    makeFile(join(root, 'others.txt'), 0o644, 0)
    makeFile(join(root, 'free.txt'), 0o644, UNPRIVILEGED)
    for (const name of ['own.txt', 'others.txt']) {
      const outcome = apply([edit('free.txt'), edit(name)], { root, stateDir })
      assert.equal(outcome.status, 'rejected')
      assert.equal(outcome.code, 'PERMISSION_DENIED')
      assert.equal(outcome.failures[0].path, name)
    }
    for (const name of ['own.txt', 'others.txt', 'free.txt']) {
      assert.equal(readFileSync(join(root, name), 'utf8'), 'old\n')
    }
  }),
)

test('a file in a read-only directory is edited in place', { skip }, () =>
  withOthersDir((root, stateDir) => {
    const directory = join(root, 'closed')
    mkdirSync(directory)
    const path = join(directory, 'a.txt')
    makeFile(path, 0o666, 0)
    const { ino, uid, mode } = statSync(path)
    const outcome = apply([edit('closed/a.txt')], { root, stateDir })
    assert.equal(outcome.status, 'applied', JSON.stringify(outcome))
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
    const now = statSync(path)
    assert.deepEqual([now.ino, now.uid, now.mode], [ino, uid, mode])
  }),
)

test("another user's file in a sticky directory is edited in place", { skip }, () =>
  withOthersDir((root, stateDir) => {
    const directory = join(root, 'sticky')
    mkdirSync(directory)
    chmodSync(directory, 0o1777)
    const path = join(directory, 'a.txt')
    makeFile(path, 0o666, 0)
    const { ino, uid } = statSync(path)
    const outcome = apply([edit('sticky/a.txt')], { root, stateDir })
    assert.equal(outcome.status, 'applied', JSON.stringify(outcome))
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
    assert.deepEqual([statSync(path).ino, statSync(path).uid], [ino, uid])
    // Operations that only the owner may do are refused.
    const refused = apply([{ op: 'delete_file', path: 'sticky/a.txt' }], { root, stateDir })
    assert.equal(refused.status, 'rejected', JSON.stringify(refused))
    assert.equal(refused.code, 'PERMISSION_DENIED', JSON.stringify(refused))
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
  }),
)

test(
  'operations that need a new entry in such a directory are refused, with all others',
  { skip },
  () =>
    withOthersDir((root, stateDir) => {
      const directory = join(root, 'closed')
      mkdirSync(directory)
      makeFile(join(directory, 'a.txt'), 0o666, 0)
      makeFile(join(root, 'free.txt'), 0o644, UNPRIVILEGED)
      /** @type {Operation[]} */
      const operations = [
        { op: 'add_file', path: 'closed/new.txt', content: '' },
        { op: 'delete_file', path: 'closed/a.txt' },
        { op: 'move_file', from: 'closed/a.txt', to: 'a.txt' },
        { op: 'add_file', path: 'closed/deep/new.txt', content: '' },
      ]
      for (const operation of operations) {
        const outcome = apply([edit('free.txt'), operation], { root, stateDir })
        assert.equal(outcome.status, 'rejected', JSON.stringify([operation, outcome]))
        assert.equal(outcome.code, 'PERMISSION_DENIED', JSON.stringify([operation, outcome]))
      }
      assert.equal(readFileSync(join(root, 'free.txt'), 'utf8'), 'old\n')
      assert.equal(readFileSync(join(directory, 'a.txt'), 'utf8'), 'old\n')
    }),
)

test('a file keeps its mode, and a group that the user may give it', { skip }, () =>
  withOthersDir((root, stateDir) => {
    const path = join(root, 'a.txt')
    makeFile(path, 0o640, UNPRIVILEGED)
    const outcome = apply([edit('a.txt')], { root, stateDir })
    assert.equal(outcome.status, 'applied')
    const { mode, uid, gid } = statSync(path)
    assert.deepEqual([mode & 0o7777, uid, gid], [0o640, UNPRIVILEGED, UNPRIVILEGED])
  }),
)

test('an unreadable file is refused', { skip }, () =>
  withOthersDir((root, stateDir) => {
    makeFile(join(root, 'a.txt'), 0o200, UNPRIVILEGED)
    const outcome = apply([edit('a.txt')], { root, stateDir })
    assert.equal(outcome.status, 'rejected')
    assert.equal(outcome.code, 'PERMISSION_DENIED')
  }),
)

test('an unusable state directory is an error with the reason', { skip }, () =>
  withOthersDir((root) => {
    makeFile(join(root, 'a.txt'), 0o644, UNPRIVILEGED)
    const outcome = apply([edit('a.txt')], { root, stateDir: '/hashline-test-state' })
    assert.notEqual(outcome.status, 'applied')
    assert.match(JSON.stringify(outcome), /PERMISSION_DENIED.*hashline-test-state/)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'old\n')
  }),
)
