// What two tasks take in tokens, reads and answers counted: with anchors, and with exact text over
// numbered lines. The files are this repository's own.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { put } from './answers.mjs'

/**
 * @typedef {{ path: string, lines: string[], first: number, last: number }} Body a function
 * @typedef {{ name: string, count: number, anchors: number, exact: number }} Task means of tokens
 * @typedef {(text: string) => number} Count
 */

/** A function at the margin, and how many lines it has. */
const HEAD = /^(?:export |pub(?:\([a-z]+\))? |async )*(?:fn|function) \w+/
const LINES_OF_BODY = { least: 36, most: 44 }
const LINES_OF_FILE = { least: 800, most: 1300 }
/** What is written into a function. */
const ADDED = '    // Checked above.'
/** What an agent says after a replacement of exact text. */
const EXACT_ANSWER = 'Successfully replaced 1 block(s).'

/** @param {string} root @param {Count} count @returns {Promise<Task[]>} */
export async function measuredTasks(root, count) {
  const paths = execFileSync('git', ['-C', root, 'ls-files', '*.rs', '*.mjs'], { encoding: 'utf8' })
  const files = paths
    .split('\n')
    .filter(Boolean)
    .map((path) => fileAt(root, path))
  const long = files.filter(({ lines }) => isWithin(lines.length, LINES_OF_FILE))
  const found = long.flatMap((file) => bodiesIn(file).slice(0, 3))
  const moved = files
    .flatMap(bodiesIn)
    .filter(({ first, last }) => isWithin(last - first + 1, LINES_OF_BODY))
  return [
    await task(
      'move a function of about 40 lines to another file',
      moved,
      count,
      moveByAnchors,
      moveByText,
    ),
    await task(
      'find and change a function in a file of about 1,000 lines',
      found,
      count,
      changeByAnchors,
      changeByText,
    ),
  ]
}

/** @param {string} root @param {string} path */
function fileAt(root, path) {
  return { path, lines: readFileSync(join(root, path), 'utf8').replace(/\n$/, '').split('\n') }
}

/** @param {number} count @param {{ least: number, most: number }} bounds */
const isWithin = (count, { least, most }) => count >= least && count <= most

/** The functions at the margin. @param {{ path: string, lines: string[] }} file @returns {Body[]} */
function bodiesIn({ path, lines }) {
  return lines.flatMap((line, at) => {
    const end = HEAD.test(line) ? lines.indexOf('}', at) : -1
    return end > at ? [{ path, lines, first: at + 1, last: end + 1 }] : []
  })
}

/**
 * @param {string} name
 * @param {Body[]} bodies
 * @param {Count} count
 * @param {(body: Body, tools: ReturnType<typeof hashTools>) => Promise<string[]>} byAnchors
 * @param {(body: Body) => string[]} byText
 */
async function task(name, bodies, count, byAnchors, byText) {
  const sum = (/** @type {string[]} */ texts) => texts.reduce((all, text) => all + count(text), 0)
  let [anchors, exact] = [0, 0]
  for (const body of bodies) {
    const cwd = mkdtempSync(join(tmpdir(), 'hashline-tasks-'))
    try {
      put(cwd, body.path, `${body.lines.join('\n')}\n`)
      put(cwd, otherOf(body), `${END.join('\n')}\n`)
      const session = new HashSession({ cwd, stateDir: join(cwd, '.state'), durability: 'process' })
      anchors += sum(await byAnchors(body, hashTools(session)))
      exact += sum(byText(body))
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  }
  return {
    name,
    count: bodies.length,
    anchors: anchors / bodies.length,
    exact: exact / bodies.length,
  }
}

/** The end of the file to which functions are moved. */
const END = ['/// Adds.', 'pub fn add(one: u32, other: u32) -> u32 {', '    one + other', '}']

/** @param {Body} body */
const otherOf = ({ path }) => join(dirname(path), `other${path.slice(path.lastIndexOf('.'))}`)

/** Lines as `cat -n` shows them. @param {string[]} lines @param {number} first */
function numbered(lines, first) {
  return lines.map((line, at) => `${String(first + at).padStart(6)}\t${line}`).join('\n')
}

/**
 * Calls a tool; what the model writes and is answered.
 * @param {ReturnType<typeof hashTools>} tools
 * @param {'read' | 'search' | 'apply'} name
 * @param {object} args
 */
async function called(tools, name, args) {
  const answer = await tools[name].execute(args)
  if (answer.isError) throw new Error(answer.text)
  return [JSON.stringify(args), answer.text]
}

/** The anchor of a line in what was shown. @param {string} shown @param {number} line */
function anchorIn(shown, line) {
  const row = shown.split('\n').find((row) => row.startsWith(`${line}:`))
  if (row === undefined) throw new Error(`line ${line} is not shown`)
  return row.slice(0, row.indexOf('|'))
}

/** The search, which both do. @param {Body} body */
function hit({ path, lines, first }) {
  const head = lines[first - 1]
  const pattern = head.slice(0, head.indexOf('('))
  return { args: { pattern, literal: true, paths: [path] }, plain: `${path}:${first}:${head}` }
}

/** @type {(body: Body, tools: ReturnType<typeof hashTools>) => Promise<string[]>} */
async function moveByAnchors(body, tools) {
  const search = await called(tools, 'search', hit(body).args)
  const anchor = anchorIn(search[1], body.first)
  const { path } = body
  const move = { op: 'move_lines', path, anchor, block: true, to: otherOf(body), to_anchor: 'EOF' }
  return [...search, ...(await called(tools, 'apply', { operations: [move] }))]
}

/** @param {Body} body */
function moveByText(body) {
  const { args, plain } = hit(body)
  const { path, lines, first, last } = body
  const text = lines.slice(first - 1, last)
  const oldText = text.join('\n')
  return [
    JSON.stringify(args),
    plain,
    JSON.stringify({ path, offset: first, limit: text.length }),
    numbered(text, first),
    JSON.stringify({ path: otherOf(body) }),
    numbered(END, 1),
    JSON.stringify({ path, edits: [{ old_text: oldText, new_text: '' }] }),
    EXACT_ANSWER,
    JSON.stringify({
      path: otherOf(body),
      edits: [{ old_text: END.join('\n'), new_text: [...END, '', ...text].join('\n') }],
    }),
    EXACT_ANSWER,
  ]
}

/** @type {(body: Body, tools: ReturnType<typeof hashTools>) => Promise<string[]>} */
async function changeByAnchors({ path, first, last }, tools) {
  const folded = await called(tools, 'read', { path, fold: true })
  const window = { path, start_line: first, max_lines: last - first + 1 }
  const read = await called(tools, 'read', window)
  const anchor = anchorIn(read[1], first)
  const insert = { op: 'insert_after', path, anchor, text: ADDED }
  return [...folded, ...read, ...(await called(tools, 'apply', { operations: [insert] }))]
}

/** @param {Body} body */
function changeByText({ path, lines, first }) {
  const head = lines[first - 1]
  return [
    JSON.stringify({ path }),
    numbered(lines, 1),
    JSON.stringify({ path, edits: [{ old_text: head, new_text: `${head}\n${ADDED}` }] }),
    EXACT_ANSWER,
  ]
}
