// Arguments of models before pi checks them against the schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashSession } from '../../index.js'
import { hashTools } from '../../js/tools.mjs'
import { prepared } from './arguments.js'

const { read, search, apply } = hashTools(new HashSession())

test('text that looks like a list stays text if the field is not a list', () => {
  const args = { pattern: '["default"]', literal: true }
  assert.deepEqual(prepared(args, search.inputSchema), args)
})

test('a list may be given as JSON text, or as its only item', () => {
  const operations = [{ op: 'delete_file', path: 'a' }]
  assert.deepEqual(prepared({ operations: JSON.stringify(operations) }, apply.inputSchema), {
    operations,
  })
  assert.deepEqual(prepared({ pattern: 'x', paths: '[id]/page.tsx' }, search.inputSchema), {
    pattern: 'x',
    paths: ['[id]/page.tsx'],
  })
})

test('fields may have names of other tools', () => {
  for (const name of ['file_path', 'filePath', 'file']) {
    assert.deepEqual(prepared({ [name]: 'a.js' }, read.inputSchema), { path: 'a.js' })
  }
  assert.deepEqual(prepared({ path: 'a', paths: '["b"]' }, read.inputSchema), {
    path: 'a',
    more_paths: ['b'],
  })
  assert.deepEqual(prepared({ query: 'x', path: 'src', glob: '*.ts' }, search.inputSchema), {
    pattern: 'x',
    paths: ['src'],
    globs: ['*.ts'],
  })
})
