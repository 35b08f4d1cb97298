// Previews of edits whose arguments are still arriving.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { withDir } from './support.mjs'

/** @import { EditPreview, EditTool } from 'hashline-native/tools' */

const EMPTY = { files: [], refused: [], omitted: [] }

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
const FILES = { 'a.txt': `${LINES.join('\n')}\n`, 'b.txt': 'x\ny\n' }

/** @param {string} cwd @param {string} stateDir */
function opened(cwd, stateDir) {
  const session = new HashSession({ cwd, stateDir, durability: 'process' })
  return { session, ...hashTools(session, { json: true }) }
}

/** The anchors of the lines of a file. @param {HashSession} session @param {string} path */
const anchorsOf = (session, path) =>
  session
    .readSync(path)
    .text.split('\n')
    .filter((row) => /^\d+\w/.test(row))
    .map((row) => row.split('|')[0])

/** The new lines of all diffs. @param {EditPreview} preview */
const added = ({ files }) =>
  files.flatMap(({ diff }) => diff.split('\n').filter((row) => /^\+[^+]/.test(row)))

/** @param {EditPreview} preview */
const refusedOf = ({ refused }) => refused.map(({ operation, code }) => [operation, code])

/**
 * Previews every prefix of a text: no new line disappears, and the last has all that are expected.
 * @param {EditTool} tool @param {string} text @param {string[]} expected
 */
function grows(tool, text, expected) {
  /** @type {string[]} */
  let before = []
  for (let end = 0; end <= text.length; end += 1) {
    const now = added(tool.preview(text.slice(0, end)))
    const lost = before.filter((row) => !now.includes(row))
    assert.deepEqual(lost, [], `${text.slice(0, end)}\n${now}`)
    before = now
  }
  assert.deepEqual(before, expected, text)
}

test('a preview shows the operations that are complete, and where the next one points', () =>
  withDir(FILES, (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const [one, two, , four, five] = anchorsOf(session, 'a.txt')
    const first = `{"path":"a.txt","operations":[{"op":"set_line","anchor":"${two}","text":"TWO"`
    assert.deepEqual(apply.preview(`{"path":"a.t`), EMPTY)
    assert.deepEqual(apply.preview(`{"path":"a.txt","operations":[`), EMPTY)
    assert.deepEqual(apply.preview(first), {
      ...EMPTY,
      pending: {
        operation: 0,
        op: 'set_line',
        path: 'a.txt',
        anchor: two,
        lines: { start: 2, end: 2 },
      },
    })
    const { files, pending } = apply.preview(
      `${first}},{"op":"replace_range","start_anchor":"${four}","end_anchor":"${five}","text":"a`,
    )
    const { diff, hunks, ...counts } = files[0]
    assert.deepEqual(counts, { path: 'a.txt', change: 'edited', added: 1, removed: 1 })
    assert.match(diff, /^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -1,5 \+1,5 @@\n one\n-two\n\+TWO\n/)
    assert.equal(hunks.length, 1)
    assert.deepEqual(pending, {
      operation: 1,
      op: 'replace_range',
      path: 'a.txt',
      anchor: four,
      lines: { start: 4, end: 5 },
    })
    // Where the line is now.
    writeFileSync(join(cwd, 'a.txt'), `new\n${FILES['a.txt']}`)
    const moved = apply.preview(`{"operations":[{"path":"a.txt","anchor":"${one}","op":"dele`)
    assert.deepEqual(moved.pending?.lines, { start: 2, end: 2 })
    assert.equal(existsSync(stateDir), false)
  }))

test('every prefix of a call has a preview that only grows, in every form that a call accepts', () =>
  withDir(FILES, (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const [one, two, three] = anchorsOf(session, 'a.txt')
    anchorsOf(session, 'b.txt')
    const operations = [
      { op: 'set_line', path: 'a.txt', anchor: two, text: 'T\u00fc "\ud83d\ude00" \\ \n\tnew' },
      { op: 'insert_after', path: 'a.txt', anchor: three, text: ['3a', '3b'] },
      { op: 'add_file', path: 'new.txt', content: 'neu' },
      { op: 'delete', path: 'a.txt', anchor: one },
    ]
    const whole = ['+neu', '+T\u00fc "\ud83d\ude00" \\ ', '+\tnew', '+3a', '+3b'].sort()
    const sorted = (/** @type {unknown} */ args) => added(apply.preview(args)).sort()
    const text = JSON.stringify({ operations })
    const bare = operations.slice(0, 2).map(({ path, ...rest }) => rest)
    for (const given of [
      text,
      JSON.stringify({ operations }, null, 2),
      text.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
      `\`\`\`json\n${text}\n\`\`\``,
      JSON.stringify(text),
      JSON.stringify({ edits: operations }),
      JSON.stringify({ operations: JSON.stringify(operations) }),
      JSON.stringify({ operations: [JSON.stringify(operations)] }),
      JSON.stringify({ operations: operations.map((one) => JSON.stringify(one)) }),
      JSON.stringify({ operations: { operations } }),
    ]) {
      const complete = apply.preview(given)
      assert.deepEqual(complete.refused, [], given)
      grows(apply, given, added(complete))
      assert.deepEqual(sorted(given), whole)
    }
    assert.deepEqual(sorted({ operations }), whole)
    const edits = whole.filter((row) => row !== '+neu')
    for (const given of [
      JSON.stringify({ path: 'a.txt', operations: bare }),
      // A path that comes last is needed before anything can be shown.
      JSON.stringify({ operations: bare, file_path: 'a.txt' }),
      JSON.stringify({ operations: bare, path: 'a.txt' }),
      JSON.stringify({
        path: 'a.txt',
        edits: [
          { set_line: { anchor: two, new_text: operations[0].text } },
          { insert_after: { anchor: three, text: '3a\n3b' } },
        ],
      }),
    ]) {
      grows(apply, given, added(apply.preview(given)))
      assert.deepEqual(sorted(given), edits, given)
    }
    const single = JSON.stringify({ ...operations[0] })
    assert.equal(apply.preview(single.slice(0, -1)).pending?.lines?.start, 2)
    grows(apply, single, ['+T\u00fc "\ud83d\ude00" \\ ', '+\tnew'])
  }))

test('a preview teaches the session nothing and counts as no call', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const { anchors, fork } = (() => {
      const other = opened(cwd, stateDir)
      return { anchors: anchorsOf(other.session, 'a.txt'), fork: other }
    })()
    session.readSync({ path: 'a.txt', startLine: 1, maxLines: 2 })
    const bytes = session.memoryBytes
    const unseen = { op: 'set_line', path: 'a.txt', anchor: anchors[6], text: '7' }
    const stale = { op: 'set_line', path: 'a.txt', anchor: '5zz', text: '5' }
    const seen = { op: 'set_line', path: 'a.txt', anchor: anchors[1], text: 'two' }
    const text = JSON.stringify({ operations: [seen, unseen, stale] })
    for (let end = 0; end <= text.length; end += 1) apply.preview(text.slice(0, end))
    const preview = apply.preview(text)
    assert.deepEqual(
      preview.refused.map(({ operation }) => operation),
      [1, 2],
    )
    assert.equal(session.memoryBytes, bytes)
    // A refusal of a call shows the lines, so the same call works then. A preview does not.
    const first = await apply.execute({ operations: [unseen] })
    assert.ok(first.isError)
    assert.equal(first.structured.code, preview.refused[0].code)
    const { text: same } = await apply.execute({ operations: [seen] })
    assert.doesNotMatch(same, /times in a row/)
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), FILES['a.txt'])
    assert.ok(fork.session.memoryBytes > 0)
  }))

test('an operation that is refused or conflicts leaves those before it as they are', () =>
  withDir(FILES, (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const at = anchorsOf(session, 'a.txt')
    anchorsOf(session, 'b.txt')
    const set = (/** @type {string} */ anchor, /** @type {string} */ text) => ({
      op: 'set_line',
      path: 'a.txt',
      anchor,
      text,
    })
    const range = (/** @type {number} */ from, /** @type {number} */ to) => ({
      op: 'replace_range',
      path: 'a.txt',
      start_anchor: at[from - 1],
      end_anchor: at[to - 1],
      text: `${from} to ${to}`,
    })
    /** @type {[any[], string[], [number, string][]][]} */
    const cases = [
      [[set(at[0], 'A'), set('2zz', 'B'), set(at[2], 'C')], ['+A', '+C'], [[1, 'UNKNOWN']]],
      [[set(at[1], 'A'), set(at[1], 'B')], ['+A'], [[1, 'OVERLAPPING_EDITS']]],
      [
        [range(1, 5), range(4, 7), range(6, 8), set(at[4], 'X')],
        ['+1 to 5', '+6 to 8'],
        [
          [1, 'OVERLAPPING_EDITS'],
          [3, 'OVERLAPPING_EDITS'],
        ],
      ],
      [
        [set(at[0], 'A'), { op: 'nonsense', path: 'a.txt' }, set(at[2], 'C')],
        ['+A', '+C'],
        [[1, 'INVALID_ARGUMENT']],
      ],
      [
        [set(at[0], 'A'), { ...set(at[1], 'B'), text: undefined }],
        ['+A'],
        [[1, 'INVALID_ARGUMENT']],
      ],
      [
        [set(at[0], 'A'), { ...set(at[1], 'B'), path: 'none.txt' }],
        ['+A'],
        [[1, 'FILE_NOT_FOUND']],
      ],
      // A later operation makes an earlier one possible.
      [
        [
          { op: 'add_file', path: 'b.txt', content: 'again' },
          { op: 'delete_file', path: 'b.txt' },
          { op: 'add_file', path: 'b.txt', content: 'third' },
        ],
        ['+again'],
        [[2, 'OVERLAPPING_EDITS']],
      ],
    ]
    for (const [operations, rows, refused] of cases) {
      const text = JSON.stringify({ operations })
      grows(apply, text, rows)
      const preview = apply.preview(text)
      const codes = refused.map(([operation, code]) => [
        operation,
        code === 'UNKNOWN' ? preview.refused[0].code : code,
      ])
      assert.deepEqual(refusedOf(preview), codes, text)
      assert.ok(preview.refused.every(({ message }) => message.length > 0))
    }
    const { refused } = apply.preview({ operations: [set(at[0], 'A'), { op: 'x', path: 'a.txt' }] })
    assert.match(refused[0].message, /^operations\[1\] has the unknown op/)
    const many = Array.from({ length: 40 }, () => set('2zz', 'B'))
    const limited = apply.preview({ operations: [set(at[0], 'A'), ...many] })
    assert.deepEqual(added(limited), ['+A'])
    assert.equal(limited.refused.length, 16)
    assert.deepEqual(limited.omitted, [{ operation: 17, reason: 'too-many-refused' }])
  }))

test('overlapping operations in any sequence only grow', () =>
  withDir(FILES, (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const at = anchorsOf(session, 'a.txt')
    let seed = 7
    const random = (/** @type {number} */ below) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    for (let round = 0; round < 40; round += 1) {
      /** @type {any[]} */
      const operations = []
      /** @type {string[]} */
      let before = []
      for (let number = 0; number < 7; number += 1) {
        const from = random(8)
        const to = Math.min(7, from + random(4))
        const text = `new ${number}`
        operations.push(
          random(3) === 0
            ? { op: 'insert_after', path: 'a.txt', anchor: at[from], text }
            : {
                op: 'replace_range',
                path: 'a.txt',
                start_anchor: at[from],
                end_anchor: at[to],
                text,
              },
        )
        const preview = apply.preview({ operations })
        const now = added(preview)
        assert.deepEqual(
          before.filter((row) => !now.includes(row)),
          [],
          JSON.stringify(operations),
        )
        assert.equal(now.length + preview.refused.length, operations.length)
        before = now
      }
    }
  }))

test('arguments of any type and size have a preview, which throws nothing', () =>
  withDir(FILES, (cwd, stateDir) => {
    const { session, apply, applyJson } = opened(cwd, stateDir)
    const [one] = anchorsOf(session, 'a.txt')
    const cyclic = { operations: [] }
    Object.assign(cyclic, { cyclic })
    const throwing = {
      get operations() {
        throw new Error('a getter')
      },
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    /** @type {unknown[]} */
    const values = [
      undefined,
      null,
      0,
      1n,
      Symbol('s'),
      () => {},
      [],
      true,
      '',
      ' ',
      '5',
      '[',
      '{',
      '"',
      'x',
    ]
    values.push(cyclic, throwing, proxy, new Date(), new Uint8Array(3), '\ud800', '{"path":"\\ud8')
    values.push(
      '['.repeat(200_000),
      '{"a":'.repeat(200_000),
      `{"operations":${'['.repeat(200_000)}`,
    )
    for (const value of values) {
      for (const tool of [apply, applyJson]) {
        const { files, pending, omitted } = tool.preview(value)
        assert.deepEqual([files, omitted], [[], []])
        assert.equal(pending?.path, undefined)
      }
    }
    assert.deepEqual(refusedOf(apply.preview('{"path":"a.txt"} x')), [
      [undefined, 'INVALID_ARGUMENT'],
    ])
    const start = `{"path":"a.txt","operations":[{"op":"set_line","anchor":"${one}","text":"A"},`
    const omitted = [{ reason: 'arguments-too-large' }]
    for (const rest of [`{"text":"${'x'.repeat(10 << 20)}`, '{"op":"delete"},'.repeat(100_000)]) {
      const long = apply.preview(start + rest)
      assert.deepEqual(added(long), ['+A'])
      assert.deepEqual(long.omitted.at(-1), omitted[0])
    }
    const large = { operations: [], text: 'x'.repeat(10 << 20) }
    assert.deepEqual(apply.preview(large), { ...EMPTY, omitted })
    session.close()
    assert.deepEqual(apply.preview(`${start}]}`), EMPTY)
  }))

test('a file over the limit of previews is omitted, and other files are shown', () =>
  withDir({ ...FILES, 'big.txt': 'line\n'.repeat(500_000) }, (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const [one] = anchorsOf(session, 'a.txt')
    const [big] = anchorsOf(session, 'big.txt')
    const operations = [
      { op: 'set_line', path: 'big.txt', anchor: big, text: 'B' },
      { op: 'set_line', path: 'a.txt', anchor: one, text: 'A' },
    ]
    const preview = apply.preview({ operations })
    assert.deepEqual(added(preview), ['+A'])
    assert.deepEqual(preview.omitted, [{ operation: 0, path: 'big.txt', reason: 'file-too-large' }])
    assert.deepEqual(preview.refused, [])
  }))

test('an object whose end may be missing has its last operation pending', () =>
  withDir(FILES, (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const [one, two] = anchorsOf(session, 'a.txt')
    const operations = [
      { op: 'set_line', path: 'a.txt', anchor: one, text: 'A' },
      { op: 'set_line', path: 'a.txt', anchor: two, text: 'B' },
    ]
    const partial = apply.preview({ operations }, { partial: true })
    assert.deepEqual(added(partial), ['+A'])
    assert.deepEqual(partial.pending?.lines, { start: 2, end: 2 })
    assert.deepEqual(added(apply.preview({ operations })), ['+A', '+B'])
    assert.deepEqual(apply.preview({ path: 'a.t' }, { partial: true }), EMPTY)
  }))

test('operations that a host does not allow are refused in a preview, too', () =>
  withDir(FILES, (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir })
    const { apply } = hashTools(session, { operations: ['set_line'] })
    const preview = apply.preview({ operations: [{ op: 'delete_file', path: 'a.txt' }] })
    assert.deepEqual([preview.files, refusedOf(preview)], [[], [[0, 'INVALID_ARGUMENT']]])
  }))

test('a preview of edits by path shows the document and the anchor', () =>
  withDir({ 'p.json': '{"a": 1, "b": [2]}\n' }, async (cwd, stateDir) => {
    const { readJson, applyJson } = opened(cwd, stateDir)
    const { text: shown } = await readJson.execute({ path: 'p.json' })
    const [a] = /\$\.a:\w+/.exec(shown) ?? []
    const [b] = /\$\.b:\w+/.exec(shown) ?? []
    const text = JSON.stringify({
      path: 'p.json',
      operations: [
        { op: 'set_path', anchor: a, value: '"new"' },
        { op: 'insert_at_path', anchor: b, value: '{"c":[1,2]}' },
      ],
    })
    for (let end = 0; end <= text.length; end += 1) {
      assert.deepEqual(applyJson.preview(text.slice(0, end)).refused, [])
    }
    assert.deepEqual(added(applyJson.preview(text)), ['+{"a": "new", "b": [2, {"c": [1, 2]}]}'])
    assert.deepEqual(applyJson.preview(text.slice(0, -8)).pending, {
      operation: 1,
      op: 'insert_at_path',
      path: 'p.json',
      anchor: b,
    })
  }))

test('a patch of oh-my-pi is previewed hunk by hunk', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, dialect: 'omp18', durability: 'process' })
    const { read, apply } = hashTools(session)
    const { text: shown } = await read.execute({ path: 'a.txt', more_paths: ['b.txt'] })
    const [a, b] = shown.match(/\[[ab]\.txt#\w+\]/g) ?? []
    const patch = `${a}\nPUT 2.=2:\n+TWO\n+2b\nCUT 4 @kept\nPUT >6:\n+6a\nPUT 2.=3:\n+no\n${b}\nPUT >$ @kept\nMV c.txt`
    const text = JSON.stringify({ patch })
    grows(apply, text, added(apply.preview(text)))
    const whole = apply.preview(text)
    assert.deepEqual(added(whole).sort(), ['+2b', '+6a', '+TWO', '+four'])
    assert.deepEqual(refusedOf(whole), [[3, 'OVERLAPPING_EDITS']])
    const upTo = (/** @type {string} */ end) => text.slice(0, text.indexOf(end) + end.length)
    assert.deepEqual(apply.preview(upTo('+2b')), {
      ...EMPTY,
      pending: { operation: 0, op: 'PUT', path: 'a.txt', lines: { start: 2, end: 2 } },
    })
    assert.deepEqual(added(apply.preview(upTo('PUT >6:\\n+6a\\n'))), ['+TWO', '+2b'])
    const file = JSON.stringify({ path: 'new.txt', content: 'new' })
    grows(apply, file, ['+new'])
    assert.deepEqual(apply.preview(file.slice(0, -3)).pending, { operation: 0, path: 'new.txt' })
  }))

test('a preview of documents does not ask the host for files', async () => {
  const session = new HashSession({ disk: false, cwd: '/work' })
  /** @type {string[]} */
  const calls = []
  const text = 'one\ntwo\n'
  const { read, apply } = hashTools(session, {
    files: {
      read: (path) => {
        calls.push(path)
        return text
      },
      write: (path) => calls.push(path),
    },
  })
  const operation = { op: 'set_line', path: 'a.txt', anchor: '1zz', text: 'A' }
  const unloaded = apply.preview({ operations: [operation] })
  const omitted = [{ operation: 0, path: 'a.txt', reason: 'file-not-loaded' }]
  assert.deepEqual(unloaded, { ...EMPTY, omitted })
  assert.deepEqual(calls, [])
  const { text: shown } = await read.execute({ path: 'a.txt' })
  const anchor = shown
    .split('\n')
    .find((row) => row.includes('one'))
    ?.split('|')[0]
  const before = [calls.length, JSON.stringify(session.documents())]
  assert.deepEqual(added(apply.preview({ operations: [{ ...operation, anchor }] })), ['+A'])
  assert.deepEqual([calls.length, JSON.stringify(session.documents())], before)
})

test('a preview delays no call that runs, and waits for none', () =>
  withDir(FILES, async (cwd, stateDir) => {
    const { session, apply } = opened(cwd, stateDir)
    const [one, two] = anchorsOf(session, 'a.txt')
    const set = (/** @type {string} */ anchor, /** @type {string} */ text) => ({
      operations: [{ op: 'set_line', path: 'a.txt', anchor, text }],
    })
    const running = apply.execute(set(one, 'ONE'))
    assert.deepEqual(added(apply.preview(set(two, 'TWO'))), ['+TWO'])
    assert.equal((await running).isError, false)
    assert.deepEqual(added(apply.preview(set(two, 'TWO'))), ['+TWO'])
  }))

test('the preview of the documentation', () =>
  withDir(FILES, (cwd, stateDir) => {
    const page = readFileSync(new URL('../docs/lifecycle.md', import.meta.url), 'utf8')
    const code = page.split('```js\n').find((part) => part.includes('apply.preview(textSoFar)'))
    assert.ok(code)
    const { session } = opened(cwd, stateDir)
    const [one, two] = anchorsOf(session, 'a.txt')
    /** @type {string[]} */
    const rows = []
    const console = { log: (/** @type {string[]} */ ...words) => rows.push(words.join(' ')) }
    const body = code.slice(0, code.indexOf('```'))
    const text = JSON.stringify({
      path: 'a.txt',
      operations: [
        { op: 'set_line', anchor: one, text: 'A' },
        { op: 'set_line', anchor: one, text: 'B' },
        { op: 'set_line', anchor: two, text: 'C' },
      ],
    })
    const make = new Function('hashTools', 'session', 'textSoFar', 'console', body)
    make(hashTools, session, text.slice(0, -5), console)
    assert.match(rows[0], /^a\.txt --- a\/a\.txt\n/)
    assert.deepEqual(rows.slice(1), ['now at a.txt:2', 'operation 1: OVERLAPPING_EDITS'])
  }))
