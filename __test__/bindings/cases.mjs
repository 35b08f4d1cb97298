// The cases that every binding must answer identically.

import { formatHashed } from 'hashline-native'
import { edits } from './edits.mjs'
import { jsonEdits } from './json.mjs'
import { sessions } from './sessions.mjs'
import { ALL_DIALECTS, anchors, CONTENTS } from './texts.mjs'

/** @import { Call } from './run.mjs' */
/** @import { Given } from './texts.mjs' */

/** @returns {Given[]} */
function reads() {
  const made = ALL_DIALECTS.flatMap((dialect) =>
    Object.entries(CONTENTS).map(([path, content]) => ({
      name: `read ${path} in ${dialect}`,
      files: { [path]: content },
      calls: [{ call: /** @type {const} */ ('read'), given: path, options: { dialect } }],
    })),
  )
  const lines = `${Array.from({ length: 40 }, (_, at) => `line ${at} ${'x'.repeat(at)}`).join('\n')}\n`
  const code = 'let Alpha = 1\nlet beta = alpha\n// ALPHA\nreturn beta\n'
  const files = { 'many.txt': lines, 'code.js': code, ...CONTENTS, 'dir/inner.txt': 'inner\n' }
  /** @type {[string, unknown, object?][]} */
  const asked = [
    ['of all files', Object.keys(CONTENTS)],
    ['from a line on', { path: 'many.txt', startLine: 39 }],
    ['from a line past the end', { path: 'many.txt', startLine: 99 }],
    ['of some lines', { path: 'many.txt', startLine: 3, maxLines: 2 }],
    ['of no lines', { path: 'many.txt', maxLines: 0 }],
    ['of some bytes', { path: 'many.txt', maxBytes: 100 }],
    ['of fewer bytes than a line has', { path: 'many.txt', startLine: 40, maxBytes: 9 }],
    ['of a cut character', { path: 'unicode.txt', startLine: 2, maxBytes: 16 }],
    ['with a search', { path: 'code.js', search: 'alpha' }],
    ['with a search by case', { path: 'code.js', search: 'alpha', caseSensitive: true }],
    ['with a pattern', { path: 'code.js', search: '^let \\w+', regex: true }],
    ['with look-around', { path: 'code.js', search: '(?<=let )b', regex: true }],
    ['with context', { path: 'code.js', search: 'ALPHA', contextBefore: 1, contextAfter: 1 }],
    ['with few matches', { path: 'many.txt', search: 'line', maxMatches: 3 }],
    ['without matches', { path: 'many.txt', search: 'none of it' }],
    ['with a checksum', { path: 'many.txt', startLine: 2, maxLines: 3, checksum: true }],
    ['in an encoding', { path: 'latin.txt', encoding: 'latin1' }],
    ['in an encoding of all', 'latin.txt', { encoding: 'windows-1252' }],
    ['in an encoding that is none', { path: 'latin.txt', encoding: 'klingon' }],
    ['of a missing file', 'none.txt'],
    ['of a missing directory', 'none/at/all.txt'],
    ['of a directory', 'dir'],
    ['of a file as a directory', 'lf.txt/inner'],
    ['of no path', ''],
    ['above the root', '../other.txt'],
    ['of a path with NUL', 'a\0b'],
    ['by a link', 'link.txt'],
    ['by a link that leads out', 'out.txt'],
    ['by a link that leads nowhere', 'gone.txt'],
    ['by a link in the path', 'linked/inner.txt'],
    ['by a path with dots', './dir/../dir/./inner.txt'],
    ['of the line 0', { path: 'lf.txt', startLine: 0 }],
    ['with a pattern that does not compile', { path: 'lf.txt', search: '(', regex: true }],
    ['of a file that is too large', 'many.txt', { maxFileBytes: 100 }],
    ['of good and bad files', ['lf.txt', 'none.txt', { path: 'crlf.txt', maxLines: 1 }]],
    ['of nothing', []],
    ['of one file twice', ['lf.txt', 'lf.txt']],
  ]
  const links = {
    'link.txt': { link: 'lf.txt' },
    'out.txt': { link: '../../outside.txt' },
    'gone.txt': { link: 'nowhere.txt' },
    linked: { link: 'dir' },
  }
  const special = asked.map(([name, given, options]) => ({
    name: `read ${name}`,
    files: { ...files, ...links },
    calls: [{ call: /** @type {const} */ ('read'), given, ...(options && { options }) }],
  }))
  return [...made, ...special]
}

/** Files with folded bodies. @returns {Given[]} */
function folds() {
  const body = (/** @type {number} */ lines) =>
    Array.from({ length: lines }, (_, at) => `    work(${at});\n`).join('')
  const code = [2, 3, 12, 4].map((lines, at) => `fn f${at}() {\n${body(lines)}}\n\n`).join('')
  const notes = `list\n${'  - item\n'.repeat(9)}end\n`
  /** @type {[string, object][]} */
  const asked = [
    ['of definitions', { fold: 16 }],
    ['that has room for all', { fold: true }],
    ['that is none', { fold: false }],
    ['of no lines', { fold: 0 }],
    ['in few lines', { fold: 3 }],
    ['with lines to open', { fold: 10, open: ['12-20'] }],
    ['with a row to open', { fold: 10, open: ['12-20 … 9 lines'] }],
    ['with one name to open', { fold: 10, open: '12-20' }],
    ['with an anchor to open', { fold: 10, open: ['1:00'] }],
    ['with nothing to open', { fold: 10, open: ['here'] }],
    ['from a line on', { fold: 10, startLine: 12 }],
    ['in few bytes', { fold: 10, maxBytes: 60 }],
    ['with a search', { fold: 10, search: 'f1' }],
    ['without a grammar', { path: 'notes', fold: 5 }],
  ]
  return asked.map(([name, given]) => ({
    name: `read a fold ${name}`,
    files: { 'code.rs': code, notes },
    calls: [{ call: 'read', given: { path: 'code.rs', ...given } }],
  }))
}

/** Definitions by name. @returns {Given[]} */
function symbols() {
  const files = {
    'a.js': 'class A {\n  // One.\n  run() {\n    return 1\n  }\n}\n',
    'b.py':
      'class B:\n    def run(self):\n        pass\n\n    def run(self):\n        return 2\n\ndef other():\n    pass\n',
    notes: 'run\n',
  }
  /** @type {[string, object[]][]} */
  const asked = [
    ['of one', [{ path: 'a.js', symbol: 'A.run' }]],
    ['of some lines', [{ path: 'a.js', symbol: 'A', maxLines: 2 }]],
    ['of several', [{ path: 'b.py', symbol: 'run' }]],
    ['of none', [{ path: 'b.py', symbol: 'Run' }]],
    ['without structure', [{ path: 'notes', symbol: 'run' }]],
    ['and a line', [{ path: 'a.js', symbol: 'run', startLine: 1 }]],
    ['of nothing', [{ path: 'a.js', symbol: '' }]],
  ]
  const reads = asked.map(([name, given]) => ({
    name: `read a symbol ${name}`,
    files,
    calls: [{ call: /** @type {const} */ ('read'), given }],
  }))
  /** @type {[string, object][]} */
  const queries = [
    ['everywhere', { symbol: 'run' }],
    ['in one class', { symbol: 'A::run' }],
    ['once', { symbol: 'run', maxMatches: 1 }],
    ['of none', { symbol: 'walk' }],
    ['and a text', { symbol: 'run', search: 'run' }],
    ['counted', { symbol: 'run', output: 'count' }],
  ]
  const searches = queries.map(([name, given]) => ({
    name: `search a symbol ${name}`,
    files,
    calls: [{ call: /** @type {const} */ ('search'), given }],
  }))
  return [...reads, ...searches]
}

/** Lines that are partly shown, with characters of one to four bytes. @returns {Given[]} */
function longLines() {
  const text = `short\n${'ä€\u{1f600}x'.repeat(30)}needle${' and'.repeat(30)}\r\nneedle ${'y'.repeat(90)}\n`
  /** @type {[string, object][]} */
  const asked = [
    ['of long lines', { maxLineChars: 12 }],
    ['of no characters', { maxLineChars: 0 }],
    ['of columns', { columns: [7, 16] }],
    ['of columns beyond the end', { columns: [100_000, 200_000] }],
    ['of columns that are none', { columns: [3, 2] }],
    ['of columns in few bytes', { columns: [7, 5000], maxBytes: 100 }],
    ['with a search in long lines', { search: 'needle', maxLineChars: 12 }],
    ['with a search and columns', { search: 'needle', columns: [1, 5] }],
    ['with a search in few bytes', { search: 'needle', maxBytes: 60 }],
  ]
  return asked.map(([name, given]) => ({
    name: `read ${name}`,
    files: { 'long.txt': text },
    calls: [{ call: 'read', given: { path: 'long.txt', ...given } }],
  }))
}

/** @returns {Given[]} */
function searches() {
  const files = {
    'a.js': 'const alpha = 1\nconst beta = 2\nexport { alpha }\n',
    'src/b.js': 'import { alpha } from "../a.js"\r\nalpha()\r\n',
    'src/deep/c.ts': `${'Alpha beta\n'.repeat(6)}`,
    'src/.hidden.js': 'alpha hidden\n',
    'src/dist/out.js': 'alpha out\n',
    'src/notes.txt': 'größe alpha \u{1f600}\n',
    'utf16.txt': CONTENTS['utf16.txt'],
    'latin.txt': CONTENTS['latin.txt'],
    'binary.bin': CONTENTS['binary.bin'],
    '.gitignore': 'dist/\n',
    '.ignore': 'notes.txt\n',
    'linked.js': { link: 'src/b.js' },
    outside: { link: '../../elsewhere' },
  }
  /** @type {[string, object, object?][]} */
  const asked = [
    ['all', {}],
    ['by case', { caseSensitive: true }],
    ['a pattern', { search: '\\balpha\\(', regex: true }],
    ['a pattern with a back-reference', { search: '(\\w)\\1', regex: true }],
    ['with context', { contextBefore: 1, contextAfter: 2 }],
    ['with the blocks around', { enclosing: true, contextBefore: 1 }],
    ['in a file', { paths: 'a.js' }],
    ['in a directory', { paths: ['src/deep'] }],
    ['in several places', { paths: ['src/b.js', 'a.js', 'src/deep'] }],
    ['by globs', { globs: ['*.js', '!src/**'] }],
    ['by one glob', { globs: '*.ts' }],
    ['few matches', { maxMatches: 2 }],
    ['no matches', { maxMatches: 0 }],
    ['few matches of a file', { maxMatchesPerFile: 1 }],
    ['few bytes', { maxBytes: 60 }],
    ['one byte', { maxBytes: 1 }],
    ['hidden files', { hidden: true }],
    ['what git ignores', { gitignore: false }],
    ['what is ignored otherwise', { ignoreFiles: false }],
    ['without the ignore files above', { paths: 'src', parentIgnoreFiles: false }],
    ['by links', { followLinks: true }],
    ['not deep', { maxDepth: 1 }],
    ['two deep', { maxDepth: 2 }],
    ['characters', { search: '\u{1f600}', ignoreFiles: false }],
    ['nothing', { search: 'not to be found' }],
    ['the empty text', { search: '', paths: 'a.js' }],
    ['a missing place', { paths: ['none', 'a.js'] }],
    ['above the root', { paths: ['..'] }],
    ['a pattern that does not compile', { search: '[', regex: true }],
    ['a glob that is none', { globs: ['['] }],
    ['in an encoding', { search: 'größe' }, { encoding: 'latin1' }],
    ['in long lines', { paths: 'src', maxLineChars: 7, contextAfter: 1 }],
    ['in large files', {}, { maxFileBytes: 40 }],
    ['files', { output: 'files' }],
    ['counts', { output: 'count', sizes: true }],
    ['some counts', { output: 'count', maxFiles: 1, skip: 1 }],
    ['files without matches', { output: 'files', search: 'f(x)', regex: true }],
    ['lists', { search: undefined, paths: '.' }],
    ['lists by globs, with sizes', { search: undefined, globs: '*.js', sizes: true }],
    ['lists of some files', { search: undefined, paths: '.', skip: 2, maxFiles: 3 }],
    ['lists within bytes', { search: undefined, paths: '.', maxBytes: 20 }],
    ['lists of named paths', { search: undefined, paths: ['src/dist', 'none', 'binary.bin'] }],
    ['lists of nothing', { search: undefined, globs: '*.zig' }],
    ...ALL_DIALECTS.map(
      (dialect) => /** @type {[string, object, object]} */ ([`in ${dialect}`, {}, { dialect }]),
    ),
  ]
  return asked.map(([name, query, options]) => ({
    name: `search ${name}`,
    files,
    calls: [{ call: 'search', given: { search: 'alpha', ...query }, ...(options && { options }) }],
  }))
}

/** @returns {Given[]} */
function texts() {
  const text = 'one\ntwo\n日本語\n'
  const made = ALL_DIALECTS.map((dialect) => ({
    name: `a text in ${dialect}`,
    files: {},
    calls: Object.values(CONTENTS).flatMap((given) => [
      { call: /** @type {const} */ ('format'), given, options: { dialect, startLine: 9 } },
      { call: /** @type {const} */ ('hashLines'), given, options: { dialect } },
    ]),
  }))
  const [first, second] = anchors(text)
  const operations = [
    [{ op: 'set_line', anchor: first, text: 'ONE' }],
    [{ op: 'delete', start_anchor: first, end_anchor: second }],
    [{ op: 'insert_before', anchor: 'EOF', text: ['\u{1f600}', 'end'] }],
    [{ op: 'replace_text', old_text: '本', new_text: '' }],
    [{ op: 'set_line', anchor: '2:00', text: 'stale' }],
    [{ op: 'jump' }],
    [],
  ]
  return [
    ...made,
    {
      name: 'edits of a text in memory',
      files: {},
      calls: operations.map((given) => ({ call: 'applyToText', text, given })),
    },
    {
      name: 'a text that is edited without repairs',
      files: {},
      calls: [true, false, { 'strip-plus': false }].map((repairs) => ({
        call: 'applyToText',
        text,
        given: [{ op: 'set_line', anchor: first, text: ['+ONE', '+more'] }],
        options: { repairs },
      })),
    },
  ]
}

/** @returns {Given[]} */
function commands() {
  const lines = [
    'ls -l',
    'cat a.txt',
    'grep -rn "größe" . | head -5',
    'echo hi > out.txt',
    "sed -i 's/a/b/' f",
    'cat <<EOF > f\nx\nEOF',
    'tee "日本語.txt" < in',
    'git apply p.patch',
    'cp a b && mv b c',
    "python3 -c \"open('f', 'w')\"",
    'eval "("',
    '',
    'find . -name "*.js" -exec cat {} +',
    'sudo env A=1 sh -c "cat /etc/passwd"',
    'echo "\u{1f600}"; cat "\u{1f600}.txt"',
    'x=$(< f)',
    'awk \'{print > "o"}\' f',
  ]
  const policies = [
    undefined,
    { reads: false },
    { writes: false, unparsed: 'write' },
    { rules: { 'file-command': true, reader: false, interpreter: false } },
    { roots: ['/home/dev/app', '/etc'], cwd: '/home/dev/app/web', ignored: ['*.txt', '/dist/'] },
    { extraReads: ['ls'], except: ['cat', 'git apply'], writablePaths: ['out.txt'] },
    { tools: { read: 'show', edit: 'change' }, readablePaths: ['a.txt'] },
  ]
  return policies.map((options, at) => ({
    name: `commands by policy ${at}`,
    files: {},
    calls: lines.map((given) => ({ call: 'checkCommand', given, ...(options && { options }) })),
  }))
}

/**
 * All cases, always the same.
 * @returns {Given[]}
 */
export function cases() {
  const recoveries = [
    {
      name: 'nothing to recover',
      files: {},
      calls: [{ call: /** @type {const} */ ('recover'), given: null }],
    },
  ]
  return [
    ...reads(),
    ...folds(),
    ...symbols(),
    ...longLines(),
    ...searches(),
    ...texts(),
    ...commands(),
    ...edits(),
    ...jsonEdits(),
    ...sessions(),
    ...recoveries,
  ]
}

/** @param {string} text */
export const rows = (text) => formatHashed(text).split('\n')
