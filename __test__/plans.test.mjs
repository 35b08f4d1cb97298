// Plans of edits, and their approval.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { assertRejects, withDir } from './support.mjs'

/** @import { Approve } from 'hashline-native/tools' */

/** @param {string} cwd @param {string} stateDir */
const sessionOf = (cwd, stateDir) => new HashSession({ cwd, stateDir, durability: 'process' })

/** @param {HashSession} session @param {string} text */
const edit = (session, text) => ({
  operations: [
    {
      op: /** @type {const} */ ('set_line'),
      path: 'a.txt',
      anchor: session.readSync('a.txt').text.split('\n')[1],
      text,
    },
  ],
})

test('a plan writes exactly what it shows, once', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const file = join(cwd, 'a.txt')
    const session = sessionOf(cwd, stateDir)
    const plan = await session.plan(edit(session, 'TWO'))
    const { outcome } = plan
    assert.ok(outcome.status === 'applied')
    assert.match(outcome.files[0].diff ?? '', /^-two\n\+TWO$/m)
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n')
    assert.equal((await plan.apply()).status, 'applied')
    assert.equal(readFileSync(file, 'utf8'), 'one\nTWO\n')
    const again = await plan.apply()
    assert.equal(again.status === 'rejected' && again.code, 'CONCURRENT_CHANGE')
  }))

test('a plan is refused after a change that an edit alone would follow', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const session = sessionOf(cwd, stateDir)
    const patch = edit(session, 'TWO')
    const plan = await session.plan(patch)
    const changed = 'x\ny\none\ntwo\n'
    writeFileSync(join(cwd, 'a.txt'), changed)
    const refused = await plan.apply()
    assert.equal(refused.status === 'rejected' && refused.code, 'CONCURRENT_CHANGE')
    assert.match(refused.text, /a\.txt: was changed since the patch was planned; plan it again/)
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), changed)
    assert.equal((await session.apply(patch)).status, 'applied')
    plan.discard()
    await assertRejects(() => plan.apply(), 'INVALID_ARGUMENT', 'the plan was discarded')
    assert.throws(() => plan.outcome, /the plan was discarded/)
  }))

test('a plan that was refused shows why', () =>
  withDir({ 'a.txt': 'one\n' }, async (cwd, stateDir) => {
    const session = sessionOf(cwd, stateDir)
    const operations = [/** @type {const} */ ({ op: 'delete', path: 'a.txt', anchor: '1zz' })]
    const { outcome } = await session.plan({ operations })
    assert.equal(outcome.status, 'rejected')
  }))

/** @param {string} cwd @param {string} stateDir @param {Approve} approve */
const approved = (cwd, stateDir, approve) => {
  const session = sessionOf(cwd, stateDir)
  return { session, ...hashTools(session, { approve }) }
}

test('an edit is written if it is approved, and the model reads why not', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const file = join(cwd, 'a.txt')
    /** @type {any[]} */
    const seen = []
    /** @type {any} */
    let answer = false
    const { session, apply } = approved(cwd, stateDir, async (plan) => {
      seen.push(plan)
      if (answer instanceof Error) throw answer
      return answer
    })
    const patch = edit(session, 'TWO')
    for (const [given, text] of [
      [false, /^Nothing was written\.\nThe user did not approve this edit$/],
      ['use tabs', /did not approve this edit: use tabs$/],
      [new Error('the dialog failed'), /did not approve this edit: the dialog failed$/],
      [undefined, /did not approve this edit$/],
    ]) {
      answer = given
      const result = await apply.execute(patch)
      assert.ok(result.isError)
      assert.match(result.text, /** @type {RegExp} */ (text))
      assert.match(result.diff ?? '', /^\+TWO$/m)
    }
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n')
    answer = true
    const result = await apply.execute(patch)
    assert.equal(result.isError, false, result.text)
    assert.equal(readFileSync(file, 'utf8'), 'one\nTWO\n')
    assert.equal(seen.length, 5)
    assert.equal(seen[0].summary, 'a.txt +1 -1')
    assert.match(seen[0].files[0].diff, /^-two$/m)
    // A refusal and an edit that changes nothing need no approval, and neither does a dry run.
    answer = new Error('asked')
    await apply.execute({ operations: [{ op: 'delete', path: 'a.txt', anchor: '9zz' }] })
    await apply.execute(edit(session, 'TWO'))
    await apply.execute(edit(session, '2'), { dryRun: true })
    assert.equal(seen.length, 5)
  }))

test('an edit is refused if its file was changed while it was approved', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const file = join(cwd, 'a.txt')
    const { session, apply } = approved(cwd, stateDir, () => {
      writeFileSync(file, 'x\none\ntwo\n')
      return true
    })
    const result = await apply.execute(edit(session, 'TWO'))
    assert.equal(result.structured.code, 'CONCURRENT_CHANGE')
    assert.equal(readFileSync(file, 'utf8'), 'x\none\ntwo\n')
  }))

test('an approval that never comes ends with the signal', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const { session, apply } = approved(cwd, stateDir, () => new Promise(() => {}))
    const controller = new AbortController()
    const running = apply.execute(edit(session, 'TWO'), { signal: controller.signal })
    setImmediate(() => controller.abort())
    await assert.rejects(running, { name: 'AbortError' })
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\ntwo\n')
  }))

test('the approval in a terminal of the documentation', () =>
  withDir({ 'a.txt': 'one\ntwo\n' }, async (cwd, stateDir) => {
    const page = readFileSync(new URL('../docs/lifecycle.md', import.meta.url), 'utf8')
    const code = page.split('```js\n').find((part) => part.startsWith('import { createInterface'))
    assert.ok(code)
    const body = `${code.slice(0, code.indexOf('```')).replace(/^import .*$/gm, '')}\nreturn tools`
    /** @type {string[]} */
    const asked = []
    const answers = ['not now', 'y']
    const createInterface = () => ({
      question: async (/** @type {string} */ text) => {
        asked.push(text)
        return answers.shift()
      },
      close() {},
    })
    const session = sessionOf(cwd, stateDir)
    const make = new Function('createInterface', 'hashTools', 'session', body)
    const { apply } = make(createInterface, hashTools, session)
    const patch = edit(session, 'TWO')
    assert.match((await apply.execute(patch)).text, /did not approve this edit: not now$/)
    assert.equal((await apply.execute(patch)).isError, false)
    assert.match(asked[1], /\+TWO\n\nApply a\.txt \+1 -1\?/)
  }))

test('files of the host are written after the approval', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  /** @type {string[]} */
  const log = []
  let answer = false
  const { read, apply } = hashTools(session, {
    approve: (plan) => {
      log.push(`asked ${plan.summary}`)
      return answer
    },
    files: {
      read: (path) => (path === '/nowhere/a.txt' ? 'one\ntwo\n' : null),
      write: (path) => log.push(`write ${path}`),
    },
  })
  await read.execute({ path: 'a.txt' })
  const patch = edit(session, 'TWO')
  assert.match((await apply.execute(patch)).text, /did not approve/)
  answer = true
  assert.equal((await apply.execute(patch)).isError, false)
  assert.deepEqual(log, ['asked a.txt +1 -1', 'asked a.txt +1 -1', 'write /nowhere/a.txt'])
})

test('regression: a call with a plan is not approved again', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  let text = 'one\ntwo\n'
  const { read, apply } = hashTools(session, {
    approve: () => assert.fail('asked'),
    files: {
      read: (path) => (path === '/nowhere/a.txt' ? text : null),
      write: (_path, content) => {
        text = String(content)
      },
    },
  })
  await read.execute({ path: 'a.txt' })
  const patch = edit(session, 'TWO')
  const { plan } = await apply.execute(patch, { dryRun: true })
  const result = await apply.execute(patch, { plan })
  assert.equal(result.isError, false, result.text)
  assert.equal(text, 'one\nTWO\n')
})

test('regression: text that is typed during the approval is not overwritten', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  let text = 'one\ntwo\n'
  const { read, apply } = hashTools(session, {
    approve: () => {
      text = `typed\n${text}`
      return true
    },
    files: {
      read: (path) => (path === '/nowhere/a.txt' ? text : null),
      write: (_path, content) => {
        text = String(content)
      },
    },
  })
  await read.execute({ path: 'a.txt' })
  const result = await apply.execute(edit(session, 'TWO'))
  assert.equal(result.structured.code, 'CONCURRENT_CHANGE')
  assert.match(result.text, /a\.txt: was changed since the patch was planned/)
  assert.equal(text, 'typed\none\ntwo\n')
})
