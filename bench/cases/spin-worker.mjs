// A worker that does the same arithmetic on each of a number of threads: the parallel speed of this
// machine's cores without memory accesses and system calls.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { serve } from '../workers.mjs'

const ITERATIONS = 4e8
const { threads } = JSON.parse(process.argv[2])

const source = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (iterations) => {
    let [one, two, three, four] = [1, 2, 3, 4]
    for (let at = 0; at < iterations; at++) {
      one = (Math.imul(one, 3) + 1) | 0
      two = (Math.imul(two, 5) + 1) | 0
      three = (Math.imul(three, 7) + 1) | 0
      four = (Math.imul(four, 9) + 1) | 0
    }
    parentPort.postMessage(one ^ two ^ three ^ four)
  })`
const workers = Array.from({ length: threads }, () => new Worker(source, { eval: true }))

await serve(() =>
  Promise.all(
    workers.map((worker) => {
      worker.postMessage(ITERATIONS / threads)
      return once(worker, 'message')
    }),
  ),
)
for (const worker of workers) await worker.terminate()
