// The recipe of docs/lifecycle.md that formats files with the real prettier.

import assert from 'node:assert/strict'
import * as promises from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import * as prettier from 'prettier'
import { withDir } from './support.mjs'

const PAGE = new URL('../docs/lifecycle.md', import.meta.url)

/** The tools of the recipe. @param {HashSession} session */
async function toolsOf(session) {
  const page = await promises.readFile(PAGE, 'utf8')
  const blocks = page.split('```js\n').map((part) => part.slice(0, part.indexOf('```')))
  const code = blocks.find((block) => block.includes("from 'prettier'"))
  assert.ok(code && code.trim().split('\n').length <= 15, code)
  const body = `${code.replace(/^import .*$/gm, '')}\nreturn tools`
  const make = new Function('hashTools', 'session', 'prettier', 'readFile', 'writeFile', body)
  const { readFile, writeFile } = promises
  return /** @type {ReturnType<typeof hashTools>} */ (
    make(hashTools, session, prettier, readFile, writeFile)
  )
}

const SOURCE = `let  first = 'a'
const second = "b"
const colors = {}
function keep() {
  return  colors
}
use(colors)
`

test('prettier formats each edit, and the answer has the final anchors', () =>
  withDir(
    { 'a.js': SOURCE, 'a.unknown': 'x\n', '.prettierrc': '{"semi":true}' },
    async (cwd, stateDir) => {
      const session = new HashSession({ cwd, stateDir, durability: 'process' })
      const { read, apply } = await toolsOf(session)
      const page = (await read.execute({ path: 'a.js' })).text.split('\n')
      const anchorOf = (/** @type {string} */ row) => row.split('|')[0]
      const text = "const colors = {\n red: '#f00', blue: '#00f' }"
      const result = await apply.execute({
        path: 'a.js',
        operations: [{ op: 'set_line', anchor: anchorOf(page[2]), text }],
      })
      // The page shows this answer.
      const shown = await promises.readFile(PAGE, 'utf8')
      assert.ok(shown.includes(`\`\`\`\n${result.text}\n\`\`\``), result.text)
      const rows = result.text.split('\n')
      const formatted = await promises.readFile(join(cwd, 'a.js'), 'utf8')
      assert.equal(formatted, await prettier.format(formatted, { parser: 'babel' }))
      // An anchor of the answer, and one of the first page that prettier left as it was.
      for (const [anchor, text] of [
        [anchorOf(rows[2]), '  red: "#e00",'],
        [anchorOf(page[3]), 'function kept() {'],
      ]) {
        const operations = [{ op: 'set_line', anchor, text }]
        const next = await apply.execute({ path: 'a.js', operations })
        assert.equal(next.isError, false, next.text)
      }
      const final = await promises.readFile(join(cwd, 'a.js'), 'utf8')
      assert.match(final, / {2}red: "#e00",\n/)
      assert.match(final, /^function kept\(\) \{$/m)
      // A file that prettier does not know stays as it is, and a syntax error is reported.
      const other = await read.execute({ path: 'a.unknown' })
      const unknown = [{ op: 'set_line', anchor: anchorOf(other.text), text: ' y' }]
      assert.doesNotMatch(
        (await apply.execute({ path: 'a.unknown', operations: unknown })).text,
        /failed/,
      )
      const broken = [{ op: 'set_line', anchor: anchorOf(rows[1]), text: 'const colors = (' }]
      const failed = await apply.execute({ path: 'a.js', operations: broken })
      assert.match(failed.text, /\(The edit is written, but afterWrite failed: .*Unexpected token/)
      assert.equal(failed.isError, false)
    },
  ))
