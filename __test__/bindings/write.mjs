// `node __test__/bindings/write.mjs` checks that vectors/bindings.jsonl and vectors/tools.jsonl have the
// cases that are generated here; with `--write` it writes them, with the answers of the addon under
// Node as the expected answers of every binding. Review the changes.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as addon from 'hashline-native'
import { cases } from './cases.mjs'
import { canonical, lineOf } from './run.mjs'
import { FILES, READ, toolCalls } from './toolCalls.mjs'
import { answerOf } from './tools.mjs'

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../vectors/${name}.jsonl`, import.meta.url))

const calls = cases().map((one) => {
  const { answers, files } = JSON.parse(
    lineOf({ ...one, expected: { answers: [], files: {} } }, addon),
  )
  // The given part keeps the order of keys, which matters for values of JSON documents.
  return `${JSON.stringify(one).slice(0, -1)},"expected":${canonical({ answers, files })}}\n`
})

/** The first row has the initial files of each call. */
const ofTools = [`${JSON.stringify({ files: FILES, read: READ })}\n`]
for (const one of toolCalls()) {
  ofTools.push(`${JSON.stringify({ ...one, ...(await answerOf(FILES, READ, one, asSent)) })}\n`)
}

for (const [name, rows] of Object.entries({ bindings: calls, tools: ofTools })) {
  const text = rows.join('')
  if (process.argv.includes('--write')) {
    writeFileSync(path(name), text)
  } else if (readFileSync(path(name), 'utf8') !== text) {
    throw new Error(`vectors/${name}.jsonl is stale. Run node __test__/bindings/write.mjs --write.`)
  }
  console.log(`${name}: ${rows.length} rows`)
}

/** Arguments as models send them; a quoted text stays a value. @param {string} text */
function asSent(text) {
  return text.startsWith('"') ? JSON.parse(text) : text
}
