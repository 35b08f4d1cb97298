// Parses the command line and the environment.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isObject, readJson } from './json.mjs'
import { DEFAULT_SCHEMES } from './schemes.mjs'
import { WIRES, wireNameOf } from './wire.mjs'

/** @import { Price } from './figures.mjs' */
/** @import { Wire } from './wire.mjs' */

/** An error that the user has to fix. */
export class Usage extends Error {}

/** The maximum for a request. */
const MAX_SECONDS = 86_400

/** The default number of tasks of the fixed set. */
export const DEFAULT_TASKS = 20

export const HELP = `hashline-bench: with which scheme does a model edit best?

  hashline-bench --model NAME --base-url URL [options]   measures, or continues a run
  hashline-bench tasks REPOSITORY… --out FILE            creates tasks from git histories
  hashline-bench report DIR [--prices FILE]              writes the report of a run again
  hashline-bench export DIR --out FILE                   writes the figures without any text, to submit
  hashline-bench replay DIR --engine FOLDER              replays recorded calls with another engine

Options of a measurement:
  --model NAME         the name for the endpoint
  --base-url URL       https://api.anthropic.com, http://localhost:8000/v1 …
  --api NAME           openai or anthropic; by default derived from the URL
  --key-env NAME       the variable with the key; for api.openai.com and api.anthropic.com it is
                       OPENAI_API_KEY and ANTHROPIC_API_KEY, for other hosts there is none
  --schemes LIST       exact, diff, hashline, hashline-DIALECT (${DEFAULT_SCHEMES})
  --tasks N            tasks of the fixed set (${DEFAULT_TASKS})
  --task-file FILE     tasks that \`hashline-bench tasks\` has created, instead
  --languages LIST     only these, such as Rust,Python
  --runs N             runs of each task (1)
  --budget TOKENS      stops after this number of tokens, read and written (1000000)
  --parallel N         attempts at a time (4)
  --out DIR            the directory of the run (hashline-bench-MODEL)
  --prices FILE        {"NAME": {"input": 3, "output": 15, "cache_read": 0.3}}: dollars per million tokens
  --max-output N       the most tokens of an answer (8192)
  --extra JSON         more fields of each request, such as {"temperature": 0}
  --timeout SECONDS    the timeout of a request (300)
  --engine FOLDER      another version of the package hashline-native

Options of tasks:
  --count N (60), --seed TEXT (1), --commits N: the newest (5000), --languages LIST
`

const OPTIONS = /** @type {const} */ ({
  model: { type: 'string' },
  'base-url': { type: 'string' },
  api: { type: 'string' },
  'key-env': { type: 'string' },
  schemes: { type: 'string', default: DEFAULT_SCHEMES },
  tasks: { type: 'string' },
  'task-file': { type: 'string' },
  languages: { type: 'string' },
  runs: { type: 'string', default: '1' },
  budget: { type: 'string', default: '1000000' },
  parallel: { type: 'string', default: '4' },
  out: { type: 'string' },
  prices: { type: 'string' },
  'max-output': { type: 'string', default: '8192' },
  extra: { type: 'string', default: '{}' },
  timeout: { type: 'string', default: '300' },
  engine: { type: 'string' },
  count: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  commits: { type: 'string', default: '5000' },
  help: { type: 'boolean', short: 'h', default: false },
})

/** @param {string[]} argv */
export function argumentsOf(argv) {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new Usage(
      `${/** @type {Error} */ (error).message}\nRun hashline-bench --help for a list.`,
    )
  }
}

/** @typedef {ReturnType<typeof argumentsOf>['values']} Values */

/**
 * A positive integer.
 * @param {Values} values
 * @param {'tasks' | 'runs' | 'budget' | 'parallel' | 'max-output' | 'timeout' | 'count' | 'commits'} name
 */
export function numberOf(values, name) {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Usage(`--${name} is ${values[name]}: expected a whole number from 1.`)
}

/** @param {Values} values @param {'model' | 'base-url' | 'out' | 'engine'} name */
export function required(values, name) {
  const value = values[name]
  if (value) return value
  throw new Usage(`--${name} is missing. Run hashline-bench --help for a list.`)
}

/** The endpoint and the model. @param {Values} values */
export function endpointOf(values) {
  const model = required(values, 'model')
  const url = addressOf(required(values, 'base-url'))
  const baseUrl = url.href
  const api = values.api ?? wireNameOf(baseUrl)
  if (!Object.hasOwn(WIRES, api)) {
    throw new Usage(`--api is ${api}: expected ${Object.keys(WIRES).join(' or ')}.`)
  }
  const wire = WIRES[api]
  const key = keyFor(url, wire, values)
  const [limit, seconds] = [numberOf(values, 'max-output'), numberOf(values, 'timeout')]
  if (seconds > MAX_SECONDS) {
    throw new Usage(`--timeout is ${seconds}: expected at most ${MAX_SECONDS}, which is a day.`)
  }
  return {
    model,
    baseUrl,
    api,
    wire,
    key,
    limit,
    timeoutMs: seconds * 1000,
    extra: extraOf(values),
  }
}

/** @param {string} text */
function addressOf(text) {
  const problem = `--base-url is ${text}: use an address such as http://localhost:8000/v1`
  /** @type {URL} */
  let url
  try {
    url = new URL(text)
  } catch {
    throw new Usage(`${problem}.`)
  }
  if (!['http:', 'https:'].includes(url.protocol)) throw new Usage(`${problem}.`)
  if (url.username || url.password) {
    throw new Usage('--base-url contains a name or a password. Use --key-env for a key.')
  }
  return url
}

/**
 * A vendor's key is sent only to the vendor. For any other host the user names a key.
 * @param {URL} url
 * @param {Wire} wire
 * @param {Values} values
 */
function keyFor({ protocol, hostname }, wire, values) {
  const named = values['key-env']
  const name = named ?? wire.key
  const key = process.env[name] ?? ''
  if (named !== undefined && key === '') throw new Usage(`${named} is not set.`)
  if (named !== undefined || (protocol === 'https:' && hostname === wire.host)) {
    // The key is not shown: only the error.
    if (/[^\x21-\x7e]/.test(key)) throw new Usage(`${name} has a character that no key has.`)
    return key
  }
  if (key !== '') {
    console.error(`${wire.key} is not sent to ${hostname}: --key-env names what is.`)
  }
  return ''
}

/** @param {Values} values @returns {Record<string, unknown>} */
function extraOf({ extra }) {
  const value = jsonOf(extra, '--extra')
  if (isObject(value)) return value
  throw new Usage(`--extra is ${extra}: expected an object.`)
}

/** @param {string} text @param {string} where */
function jsonOf(text, where) {
  const { value, why } = readJson(text)
  if (why !== undefined) throw new Usage(`${where} is not JSON: ${why}`)
  return value
}

/** @param {Values} values @param {string} model @returns {Price | undefined} */
export function priceOf({ prices }, model) {
  if (prices === undefined) return undefined
  if (!existsSync(prices)) throw new Usage(`--prices: there is no file ${prices}.`)
  const table = jsonOf(readFileSync(prices, 'utf8'), prices)
  const price = isObject(table) && Object.hasOwn(table, model) ? table[model] : undefined
  if (!isObject(price) || price.input === undefined || price.output === undefined) {
    throw new Usage(`${prices} has no "input" and "output" for ${model}.`)
  }
  for (const name of ['input', 'output', 'cache_read', 'cache_write']) {
    const dollars = price[name]
    const isFit = dollars === undefined || (Number.isFinite(dollars) && Number(dollars) >= 0)
    if (!isFit) throw new Usage(`${prices}: ${name} of ${model} is not a number of at least 0.`)
  }
  return /** @type {any} */ (price)
}

/** @param {Values} values */
export function outOf(values) {
  const name = required(values, 'model').replace(/[^\w.-]+/g, '-')
  return resolve(values.out ?? `hashline-bench-${name}`)
}
