// Sessions: lines that were shown, changes by other processes, dry runs.

import { anchors, CONTENTS } from './texts.mjs'

/** @import { Call } from './run.mjs' */
/** @import { Given } from './texts.mjs' */

const TEXT = 'one\ntwo\nthree\nfour\nfive\n'

/** @returns {Given[]} */
export function sessions() {
  const a = anchors(TEXT, 'lean')
  const read = /** @type {Call} */ ({ call: 'read', given: 'a.txt' })
  /** @type {(operations: object[], options?: object) => Call} */
  const apply = (operations, options) => ({
    call: 'apply',
    // A move has no path.
    given: {
      operations: operations.map((one) => ('from' in one ? one : { path: 'a.txt', ...one })),
    },
    ...(options && { options }),
  })
  const set = { op: 'set_line', anchor: a[1], text: 'TWO' }
  const long = 'a();'.repeat(600)
  const setLong = { op: 'set_line', anchor: anchors(`one\n${long}\n`, 'lean')[1], text: 'b()' }
  /** @type {(files: Given['files']) => Call} */
  const write = (given) => ({ call: 'write', given })
  /** @type {(path: string, content: Given['files'][string], options?: object) => Call} */
  const setDocument = (path, content, options) => ({
    call: 'setDocument',
    given: { path, content },
    ...(options && { options }),
  })
  const files = { 'a.txt': TEXT, 'b.txt': 'b\n', 'image.png': CONTENTS['image.png'] }
  /** @type {[string, Call[], object?][]} */
  const made = [
    ['an edit of what was shown', [read, apply([set])]],
    ['an edit of what was not shown', [apply([set])]],
    ['an edit of what was not shown, matched', [apply([set])], { unseen: 'match' }],
    [
      'a dry run',
      [read, apply([set], { dryRun: true }), apply([set], { dryRun: true, context: 0 })],
    ],
    [
      'a dry run that is refused',
      [read, apply([{ op: 'delete', anchor: '2aa' }], { dryRun: true })],
    ],
    [
      'a dry run of files',
      [
        read,
        apply(
          [
            { op: 'add_file', path: 'new/c.txt', content: 'c\n' },
            { op: 'delete_file', path: 'b.txt' },
            { op: 'move_file', from: 'a.txt', to: 'd.txt' },
          ],
          { dryRun: true, context: 1 },
        ),
      ],
    ],
    [
      'a read of several files',
      [{ call: 'read', given: ['a.txt', 'none.txt', 'b.txt', 'image.png'] }],
    ],
    [
      'a read within limits',
      [{ call: 'read', given: ['a.txt', 'b.txt'] }],
      { limits: { maxLines: 3 } },
    ],
    [
      'places of an output, and an edit',
      [
        {
          call: 'annotate',
          given: 'a.txt:2:1: error: x\nb.txt(1): note\nnone.txt:1: x\nimage.png:1: x\n',
          options: { context: 1, maxFiles: 1 },
        },
        apply([set]),
      ],
    ],
    ['a search and an edit', [{ call: 'search', given: { search: 'TWO' } }, apply([set])]],
    [
      'an edit after others inserted lines',
      [read, write({ 'a.txt': `zero\n${TEXT}` }), apply([set])],
    ],
    [
      'an edit of a line that others changed',
      [read, write({ 'a.txt': TEXT.replace('two', '2') }), apply([set])],
    ],
    [
      'an edit of a line that others deleted',
      [read, write({ 'a.txt': TEXT.replace('two\n', '') }), apply([set])],
    ],
    [
      'edits one after the other by old anchors',
      [
        read,
        apply([{ op: 'insert_before', anchor: 'BOF', text: ['x', 'y'] }]),
        apply([set]),
        apply([{ op: 'delete', anchor: a[4] }]),
      ],
    ],
    [
      'lines that move, and their old anchors',
      [
        read,
        apply([{ op: 'move_lines', anchor: a[0], to_anchor: 'EOF' }]),
        apply([{ op: 'set_line', anchor: a[0], text: 'ONE' }]),
        apply([{ op: 'move_lines', range: `${a[1]}-${a[2]}`, to: 'b.txt', to_anchor: 'EOF' }]),
        apply([set]),
        apply([{ op: 'set_line', path: 'b.txt', anchor: `2${a[1].slice(1)}`, text: 'TWO' }]),
      ],
    ],
    [
      'what was learned elsewhere',
      [{ call: 'observe', given: `${a[1]}|two`, options: { path: 'a.txt' } }, apply([set])],
    ],
    ['what was forgotten', [read, { call: 'forget', given: 'a.txt' }, apply([set])]],
    ['all that was forgotten', [read, { call: 'forget', given: null }, apply([set])]],
    ['a write out of the root', [apply([{ op: 'add_file', path: '../x.txt', content: '' }])]],
    [
      'a search within limits',
      [{ call: 'search', given: { search: '' } }],
      { limits: { maxMatches: 2 } },
    ],
    [
      'lists, which show no lines',
      [
        { call: 'search', given: { globs: '*.txt', sizes: true } },
        { call: 'search', given: { search: 'two', output: 'count' } },
        { call: 'search', given: { search: 'two', output: 'files', maxFiles: 1 } },
        apply([set]),
      ],
    ],
    [
      'directories',
      [
        write({ 'src/deep/c.txt': 'c\n' }),
        write({ 'src/.ignore': '*.log\n' }),
        write({ 'src/d.log': 'd\n' }),
        { call: 'read', given: '.' },
        { call: 'read', given: { path: 'src/', fold: 1 } },
        { call: 'read', given: { path: 'src', search: 'c' } },
        { call: 'read', given: ['src/deep', 'b.txt'] },
      ],
    ],
    [
      'a search in a file of one long line, and an edit by what it shows',
      [
        write({ 'a.txt': `${'a();'.repeat(2000)}needle${'b();'.repeat(2000)}` }),
        write({ 'b.txt': 'needle\n' }),
        { call: 'search', given: { search: 'needle' } },
        { call: 'read', given: [{ path: 'a.txt', columns: [7990, 8020] }, 'a.txt'] },
        apply([{ op: 'replace_text', old_text: 'needle', new_text: 'N' }]),
      ],
    ],
    [
      'long lines within limits',
      [
        { call: 'read', given: [{ path: 'b.txt', maxLineChars: 2 }, 'a.txt'] },
        { call: 'search', given: { search: 'r', maxLineChars: 100 } },
      ],
      { limits: { maxLineChars: 3 } },
    ],
    [
      'an edit of a line that was shown in part',
      [
        write({ 'a.txt': `one\n${long}\n` }),
        read,
        apply([setLong]),
        apply([{ ...setLong, verbatim: true }], { dryRun: true }),
        { call: 'read', given: { path: 'a.txt', startLine: 2, columns: [2001, 2400] } },
        apply([setLong]),
      ],
    ],
    ['another dialect', [read], { dialect: 'omp13' }],
    [
      'a document in place of a file',
      [
        setDocument('a.txt', TEXT.replace('one', 'unsaved'), { version: 1 }),
        { call: 'documents', given: null },
        read,
        { call: 'search', given: { search: 'unsaved' } },
        apply([set, { op: 'set_line', path: 'b.txt', anchor: '1or', text: 'x' }]),
        { call: 'read', given: 'b.txt' },
        apply([set, { op: 'insert_after', path: 'b.txt', anchor: 'EOF', text: 'x' }]),
        setDocument('a.txt', `zero\n${TEXT}`, { version: 2 }),
        apply([{ op: 'move_file', from: 'a.txt', to: 'c.txt' }]),
        { call: 'closeDocument', given: 'c.txt' },
        { call: 'closeDocument', given: 'c.txt' },
        read,
      ],
    ],
    [
      'documents without a disk',
      [
        setDocument('a.txt', '\ufeffone\r\ntwo\u{1f600}'),
        setDocument('wide.txt', CONTENTS['utf16.txt']),
        setDocument('.', ''),
        setDocument('a.txt/b', ''),
        { call: 'read', given: ['a.txt', 'wide.txt', 'b.txt'] },
        apply([
          { op: 'insert_after', anchor: 'EOF', text: 'three' },
          { op: 'insert_after', path: 'wide.txt', anchor: 'BOF', text: 'first' },
          { op: 'add_file', path: 'new/c.txt', content: 'c\n' },
          { op: 'move_file', from: 'a.txt', to: 'd.txt' },
        ]),
        { call: 'documents', given: null },
      ],
      { disk: false },
    ],
  ]
  return made.map(([name, calls, session]) => ({
    name: `session: ${name}`,
    files,
    session: session ?? {},
    calls,
  }))
}
