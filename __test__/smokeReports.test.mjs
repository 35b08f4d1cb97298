// How `npm run stress -- smoke` parses the output of test programs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromJunit, fromLibtest, fromTap } from '../scripts/reports.mjs'

test('reports of Rust tests are parsed, also with CRLF', () => {
  const lines = [
    'running 4 tests',
    'test a::passes ... ok',
    'test fails ... FAILED',
    'test is_left_out ... ignored, takes hours',
    'test panics - should panic ... ok',
    '',
    'failures:',
    '',
    '---- fails stdout ----',
    'why',
    '',
    'failures:',
    '    fails',
  ]
  const expected = {
    passed: 2,
    failed: [{ name: 'fails', reason: 'why' }],
    skipped: [{ name: 'is_left_out', reason: 'takes hours' }],
  }
  for (const end of ['\n', '\r\n']) assert.deepEqual(fromLibtest(lines.join(end)), expected)
})

test('reports of Node and Deno are parsed', () => {
  const text = [
    'TAP version 13',
    'ok 1 - passes',
    'not ok 2 - fails',
    '  ---',
    "  error: 'why'",
    '  ...',
    'ok 3 - is skipped # SKIP needs root',
    'ok 4 - /some/where/a.test.mjs',
    '1..4',
  ].join('\n')
  const { passed, failed, skipped } = fromTap(text)
  assert.equal(passed, 1)
  assert.deepEqual(skipped, [{ name: 'is skipped', reason: 'needs root' }])
  assert.equal(failed[0].name, 'fails')
  assert.match(failed[0].reason, /error: 'why'/)
})

test('reports of Bun are parsed', () => {
  const text = [
    '<testsuites><testsuite name="a">',
    '<testcase name="passes" time="1" />',
    '<testcase name="fails"><failure message="why" /></testcase>',
    '<testcase name="is skipped"><skipped /></testcase>',
    '</testsuite></testsuites>',
  ].join('\n')
  assert.deepEqual(fromJunit(text), {
    passed: 1,
    failed: [{ name: 'fails', reason: '<failure message="why" />' }],
    skipped: [{ name: 'is skipped', reason: 'see the file' }],
  })
})
