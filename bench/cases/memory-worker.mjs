// A process that reads one file once and says by how much its memory grew at most, in bytes.

import { readFileSync } from 'node:fs'
import { readHashed, readHashedSync } from 'hashline-native'
import { serve } from '../workers.mjs'

const { path, way } = JSON.parse(process.argv[2])
readHashedSync({ path: process.argv[1], maxLines: 1 })
const before = process.memoryUsage().rss
const length =
  way === 'ours' ? (await readHashed(path))[0].text.length : readFileSync(path, 'utf8').length
// The unit of maxRSS is KiB.
await serve(() => undefined, { grown: process.resourceUsage().maxRSS * 1024 - before, length })
