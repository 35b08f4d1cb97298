// One attempt of a model at one task with one scheme: the loop, which is the same for all schemes,
// and its counts.

import { addUsage, EndpointError, noUsage } from './endpoint.mjs'
import { placeFor } from './task.mjs'

/** @import { Ask, Request, Spent, Usage } from './endpoint.mjs' */
/** @import { Scheme, Tool } from './schemes.mjs' */
/** @import { Place, Task } from './task.mjs' */
/** @import { Call, Wire } from './wire.mjs' */

export const MAX_ROUNDS = 6

/**
 * @typedef {object} Round one request
 * @property {any} answer the body of the answer, unchanged
 * @property {Call[]} calls
 * @property {boolean} isCut whether it was truncated, so that the last call is incomplete
 * @property {{ text: string, isError: boolean }[]} results of its calls, in their order
 */
/**
 * The model said that it is done; its last answer was truncated at the token limit without a
 * complete call; the rounds were used up; the endpoint refused to continue.
 * @typedef {'done' | 'cut' | 'rounds' | 'refused'} Ending
 *
 * @typedef {object} Outcome
 * @property {Ending} ending
 * @property {boolean} solved
 * @property {boolean} first whether it was solved in the first attempt: with at most one round per
 * file that did anything but read, of which only the last may have had a refusal
 * @property {boolean} touched whether it is not solved, and left a changed file
 * @property {boolean} wrong as `touched`, and the model said that it is done
 * @property {number} rounds requests that were answered
 * @property {number} refusals calls that had no effect
 * @property {number} byAnchor applied operations that name lines by anchors
 * @property {number} byText applied operations that name exact text, if a scheme has both
 * @property {Usage} usage
 */
/**
 * @typedef {Outcome & { log: Round[], lostMs: number }} Attempt `lostMs`: the time of failed
 * requests and the waits after them
 */

const FRAME = `You change files of a project with the tools that you have.
Make exactly the change that you are asked for. Leave every other character of the files as it is, also white space and what looks wrong: the result is compared byte for byte.
The files may be changed by others while you work. Keep what they do.
When the change is made, answer "Done." without calling a tool. You have at most ${MAX_ROUNDS} turns.`

/** The system prompt: one frame, and the rules of the tools. @param {Tool[]} tools */
export function systemFor(tools) {
  const rules = tools.flatMap(({ guidelines }) => guidelines).map((rule) => `- ${rule}`)
  return [FRAME, ...(rules.length > 0 ? ['', ...rules] : [])].join('\n')
}

/** The result of a call in a truncated answer, whose arguments may be incomplete. */
const CUT_CALL =
  'Nothing was written. The answer was cut at the limit of its length before this call was whole: write a shorter one.'

/**
 * @param {{ task: Task, scheme: Scheme, wire: Wire, ask: Ask, places?: string }} what `places`: the
 * parent of the attempt's directory
 * @returns {Promise<Attempt>}
 */
export async function attempt({ task, scheme, wire, ask, places }) {
  return within({ task, scheme, places }, async (place, tools) => {
    const system = systemFor(tools)
    const messages = wire.first(task.instruction)
    const watch = watchOver(place, tools)
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const asked = await askedOr({ system, messages, tools }, wire, ask)
      watch.spend(asked)
      if (asked instanceof EndpointError) return watch.end('refused')
      const { calls, stop } = asked.answer
      const results = await watch.round(asked.raw, calls, stop === 'cut')
      if (results.length === 0) return watch.end(stop === 'whole' ? 'done' : stop)
      messages.push(...wire.next(asked.raw, results))
    }
    return watch.end('rounds')
  })
}

/** A question that every working endpoint can answer. */
const QUESTION = 'Answer "Done." without calling a tool.'
const TRIES_OF_QUESTION = 3

/**
 * A request that keeps failing ends the attempt, if the endpoint still answers others: then this
 * conversation is the cause. Otherwise it ends the run, because all attempts would fail.
 * @param {Request} request
 * @param {Wire} wire
 * @param {Ask} ask
 */
async function askedOr(request, wire, ask) {
  try {
    return await ask(request)
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    const question = { ...request, messages: wire.first(QUESTION) }
    const { usage } = await ask(question, TRIES_OF_QUESTION).catch((other) => {
      throw other instanceof EndpointError ? error : other
    })
    addUsage(error.spent.usage, usage)
    return error
  }
}

/**
 * @template T
 * @param {{ task: Task, scheme: Scheme, places?: string }} what
 * @param {(place: Place, tools: Tool[]) => Promise<T>} work
 */
export async function within({ task, scheme, places }, work) {
  const place = placeFor(task, places)
  try {
    const { tools, close } = scheme.open(place)
    try {
      return await work(place, tools)
    } finally {
      close()
    }
  } finally {
    place.remove()
  }
}

/**
 * Runs calls and counts their results.
 * @param {Place} place
 * @param {Tool[]} tools
 */
export function watchOver(place, tools) {
  /** @type {Round[]} */
  const log = []
  const usage = noUsage()
  let lostMs = 0
  let refusals = 0
  const operations = { byAnchor: 0, byText: 0 }
  let first = false
  /** Rounds that still count as the first attempt: some tools change one file per call. */
  let triesLeft = place.files
  return {
    /**
     * Adds the usage of a request, whether it was answered or not.
     * @param {Spent | { spent: Spent }} what
     */
    spend(what) {
      const spent = 'spent' in what ? what.spent : what
      addUsage(usage, spent.usage)
      lostMs += spent.lostMs
    },
    /**
     * @param {any} answer
     * @param {Call[]} calls
     * @param {boolean} isCut whether the last call is incomplete
     */
    async round(answer, calls, isCut) {
      const results = []
      const whole = isCut ? calls.slice(0, -1) : calls
      // In sequence: a model intends its calls in this order.
      for (const call of whole) results.push(await carriedOut(call, tools, place))
      for (const { id } of calls.slice(whole.length)) {
        results.push({ id, text: CUT_CALL, isError: true })
      }
      const refused = results.filter(({ isError }) => isError).length
      refusals += refused
      const shown = results.map(({ text, isError }) => ({ text, isError }))
      log.push({ answer, calls, isCut, results: shown })
      for (const [at, call] of calls.entries()) {
        if (!results[at].isError) addOperations(operations, call, tools)
      }
      if (triesLeft > 0 && calls.some(({ name }) => !isRead(name, tools))) {
        first = await place.isWanted()
        triesLeft = first || refused > 0 ? 0 : triesLeft - 1
      }
      return results
    },
    /** @param {Outcome['ending']} ending @returns {Promise<Attempt>} */
    async end(ending) {
      const solved = await place.isWanted()
      const touched = !solved && !(await place.isUntouched())
      const wrong = touched && ending === 'done'
      const counts = { rounds: log.length, refusals, ...operations, usage }
      return {
        ending,
        solved,
        first: solved && first,
        touched,
        wrong,
        ...counts,
        log,
        lostMs,
      }
    },
  }
}

/**
 * @param {{ byAnchor: number, byText: number }} sum
 * @param {Call} call
 * @param {Tool[]} tools
 */
function addOperations(sum, { name, args }, tools) {
  const more = tools.find((tool) => tool.name === name)?.countOf?.(args)
  sum.byAnchor += more?.byAnchor ?? 0
  sum.byText += more?.byText ?? 0
}

/** @param {string} name @param {Tool[]} tools */
const isRead = (name, tools) => tools.some((tool) => tool.name === name && !tool.edits)

/** @param {Call} call @param {Tool[]} tools @param {Place} place */
async function carriedOut({ id, name, args }, tools, place) {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) {
    const there = tools.map((one) => one.name).join(', ')
    const text = `There is no tool ${JSON.stringify(name)}. The tools are: ${there}.`
    return { id, text, isError: true }
  }
  // Changes of others take place between the model's reads and its edit.
  if (tool.edits) place.move()
  const { text, isError } = await tool.execute(args)
  return { id, text, isError }
}
