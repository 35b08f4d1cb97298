import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { formatHashed } from 'hashline-native'
import { withDir } from './support.mjs'

const source = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { readHashed } = require(workerData.module)
  const read = () => readHashed(Array(workerData.count).fill('a.txt'), { root: workerData.root })
  if (workerData.count === 1) read().then(([view]) => parentPort.postMessage(view.text))
  else {
    read()
    read()
    parentPort.postMessage('busy')
  }
`

/**
 * @param {string} root
 * @param {number} count
 */
function start(root, count) {
  const module = fileURLToPath(new URL('../index.js', import.meta.url))
  return new Worker(source, { eval: true, workerData: { module, root, count } })
}

/**
 * @param {Worker} worker
 * @returns {Promise<unknown>}
 */
function message(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

test('several workers load the addon and end', () =>
  withDir({ 'a.txt': '}\n' }, async (root) => {
    const workers = Array.from({ length: 4 }, () => start(root, 1))
    for (const text of await Promise.all(workers.map(message))) assert.equal(text, '1:18|}')
    await Promise.all(workers.map((worker) => worker.terminate()))
    assert.equal(formatHashed('}'), '1:18|}')
  }))

test('workers are terminated while they read', () =>
  withDir({ 'a.txt': 'some line\n'.repeat(20_000) }, async (root) => {
    for (let round = 0; round < 3; round++) {
      const workers = Array.from({ length: 3 }, () => start(root, 50))
      await Promise.all(workers.map(message))
      await Promise.all(workers.map((worker) => worker.terminate()))
    }
    assert.equal(formatHashed('}'), '1:18|}')
  }))
