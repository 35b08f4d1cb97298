// What a user may not do: another user's process, since root may do everything. To become another
// user needs root; elsewhere the tests are skipped, and say so.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { leftovers } from '../stress/attack.mjs'
import { withMess } from './support.mjs'

/** @import { ApplyOptions, ApplyOutcome, Operation } from 'hashline-native' */

/** The user and group "nobody" of every Linux. */
const NOBODY = 65534

/** @param {string[]} args of the same program as this one */
function asNobody(...args) {
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  return spawnSync('setpriv', [...user, process.execPath, ...args], { encoding: 'utf8', cwd: '/' })
}

const script = fileURLToPath(new URL('apply.mjs', import.meta.url))

/** Why no other user can run a patch, if so. */
function whyNot() {
  if (process.platform !== 'linux') return 'needs setpriv of Linux'
  const { status, stderr, error } = asNobody(script, JSON.stringify({ patch: {}, options: {} }))
  return status === 0 ? undefined : `no other user can be used here: ${error?.message ?? stderr}`
}

/**
 * @param {Operation[]} operations
 * @param {ApplyOptions} options
 * @returns {ApplyOutcome | { status: 'thrown', code: string, message: string }}
 */
function apply(operations, options) {
  const { stdout, stderr } = asNobody(script, JSON.stringify({ patch: { operations }, options }))
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

/**
 * Runs `body` with a directory of nobody's and the directory `root` in it, which is too.
 * @param {(root: string, stateDir: string) => void} body
 */
function withOthersDir(body) {
  return withMess({ 'root/.keep': '' }, (dir) => {
    const root = join(dir, 'root')
    for (const path of [dir, root]) chownSync(path, NOBODY, NOBODY)
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

test('a file that may not be written is refused, though it could be replaced', { skip }, () =>
  withOthersDir((root, stateDir) => {
    makeFile(join(root, 'own.txt'), 0o444, NOBODY)
    makeFile(join(root, 'others.txt'), 0o644, 0)
    makeFile(join(root, 'free.txt'), 0o644, NOBODY)
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

test('a file in a directory that takes no entries is edited in place', { skip }, () =>
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
    // What only its owner may do is refused.
    const refused = apply([{ op: 'delete_file', path: 'sticky/a.txt' }], { root, stateDir })
    assert.equal(refused.status, 'rejected', JSON.stringify(refused))
    assert.equal(refused.code, 'PERMISSION_DENIED', JSON.stringify(refused))
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
  }),
)

test('what needs an entry in such a directory is refused, and nothing else is done', { skip }, () =>
  withOthersDir((root, stateDir) => {
    const directory = join(root, 'closed')
    mkdirSync(directory)
    makeFile(join(directory, 'a.txt'), 0o666, 0)
    makeFile(join(root, 'free.txt'), 0o644, NOBODY)
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
    makeFile(path, 0o640, NOBODY)
    const outcome = apply([edit('a.txt')], { root, stateDir })
    assert.equal(outcome.status, 'applied')
    const { mode, uid, gid } = statSync(path)
    assert.deepEqual([mode & 0o7777, uid, gid], [0o640, NOBODY, NOBODY])
  }),
)

test('a file that may not be read is refused', { skip }, () =>
  withOthersDir((root, stateDir) => {
    makeFile(join(root, 'a.txt'), 0o200, NOBODY)
    const outcome = apply([edit('a.txt')], { root, stateDir })
    assert.equal(outcome.status, 'rejected')
    assert.equal(outcome.code, 'PERMISSION_DENIED')
  }),
)

test('a state directory that the user may not use is an error that says so', { skip }, () =>
  withOthersDir((root) => {
    makeFile(join(root, 'a.txt'), 0o644, NOBODY)
    const outcome = apply([edit('a.txt')], { root, stateDir: '/hashline-test-state' })
    assert.notEqual(outcome.status, 'applied')
    assert.match(JSON.stringify(outcome), /PERMISSION_DENIED.*hashline-test-state/)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'old\n')
  }),
)
