// Edits files by the edit tool of pi and prints its answers: `node pi-worker.mjs AGENT DIRECTORY CALLS`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const [, , agent, dir, calls] = process.argv
const { createEditTool } = await import(
  join(agent, 'node_modules/@earendil-works/pi-coding-agent/dist/core/tools/edit.js')
)

const answers = []
for (const [at, { path, old, args }] of JSON.parse(readFileSync(calls, 'utf8')).entries()) {
  const cwd = join(dir, `${at}`)
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), old)
  const { edits } = JSON.parse(args)
  const named = edits.map((/** @type {Record<string, string>} */ { old_text, new_text }) => ({
    oldText: old_text,
    newText: new_text,
  }))
  const { content } = await createEditTool(cwd).execute('1', { path, edits: named })
  answers.push(content[0].text)
}
console.log(JSON.stringify(answers))
