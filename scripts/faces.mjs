// `npm run faces`: says whether vectors/faces.jsonl has the cases that are made here;
// `npm run faces -- --write` writes them, with what the addon answers under Node as what every
// face has to answer. What changes then is to be looked at.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as addon from 'hashline-native'
import { canonical, lineOf } from '../__test__/faces/run.mjs'
import { cases } from './faces/cases.mjs'

const path = fileURLToPath(new URL('../vectors/faces.jsonl', import.meta.url))
const rows = cases().map((one) => {
  const { answers, files } = JSON.parse(
    lineOf({ ...one, expected: { answers: [], files: {} } }, addon),
  )
  // The given part keeps the order of keys, which counts for values of JSON documents.
  return `${JSON.stringify(one).slice(0, -1)},"expected":${canonical({ answers, files })}}\n`
})
const text = rows.join('')
if (process.argv.includes('--write')) {
  writeFileSync(path, text)
} else if (readFileSync(path, 'utf8') !== text) {
  throw new Error('vectors/faces.jsonl is stale: npm run faces -- --write')
}
console.log(`${rows.length} cases`)
