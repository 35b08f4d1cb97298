import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  applyHash,
  applyHashSync,
  recoverTransactions,
  recoverTransactionsSync,
} from 'hashline-native'
import { leftovers } from '../stress/attack.mjs'
import { generationOf, makeFiles, startGenerations } from './generations.mjs'
import {
  assertRejects,
  assertThrows,
  isEmulated,
  NO_COUNTS,
  untyped,
  withDir,
  withMess,
} from './support.mjs'

/** @import { HashlineError, RecoveryReport } from 'hashline-native' */

/** @type {RecoveryReport} */
const NOTHING = { finished: [], undone: [], conflicts: [], live: 0, damaged: [], failed: [] }

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {string} stateDir */
const journals = (stateDir) => {
  const dir = join(stateDir, 'journals')
  const names = existsSync(dir) ? readdirSync(dir).sort() : []
  return names.filter((name) => name.endsWith('.journal')).map((name) => join(dir, name))
}

/** Windows has no signal that stops a process. */
const canStop = process.platform !== 'win32'

/**
 * Stops a process that applies patches in the middle of a patch; if processes cannot be stopped,
 * kills it.
 * @param {string} dir
 * @param {string} stateDir
 * @param {RegExp} [state] must match its journal
 */
async function stopInPatch(dir, stateDir, state = /^/) {
  if (!canStop) return killInPatch(dir, stateDir, state)
  const { child, ended } = await startGenerations(dir, stateDir, 'power')
  for (let tries = 0; ; tries++) {
    assert.ok(tries < 2000, 'the child was never found in a patch')
    await pause(Math.random() * 10)
    signal(child, 'SIGSTOP')
    await pause(2)
    const journal = journalThatSays(state, stateDir)
    if (journal) return { child, ended, journal }
    signal(child, 'SIGCONT')
  }
}

/**
 * Kills processes that apply patches until one has left a journal.
 * @param {string} dir
 * @param {string} stateDir
 * @param {RegExp} state must match the journal
 */
async function killInPatch(dir, stateDir, state) {
  for (let tries = 0; ; tries++) {
    assert.ok(tries < 200, 'no child was ever killed in a patch')
    const { child, ended } = await startGenerations(dir, stateDir, 'power')
    while (!journalThatSays(state, stateDir)) await pause(0)
    signal(child, 'SIGKILL')
    await ended
    const journal = journalThatSays(state, stateDir)
    if (journal) return { child, ended, journal }
    recoverTransactionsSync({ stateDir })
  }
}

/**
 * The journal, if it matches.
 * @param {RegExp} state
 * @param {string} stateDir
 */
function journalThatSays(state, stateDir) {
  try {
    return journals(stateDir).find((journal) => state.test(readFileSync(journal, 'utf8')))
  } catch (error) {
    // The patch is finished, or the journal is being removed, and Windows refuses to open it.
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
    if (!['ENOENT', 'EPERM', 'EBUSY', 'EACCES'].includes(code)) throw error
    return undefined
  }
}

/**
 * Sends a signal to a process, which may have ended. The process's own method is not used: after it
 * has sent a signal, Deno's treats the process as dead.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} name
 */
function signal({ pid, exitCode, signalCode }, name) {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(pid, name)
}

test('without journals there is nothing to recover', () =>
  withDir({}, async (_, stateDir) => {
    assert.deepEqual(recoverTransactionsSync({ stateDir }), NOTHING)
    assert.deepEqual(await recoverTransactions({ stateDir, lockTimeoutMs: 0 }), NOTHING)
    assert.equal(existsSync(stateDir), false)
    mkdirSync(join(stateDir, 'journals'), { recursive: true })
    assert.deepEqual(recoverTransactionsSync({ stateDir }), NOTHING)
  }))

test('a patch of a killed process is complete or absent', () =>
  withMess({}, async (dir, stateDir) => {
    makeFiles(dir)
    const seen = { finished: 0, undone: 0 }
    for (let kill = 0, generation = 0; kill < (isEmulated ? 6 : 30); kill++) {
      // Some are killed in the middle of a patch, the others at any moment.
      const { child, ended } =
        kill % 3 === 2
          ? await stopInPatch(dir, stateDir)
          : await startGenerations(dir, stateDir, 'process')
      if (kill % 3 !== 2) await pause(Math.random() * 60)
      signal(child, 'SIGKILL')
      await ended
      const report =
        kill % 2 ? recoverTransactionsSync({ stateDir }) : await recoverTransactions({ stateDir })
      const { finished, undone, ...rest } = report
      assert.deepEqual({ ...NOTHING, ...rest }, NOTHING)
      assert.ok(finished.length + undone.length <= 1)
      if (finished.length > 0) assert.ok(finished[0].includes(join(dir, 'a.txt')), `${finished}`)
      const now = generationOf(dir)
      assert.ok(now >= generation)
      generation = now
      seen.finished += finished.length
      seen.undone += undone.length
      // Files of locks may remain; they are free.
      const left = leftovers(dir, stateDir).filter((name) => !name.startsWith('locks/'))
      assert.deepEqual(left, [])
      assert.deepEqual(recoverTransactionsSync({ stateDir }), NOTHING)
    }
    assert.ok(seen.finished + seen.undone > 0, 'no kill has hit a patch')
  }))

test('the next patch first recovers', () =>
  withMess({}, async (dir, stateDir) => {
    makeFiles(dir)
    const { child, ended } = await stopInPatch(dir, stateDir)
    signal(child, 'SIGKILL')
    await ended
    const outcome = applyHashSync(
      { operations: [{ op: 'add_file', path: 'other.txt', content: '' }] },
      { root: dir, stateDir },
    )
    assert.equal(outcome.status, 'applied')
    assert.deepEqual(journals(stateDir), [])
    rmSync(join(dir, 'other.txt'))
    generationOf(dir)
  }))

const skip = !canStop && 'Windows has no signal that stops a process in the midst of a patch'

test(
  'a patch of a living process is not touched, and other edits of its files wait',
  { skip },
  () =>
    withMess({}, async (dir, stateDir) => {
      makeFiles(dir)
      const { child, ended, journal } = await stopInPatch(dir, stateDir)
      const before = readdirSync(dir).sort()
      const text = readFileSync(journal, 'utf8')
      assert.deepEqual(recoverTransactionsSync({ stateDir }), { ...NOTHING, live: 1 })
      const operations = [/** @type {const} */ ({ op: 'delete_file', path: join(dir, 'a.txt') })]
      const outcome = await applyHash({ operations }, { stateDir, lockTimeoutMs: 200 })
      assert.equal(outcome.status, 'rejected')
      assert.equal(outcome.code, 'LOCK_TIMEOUT')
      assert.match(outcome.failures[0].message, /a\.txt.*lockTimeoutMs/)
      const controller = new AbortController()
      const waiting = applyHash({ operations }, { stateDir, signal: controller.signal })
      setTimeout(() => controller.abort(), 50)
      await assertRejects(() => waiting, 'ABORTED')
      assert.deepEqual(readdirSync(dir).sort(), before)
      assert.equal(readFileSync(journal, 'utf8'), text)
      signal(child, 'SIGCONT')
      while (existsSync(journal)) await pause(1)
      signal(child, 'SIGKILL')
      await ended
      recoverTransactionsSync({ stateDir })
      assert.ok(generationOf(dir) >= 1)
    }),
)

test('a file that another process changed is skipped, and both versions are kept', () =>
  withMess({}, async (dir, stateDir) => {
    makeFiles(dir)
    const generation = generationOf(dir)
    const { child, ended } = await stopInPatch(dir, stateDir, /"record":"committed"/)
    signal(child, 'SIGKILL')
    await ended
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      writeFileSync(join(dir, 'theirs'), 'theirs\n')
      renameSync(join(dir, 'theirs'), join(dir, name))
    }
    const report = recoverTransactionsSync({ stateDir })
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      assert.equal(readFileSync(join(dir, name), 'utf8'), 'theirs\n')
    }
    assert.deepEqual(report.failed, [])
    for (const { path, kept } of report.conflicts) {
      assert.ok(
        ['a.txt', 'b.txt', 'c.txt'].some((name) => path === join(dir, name)),
        path,
      )
      assert.ok(kept.length > 0)
      for (const name of kept)
        assert.match(readFileSync(name, 'utf8'), /^(generation \d+\n){2000}$/)
    }
    assert.ok(generation >= 0)
    assert.deepEqual(recoverTransactionsSync({ stateDir }), NOTHING)
  }))

test('damaged and foreign journals are reported, kept and not applied', () =>
  withMess({}, async (dir, stateDir) => {
    makeFiles(dir)
    const { child, ended, journal } = await stopInPatch(dir, stateDir)
    signal(child, 'SIGKILL')
    await ended
    const good = readFileSync(journal)
    const bad = Buffer.from(good)
    bad[bad.indexOf('a.txt')] ^= 1
    const damaged = [
      ['1-empty.journal', ''],
      ['2-foreign.journal', '{"version":1,"steps":[]}\n'],
      ['3-binary.journal', Buffer.from([0, 255, 10])],
      ['4-flipped.journal', bad],
      ['5-cut.journal', good.subarray(0, 40)],
    ].map(([name, bytes]) => {
      const path = join(stateDir, 'journals', `${name}`)
      writeFileSync(path, bytes)
      return path
    })
    const ignored = join(stateDir, 'journals', 'notes.txt')
    writeFileSync(ignored, 'mine')
    const report = recoverTransactionsSync({ stateDir })
    assert.deepEqual(report.damaged, damaged)
    assert.equal(report.finished.length + report.undone.length, 1)
    assert.deepEqual([report.failed, report.conflicts, report.live], [[], [], 0])
    generationOf(dir)
    assert.deepEqual(recoverTransactionsSync({ stateDir }), { ...NOTHING, damaged })
    assert.ok([...damaged, ignored].every((path) => existsSync(path)))
    const operations = [/** @type {const} */ ({ op: 'delete_file', path: 'b.txt' })]
    assert.equal(applyHashSync({ operations }, { root: dir, stateDir }).status, 'applied')
  }))

test('an aborted signal rejects, and nothing is done', () =>
  withMess({}, async (dir, stateDir) => {
    makeFiles(dir)
    const { child, ended, journal } = await stopInPatch(dir, stateDir)
    signal(child, 'SIGKILL')
    await ended
    const aborted = { stateDir, signal: AbortSignal.abort('enough') }
    await assert.rejects(recoverTransactions(aborted), (thrown) => {
      const error = /** @type {HashlineError} */ (thrown)
      assert.deepEqual([error.name, error.code, error.cause], ['AbortError', 'ABORTED', 'enough'])
      return true
    })
    assert.ok(existsSync(journal))
    recoverTransactionsSync({ stateDir })
    generationOf(dir)
  }))

test('misuse is refused with the reason', async () => {
  /** @type {[unknown, ...string[]][]} */
  const cases = [
    ['state', 'options is the string "state"', 'expected an object with stateDir'],
    [[], 'options is an array'],
    [{ statedir: 'x' }, 'unknown name "statedir"', 'stateDir, lockTimeoutMs, signal'],
    [{ root: '/' }, 'unknown name "root"'],
    [{ stateDir: 1 }, 'options.stateDir is the number 1', 'a string'],
    [{ stateDir: '' }, 'stateDir is empty'],
  ]
  for (const [count, is] of NO_COUNTS) {
    cases.push([{ lockTimeoutMs: count }, `options.lockTimeoutMs is ${is}`])
  }
  for (const [options, ...parts] of cases) {
    assertThrows(() => recoverTransactionsSync(untyped(options)), 'INVALID_ARGUMENT', ...parts)
    await assertRejects(() => recoverTransactions(untyped(options)), 'INVALID_ARGUMENT', ...parts)
  }
  const { signal } = new AbortController()
  const call = () => recoverTransactionsSync(untyped({ signal }))
  assertThrows(call, 'INVALID_ARGUMENT', 'options.signal', 'synchronous')
  await assertRejects(
    () => recoverTransactions(untyped({ signal: 1 })),
    'INVALID_ARGUMENT',
    'options.signal is the number 1',
  )
  await withDir({ state: 'a file' }, (dir) =>
    assertRejects(
      () => recoverTransactions({ stateDir: join(dir, 'state') }),
      'NOT_A_FILE',
      'state',
    ),
  )
})
