// The cost of the addon before its first call: processes that load it alternate with processes that
// do nothing.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compare } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */

const addon = fileURLToPath(new URL('../../index.js', import.meta.url))

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function loadRows({ bun }) {
  return [await loading('load', process.execPath), await loading('load-bun', bun)]
}

/**
 * @param {string} id
 * @param {string} host
 * @returns {Promise<Row>}
 */
async function loading(id, host) {
  const run = (/** @type {string} */ code) => {
    const { status, stderr } = spawnSync(host, ['-e', code])
    assert.equal(status, 0, String(stderr))
  }
  const samples = await compare({
    own: () => run(`require(${JSON.stringify(addon)})`),
    peer: () => run('0'),
  })
  return { id, own: "require('hashline-native')", peer: 'an empty process', samples }
}
