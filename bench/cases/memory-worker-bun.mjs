// Work in memory under Bun, beside the peer in the same process: prints rows.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { applyHashToText, formatHashed, hashLines, readHashedSync } from 'hashline-native'
import { compare } from '../measure.mjs'
import { serve } from '../workers.mjs'

const { corpora, peer } = JSON.parse(process.argv[2])
const rival = await import(peer)

async function readPage() {
  const { page } = corpora
  const samples = await compare({
    ours: () => readHashedSync({ path: page }, { dialect: 'omp13' }),
    peer: () => rival.formatHashLines(readFileSync(page, 'utf8')),
  })
  return { id: 'read-page-peer', ours: 'readHashedSync (Bun)', peer: 'peer (Bun)', samples }
}

async function formatPage() {
  const text = readFileSync(corpora.page, 'utf8')
  assert.equal(formatHashed(text, { dialect: 'omp13' }), rival.formatHashLines(text))
  const samples = await compare({
    ours: () => formatHashed(text, { dialect: 'omp13' }),
    peer: () => rival.formatHashLines(text),
  })
  return { id: 'format-page-peer', ours: 'formatHashed (Bun)', peer: 'peer (Bun)', samples }
}

async function applyText() {
  const lines = readFileSync(corpora.ascii, 'utf8').split('\n').slice(0, 10_000)
  const text = lines.join('\n')
  const line = 5_000
  const hash = hashLines(text, { dialect: 'omp13' })[line - 1]
  assert.equal(hash, rival.computeLineHash(line, lines[line - 1]))
  const changed = `${lines[line - 1]} // changed`
  const patch = {
    operations: [
      { op: /** @type {const} */ ('set_line'), anchor: `${line}#${hash}`, text: changed },
    ],
  }
  const ours = () => applyHashToText(text, patch, { dialect: 'omp13' })
  const peer = () =>
    rival.applyHashlineEdits(text, [{ op: 'replace_line', pos: { line, hash }, lines: [changed] }])
  const outcome = ours()
  assert.equal(outcome.status, 'applied', outcome.text)
  assert.equal(outcome.status === 'applied' && outcome.content, peer().lines)
  const samples = await compare({ ours, peer })
  return { id: 'apply-text', ours: 'applyHashToText (Bun)', peer: 'peer (Bun)', samples }
}

await serve(() => undefined, [await readPage(), await formatPage(), await applyText()])
