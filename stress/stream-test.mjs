// Formats a stream that is generated while it is read, and measures the memory of the process: `npm
// run stress -- stream-test` for 1 GB, or with `--megabytes 100`.

import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { streamHashLinesFromUtf8 } from 'hashline-native/omp'

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1000' } } })
const totalBytes = Number(values.megabytes) * 1e6

/** The accepted memory growth after the first megabytes; less than the rest of the stream. */
const GROWTH_LIMIT_BYTES = 50e6
const WARM_UP_BYTES = 20e6
assert.ok(
  totalBytes > WARM_UP_BYTES + GROWTH_LIMIT_BYTES,
  `a stream of ${values.megabytes} MB is too short to show anything`,
)

const block = new TextEncoder().encode(
  Array.from({ length: 1000 }, (_, n) => `${'  '.repeat(n % 7)}const größe${n} = "🎉 ${n}"`).join(
    '\n',
  ),
)

let readBytes = 0
let ahead = 0

/** Blocks that end within lines and within characters. */
function source() {
  return new ReadableStream({
    pull(controller) {
      if (readBytes >= totalBytes) return controller.close()
      const size = 1 + ((readBytes * 7919) % (block.length - 1))
      controller.enqueue(block.slice(0, size))
      readBytes += size
      ahead++
    },
  })
}

let chunks = 0
let lines = 0
let warmBytes = 0
let peakBytes = 0
const start = performance.now()
for await (const chunk of streamHashLinesFromUtf8(source())) {
  ahead = 0
  lines += chunk.split('\n').length
  if (++chunks % 100 !== 0) continue
  // A slow consumer: the source must not run ahead of it.
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(ahead <= 2, `${ahead} blocks were read ahead`)
  const { rss } = process.memoryUsage()
  if (readBytes < WARM_UP_BYTES) warmBytes = Math.max(warmBytes, rss)
  else peakBytes = Math.max(peakBytes, rss)
}
const seconds = (performance.now() - start) / 1000
const inMegabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(0)} MB`
console.log(
  `${inMegabytes(readBytes)}, ${lines} lines, ${chunks} chunks in ${seconds.toFixed(1)} s; memory ${inMegabytes(warmBytes)} after ${inMegabytes(WARM_UP_BYTES)}, at most ${inMegabytes(peakBytes)} later`,
)
assert.ok(warmBytes > 0 && peakBytes > 0, 'memory was not measured')
assert.ok(peakBytes - warmBytes < GROWTH_LIMIT_BYTES, 'memory grew')
console.log('memory stayed flat')
