// Calls of tools as an agent makes them, compared with those of pi: prints rows. Every call has the
// text for the model as its result.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { compare } from '../measure.mjs'
import { serve } from '../workers.mjs'

/** @import { HashTool } from 'hashline-native/tools' */

const { agent, corpora, scratchDir } = JSON.parse(process.argv[2])
const { createEditTool, createGrepTool, createReadTool } = await import(
  join(agent, 'node_modules/@earendil-works/pi-coding-agent/dist/core/tools/index.js')
)

const PEER = '(pi)'
/** A pattern in few files, and one in most, of which both show the first 100 matches. */
const PATTERNS = { rare: 'getUnionOrIntersectionProperty', frequent: 'return' }
const MATCHES = 100
const EDITED_LINE = 1000

const cwd = join(scratchDir, 'tools')
mkdirSync(cwd)
const source = sourceIn(corpora.tree)
writeFileSync(join(cwd, 'file.js'), source)

/** The first file of about 2,000 lines: whole, so that it parses. @param {string} tree */
function sourceIn(tree) {
  for (const entry of readdirSync(tree, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/^webpack.lib.*\.js$/.test(entry)) continue
    const text = readFileSync(join(tree, entry), 'utf8')
    const count = text.split('\n').length
    if (count > 1900 && count < 2100 && text.length > 52_000 && text.length < 90_000) return text
  }
  throw new Error('no file has 2,000 lines')
}

/** @param {HashTool} tool @param {object} args */
async function textOf(tool, args) {
  const { text, isError } = await tool.execute(args)
  assert.ok(!isError, text)
  return text
}

/** @param {{ execute: Function }} tool @param {object} args @returns {Promise<string>} */
async function peerText(tool, args) {
  const { content } = await tool.execute('1', args)
  return content[0].text
}

/**
 * The same lines, in a session that has forgotten the file.
 * @param {string} id
 * @param {object} args
 * @param {object} peerArgs
 */
async function reads(id, args, peerArgs) {
  const session = new HashSession({ cwd })
  const { read } = hashTools(session)
  const tool = createReadTool(cwd)
  const own = () => {
    session.forget()
    return textOf(read, { path: 'file.js', ...args })
  }
  const peer = () => peerText(tool, { path: 'file.js', ...peerArgs })
  const rows = (/** @type {string} */ text) => text.split('\n').length
  const note = `${rows(await own())} rows and ${rows(await peer())}`
  const samples = await compare({ own, peer })
  return { id, own: 'read', peer: `read ${PEER}`, samples, note }
}

/** @param {'rare' | 'frequent'} name */
async function searches(name) {
  const pattern = PATTERNS[name]
  const session = new HashSession({ cwd: corpora.tree })
  const { search } = hashTools(session)
  const peer = createGrepTool(corpora.tree)
  const own = async () => {
    session.forget()
    const args = { pattern, literal: true, case_sensitive: true, max_matches: MATCHES }
    return matchesIn(await textOf(search, args), /^\d+[^|\s]*\|/gm, pattern)
  }
  const rival = async () =>
    matchesIn(
      await peerText(peer, { pattern, literal: true, limit: MATCHES }),
      /^.+:\d+: /gm,
      pattern,
    )
  const [mine, theirs] = [await own(), await rival()]
  assert.equal(mine, theirs, 'both show the same number of lines')
  const samples = await compare({ own, peer: rival })
  const note = `\`${pattern}\`: ${mine} lines`
  return { id: `tools-search-${name}`, own: 'search', peer: `grep ${PEER}`, samples, note }
}

/** @param {string} text @param {RegExp} row @param {string} pattern */
function matchesIn(text, row, pattern) {
  const count = text.match(row)?.length ?? 0
  assert.ok(count > 0 && text.includes(pattern), text.slice(0, 500))
  return count
}

/**
 * One line of the page, back and forth.
 * @param {string} id
 * @param {'process' | 'power'} durability
 */
async function edits(id, durability) {
  const path = `${durability}.ts`
  const lines = source.split('\n')
  // Unique, because the edit of exact text needs that.
  const texts = ['once changed', 'changed again'].map(
    (text) => `${lines[EDITED_LINE - 1]} // ${text}`,
  )
  lines[EDITED_LINE - 1] = texts[1]
  for (const name of [path, `peer-${path}`]) writeFileSync(join(cwd, name), lines.join('\n'))
  const session = new HashSession({ cwd, stateDir: join(scratchDir, 'tools-state'), durability })
  const { read, apply } = hashTools(session)
  const shown = await textOf(read, { path, start_line: EDITED_LINE, max_lines: 1 })
  let anchor = anchorIn(shown)
  let [turn, peerTurn] = [0, 0]
  const own = async () => {
    const operations = [{ op: 'set_line', anchor, text: texts[turn++ % 2] }]
    const text = await textOf(apply, { path, operations })
    anchor = anchorIn(text)
    return text
  }
  const tool = createEditTool(cwd)
  let last = texts[1]
  const peer = async () => {
    const next = texts[peerTurn++ % 2]
    const text = await peerText(tool, {
      path: `peer-${path}`,
      edits: [{ oldText: last, newText: next }],
    })
    last = next
    return text
  }
  const samples = await compare({ own, peer })
  return { id, own: `apply, durability: '${durability}'`, peer: `edit ${PEER}`, samples }
}

/** @param {string} text */
function anchorIn(text) {
  const anchor = new RegExp(`\\b${EDITED_LINE}[a-z]{1,3}\\b`).exec(text)?.[0]
  assert.ok(anchor, text)
  return anchor
}

await serve(
  () => null,
  [
    await reads('tools-read', { start_line: 1, max_lines: 1000 }, { offset: 1, limit: 1000 }),
    await reads('tools-read-folded', {}, {}),
    await searches('rare'),
    await searches('frequent'),
    await edits('tools-edit', 'process'),
    await edits('tools-edit-power', 'power'),
  ],
)
