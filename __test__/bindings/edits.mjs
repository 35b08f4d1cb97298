// Patches on files: their effects in all dialects and on all kinds of files, and their refusals.

import { anchors, CONTENTS, DIALECTS } from './texts.mjs'

/** @import { Given } from './texts.mjs' */

const BLOCK = 'first\nfunction f() {\n  return 1\n}\nlast\n'

/**
 * Operations by their effect; `a` has the anchors of `BLOCK`.
 * @type {Record<string, (a: string[]) => object[]>}
 */
const OPERATIONS = {
  'set a line': (a) => [{ op: 'set_line', anchor: a[0], text: 'FIRST' }],
  'set a line to several': (a) => [{ op: 'set_line', anchor: a[0], text: ['one', 'two', ''] }],
  'set a line to none': (a) => [{ op: 'set_line', anchor: a[0], text: null }],
  'replace a range': (a) => [
    { op: 'replace_range', start_anchor: a[1], end_anchor: a[3], text: 'const f = 1\n' },
  ],
  'insert after': (a) => [{ op: 'insert_after', anchor: a[4], text: 'after' }],
  'insert before': (a) => [{ op: 'insert_before', anchor: a[0], text: ['a', 'b'] }],
  'insert at both ends': () => [
    { op: 'insert_before', anchor: 'BOF', text: 'top' },
    { op: 'insert_after', anchor: 'EOF', text: 'bottom' },
  ],
  'delete a line': (a) => [{ op: 'delete', anchor: a[2] }],
  'delete a range': (a) => [{ op: 'delete', range: `${a[1]}-${a[3]}` }],
  'delete all': (a) => [{ op: 'delete', start_anchor: a[0], end_anchor: a[4] }],
  'replace a block': (a) => [
    { op: 'replace_range', start_anchor: a[1], block: true, text: 'const f = 1\n' },
  ],
  'insert after a block': (a) => [
    { op: 'insert_after', anchor: a[1], block: true, text: ['', 'after()'] },
  ],
  'delete a block': (a) => [{ op: 'delete', anchor: a[1], block: true }],
  'delete a block where none begins': (a) => [{ op: 'delete', anchor: a[2], block: true }],
  'move lines': (a) => [
    { op: 'move_lines', start_anchor: a[1], end_anchor: a[3], to_anchor: a[4] },
  ],
  'move a block to a new file': (a) => [
    { op: 'move_lines', anchor: a[1], block: true, to: 'dir/b.js' },
  ],
  'copy lines': (a) => [
    { op: 'copy_lines', range: `${a[0]}-${a[1]}`, to_anchor: a[1], indent: 'fit' },
  ],
  'move lines into themselves': (a) => [
    { op: 'move_lines', start_anchor: a[1], end_anchor: a[3], to_anchor: a[2] },
  ],
  'several at once': (a) => [
    { op: 'set_line', anchor: a[4], text: 'LAST' },
    { op: 'delete', anchor: a[0] },
    { op: 'insert_after', anchor: a[2], text: '  // more' },
  ],
  'a stale anchor': (a) => [
    { op: 'set_line', anchor: a[0].replace(/.$/, '_'), text: 'x' },
    { op: 'set_line', anchor: `3${a[0].slice(1)}`, text: 'y' },
    { op: 'delete', anchor: `99${a[0].slice(1)}` },
  ],
}

/** @param {object[]} operations @param {string} path */
const at = (operations, path) => operations.map((one) => ({ ...one, path }))

/** @returns {Given[]} */
export function edits() {
  const inDialects = DIALECTS.flatMap((dialect) =>
    Object.entries(OPERATIONS).map(([name, make]) => ({
      name: `${name} in ${dialect}`,
      files: { 'a.js': BLOCK },
      calls: [
        {
          call: /** @type {const} */ ('apply'),
          given: { operations: at(make(anchors(BLOCK, dialect)), 'a.js') },
          options: { dialect },
        },
      ],
    })),
  )
  return [...inDialects, ...ofKinds(), ...ofFiles(), ...refused(), ...shapes(), ...optionCases()]
}

/** Edits of every kind of file. @returns {Given[]} */
function ofKinds() {
  return Object.entries(CONTENTS).map(([path, content]) => ({
    name: `edit ${path}`,
    files: { [path]: content },
    calls: [
      apply(at([{ op: 'insert_after', anchor: 'EOF', text: ['größe', 'end'] }], path)),
      apply(at([{ op: 'insert_before', anchor: 'BOF', text: 'top' }], path)),
      apply([{ op: 'replace_text', path, old_text: 'top', new_text: 'a\nb', all: true }]),
      { call: 'read', given: path },
    ],
  }))
}

/**
 * @param {object[]} operations
 * @param {object} [options]
 * @returns {Given['calls'][number]}
 */
function apply(operations, options) {
  return { call: 'apply', given: { operations }, ...(options && { options }) }
}

/** Operations on whole files. @returns {Given[]} */
function ofFiles() {
  const files = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'link.txt': { link: 'a.txt' } }
  const [first] = anchors('one\ntwo\n')
  /** @type {Record<string, object[]>} */
  const made = {
    'add a file': [{ op: 'add_file', path: 'new/dir/c.txt', content: 'größe\r\nno end' }],
    'add an empty file': [{ op: 'add_file', path: 'c.txt', content: '' }],
    'move a file': [{ op: 'move_file', from: 'a.txt', to: 'dir/c.txt' }],
    'move and edit a file': [
      { op: 'move_file', from_path: 'a.txt', to_path: 'c.txt' },
      { op: 'set_line', path: 'a.txt', anchor: first, text: 'ONE' },
    ],
    'exchange two names': [
      { op: 'move_file', from: 'a.txt', to: 'b.txt' },
      { op: 'move_file', from: 'b.txt', to: 'a.txt' },
    ],
    'delete a file': [{ op: 'delete_file', path: 'b.txt' }],
    'all at once': [
      { op: 'delete_file', path: 'b.txt' },
      { op: 'add_file', path: 'c.txt', content: 'c\n' },
      { op: 'set_line', path: 'a.txt', anchor: first, text: 'ONE' },
    ],
    'delete and add a file': [
      { op: 'delete_file', path: 'b.txt' },
      { op: 'add_file', path: 'b.txt', content: 'c\n' },
    ],
    'a text with NUL': [
      { op: 'set_line', path: 'a.txt', anchor: first, text: ['x', '\0'], verbatim: true },
      { op: 'add_file', path: 'c.txt', content: '\0' },
    ],
    'control characters': [
      { op: 'set_line', path: 'a.txt', anchor: first, text: '\bword\b' },
      { op: 'add_file', path: 'c.txt', content: '\frac\n\f\n\u001b[0m\n' },
    ],
    'a byte order mark': [{ op: 'set_line', path: 'a.txt', anchor: first, text: '\ufeffONE' }],
    'edit by a link': [{ op: 'set_line', path: 'link.txt', anchor: first, text: 'ONE' }],
    'delete by a link': [{ op: 'delete_file', path: 'link.txt' }],
    'add what is there': [{ op: 'add_file', path: 'a.txt', content: 'x' }],
    'move onto a file': [{ op: 'move_file', from: 'a.txt', to: 'b.txt' }],
    'move what is missing': [{ op: 'move_file', from: 'none.txt', to: 'c.txt' }],
    'delete what is missing': [{ op: 'delete_file', path: 'none.txt' }],
    'add above the root': [{ op: 'add_file', path: '../c.txt', content: 'x' }],
    'move out of the root': [{ op: 'move_file', from: 'a.txt', to: '../../c.txt' }],
    'delete and edit': [
      { op: 'delete_file', path: 'a.txt' },
      { op: 'set_line', path: 'a.txt', anchor: first, text: 'ONE' },
    ],
  }
  return Object.entries(made).map(([name, operations]) => ({
    name,
    files,
    calls: [apply(operations)],
  }))
}

/** Patches that change nothing. @returns {Given[]} */
function refused() {
  const text = 'same\nsame\nother\nsame\n'
  const [first, second, third] = anchors(text)
  const block = anchors(BLOCK)
  const files = {
    'a.txt': text,
    'b.js': BLOCK,
    'binary.bin': CONTENTS['binary.bin'],
    'dir/c.txt': 'c\n',
  }
  /** @type {Record<string, unknown>} */
  const made = {
    'an unknown operation': [{ op: 'append', path: 'a.txt', text: 'x' }],
    'an operation without path': [{ op: 'delete', anchor: first }],
    'a text that is none': [{ op: 'set_line', path: 'a.txt', anchor: first, text: 7 }],
    'an anchor that is none': [{ op: 'delete', path: 'a.txt', anchor: 'line 3' }],
    'an unknown field': [{ op: 'delete', path: 'a.txt', anchor: first, line: 1 }],
    'several faults': [{ op: 'delete', path: 'none.txt', anchor: first }, { op: 7 }, 'x', null],
    'edits of one line': [
      { op: 'set_line', path: 'a.txt', anchor: third, text: 'x' },
      { op: 'delete', path: 'a.txt', anchor: third },
    ],
    'an edit inside a range': [
      { op: 'delete', path: 'a.txt', start_anchor: second, end_anchor: third },
      { op: 'set_line', path: 'a.txt', anchor: third, text: 'x' },
    ],
    'ends in the wrong order': [
      { op: 'delete', path: 'a.txt', start_anchor: third, end_anchor: second },
    ],
    'a missing file': [{ op: 'delete', path: 'none.txt', anchor: first }],
    'a directory': [{ op: 'delete', path: 'dir', anchor: first }],
    'a binary file': [{ op: 'delete', path: 'binary.bin', anchor: first }],
    'a path out of the root': [{ op: 'delete', path: '../a.txt', anchor: first }],
    'a text that is not there': [
      { op: 'replace_text', path: 'a.txt', old_text: 'none', new_text: '' },
    ],
    'a text that is there often': [
      { op: 'replace_text', path: 'a.txt', old_text: 'same', new_text: '' },
    ],
    'an empty old text': [{ op: 'replace_text', path: 'a.txt', old_text: '', new_text: 'x' }],
    'neighbours repeated': [
      { op: 'set_line', path: 'b.js', anchor: block[2], text: ['function f() {', '  return 2'] },
    ],
    'an anchor with another text': [
      { op: 'set_line', path: 'b.js', anchor: `${block[2]}|  return 7`, text: '  return 2' },
    ],
    'a hash that moved': [
      { op: 'set_line', path: 'b.js', anchor: `1${block[2].slice(1)}`, text: '  return 2' },
    ],
    'a hash that is at several lines': [
      { op: 'set_line', path: 'a.txt', anchor: `3${first.slice(1)}`, text: 'x' },
    ],
    'one stale anchor among good ones': [
      { op: 'set_line', path: 'b.js', anchor: block[0], text: 'FIRST' },
      { op: 'set_line', path: 'a.txt', anchor: '3:00', text: 'x' },
    ],
    'a checksum that does not hold': [
      { op: 'set_line', path: 'b.js', anchor: block[0], text: 'x', checksum: '1-2:00000000' },
    ],
    nothing: [],
    'operations that are none': 'delete it',
    'nothing to do': [{ op: 'set_line', path: 'b.js', anchor: block[0], text: 'first' }],
    'the same twice': [
      { op: 'delete', path: 'b.js', anchor: block[0] },
      { op: 'delete', path: 'b.js', anchor: block[0] },
    ],
  }
  return Object.entries(made).map(([name, operations]) => ({
    name: `a patch with ${name}`,
    files,
    calls: [{ call: 'apply', given: { operations } }],
  }))
}

/** The patch shapes of other tools. @returns {Given[]} */
function shapes() {
  const [first, second] = anchors('one\ntwo\nthree\n')
  const tags = anchors('one\ntwo\nthree\n', 'omp')
  const files = { 'a.txt': 'one\ntwo\nthree\n' }
  /** @type {Record<string, [object, object?]>} */
  const made = {
    set_line: [{ edits: [{ set_line: { anchor: first, new_text: 'ONE' } }] }],
    replace_lines: [
      { edits: [{ replace_lines: { start_anchor: first, end_anchor: second, new_text: 'x' } }] },
    ],
    insert_after: [{ edits: [{ insert_after: { anchor: 'BOF', text: 'x' } }] }],
    replace: [{ edits: [{ replace: { old_text: 'three', new_text: 'THREE' } }] }],
    'two keys in one edit': [{ edits: [{ set_line: {}, replace: {} }] }],
    'a rename': [{ rename: 'b.txt' }],
    'a deletion': [{ delete: true }],
    'edits and a rename': [
      { edits: [{ set_line: { anchor: first, new_text: 'ONE' } }], rename: 'b.txt' },
    ],
    tags: [{ edits: [{ op: 'set', tag: tags[0], content: ['ONE'] }] }, { dialect: 'omp' }],
    'tags of a range': [
      { edits: [{ op: 'replace', first: tags[0], last: tags[1], content: null }] },
      { dialect: 'omp' },
    ],
    'appended lines': [{ edits: [{ op: 'append', content: ['x', 'y'] }] }, { dialect: 'omp' }],
    'a stale tag': [{ edits: [{ op: 'set', tag: '2#ZZ', content: ['x'] }] }, { dialect: 'omp' }],
    'a snapshot of another file': [
      {
        edits: [{ set_line: { anchor: `2${first.slice(1)}`, new_text: 'x' } }],
        snapshots: { 'a.txt': '0' },
      },
    ],
  }
  return Object.entries(made).map(([name, [patch, options]]) => ({
    name: `a patch with ${name}, of one path`,
    files,
    calls: [{ call: 'apply', given: { path: 'a.txt', ...patch }, ...(options && { options }) }],
  }))
}

/** Options of an apply. @returns {Given[]} */
function optionCases() {
  const block = anchors(BLOCK)
  const moved = [
    { op: 'set_line', path: 'a.js', anchor: `1${block[2].slice(1)}`, text: '  return 2' },
  ]
  const plus = [
    { op: 'set_line', path: 'a.js', anchor: block[2], text: ['+  return 2', '+  // x'] },
  ]
  const latin = [{ op: 'insert_after', path: 'l.txt', anchor: 'EOF', text: 'ï' }]
  const foreign = [{ op: 'insert_after', path: 'l.txt', anchor: 'EOF', text: '日本' }]
  const files = {
    'a.js': BLOCK,
    'l.txt': CONTENTS['latin.txt'],
    'large.txt': 'a line\n'.repeat(200),
  }
  const large = [{ op: 'insert_after', path: 'large.txt', anchor: 'EOF', text: 'x' }]
  /** @type {[string, object[], object][]} */
  const made = [
    ...['guarded', 'unique', 'off'].map(
      (relocate) =>
        /** @type {[string, object[], object]} */ ([`relocate ${relocate}`, moved, { relocate }]),
    ),
    ['a narrow window', moved, { relocateWindow: 1 }],
    ['no window', moved, { relocateWindow: 0 }],
    ['repairs', plus, { repairs: true }],
    ['no repairs', plus, { repairs: false }],
    ['one repair less', plus, { repairs: { 'strip-plus': false } }],
    ['an encoding', latin, { encoding: 'latin1' }],
    ['an encoding that lacks a character', foreign, { encoding: 'latin1' }],
    ['an encoding that is none', latin, { encoding: 'klingon' }],
    ['files that are too large', large, { maxFileBytes: 1000 }],
    ['the durability of a power cut', plus, { durability: 'power' }],
    ['a brief answer', plus, { answer: 'brief' }],
    ['one line of context in the answer', plus, { answerContext: 1 }],
  ]
  return made.map(([name, operations, options]) => ({
    name: `an apply with ${name}`,
    files,
    calls: [apply(operations, options)],
  }))
}
