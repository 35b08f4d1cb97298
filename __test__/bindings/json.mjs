// JSON documents, read and edited by path.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readJsonSync } from 'hashline-native'
import { CONTENTS } from './texts.mjs'

/** @import { Given } from './texts.mjs' */

const DOCUMENT = `{
  // the name
  "name": "demo",
  "a key": [1, 2.50, {"deep": null}], /* more */
  "größe": "\u{1f600}",
  "empty": {},
  "scripts": {
    "test": "node",
    "build": "make",
  },
}
`

/**
 * The anchors of the values of a document, by path.
 * @param {string} text
 */
function anchorsOf(text) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-bindings-'))
  try {
    writeFileSync(join(dir, 'a.json'), text)
    const rows = readJsonSync('a.json', { root: dir }).text.split('\n')
    const found = rows.flatMap((row) => /^\s*\/\/ (\$.*):([0-9a-f]{2})$/.exec(row)?.slice(1) ?? [])
    /** @type {Record<string, string>} */
    const anchors = {}
    for (let at = 0; at < found.length; at += 2)
      anchors[found[at]] = `${found[at]}:${found[at + 1]}`
    return anchors
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** @returns {Given[]} */
export function jsonEdits() {
  const anchors = anchorsOf(DOCUMENT)
  const key = '$["a key"]'
  const value = { z: 1, a: [true, null, 'größe "x" \\'], m: { '\u{1f600}': -2.5 } }
  /** @type {Record<string, object[]>} */
  const made = {
    'set a string': [{ op: 'set_path', anchor: anchors['$.name'], value: 'other' }],
    'set to an object': [{ op: 'set_path', anchor: anchors[key], value }],
    'set a deep value': [{ op: 'set_path', anchor: anchors[`${key}[2].deep`], value: false }],
    'set the document': [{ op: 'set_path', anchor: anchors.$, value: [] }],
    'set to the same': [{ op: 'set_path', anchor: anchors['$.name'], value: 'demo' }],
    'insert a key': [
      { op: 'insert_at_path', anchor: anchors['$.scripts'], key: 'lint', value: 'x' },
    ],
    'insert into an empty object': [
      { op: 'insert_at_path', anchor: anchors['$.empty'], key: 'k', value },
    ],
    'insert an element': [{ op: 'insert_at_path', anchor: anchors[key], index: 1, value: 'new' }],
    'insert at the end': [{ op: 'insert_at_path', anchor: anchors[key], value: 7 }],
    'delete a key': [{ op: 'delete_path', anchor: anchors['$.scripts.build'] }],
    'delete an element': [{ op: 'delete_path', anchor: anchors[`${key}[0]`] }],
    'several values': [
      { op: 'delete_path', anchor: anchors['$.empty'] },
      { op: 'set_path', anchor: anchors['$.scripts.test'], value: 'bun' },
      { op: 'insert_at_path', anchor: anchors.$, key: 'last', value: 0 },
    ],
    'set by a stale anchor': [{ op: 'set_path', anchor: '$.name:00', value: 1 }],
    'set what is not there': [{ op: 'set_path', anchor: '$.none:00', value: 1 }],
    'set by no path': [{ op: 'set_path', anchor: 'name', value: 1 }],
    'insert a key that is there': [
      { op: 'insert_at_path', anchor: anchors.$, key: 'name', value: 1 },
    ],
    'insert without a key': [{ op: 'insert_at_path', anchor: anchors.$, value: 1 }],
    'insert past the end': [{ op: 'insert_at_path', anchor: anchors[key], index: 9, value: 1 }],
    'delete the document': [{ op: 'delete_path', anchor: anchors.$ }],
    'edits of one value': [
      { op: 'set_path', anchor: anchors['$.scripts'], value: {} },
      { op: 'delete_path', anchor: anchors['$.scripts.test'] },
    ],
  }
  const files = { 'a.json': DOCUMENT }
  const edits = Object.entries(made).map(([name, operations]) => ({
    name: `JSON: ${name}`,
    files,
    calls: [
      {
        call: /** @type {const} */ ('apply'),
        given: { operations: operations.map((one) => ({ ...one, path: 'a.json' })) },
      },
    ],
  }))
  const documents = {
    'a.json': DOCUMENT,
    'plain.json': '{"a":[1,{"b":"c"}],"d":null}\r\n',
    'broken.json': '{\n  "a": NaN\n}\n',
    'twice.json': '{"a": 1, "a": 2}',
    'empty.json': '',
    'bom.json': '\ufeff[1]\n',
    'binary.json': CONTENTS['binary.bin'],
    'utf16.json': { base64: Buffer.from('\ufeff{"größe": [1, 2]}', 'utf16le').toString('base64') },
  }
  /** @type {[string, unknown][]} */
  const asked = [
    ...Object.keys(documents).map((path) => /** @type {[string, unknown]} */ ([path, path])),
    ['a missing document', 'none.json'],
    ['a document above the root', '../a.json'],
    ['some lines', { path: 'a.json', startLine: 3, maxLines: 4 }],
    ['some bytes', { path: 'a.json', maxBytes: 40 }],
    ['line 0', { path: 'a.json', startLine: 0 }],
    ['another encoding', { path: 'plain.json', encoding: 'latin1' }],
  ]
  const reads = asked.map(([name, given]) => ({
    name: `JSON: read ${name}`,
    files: documents,
    calls: [{ call: /** @type {const} */ ('readJson'), given }],
  }))
  const keyed = {
    name: 'JSON: edits of one path',
    files,
    calls: [
      {
        call: /** @type {const} */ ('apply'),
        given: { path: 'a.json', edits: [{ set_path: { anchor: anchors['$.name'], value: 'x' } }] },
      },
      { call: /** @type {const} */ ('readJson'), given: 'a.json' },
    ],
  }
  return [...edits, ...reads, keyed]
}
