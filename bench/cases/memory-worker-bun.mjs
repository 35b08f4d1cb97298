// Work in memory, and page reads, under Bun compared with the peer in the same process: prints
// rows. Every call gets another text, as in an agent, and a part of its result is read, so that
// engines cannot defer work.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { applyHashToText, formatHashed, readHashedSync } from 'hashline-native'
import * as omp13 from 'hashline-native/omp13'
import { compare } from '../measure.mjs'
import { look, spreadEdits, turns, versions } from '../texts.mjs'
import { serve } from '../workers.mjs'

const { corpora, peer } = JSON.parse(process.argv[2])
/** @type {typeof omp13} */
const rival = await import(peer)

const PEER_NAME = 'peer (Bun)'

async function readPage() {
  const { page } = corpora
  const samples = await compare({
    own: () => look(readHashedSync({ path: page }, { dialect: 'omp13' })[0].text),
    peer: () => look(rival.formatHashLines(readFileSync(page, 'utf8'))),
  })
  return { id: 'read-page-peer', own: 'readHashedSync (Bun)', peer: PEER_NAME, samples }
}

/** @param {string} id @param {string} own @param {(text: string) => string} format */
async function formatPage(id, own, format) {
  const [mine, peers] = [turns(versions(corpora.page, 2000)), turns(versions(corpora.page, 2000))]
  assert.equal(format(mine()), rival.formatHashLines(peers()))
  const samples = await compare({
    own: () => look(format(mine())),
    peer: () => look(rival.formatHashLines(peers())),
  })
  return { id, own: `${own} (Bun)`, peer: PEER_NAME, samples }
}

/**
 * @param {string} id
 * @param {string} path
 * @param {number} lines
 * @param {number} count
 * @param {(text: string) => unknown} [used] uses the result
 */
async function applyEdits(id, path, lines, count, used = look) {
  const tasks = versions(path, lines).map((text) => ({
    text,
    edits: spreadEdits(rival, text, count),
  }))
  const [mine, peers] = [turns(tasks), turns(tasks)]
  const apply = (/** @type {typeof omp13} */ module, /** @type {typeof mine} */ next) => {
    const { text, edits } = next()
    return module.applyHashlineEdits(text, [...edits]).lines
  }
  assert.equal(apply(omp13, mine), apply(rival, peers))
  const samples = await compare({
    own: () => used(apply(omp13, mine)),
    peer: () => used(apply(rival, peers)),
  })
  return { id, own: 'omp13 applyHashlineEdits (Bun)', peer: PEER_NAME, samples }
}

async function applyText() {
  const tasks = versions(corpora.ascii, 10_000).map((text) => {
    const [edit] = spreadEdits(rival, text, 1)
    if (edit.op !== 'replace_line') throw new Error('not the edit of the code above')
    const { pos, lines } = edit
    const op = /** @type {const} */ ('set_line')
    const anchor = `${pos.line}#${pos.hash}`
    return { text, edits: [edit], patch: { operations: [{ op, anchor, text: lines[0] }] } }
  })
  const [mine, peers] = [turns(tasks), turns(tasks)]
  const own = () => {
    const { text, patch } = mine()
    const outcome = applyHashToText(text, patch, { dialect: 'omp13' })
    if (outcome.status !== 'applied') throw new Error(outcome.text)
    return outcome.content
  }
  const peer = () => {
    const { text, edits } = peers()
    return rival.applyHashlineEdits(text, [...edits]).lines
  }
  assert.equal(own(), peer())
  const samples = await compare({ own: () => look(own()), peer: () => look(peer()) })
  return { id: 'apply-text', own: 'applyHashToText (Bun)', peer: PEER_NAME, samples }
}

async function singleHash() {
  const lines = readFileSync(corpora.page, 'utf8').split('\n')
  const all = (/** @type {typeof omp13} */ module) => {
    let sum = 0
    for (let at = 0; at < lines.length; at++) {
      sum += module.computeLineHash(at + 1, lines[at]).charCodeAt(0)
    }
    return sum
  }
  assert.equal(all(omp13), all(rival))
  const samples = await compare({ own: () => all(omp13), peer: () => all(rival) })
  const note = `for ${lines.length} calls, one for each line of the page`
  return { id: 'omp-hash', own: 'omp13 computeLineHash (Bun)', peer: PEER_NAME, samples, note }
}

await serve(
  () => undefined,
  [
    await readPage(),
    await formatPage('format-page-peer', 'formatHashed', (text) =>
      formatHashed(text, { dialect: 'omp13' }),
    ),
    await formatPage('omp-format', 'omp13 formatHashLines', (text) => omp13.formatHashLines(text)),
    await applyEdits('omp-apply', corpora.page, 2000, 1),
    await applyEdits('omp-apply-call', corpora.page, 2000, 1, (text) => text.length),
    await applyEdits('omp-apply-ten', corpora.page, 2000, 10),
    await applyEdits('omp-apply-large', corpora.ascii, 10_000, 1),
    await applyEdits('omp-apply-large-call', corpora.ascii, 10_000, 1, (text) => text.length),
    await applyText(),
    await singleHash(),
  ],
)
