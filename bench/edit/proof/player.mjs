// A server on loopback with a scripted model that makes known mistakes, so that the figures of the
// benchmark can be checked. Its answers depend only on the request.

import { call, startModelServer } from '../../../scripts/modelServer.mjs'
import { randomFrom } from '../history/random.mjs'
import { edited, startOf } from '../history/text.mjs'
import { isMoving } from '../task.mjs'
import { editsOf, linesOf, WRITERS } from './edits.mjs'
import { SLIPS } from './slips.mjs'

/** @import { Answer, HttpError, Turn } from '../../../scripts/modelServer.mjs' */
/** @import { Edit } from '../history/text.mjs' */
/** @import { Task, TaskFile } from '../task.mjs' */

/**
 * @typedef {Record<string, number>} Rates the fraction of attempts with each mistake
 *
 * @typedef {object} Played the expected counts for one task with one scheme
 * @property {string} mistake
 * @property {number} requests that were answered
 * @property {number} input tokens
 * @property {number} output
 */

/** The tool that identifies a scheme. @type {Record<string, string>} */
const EDIT_TOOLS = { edit: 'exact', apply_diff: 'diff', apply: 'hashline' }
const LINES_AROUND = 20

/**
 * @param {Task[]} tasks
 * @param {{ rates?: Rates, failureRate?: number, onAnswer?: (count: number) => void }} [options]
 * `failureRate`: the fraction of requests that fail once, temporarily
 */
export async function startPlayer(tasks, { rates = {}, failureRate = 0, onAnswer } = {}) {
  /** @type {Map<string, Played>} */
  const played = new Map()
  /** @type {Set<string>} */
  const troubled = new Set()
  const byInstruction = new Map(tasks.map((task) => [task.instruction, task]))
  let count = 0
  const server = await startModelServer((turn) => {
    const task = byInstruction.get(promptOf(turn))
    if (task === undefined) return { status: 400, message: 'no such task' }
    const scheme = schemeOf(turn)
    const key = `${task.id} ${scheme}`
    const round = turn.body.messages.filter(isAnswer).length
    const draw = randomFrom(key, `trouble ${round}`)
    const isTroubled = draw.next() < failureRate && !troubled.has(`${key} ${round}`)
    troubled.add(`${key} ${round}`)
    if (isTroubled) return failureOf(draw.below(2))
    const mistake = slipOf(task, scheme, rates)
    const answer = answerOf({ task, scheme, mistake, round, turn })
    const usage = { input: inputOf(turn), output: 20 + round }
    const before = played.get(key) ?? { mistake, requests: 0, input: 0, output: 0 }
    played.set(key, {
      mistake,
      requests: before.requests + 1,
      input: before.input + usage.input,
      output: before.output + usage.output,
    })
    onAnswer?.(++count)
    return { ...answer, usage }
  })
  return { ...server, played }
}

/**
 * Runs `body` with the scripted model, and stops it afterwards.
 * @template T
 * @param {Task[]} tasks
 * @param {Parameters<typeof startPlayer>[1]} options
 * @param {(player: Awaited<ReturnType<typeof startPlayer>>) => Promise<T>} body
 */
export async function withPlayer(tasks, options, body) {
  const player = await startPlayer(tasks, options)
  try {
    return await body(player)
  } finally {
    player.close()
  }
}

/**
 * The approximate number of tokens. Ids of calls are not counted: they differ from run to run.
 * @param {Turn} turn
 */
const inputOf = ({ body }) =>
  Math.ceil(JSON.stringify(body).replace(/"(?:call|toolu)_\d+"/g, '').length / 4)

/** The first message of the user. @param {Turn} turn */
function promptOf({ body }) {
  const { content } = body.messages.find((/** @type {any} */ { role }) => role === 'user')
  return typeof content === 'string' ? content : content[0].text
}

/** @param {any} message */
const isAnswer = ({ role }) => role === 'assistant'

/** @param {Turn} turn */
function schemeOf({ tools }) {
  const found = tools.map(({ name }) => EDIT_TOOLS[name]).find((name) => name !== undefined)
  if (found === undefined) throw new Error(`no tool edits: ${tools.map(({ name }) => name)}`)
  return found
}

/** @param {number} kind @returns {HttpError} */
const failureOf = (kind) =>
  kind === 0
    ? { status: 429, message: 'too many requests' }
    : { status: 503, message: 'try again later' }

/**
 * The mistake that is drawn for a task, if the scheme has it and the edits allow it.
 * @param {Task} task
 * @param {string} scheme
 * @param {Rates} rates
 */
export function slipOf(task, scheme, rates) {
  let left = randomFrom(task.id, `slip ${scheme}`).next()
  for (const [name, rate] of Object.entries(rates)) {
    left -= rate
    if (left >= 0) continue
    const { schemes, needs } = SLIPS[name]
    const isFit = schemes.includes(scheme) && (needs?.(task) ?? true)
    return isFit ? name : 'none'
  }
  return 'none'
}

/**
 * @param {{ task: Task, scheme: string, mistake: string, round: number, turn: Turn }} what
 * @returns {Answer}
 */
function answerOf({ task, scheme, mistake, round, turn }) {
  const right = () => ({ calls: WRITERS[scheme](task) })
  const reads = readsOf(task)
  const slipped = SLIPS[mistake].plays?.({ task, scheme, round, right, reads })
  if (slipped !== undefined) return slipped
  if (round === 0) return reads
  if (round === 1) return right()
  if (turn.results.some((text) => text.startsWith('There is no tool'))) return right()
  const isRefused = turn.results.some((text) => text.startsWith('Nothing was written'))
  // If others have changed the file, it is read again and edited there.
  if (isRefused) return isMoving(task) ? readsOf(moved(task)) : right()
  return hasRead(turn) ? { calls: WRITERS[scheme](moved(task)) } : { text: 'Done.' }
}

/** Whether the last answer of the model was a read. @param {Turn} turn */
function hasRead({ body }) {
  const said = JSON.stringify(body.messages.findLast(isAnswer))
  return said.includes('"name":"read"')
}

/** The task after others have changed its files. @param {Task} task @returns {Task} */
const moved = (task) => ({ ...task, files: task.files.map(movedFile) })

/** @param {TaskFile} file @returns {TaskFile} */
function movedFile(file) {
  const { path, before, changed = before, wanted, edits } = file
  const [old, now, then] = [before, changed, wanted].map((text) =>
    linesOf({ ...file, before: text }),
  )
  const { start, end } = difference(old, now)
  // An insertion by others shifts the lines below it; for other changes, the whole range is edited.
  const isInsertion = end === start
  const own = isInsertion ? edits.map((edit) => shifted(edit, start, now.length - old.length)) : []
  const isRight = isInsertion && edited(now, own).join('\n') === then.join('\n')
  return { path, before: changed, wanted, edits: isRight ? own : [wholeEdit(now, then)] }
}

/**
 * The range where texts differ: from `start`, up to `end` of the old one.
 * @param {string[]} old
 * @param {string[]} now
 */
function difference(old, now) {
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let common = 0
  while (common < most - start && old.at(-1 - common) === now.at(-1 - common)) common++
  return { start, end: old.length - common, common }
}

/** @param {Edit} edit @param {number} from @param {number} by @returns {Edit} */
function shifted(edit, from, by) {
  if (startOf(edit) < from) return edit
  if ('after' in edit) return { ...edit, after: edit.after + by }
  return { ...edit, first: edit.first + by, last: edit.last + by }
}

/** @param {string[]} now @param {string[]} then @returns {Edit} */
function wholeEdit(now, then) {
  const { start, end, common } = difference(now, then)
  const lines = then.slice(start, then.length - common)
  return end === start ? { after: start, lines } : { first: start + 1, last: end, lines }
}

/** Reads of the lines around each edit. @param {Task} task @returns {Answer} */
function readsOf({ files }) {
  const calls = files.flatMap((file) =>
    editsOf(file).flatMap((edit) => {
      const [first, last] = 'after' in edit ? [edit.after, edit.after] : [edit.first, edit.last]
      const start = Math.max(1, first - LINES_AROUND)
      const window = { start_line: start, max_lines: last - start + 1 + LINES_AROUND }
      return call('read', { path: file.path, ...window }).calls
    }),
  )
  return { calls }
}
