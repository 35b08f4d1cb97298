// A short run of bench/misplacement on generated changes, always the same, and tests of the program
// itself.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { changesIn, markUnsure, readerOfDiffs } from '../bench/edit/history/git.mjs'
import { randomFrom } from '../bench/edit/history/random.mjs'
import { decoded, edited, withLines } from '../bench/edit/history/text.mjs'
import { interval, percent } from '../bench/edit/proportion.mjs'
import { casesOf } from '../bench/misplacement/cases.mjs'
import { filesOf, repositories } from '../bench/misplacement/corpus.mjs'
import { unifiedDiff } from '../bench/misplacement/diff.mjs'
import { generatedPairs } from '../bench/misplacement/generated.mjs'
import { casesOfLines } from '../bench/misplacement/identities.mjs'
import { alignedLines } from '../bench/misplacement/letters.mjs'
import { measureLong } from '../bench/misplacement/long.mjs'
import { measure, Tallies } from '../bench/misplacement/measure.mjs'
import { reindentedCases } from '../bench/misplacement/reindented.mjs'
import { begin, PARTS, sessionTables } from '../bench/misplacement/report.mjs'
import { exactSubject } from '../bench/misplacement/subjects/exact.mjs'
import { plainSubjects } from '../bench/misplacement/subjects/plain.mjs'
import { sessionSubjects } from '../bench/misplacement/subjects/session.mjs'
import { syntheticCases } from '../bench/misplacement/synthetic.mjs'
import { hunkCases, unchangedCases } from '../bench/misplacement/unchanged.mjs'

/** @import { Case } from '../bench/misplacement/cases.mjs' */
/** @import { Pair } from '../bench/edit/history/git.mjs' */
/** @import { Random } from '../bench/edit/history/random.mjs' */

const TEXTS = 30
/** Each dialect, each value of `relocate`, and hints. */
const PLAIN = ['pi', 'pi, hints', 'pi, relocate unique', 'pi, relocate off', 'pi26', 'cli', 'omp13']

/**
 * @param {(pair: Pair, random: Random) => Iterable<Case>} make
 * @param {number} [texts]
 */
async function* generated(make, texts = TEXTS) {
  const random = randomFrom('short run', 'cases')
  for (const pair of generatedPairs(randomFrom('short run', 'pairs'), texts)) {
    yield* make(pair, random)
  }
}

/** The old texts of generated changes, as files. @param {number} texts */
function* generatedFiles(texts) {
  for (const { source, path, old } of generatedPairs(randomFrom('short run', 'files'), texts)) {
    yield { source, path, text: old }
  }
}

/** Runs cases in the session alone. @param {Iterable<Case>} cases */
async function inSession(cases) {
  const subject = sessionSubjects[0]
  const all = Number.POSITIVE_INFINITY
  const most = { main: all, usual: all, slow: all }
  async function* given() {
    yield* cases
  }
  try {
    const tallies = await measure(given(), [subject], { most })
    return [...tallies.byScenario].map(([scenario, bySubject]) => ({
      scenario,
      tally: /** @type {import('../bench/misplacement/tally.mjs').Tally} */ (
        bySubject.get(subject.name)
      ),
    }))
  } finally {
    subject.end?.()
  }
}

/** @param {AsyncIterable<Case>} cases */
async function tallied(cases) {
  const plain = plainSubjects.filter(({ name }) => PLAIN.includes(name.slice('plain, '.length)))
  const subjects = [...plain, ...sessionSubjects]
  const all = Number.POSITIVE_INFINITY
  try {
    const tallies = await measure(cases, subjects, { most: { main: all, usual: all, slow: all } })
    return [...tallies.byScenario].flatMap(([scenario, bySubject]) =>
      [...bySubject].map(([subject, tally]) => ({ scenario, subject, tally })),
    )
  } finally {
    for (const { end } of subjects) end?.()
  }
}

/**
 * Checks the wrong results of each scenario and kind of subject against a limit, in percent. The
 * limits of the plain functions are measured, those of sessions are guaranteed.
 * @param {Awaited<ReturnType<typeof tallied>>} rows
 * @param {Record<string, { plain: number, session: number }>} bounds
 */
function within(rows, bounds) {
  const scenarios = new Set(rows.map(({ scenario }) => scenario))
  assert.deepEqual([...scenarios].sort(), Object.keys(bounds).sort())
  for (const { scenario, subject, tally } of rows) {
    const bound = bounds[scenario][subject.startsWith('session') ? 'session' : 'plain']
    // With few cases, a single one can exceed the limit in percent.
    const allowed = Math.ceil((bound * tally.all) / 100)
    assert.ok(
      tally.wrong <= allowed,
      `${scenario}: ${subject}: ${tally.wrong} of ${tally.all} wrong`,
    )
  }
}

describe('edits by old anchors', () => {
  test('an omitted change is applied at its place or refused', async () => {
    within(await tallied(generated((pair, random) => casesOf(pair, random, 'generated'))), {
      'generated: one hunk, exactly its lines': { plain: 1.5, session: 0 },
      'generated: one hunk, 1 to 3 lines of context replaced along': { plain: 0.4, session: 0 },
      'generated: two to four hunks in one patch': { plain: 0, session: 0 },
    })
  })

  test('random changes', async () => {
    within(await tallied(generated(syntheticCases)), {
      'synthetic, one change: the lines meant are still there': { plain: 1.1, session: 0 },
      'synthetic, one change: the lines meant are gone or not what they were': {
        plain: 20.3,
        session: 0,
      },
      'synthetic, several changes: the lines meant are still there': { plain: 1.1, session: 0 },
      'synthetic, several changes: the lines meant are gone or not what they were': {
        plain: 16.5,
        session: 0,
      },
    })
  })

  test('an unchanged file', async () => {
    const rows = await tallied(generated(unchangedCases, TEXTS / 5))
    within(rows, {
      'unchanged file: the anchors that were shown': { plain: 0, session: 0 },
      "unchanged file: a number with a neighbour's hash": { plain: 22.7, session: 0 },
    })
    for (const { scenario, subject, tally } of rows) {
      if (!scenario.endsWith('shown')) continue
      assert.equal(tally.right, tally.all, `${subject}: every edit is applied`)
    }
  })
})

describe('sessions', () => {
  test('follow lines that were re-indented', async () => {
    const random = randomFrom('short run', 're-indented')
    const cases = [...generatedFiles(10)].flatMap((file) => [...reindentedCases(file, random)])
    const rows = await inSession(cases)
    assert.ok(rows.length > 8)
    for (const { scenario, tally } of rows) {
      assert.equal(tally.wrong, 0, scenario)
      assert.equal(tally.indented, 0, `${scenario}: the indentation of new lines`)
      if (scenario.endsWith('another change')) continue
      assert.equal(tally.possible, tally.all, `${scenario}: every line is still there`)
    }
    const { right, all } = rows.reduce(
      (sum, { tally }) => ({ right: sum.right + tally.right, all: sum.all + tally.all }),
      { right: 0, all: 0 },
    )
    assert.ok(right > all / 2, `${right} of ${all} are right`)
  })

  test('apply edits by any anchor that was ever shown, at its line or not', () => {
    const tallies = new Tallies()
    measureLong(generatedFiles(20), randomFrom('short run', 'long'), tallies, { most: 120 })
    assert.equal(tallies.byScenario.size, 2)
    for (const [scenario, bySubject] of tallies.byScenario) {
      const [[, { all, right, wrong, possible }]] = bySubject
      assert.ok(all >= 120, scenario)
      assert.ok(right > all / 4 && right <= possible, `${scenario}: ${right} of ${all} are right`)
      // Texts alone cannot always distinguish a line from its copy.
      const allowed = scenario.endsWith('copied and moved') ? Math.ceil(all / 100) : 0
      assert.ok(wrong <= allowed, `${scenario}: ${wrong} of ${all} are wrong`)
    }
  })

  test('make the hunks of a change in an unchanged file', async () => {
    const random = randomFrom('short run', 'hunks')
    const pairs = [...generatedPairs(randomFrom('short run', 'pairs'), 10)]
    const rows = await inSession(pairs.flatMap((pair) => [...hunkCases(pair, random)]))
    assert.equal(rows.length, 3)
    for (const { scenario, tally } of rows) assert.equal(tally.wrong, 0, scenario)
  })
})

describe('the benchmark program', () => {
  test('knows where a formatter put the lines', () => {
    const old = ['f(a, b)', 'if (a) {', '  g()', '}', '', "h('x')"]
    const formatted = ['f(', '  a,', '  b,', ');', 'if (a) {', '\tg()', '}', '', 'h("x")']
    const aligned = alignedLines(old, formatted)
    assert.deepEqual(aligned?.unsure, new Set())
    assert.deepEqual(
      aligned?.lines.map(({ id, holds }) => [id, holds]),
      // biome-ignore format: a line each
      [
        [undefined, [0]], [undefined, [0]], [undefined, [0]], [undefined, []],
        [1, [1]], [2, [2]], [3, [3]], [4, [4]], [undefined, [5]],
      ],
    )
    assert.equal(alignedLines(['a'], ['b']), undefined)
    const braces = alignedLines(['a {', '}', '}'], ['a {', '}', '};'])
    assert.deepEqual(
      braces?.lines.map(({ id }) => id),
      [0, 1, undefined],
    )
    const closing = alignedLines(['f(g(a)', ')'], ['f(', 'g(a', ')', ')'])
    assert.deepEqual(closing?.unsure, new Set([1]))
  })

  test('expects the indentation that the lines have now', () => {
    const old = { lines: ['a:', '  b: 1', '  c: 2'], eol: /** @type {const} */ ('\n'), final: true }
    const lines = old.lines.map((text, id) => ({ text: text.replace('  ', '\t'), id }))
    const names = { scenario: 'x', source: '', change: '', path: 'x' }
    const cases = [...casesOfLines(names, old, lines, randomFrom('short run', 'lines'), 60)]
    assert.ok(cases.length > 20)
    for (const { truth, operations, now } of cases) {
      assert.ok(truth && !/^ /m.test(truth), truth)
      const [edit] = operations
      const [first, last] = 'after' in edit ? [edit.after, edit.after] : [edit.first, edit.last]
      assert.deepEqual(now, [1, 2, 3].slice(first - 1, last))
    }
  })

  test('counts the cases that have a right place, and what refusals lack', () => {
    const tallies = new Tallies()
    const tally = tallies.of('formatted: black, 60 columns', 'session, pi')
    Object.assign(tally, { right: 7, refused: 3, possible: 8, unshown: 1 })
    const row = '| black, 60 columns | 10 | 70.0 % | 80.0 % | 0 | 0 % to 27.8 % | 30.0 % | 1 | 0 |'
    const parts = sessionTables(tallies)
    assert.deepEqual([...parts.keys()], ['Formatted'])
    assert.ok(parts.get('Formatted')?.endsWith(row), parts.get('Formatted'))
  })

  test('draws texts and sure hunks from a repository', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hashline-misplacement-test-'))
    const git = (/** @type {string[]} */ ...args) =>
      execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
    const commit = (/** @type {string} */ text) => {
      writeFileSync(join(dir, 'file.js'), text)
      git('add', '.')
      git('commit', '--quiet', '--message', 'x')
    }
    try {
      git('init', '--quiet')
      commit('a()\nb()\nc()\nd()\ne()\n')
      // The first hunk replaces a line, the second only re-indents one.
      commit('a(1)\nb()\nc()\n  d()\ne()\n')
      const changes = await changesIn(dir, 10)
      await markUnsure(dir, 10, changes)
      assert.deepEqual(
        changes.map(({ hunks }) => hunks.map(({ oldAt, isUnsure }) => [oldAt, isUnsure])),
        // biome-ignore format: one change
        [[[0, false], [3, true]]],
      )
      const [repository] = repositories([`name=${dir}`], { commits: 10, from: '' })
      assert.equal(repository.name, 'name')
      const random = randomFrom('short run', 'files')
      assert.deepEqual(
        [...filesOf(repository, random, { maxBytes: 100 })].map(({ path, text }) => [path, text]),
        [['file.js', { lines: ['a(1)', 'b()', 'c()', '  d()', 'e()'], eol: '\n', final: true }]],
      )
      assert.deepEqual([...filesOf(repository, random, { maxBytes: 10 })], [])
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('the page has a place for every part', () => {
    const page = readFileSync(new URL('../bench/misplacement.md', import.meta.url), 'utf8')
    for (const part of PARTS) assert.equal(page.split(begin(part)).length, 2, part)
  })

  test('parses the hunks of a log', () => {
    /** @type {object[]} */
    const found = []
    const reader = readerOfDiffs((change) => found.push(change))
    const log = [
      'commit c0ffee',
      '',
      'diff --git a/some file b/some file',
      'index 1111..2222 100644',
      '--- a/some file\t',
      '+++ b/some file\t',
      '@@ -3,0 +4,2 @@ function',
      '+@@ -1 +1 @@',
      '+++ b/not a header',
      '@@ -7 +9 @@',
      '-old',
      '+new',
      '@@ -9,2 +10,0 @@',
      '-one',
      '-two',
      '\\ No newline at end of file',
    ]
    for (const line of log) reader.line(line)
    reader.end()
    const hunks = [
      { oldAt: 3, oldCount: 0, newAt: 3, newCount: 2 },
      { oldAt: 6, oldCount: 1, newAt: 8, newCount: 1 },
      { oldAt: 8, oldCount: 2, newAt: 10, newCount: 0 },
    ]
    const blobs = { oldBlob: '1111', newBlob: '2222' }
    assert.deepEqual(found, [{ commit: 'c0ffee', path: 'some file', ...blobs, hunks }])
  })

  test('omits hunks and sends them as edits that produce the new file', async () => {
    let count = 0
    for await (const one of generated((pair, random) => casesOf(pair, random, 'generated'), 20)) {
      count++
      assert.notEqual(one.current, one.truth)
      const { pi } = { pi: plainSubjects[1].apply?.({ ...one, current: one.old }) }
      assert.equal(pi?.status, 'applied')
      const mine = edited(one.oldLines, one.operations).join('\n')
      assert.equal(pi?.status === 'applied' && pi.text, `${mine}\n`)
    }
    assert.ok(count > 40)
  })

  test('accepts only texts with equal line terminators', () => {
    const linesOf = (/** @type {string} */ text) => decoded(Buffer.from(text))
    assert.deepEqual(linesOf('a\nb'), { lines: ['a', 'b'], eol: '\n', final: false })
    assert.deepEqual(linesOf('a\r\n'), { lines: ['a'], eol: '\r\n', final: true })
    for (const text of ['', 'a\r\nb\n', 'a\rb\n', '\ufeffa\n', 'a\0\n']) {
      assert.equal(linesOf(text), undefined, JSON.stringify(text))
    }
    assert.equal(decoded(new Uint8Array([0x61, 0xff, 10])), undefined)
    assert.equal(withLines({ lines: [], eol: '\n', final: true }, []), '')
  })

  test('writes the diff of edits', () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12']
    const edits = [
      { after: 12, lines: ['13'] },
      { first: 2, last: 2, lines: [] },
    ]
    const file = { eol: '\n', final: false, path: 'x' }
    // biome-ignore format: as it is written
    assert.deepEqual(unifiedDiff(lines, edits, file).split('\n'), [
      '--- a/x', '+++ b/x',
      '@@ -1,5 +1,4 @@', ' 1', '-2', ' 3', ' 4', ' 5',
      '@@ -9,4 +8,5 @@', ' 9', ' 10', ' 11', '-12', '\\ No newline at end of file', '+12', '+13', '\\ No newline at end of file', '',
    ])
  })

  test('replaces exact text only where it is unique', () => {
    const oldLines = ['a {', '}', 'b {', '}']
    const file = {
      scenario: '',
      source: '',
      change: '',
      path: 'x',
      old: 'a {\n}\nb {\n}\n',
      oldLines,
    }
    const apply = (/** @type {string} */ current) =>
      exactSubject.apply?.({
        ...file,
        current,
        operations: [{ first: 4, last: 4, lines: ['  c', '}'] }],
      })
    const applied = { status: 'applied', text: 'a {\n}\nx\nb {\n  c\n}\n' }
    assert.deepEqual(apply('a {\n}\nx\nb {\n}\n'), applied)
    assert.deepEqual(apply('b {\n}\nb {\n}\n'), { status: 'refused', code: 'not unique' })
    assert.deepEqual(apply('b {\n\n}\n'), { status: 'refused', code: 'not found' })
  })

  test('computes the confidence interval of a count', () => {
    const shown = ({ low = 0, high = 0 }) => `${percent(low)} to ${percent(high)}`
    assert.equal(shown(interval(0, 100_000)), '0 % to 0.0038 %')
    assert.equal(shown(interval(1, 20)), '0.89 % to 23.6 %')
    assert.equal(shown(interval(20, 20)), '83.9 % to 100 %')
  })
})
