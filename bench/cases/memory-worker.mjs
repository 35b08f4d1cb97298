// A process that reads one file once and prints the peak growth of its memory, in bytes.

import { readFileSync } from 'node:fs'
import { readHashed, readHashedSync } from 'hashline-native'
import { serve } from '../workers.mjs'

const { path, way } = JSON.parse(process.argv[2])
readHashedSync({ path: process.argv[1], maxLines: 1 })
const before = process.memoryUsage().rss
const length =
  way === 'own' ? (await readHashed(path))[0].text.length : readFileSync(path, 'utf8').length
await serve(() => undefined, { grown: peakBytes() - before, length })

/** Only of this process: `maxRSS` on Linux starts with that of the parent process. */
function peakBytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const line = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(line?.[1]) * 1024
}
