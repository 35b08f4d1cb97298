// The snippets of docs/python.md run, in Python.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { binaryPath } from '../js/ffi/library.cjs'
import { programDirectory } from '../scripts/plugins.mjs'

const page = readFileSync(new URL('../docs/python.md', import.meta.url), 'utf8')
const [classes, use, client] = Array.from(
  page.matchAll(/```python\n(.*?)```/gs),
  ([, code]) => code,
)

const skip = spawnSync('python3', ['--version']).error ? 'python3 is not installed' : false

/** @param {import('node:test').TestContext} t @param {string} code */
function run(t, code) {
  const directory = mkdtempSync(join(tmpdir(), 'hashline-python-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'greet.py'), "print('hi')\n")
  const env = {
    ...process.env,
    PATH: [programDirectory(), process.env.PATH].join(delimiter),
    XDG_STATE_HOME: join(directory, '.state'),
  }
  const head = `library, directory = ${JSON.stringify(binaryPath())}, ${JSON.stringify(directory)}\n`
  const output = execFileSync('python3', ['-c', head + code], { env, encoding: 'utf8' })
  return {
    output: output.trimEnd().split('\n'),
    text: readFileSync(join(directory, 'greet.py'), 'utf8'),
  }
}

test('a Python harness over the C interface', { skip }, (t) => {
  const { output, text } = run(t, classes + use)
  assert.deepEqual(output, ["['read', 'search', 'apply']", 'False greet.py +1 -1'])
  assert.equal(text, "print('hello')\n")
})

test('a Python client of the MCP server', { skip }, (t) => {
  const { output } = run(t, `${client}\nserver.stdin.close()\nserver.wait()\n`)
  assert.equal(output[0], "['read', 'search', 'apply']")
  assert.match(output[1], /^1[^|]*\|print\('hi'\)$/)
})
