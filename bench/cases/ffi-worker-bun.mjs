// Calls by `hashline-native/bun` compared with the same calls by Node-API, under Bun in one
// process: prints rows. A part of each result is read, so that engines cannot defer work.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as napi from 'hashline-native'
import * as ffi from 'hashline-native/bun'
import { compare } from '../measure.mjs'

const { page, scratchDir } = JSON.parse(process.argv[2])
const text = readFileSync(page, 'utf8')
const root = join(scratchDir, 'ffi')
mkdirSync(root, { recursive: true })
const names = Array.from({ length: 100 }, (_, at) => `${at}.txt`)
for (const name of names) writeFileSync(join(root, name), 'one\ntwo\n')

/** @param {string} shown */
const look = (shown) => shown.charCodeAt(shown.length >> 1)

/**
 * @param {string} id
 * @param {string} what
 * @param {(binding: typeof napi | typeof ffi) => unknown} call
 */
async function row(id, what, call) {
  assert.deepEqual(call(ffi), call(napi))
  const samples = await compare({ own: () => call(ffi), peer: () => call(napi) })
  return { id, own: `${what} (bun:ffi)`, peer: `${what} (Node-API)`, samples }
}

const stale = [{ op: /** @type {const} */ ('delete'), anchor: '1:00' }]
const rows = [
  await row('ffi-command', 'checkCommand', (binding) => binding.checkCommand('cat a.txt').verdict),
  await row('ffi-hash', 'hashLines', (binding) => binding.hashLines('one\ntwo\n')[1]),
  await row('ffi-small', 'readHashedSync', (binding) => {
    return look(binding.readHashedSync('0.txt', { root })[0].text)
  }),
  await row('ffi-page', 'readHashedSync', (binding) => look(binding.readHashedSync(page)[0].text)),
  await row('ffi-format', 'formatHashed', (binding) => look(binding.formatHashed(text))),
  await row('ffi-many', 'readHashedSync', (binding) => {
    return binding.readHashedSync(names, { root }).reduce((sum, view) => sum + look(view.text), 0)
  }),
  await row('ffi-apply', 'applyHashToText', (binding) => {
    return look(binding.applyHashToText('one\ntwo\n', stale).text)
  }),
]
console.log(JSON.stringify(rows))
