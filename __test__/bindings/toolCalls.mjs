// Calls of the tools in the shapes that models write, valid and invalid: every binding that has the
// tools must return the same text for each.

import { formatHashed } from 'hashline-native'

/** @typedef {{ tool: string, arguments: string }} ToolCall the arguments as literal text of a model */

/** The files; the text was read before each call. */
export const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'b.js': 'function f() {\n  return 1\n}\n',
  'sub/c.txt': 'one\n',
  '[id].txt': 'x\n',
  '@at.txt': 'at\n',
  'ü x.txt': 'u\n',
  'empty.txt': '',
  'd.json': '{\n  "a": 1,\n  "s": "1.0",\n  "b": [1, 2]\n}\n',
}
export const READ = { path: 'a.txt', more_paths: ['b.js', 'sub/c.txt', '[id].txt', 'ü x.txt'] }

const [ONE, TWO, THREE] = formatHashed(FILES['a.txt'], { dialect: 'lean' })
  .split('\n')
  .map((row) => row.split('|')[0])
const PATH = { path: 'a.txt' }
const json = JSON.stringify
const half = '"\\ud83d"'

/** Values of every kind, as JSON. */
const VALUES = [
  'null',
  'true',
  'false',
  '"true"',
  '0',
  '-1',
  '1.5',
  '2',
  '1e999',
  '""',
  '"2"',
  '"x"',
  '[]',
  '["a.txt"]',
  '["a.txt","b.js"]',
  '"[\\"a.txt\\"]"',
  '[1]',
  '[1,2]',
  '{}',
  half,
  `[${half}]`,
]

/** @param {string} tool @param {unknown} args @returns {ToolCall} */
const call = (tool, args) => ({ tool, arguments: json(args) })

/**
 * A call with an additional field, whose value is literal JSON.
 * @param {string} tool
 * @param {Record<string, unknown>} args
 * @param {string} field
 * @param {string} value
 */
function withField(tool, args, field, value) {
  const { [field]: _, ...others } = args
  const inside = json(others).slice(1, -1)
  return { tool, arguments: `{${inside}${inside && ','}${json(field)}:${value}}` }
}

/** The fields of each tool, and a call to insert them into. */
const READING = /** @type {const} */ ([
  [
    'read',
    PATH,
    ['path', 'symbol', 'start_line', 'max_lines', 'fold', 'open', 'columns', 'more_paths'],
  ],
  [
    'search',
    { pattern: 'one' },
    [
      'pattern',
      'symbol',
      'literal',
      'case_sensitive',
      'paths',
      'globs',
      'context',
      'max_matches',
      'enclosing',
      'hidden',
      'output',
      'sizes',
      'skip',
    ],
  ],
  ['read_json', { path: 'd.json' }, ['path', 'start_line', 'max_lines']],
])

function fields() {
  return READING.flatMap(([tool, args, names]) =>
    names.flatMap((name) => VALUES.map((value) => withField(tool, args, name, value))),
  )
}

/** Lists of files, and directories. */
const lists = () => [
  ...[
    { globs: ['*.txt'] },
    { paths: ['sub', 'none'] },
    { globs: ['*.txt'], max_matches: 2 },
    { globs: ['*.txt'], max_matches: 2, skip: 2, sizes: true },
    { globs: ['*.txt'], offset: 4 },
    { globs: ['*.zig'] },
    { pattern: '', globs: ['*.js'] },
    { pattern: '', output: 'files' },
    { pattern: '', output: 'count' },
    { pattern: 'o', output: 'files' },
    { pattern: 'o', output: 'count' },
    { pattern: 'o', output_mode: 'files_with_matches', max_matches: 1 },
    { pattern: 'o', output_mode: 'content' },
    { pattern: 'o', output: 'json' },
    { pattern: 'f(x)', output: 'count' },
    { pattern: 'o', skip: 1 },
    { output: '' },
  ].map((args) => call('search', args)),
  ...['.', 'sub', 'sub/', './sub'].map((path) => call('read', { path })),
  call('read', { path: '.', max_lines: 2 }),
  call('read', { path: 'sub', more_paths: ['empty.txt'] }),
]

/** Definitions by name. */
const symbols = () => [
  ...['f', 'g', '', '.'].map((symbol) => call('read', { path: 'b.js', symbol })),
  call('read', { path: 'a.txt', symbol: 'one' }),
  call('read', { path: 'b.js', symbol: 'f', start_line: 1 }),
  ...[
    { symbol: 'f' },
    { symbol: 'f', pattern: 'f' },
    { symbol: 'f', pattern: 'x' },
    { symbol: 'one' },
  ].map((args) => call('search', args)),
]

/** Names that other tools use, with values. */
const OTHER_NAMES = /** @type {const} */ ([
  ['read', {}, ['file_path', 'filePath', 'file', 'filename', 'paths', 'files'], 'a.txt'],
  ['read', PATH, ['offset', 'startLine', 'limit', 'maxLines'], 2],
  [
    'read',
    PATH,
    ['file_path', 'paths', 'end', 'end_line', 'dry_run', 'search', 'encoding'],
    'b.js',
  ],
  ['search', {}, ['query', 'search', 'regex', 'text'], 'one'],
  ['search', { pattern: 'one' }, ['path', 'file_path', 'include', 'glob', 'query', 'type'], 'sub'],
  ['search', { pattern: 'one' }, ['limit', 'maxMatches', 'caseSensitive', 'head_limit'], 1],
  ['search', { pattern: 'one', paths: ['sub'], globs: ['*'] }, ['path', 'glob'], 'a.txt'],
])

function otherNames() {
  return OTHER_NAMES.flatMap(([tool, args, names, value]) =>
    names.map((name) => call(tool, { ...args, [name]: value })),
  )
}

/** @type {string[]} */
const PATHS = [
  'none.txt',
  'sub',
  '@a.txt',
  '@at.txt',
  '@@at.txt',
  '@',
  '@none/x',
  '../x',
  '/etc/hostname',
  'file://<dir>/a.txt',
  'file://<dir>/%C3%BC%20x.txt',
  '@file://<dir>/a.txt',
  'FILE://localhost<dir>/a.txt',
  'file://host/a.txt',
  'file:///a%2Fb',
  'file://[',
  '<dir>/a.txt',
  '@<dir>/a.txt',
  'a\u0000b',
  'a\nb',
  './a.txt',
  'sub/../a.txt',
  'a.txt:2',
  'a.txt:2-3',
  'a.txt#L2-L3',
  'a.txt:2:7',
  ' a.txt\n',
  'ü x.txt',
]

const paths = () =>
  PATHS.flatMap((path) => [
    call('read', { path }),
    call('search', { pattern: 'o', paths: [path] }),
    call('apply', { operations: [{ op: 'add_file', path, content: 'new\n' }] }),
  ])

/** A valid operation of each kind. */
const OPERATIONS = [
  { op: 'set_line', ...PATH, anchor: TWO, text: '2' },
  { op: 'replace_range', ...PATH, start_anchor: ONE, end_anchor: TWO, text: '1-2' },
  { op: 'insert_after', ...PATH, anchor: TWO, text: '2.5' },
  { op: 'insert_before', ...PATH, anchor: 'EOF', text: '4' },
  { op: 'delete', ...PATH, anchor: THREE },
  { op: 'move_lines', ...PATH, anchor: ONE, to_anchor: THREE },
  { op: 'copy_lines', ...PATH, start_anchor: ONE, end_anchor: TWO, to: 'copy.txt' },
  { op: 'replace_text', ...PATH, old_text: 'two', new_text: '2' },
  { op: 'add_file', path: 'new.txt', content: 'new\n' },
  { op: 'move_file', ...PATH, to: 'moved.txt' },
  { op: 'delete_file', ...PATH },
]

/** Fields of all operations, and unknown fields. */
const FIELDS = {
  anchor: ONE,
  start_anchor: ONE,
  end_anchor: THREE,
  range: `${ONE}-${TWO}`,
  text: 'other',
  old_text: 'one',
  new_text: 'other',
  content: 'other',
  all: true,
  to: 'other.txt',
  from: 'b.js',
  verbatim: 'true',
  value: 1,
  lines: ['other'],
  new_string: 'other',
  newText: 'other',
  old_string: 'one',
  replace_all: true,
  startAnchor: ONE,
  type: 'delete',
  filename: 'b.js',
  file_path: '',
  dry_run: true,
  dryRun: false,
  end: 3,
  end_line: 3,
  checksum: 'x',
}

function operations() {
  return OPERATIONS.flatMap((operation) => [
    call('apply', { operations: [operation] }),
    ...Object.entries(FIELDS).map(([name, value]) =>
      call('apply', { operations: [{ ...operation, [name]: value }] }),
    ),
  ])
}

/** Valid and invalid texts. */
const TEXTS = ['null', '[]', '""', '"a\\nb"', '["a","b"]', '[1]', '7', '{}', half, `[${half}]`]

function texts() {
  return OPERATIONS.flatMap((operation) => {
    const name = ['text', 'new_text', 'content'].find((field) => field in operation)
    if (name === undefined) return []
    const { [name]: _, ...others } = /** @type {Record<string, unknown>} */ (operation)
    const inside = json(others).slice(1, -1)
    return [
      call('apply', { operations: [others] }),
      ...TEXTS.map((text) => ({
        tool: 'apply',
        arguments: `{"operations":[{${inside},${json(name)}:${text}}]}`,
      })),
    ]
  })
}

const SET = OPERATIONS[0]
const { path: _, ...PATHLESS } = SET

/** Operations under the names and in the wrappers of other tools. */
function wrapped() {
  const replace = { old_string: 'two', new_string: '2' }
  /** @type {unknown[]} */
  const given = [
    { operations: SET },
    { operations: json([SET]) },
    { operations: json(json([SET])) },
    { operations: `\`\`\`json\n${json([SET])}\n\`\`\`` },
    { operations: [json(SET)] },
    { operations: [json([SET])] },
    { operations: { operations: [SET] } },
    { operations: { operations: json([SET]) } },
    { operations: { operations: [SET], dry_run: true } },
    { operations: [[SET]] },
    { operations: [null] },
    { operations: [7] },
    { operations: ['x'] },
    { operations: '[{' },
    { operations: 5 },
    { operations: null },
    { operations: [] },
    { operations: '' },
    {},
    SET,
    { ...PATHLESS, type: 'set_line', op: undefined, path: 'a.txt' },
    { ...PATH, ...replace },
    { file_path: 'a.txt', ...replace, replace_all: false },
    { file_path: 'a.txt', edits: [replace] },
    { file_path: 'a.txt', edits: json([replace]) },
    { path: 'a.txt', operations: [PATHLESS] },
    { path: ['a.txt'], operations: [PATHLESS] },
    { file: 'a.txt', operations: [PATHLESS] },
    { path: 'b.js', operations: [SET] },
    { path: '', operations: [SET] },
    { path: 'a.txt', operations: [{ op: 'move_file', to: 'm.txt' }] },
    { operations: [{ ...SET, path: ['a.txt'] }] },
    { operations: [{ ...SET, path: ['a.txt', 'b.js'] }] },
    { operations: [{ ...SET, path: [7] }] },
    { operations: [{ op: 'move_file', from: 'a.txt', to_path: 'm.txt' }] },
    { operations: [{ op: 'move_file', from_path: 'a.txt', to: 'm.txt', to_path: 'n.txt' }] },
    { operations: [{ op: 'move_file', path: 'a.txt', newPath: 'm.txt' }] },
    { operations: [{ op: 'move_file', path: 'a.txt', to: '@m.txt' }] },
    { operations: [{ op: 'frob', ...PATH }] },
    { operations: [{ op: 7, ...PATH }] },
    { operations: [{ op: '', ...PATH }] },
    { operations: [{ ...PATH, anchor: ONE, text: 'x' }] },
    { operations: [{ op: 'set', ...PATH, anchor: ONE, text: 'x' }] },
    { operations: [SET], edits: [] },
    { operations: [SET], edits: [SET] },
    { operations: [], edits: [SET] },
    { operations: [SET], dry_run: true },
    { operations: [SET], dryRun: false },
    { operations: [SET], rename: 'x' },
    { edits: [SET] },
    { edits: SET },
    { path: 'a.txt', edits: [PATHLESS] },
    { path: 'a.txt', edits: [{ set_line: { anchor: ONE, new_text: 'x' } }] },
    { path: 'a.txt', edits: [{ set_line: { anchor: ONE, newText: 'x' } }] },
    { path: 'a.txt', edits: [{ set_line: { anchor: ONE } }] },
    { path: 'a.txt', edits: [{ set_line: { anchor: ONE, new_text: null } }] },
    { path: 'a.txt', edits: [{ set_line: { anchor: ONE, text: 'x' } }] },
    { path: 'a.txt', edits: [{ replace_lines: { startAnchor: ONE, new_text: 'x' } }] },
    { path: 'a.txt', edits: [{ insert_after: { anchor: ONE, text: 'x' } }] },
    { path: 'a.txt', edits: [{ insert_after: { anchor: ONE, new_string: 'x' } }] },
    { path: 'a.txt', edits: [{ replace: { old_text: 'one', new_text: '1' } }] },
    { path: 'a.txt', edits: [{ replace: { old_string: 'one', new_string: '1' } }] },
    { path: 'a.txt', edits: [{ op: 'set', tag: ONE, content: 'x' }] },
    { path: '@a.txt', edits: json({ set_line: { anchor: ONE, new_text: 'x' } }) },
    { path: 'a.txt', edits: [], rename: '@m.txt' },
    { path: 'a.txt', edits: [], delete: true },
    { path: 'a.txt', edits: [], dry_run: true },
    { path: 'a.txt', edits: [] },
    { path: 'a.txt' },
    { operations: [SET, SET] },
    { operations: [SET, { ...SET, text: 'other' }] },
    { operations: [{ ...SET, anchor: '2:il' }] },
    { operations: [{ ...SET, anchor: '9aa' }] },
    { operations: [{ ...SET, anchor: `${TWO}|two` }] },
    { operations: [{ ...SET, all: false, to: null, content: '', end_anchor: '' }] },
  ]
  return given.map((args) => call('apply', args))
}

/** Invalid arguments, or arguments in another form. */
function whole() {
  const deep = (/** @type {number} */ depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const texts = [
    'null',
    '[]',
    '7',
    'true',
    '"x"',
    '""',
    '"{}"',
    '{}',
    half,
    json(json(PATH)),
    json(json(json(PATH))),
    json(`\`\`\`json\n${json(PATH)}\n\`\`\``),
    json('```\n{}\n```'),
    `{"path":"a.txt","path":"b.js"}`,
    `{"path":${deep(60)}}`,
    `{"path":${deep(70)}}`,
    `{"path":${deep(300)}}`,
    `{"path":"\\ud83d\\ude00"}`,
    `{"path":"a.txt","__proto__":{"x":1}}`,
    `{"path":"a.txt","constructor":null}`,
    `{"path":${json('x'.repeat(200))}}`,
  ]
  return ['read', 'search', 'apply', 'read_json', 'apply_json'].flatMap((tool) =>
    texts.map((text) => ({ tool, arguments: text })),
  )
}

/** Values of documents, as text and as values. */
const JSON_VALUES = [
  '"2"',
  '2',
  '"\\"x\\""',
  '"x"',
  '"x y"',
  '"{\\"b\\":true}"',
  '{"b":true,"a":1.5}',
  '"{x:1}"',
  '"[1"',
  '""',
  '" "',
  '"1.1"',
  '"1.1.0"',
  '"-"',
  '"True"',
  '"None"',
  '"undefined"',
  '"null"',
  'null',
  'true',
  '[]',
  '"./a"',
  '"\'x\'"',
  '"```json\\n[1]\\n```"',
  half,
]

function values() {
  const at = { path: 'd.json', anchor: '$.a:b2' }
  const set = (/** @type {string} */ tool, /** @type {string} */ value) => ({
    tool,
    arguments: `{"operations":[{"op":"set_path","path":"d.json","anchor":"$.a:b2","value":${value}}]}`,
  })
  const list = { path: 'd.json', anchor: '$.b:c4' }
  return [
    ...JSON_VALUES.flatMap((value) => [set('apply_json', value), set('apply', value)]),
    ...[
      { op: 'set_path', ...at },
      { op: 'delete_path', ...at },
      { op: 'delete_path', ...at, value: '1' },
      { op: 'delete_path', ...at, value: null, key: '' },
      { op: 'insert_at_path', ...list, value: '3' },
      { op: 'insert_at_path', ...list, value: '3', index: '0' },
      { op: 'insert_at_path', ...list, value: '3', index: 'x' },
      { op: 'insert_at_path', ...list, value: '3', index: null, key: null },
      { op: 'insert_at_path', ...list, value: '3', position: 0 },
      { type: 'set_path', filename: 'd.json', anchor: '$.a:b2', value: '3' },
      { op: 'set_line', path: 'a.txt', anchor: ONE, text: 'x' },
      { op: 'frob', path: 'd.json' },
    ].map((operation) => call('apply_json', { operations: [operation] })),
  ]
}

/** @returns {ToolCall[]} */
export const toolCalls = () => [
  ...fields(),
  ...otherNames(),
  ...lists(),
  ...symbols(),
  ...paths(),
  ...operations(),
  ...texts(),
  ...wrapped(),
  ...whole(),
  ...values(),
]
