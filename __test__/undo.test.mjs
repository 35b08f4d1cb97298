// Undoing the edits of a session, and the tool that does it.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { assertRejects, withDir } from './support.mjs'

/** @import { HostFiles } from 'hashline-native/tools' */

/** @param {string} cwd @param {string} stateDir */
const sessionOf = (cwd, stateDir, more = {}) =>
  new HashSession({ cwd, stateDir, durability: 'process', ...more })

/** @param {HashSession} session @param {string} old_text @param {string} new_text */
const edit = async (session, old_text, new_text) => {
  const op = /** @type {const} */ ('replace_text')
  const patch = { operations: [{ op, path: 'a.txt', old_text, new_text }] }
  assert.equal((await session.apply(patch)).status, 'applied')
}

test('patches are undone one after the other, also after a restart', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const file = join(cwd, 'a.txt')
    const store = { id: 's' }
    const first = sessionOf(cwd, stateDir, { store })
    const before = Date.now()
    await edit(first, 'one', 'ONE')
    await edit(first, 'two', 'TWO')
    first.close()
    const session = sessionOf(cwd, stateDir, { store })
    const [newest, oldest] = session.undoable()
    assert.deepEqual([newest.files, oldest.files], [['a.txt'], ['a.txt']])
    assert.ok(oldest.timeMs >= before && newest.timeMs >= oldest.timeMs)
    const [trial] = await session.undo({ dryRun: true })
    assert.ok(trial.status === 'applied')
    assert.match(trial.files[0].diff ?? '', /^-TWO\n\+two$/m)
    assert.equal(readFileSync(file, 'utf8'), 'ONE\nTWO\n')
    const outcomes = await session.undo({ turns: 3 })
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['applied', 'applied'],
    )
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n')
    assert.deepEqual([session.undoable(), await session.undo()], [[], []])
  }))

test('an undo is refused where others changed the lines', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const session = sessionOf(cwd, stateDir)
    await edit(session, 'two', 'TWO')
    writeFileSync(join(cwd, 'a.txt'), 'one\n2\n')
    const [refused] = await session.undo()
    assert.equal(refused.status === 'rejected' && refused.code, 'CONCURRENT_CHANGE')
    assert.match(refused.text, /\|2\n.*Nothing was undone/s)
    assert.equal(session.undoable().length, 1)
  }))

test('wrong options of an undo are refused', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  await assertRejects(() => session.undo({ turns: 0 }), 'INVALID_ARGUMENT', 'turns is 0')
  await assertRejects(
    () => session.undo({ turns: 2, dryRun: true }),
    'INVALID_ARGUMENT',
    'expected 1 for a dry run',
  )
  // @ts-expect-error
  await assertRejects(() => session.undo({ turn: 2 }), 'INVALID_ARGUMENT', 'turn')
})

test('the tool undoes the last edit, after approval if that is needed', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const session = sessionOf(cwd, stateDir)
    /** @type {string[]} */
    const asked = []
    let answer = false
    const { undo } = hashTools(session, {
      undo: true,
      approve: ({ diff }) => {
        asked.push(diff)
        return answer
      },
    })
    assert.equal((await undo.execute({})).text, 'There is no edit to undo.')
    await edit(session, 'one', 'ONE')
    await edit(session, 'two', 'TWO')
    assert.match((await undo.execute('')).text, /did not approve this edit/)
    answer = true
    const undone = await undo.execute('{}')
    assert.equal(undone.isError, false, undone.text)
    assert.match(undone.text, /\(1 earlier edit can be undone; the next one changed a\.txt\.\)$/)
    assert.match(asked[1], /^-TWO\n\+two$/m)
    assert.deepEqual([undone.summary, undo.callTitle('{}')], ['a.txt +1 -1', 'the last edit'])
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'ONE\ntwo\n')
  }))

test('files of the host are undone like others', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  /** @type {Map<string, string>} */
  const host = new Map([['/nowhere/a.txt', 'one\n']])
  /** @type {HostFiles} */
  const files = {
    read: (path) => host.get(path) ?? null,
    write: (path, content) => host.set(path, String(content)),
    remove: (path) => host.delete(path),
  }
  const { read, apply, undo } = hashTools(session, { undo: true, files })
  await read.execute({ path: 'a.txt' })
  const operations = [
    { op: 'replace_text', path: 'a.txt', old_text: 'one', new_text: 'ONE' },
    { op: 'add_file', path: 'b.txt', content: 'two\n' },
  ]
  assert.equal((await apply.execute({ operations })).isError, false)
  assert.deepEqual([...host.values()], ['ONE\n', 'two\n'])
  assert.equal((await undo.execute({})).isError, false)
  assert.deepEqual([...host], [['/nowhere/a.txt', 'one\n']])
})

test('the undo of the documentation', () =>
  withDir({ 'a.txt': 'one\n' }, async (cwd, stateDir) => {
    const session = sessionOf(cwd, stateDir)
    await edit(session, 'one', 'ONE')
    const page = readFileSync(new URL('../docs/lifecycle.md', import.meta.url), 'utf8')
    const code = page.slice(page.indexOf('## Undo')).split('```js\n')[1]
    const body = `return (async () => { ${code.slice(0, code.indexOf('```'))} return outcome })()`
    /** @type {unknown[][]} */
    const printed = []
    const log = (/** @type {unknown[]} */ ...values) => printed.push(values)
    const outcome = await new Function('session', 'console', body)(session, { log })
    assert.equal(outcome.status, 'applied')
    assert.deepEqual([printed.length, printed[0][1]], [1, ['a.txt']])
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\n')
  }))
