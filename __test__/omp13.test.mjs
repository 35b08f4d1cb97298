import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as omp13 from 'hashline-native/omp13'
import {
  outcomeOf,
  Random,
  randomLine,
  randomOmp13Edits,
  randomText,
} from '../stress/hashlineCases.mjs'
import { naiveHash, naiveOmp13Apply, naiveRows } from './naiveHashline.mjs'
import { runScript, untyped, vectors } from './support.mjs'

/** @import { HashlineEdit } from 'hashline-native/omp13' */

/**
 * @param {string} text
 * @param {number} line
 */
const anchor = (text, line) => ({
  line,
  hash: omp13.computeLineHash(line, text.split('\n')[line - 1]),
})

test('import and require return the same functions', () => {
  const required = createRequire(import.meta.url)('hashline-native/omp13')
  assert.deepEqual(Object.keys(required).sort(), Object.keys(omp13).sort())
  for (const [name, value] of Object.entries(omp13)) assert.equal(value, required[name], name)
})

test('hashes are as recorded', () => {
  const rows = vectors('omp13.hash')
  assert.equal(rows.length, 2000)
  for (const { lineNumber, line, hash } of rows) {
    assert.equal(omp13.computeLineHash(lineNumber, line), hash, JSON.stringify(line))
    assert.equal(omp13.formatLineTag(lineNumber, line), `${lineNumber}#${hash}`)
    assert.equal(omp13.formatHashLines(line, lineNumber), `${lineNumber}#${hash}:${line}`)
  }
})

test('generated lines and texts match the reference', () => {
  const random = new Random(1)
  for (let round = 0; round < 1500; round++) {
    const [line, number] = [randomLine(random), random.pick([0, 1, 77, 2 ** 32 + 5])]
    const context = JSON.stringify([number, line])
    assert.equal(omp13.computeLineHash(number, line), naiveHash.omp13(number, line), context)
    const text = randomText(random, 8)
    const expected = naiveRows(naiveHash.omp13, text.split('\n'), number).join('\n')
    assert.equal(omp13.formatHashLines(text, number), expected)
  }
})

test('lines of every length, around the limits of hashing in JavaScript', () => {
  for (const length of [...Array(200).keys(), 600, 681, 682, 683, 684, 3000]) {
    for (const line of ['x'.repeat(length), '}'.repeat(length), `${'é\r'.repeat(length)} \t`]) {
      assert.equal(omp13.computeLineHash(9, line), naiveHash.omp13(9, line), `${length}`)
    }
  }
})

test('regression: the host decides what a letter is, for every character', () => {
  const text = 'a\n\u{323b0}\nb\n\u0cdc'
  const lines = text.split('\n')
  const shown = omp13.formatHashLines(text)
  assert.equal(shown, naiveRows(naiveHash.omp13, lines, 1).join('\n'))
  for (const [at, row] of shown.split('\n').entries()) {
    omp13.validateLineRef(omp13.parseTag(row), lines)
    assert.equal(omp13.formatLineTag(at + 1, lines[at]), row.slice(0, row.indexOf(':')))
  }
  for (let code = 0; code < 0x110000; code += code < 0x20000 ? 1 : 15) {
    const character = String.fromCodePoint(code)
    if (character === '\n') continue
    const expected = `9#${omp13.computeLineHash(9, character)}:${character}`
    if (omp13.formatHashLines(character, 9) !== expected) assert.fail(code.toString(16))
  }
  // Long lines are hashed by native code in Node.
  for (const character of ['\u{323b0}', '\u0cdc', '\u{3fffd}']) {
    const line = character.repeat(1000)
    assert.equal(omp13.computeLineHash(9, line), naiveHash.omp13(9, line))
    assert.equal(omp13.formatHashLines(line, 9), `9#${naiveHash.omp13(9, line)}:${line}`)
  }
})

test('generated edits match the reference', () => {
  const random = new Random(2)
  let applied = 0
  for (let round = 0; round < 3000; round++) {
    const text = randomText(random, random.is(0.03) ? 400 : 12)
    const edits = randomOmp13Edits(random, text, omp13.computeLineHash)
    const context = JSON.stringify({ text, edits })
    const outcome = outcomeOf(() => omp13.applyHashlineEdits(text, structuredClone(edits)))
    const naive = outcomeOf(() => naiveOmp13Apply(text, edits))
    const stale = /** @type {any} */ (naive.returned)?.stale
    const { warnings: _, ...returned } = /** @type {any} */ (outcome.returned) ?? {}
    assert.deepEqual(returned, stale ? {} : (naive.returned ?? {}), context)
    assert.deepEqual(outcome.thrown?.mismatches, stale, context)
    if (!stale) assert.equal(outcome.thrown?.message, naive.thrown?.message, context)
    applied += outcome.returned ? 1 : 0
  }
  assert.ok(applied > 2000, `only ${applied} were applied`)
})

test('escaped tabs at the start of lines become tabs, with a warning and in the edit', () => {
  const text = 'a\nb'
  const corrected =
    'Auto-corrected escaped tab indentation in edit: converted leading \\t sequence(s) to real tab characters'
  /** @type {[string[], string[], boolean][]} */
  const cases = [
    [['\\t\\tx', 'y\\t', ''], ['\t\tx', 'y\\t', ''], true],
    [['y\\t'], ['y\\t'], false],
    [['\\tx', '\ty'], ['\\tx', '\ty'], false],
    [['\\tx', 'a\tb'], ['\\tx', 'a\tb'], false],
  ]
  for (const [lines, expected, isCorrected] of cases) {
    /** @type {HashlineEdit} */
    const edit = { op: 'append_at', pos: anchor(text, 1), lines }
    const result = omp13.applyHashlineEdits(text, [edit])
    assert.equal(result.lines, ['a', ...expected, 'b'].join('\n'))
    assert.deepEqual(result.warnings, isCorrected ? [corrected] : undefined)
    assert.deepEqual(edit.lines, expected)
  }
})

test('the correction of escaped tabs can be switched off', () => {
  process.env.PI_HASHLINE_AUTOCORRECT_ESCAPED_TABS = '0'
  try {
    const result = omp13.applyHashlineEdits('', [{ op: 'append_file', lines: ['\\tx'] }])
    assert.deepEqual(result, { lines: '\\tx', firstChangedLine: 1 })
  } finally {
    delete process.env.PI_HASHLINE_AUTOCORRECT_ESCAPED_TABS
  }
})

test('placeholders and duplicate block ends cause warnings', () => {
  const text = 'a\n  b\n}\nend'
  const result = omp13.applyHashlineEdits(text, [
    { op: 'replace_range', pos: anchor(text, 1), end: anchor(text, 2), lines: ['\\udddd', ' }'] },
  ])
  assert.equal(result.lines, '\\udddd\n }\n}\nend')
  assert.deepEqual(result.warnings, [
    'Detected literal \\uDDDD in edit content; no autocorrection applied. Verify whether this should be a real Unicode escape or plain text.',
    `Possible boundary duplication: your last replacement line \`}\` is identical to the next surviving line ${omp13.formatLineTag(3, '}')}. If you meant to replace the entire block, set \`end\` to ${omp13.formatLineTag(3, '}')} instead.`,
  ])
})

test('a preview of a diff has fresh anchors, and its long runs are truncated', () => {
  const diff = [
    ...[' 7|seven', ' 8|eight', ' 9|nine', '-10|ten', '-11|...', '+10|TEN'],
    ...['+11|a', '+12|b', ' 11|eleven', ' 12|twelve', ' 13|', 'no line'],
  ]
  const tag = omp13.computeLineHash
  assert.deepEqual(omp13.buildCompactHashlineDiffPreview(diff.join('\n'), { maxUnchangedRun: 1 }), {
    preview: [
      ...[' ... 2 more unchanged lines', ` 9#${tag(9, 'nine')}|nine`, '-10   |ten', '-11|...'],
      ...[`+10#${tag(10, 'TEN')}|TEN`, `+11#${tag(11, 'a')}|a`, ' ... 1 more added lines'],
      // One line was removed and three were added, so the old line 11 is the new line 13.
      ...[` 13#${tag(13, 'eleven')}|eleven`, ' ... 1 more unchanged lines', ` 15#${tag(15, '')}|`],
      'no line',
    ].join('\n'),
    addedLines: 3,
    removedLines: 2,
  })
  const short = omp13.buildCompactHashlineDiffPreview('+1|a\n+2|b\n-1|c', { maxOutputLines: 1 })
  assert.equal(short.preview, `+1#${tag(1, 'a')}|a\n ... 2 more preview lines`)
})

test('an insert of zero lines inserts an empty line', () => {
  const text = 'a\nb'
  /** @type {HashlineEdit[]} */
  const edits = [
    { op: 'append_at', pos: anchor(text, 1), lines: [] },
    { op: 'append_file', lines: [] },
    { op: 'prepend_file', lines: [] },
  ]
  assert.equal(omp13.applyHashlineEdits(text, edits).lines, '\na\n\nb\n')
  assert.deepEqual(
    edits.map((edit) => edit.lines),
    [[''], [''], ['']],
  )
})

test('regression: an edit without lines is an error, whatever its operation', () => {
  for (const odd of [{ op: 'replaceText', old_text: 'x' }, {}, { op: 'append_file' }]) {
    assert.throws(() => omp13.applyHashlineEdits('x', untyped([odd])), TypeError)
  }
  const edits = [
    { op: 'delete', lines: ['z'] },
    { op: 'append_file', lines: ['y'] },
    { op: 'delete', lines: ['z'] },
  ]
  assert.equal(omp13.applyHashlineEdits('x', untyped(edits)).lines, 'x\ny')
  assert.equal(edits.length, 2)
})

test('invalid input is an error or ignored, and does not crash', () => {
  for (const value of [undefined, null, 5, {}, [], '', 'constructor', () => {}]) {
    for (const call of [
      () => omp13.computeLineHash(1, untyped(value)),
      () => omp13.computeLineHash(untyped(value), '}'),
      () => omp13.formatHashLines(untyped(value), untyped(value)),
      () => omp13.validateLineRef(untyped(value), ['x']),
      () => omp13.applyHashlineEdits('x', untyped(value)),
      () => omp13.applyHashlineEdits(untyped(value), [{ op: 'append_file', lines: ['x'] }]),
      () => omp13.applyHashlineEdits('x', [untyped({ op: value, lines: ['x'] })]),
      () => omp13.applyHashlineEdits('x', [{ op: 'replace_line', pos: untyped(value), lines: [] }]),
    ]) {
      outcomeOf(call)
    }
  }
})

const isBun = 'bun' in process.versions

test('generated calls match the published module', { skip: whyNoOracle() }, async () => {
  assert.match(await runScript('oracle.mjs', '--cases', '2000'), /2000 applyHashlineEdits/)
})

/** The published module needs Bun, and must be downloaded once. */
function whyNoOracle() {
  if (!isBun) return 'the published module runs under Bun'
  const script = fileURLToPath(new URL('../scripts/peer.mjs', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  return status === 0 ? false : `the published module cannot be fetched: ${stderr.slice(0, 200)}`
}
