// Edits files with the edit tool of pi: `node piWorker.mjs AGENT`, one request and one answer per
// line.

import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [, , agent] = process.argv
const { createEditTool } = await import(
  join(agent, 'node_modules/@earendil-works/pi-coding-agent/dist/core/tools/edit.js')
)

/** @param {{ cwd: string, path: string, edits: { old_text: string, new_text: string }[] }} request */
async function answerOf({ cwd, path, edits }) {
  const named = edits.map(({ old_text, new_text }) => ({ oldText: old_text, newText: new_text }))
  try {
    const { content } = await createEditTool(cwd).execute('1', { path, edits: named })
    return { text: content[0].text, done: true }
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), done: false }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answerOf(JSON.parse(line))))
}
