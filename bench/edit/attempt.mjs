// One attempt of a model at one task by one scheme: the loop that is the same for all schemes, and
// what is counted of it.

import { EndpointError } from './endpoint.mjs'
import { placeFor } from './task.mjs'

/** @import { Ask } from './endpoint.mjs' */
/** @import { Scheme, Tool } from './schemes.mjs' */
/** @import { Place, Task } from './task.mjs' */
/** @import { Call, Usage, Wire } from './wire.mjs' */

export const MAX_ROUNDS = 6

/**
 * @typedef {object} Round one request
 * @property {any} answer the body of the answer as it came
 * @property {Call[]} calls
 * @property {{ text: string, isError: boolean }[]} results of its calls, in their order
 */
/**
 * @typedef {object} Outcome
 * @property {'done' | 'rounds' | 'refused'} ending the model said that it is done; there were no more
 *   rounds; the endpoint refused to go on
 * @property {boolean} solved
 * @property {boolean} first whether it was solved in the first round that did anything but read
 * @property {boolean} wrong whether the model said that it is done, and a wrong file is left
 * @property {number} rounds requests that were answered
 * @property {number} refusals calls that came to nothing
 * @property {Usage} usage
 */
/** @typedef {Outcome & { log: Round[] }} Attempt */

const FRAME = `You change files of a project with the tools that you have.
Make exactly the change that you are asked for. Leave every other character of the files as it is, also white space and what looks wrong: the result is compared byte for byte.
The files may be changed by others while you work. Keep what they do.
When the change is made, answer "Done." without calling a tool. You have at most ${MAX_ROUNDS} turns.`

/** The system prompt: one frame, and the rules of the tools. @param {Tool[]} tools */
export function systemFor(tools) {
  const rules = tools.flatMap(({ guidelines }) => guidelines).map((rule) => `- ${rule}`)
  return [FRAME, ...(rules.length > 0 ? ['', ...rules] : [])].join('\n')
}

/**
 * @param {{ task: Task, scheme: Scheme, wire: Wire, ask: Ask }} what
 * @returns {Promise<Attempt>}
 */
export async function attempt({ task, scheme, wire, ask }) {
  return within(task, scheme, async (place, tools) => {
    const system = systemFor(tools)
    const messages = wire.first(task.instruction)
    const watch = watchOver(place, tools)
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const asked = await askedOr(ask({ system, messages, tools }), round)
      if (asked === undefined) return watch.end('refused')
      const { raw, answer } = asked
      const results = await watch.round(raw, answer.calls, answer.usage)
      if (results.length === 0) return watch.end('done')
      messages.push(...wire.next(raw, results))
    }
    return watch.end('rounds')
  })
}

/**
 * An endpoint that refuses what a model made of a conversation ends the attempt. What it refuses at
 * once is no fault of the model.
 * @param {ReturnType<Ask>} asking
 * @param {number} round
 */
async function askedOr(asking, round) {
  try {
    return await asking
  } catch (error) {
    const isModels =
      error instanceof EndpointError && round > 1 && [400, 413, 422].includes(error.status ?? 0)
    if (isModels) return undefined
    throw error
  }
}

/**
 * @template T
 * @param {Task} task
 * @param {Scheme} scheme
 * @param {(place: Place, tools: Tool[]) => Promise<T>} work
 */
export async function within(task, scheme, work) {
  const place = placeFor(task)
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
 * Carries out calls and counts what comes of them.
 * @param {Place} place
 * @param {Tool[]} tools
 */
export function watchOver(place, tools) {
  /** @type {Round[]} */
  const log = []
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  let refusals = 0
  /** @type {boolean | undefined} */
  let first
  return {
    /** @param {any} answer @param {Call[]} calls @param {Usage} used */
    async round(answer, calls, used) {
      for (const name of /** @type {(keyof Usage)[]} */ (Object.keys(usage)))
        usage[name] += used[name]
      const results = []
      // One after the other: a model means its calls in this order.
      for (const call of calls) results.push(await carriedOut(call, tools, place))
      refusals += results.filter(({ isError }) => isError).length
      log.push({ answer, calls, results: results.map(({ text, isError }) => ({ text, isError })) })
      if (calls.some(({ name }) => !isRead(name, tools))) first ??= place.isWanted()
      return results
    },
    /** @param {Outcome['ending']} ending @returns {Attempt} */
    end(ending) {
      const solved = place.isWanted()
      const wrong = ending === 'done' && !solved && !place.isUntouched()
      const counts = { rounds: log.length, refusals, usage }
      return { ending, solved, first: solved && first === true, wrong, ...counts, log }
    },
  }
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
  // What others do happens between the model's reads and its edit.
  if (tool.edits) place.move()
  const { text, isError } = await tool.execute(args)
  return { id, text, isError }
}
