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
 * @param {(face: typeof napi | typeof ffi) => unknown} call
 */
async function row(id, what, call) {
  assert.deepEqual(call(ffi), call(napi))
  const samples = await compare({ ours: () => call(ffi), peer: () => call(napi) })
  return { id, ours: `${what} (bun:ffi)`, peer: `${what} (Node-API)`, samples }
}

const stale = [{ op: /** @type {const} */ ('delete'), anchor: '1:00' }]
const rows = [
  await row('ffi-command', 'checkCommand', (face) => face.checkCommand('cat a.txt').verdict),
  await row('ffi-hash', 'hashLines', (face) => face.hashLines('one\ntwo\n')[1]),
  await row('ffi-small', 'readHashedSync', (face) => {
    return look(face.readHashedSync('0.txt', { root })[0].text)
  }),
  await row('ffi-page', 'readHashedSync', (face) => look(face.readHashedSync(page)[0].text)),
  await row('ffi-format', 'formatHashed', (face) => look(face.formatHashed(text))),
  await row('ffi-many', 'readHashedSync', (face) => {
    return face.readHashedSync(names, { root }).reduce((sum, view) => sum + look(view.text), 0)
  }),
  await row('ffi-apply', 'applyHashToText', (face) => {
    return look(face.applyHashToText('one\ntwo\n', stale).text)
  }),
]
console.log(JSON.stringify(rows))
