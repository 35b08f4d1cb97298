// Each compiled-in grammar parses a file on this platform.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashSession } from 'hashline-native'
import { withDir } from './support.mjs'

const CALLS = '    two(1);\n    two(2);\n'

/** Files that parse, and do not parse without their last line that is a single bracket. */
const CHECKED = {
  'a.js': `function one() {\n${CALLS}}\n`,
  'a.ts': `function one(): void {\n${CALLS}}\n`,
  'a.tsx': `function one(): unknown {\n${CALLS}    return <p>x</p>;\n}\n`,
  'a.py': 'one = [\n    1,\n    2,\n]\n',
  'a.rs': `fn one() {\n${CALLS}}\n`,
  'a.go': `package p\n\nfunc one() {\n${CALLS}}\n`,
  'a.java': `class One {\n    void one() {\n${CALLS}    }\n}\n`,
  'a.json': '{\n    "a": 1,\n    "b": 2\n}\n',
  'a.css': 'a {\n    top: 1px;\n    left: 2px;\n}\n',
  'a.toml': 'a = [\n    1,\n    2,\n]\n',
  'a.yaml': 'a: [\n    1,\n    2,\n  ]\n',
  'a.c': `int one(void) {\n${CALLS}}\n`,
  'a.kt': `fun one() {\n${CALLS}}\n`,
  'a.vue': `<script>\nfunction one() {\n${CALLS}}\n</script>\n`,
}

/** Files with known blocks: the first line starts one of four lines. */
const UNCHECKED = {
  'a.md': `# One\n\n${CALLS}# Two\n`,
}

for (const [name, text] of Object.entries(CHECKED)) {
  test(`an edit that breaks ${name} is reported`, async () => {
    const at = text.split('\n').findLastIndex((line) => /^\s*[}\]]$/.test(line))
    const { syntax, removed } = await withoutLine(name, text, { line: at + 1 })
    assert.deepEqual([syntax, removed], ['broken', 1])
  })
}

for (const [name, text] of Object.entries(UNCHECKED)) {
  test(`a block of ${name} is deleted`, async () => {
    const { syntax, removed } = await withoutLine(name, text, { line: 1, block: true })
    assert.deepEqual([syntax, removed], ['unknown', 4])
  })
}

/** @param {string} name @param {string} text @param {{ line: number, block?: boolean }} which */
function withoutLine(name, text, { line, ...block }) {
  return withDir({ [name]: text }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, durability: 'process' })
    const { text: shown } = await session.read(name)
    const anchor = shown.match(new RegExp(`^${line}\\w*(?=\\|)`, 'm'))?.[0] ?? ''
    const operation = { op: /** @type {const} */ ('delete'), path: name, anchor, ...block }
    const outcome = await session.apply({ operations: [operation] })
    assert.equal(outcome.status, 'applied', outcome.text)
    return outcome.files[0]
  })
}
