// The interfaces of options and requests in `index.d.ts` match the addon: calls with invalid values
// reveal the names that it knows and the types that it expects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import {
  applyHash,
  applyHashToText,
  applyJson,
  checkCommand,
  formatHashed,
  HashSession,
  hashLines,
  readHashed,
  readJson,
  recoverTransactions,
  searchHashed,
} from 'hashline-native'
import { compile } from './compile.mjs'
import { isEmulated, UNUSED_STATE, withMess } from './support.mjs'

const session = new HashSession({ stateDir: UNUSED_STATE })

/**
 * The calls that take an object of each interface, as the last argument.
 * @type {Record<string, ((value: any) => unknown)[]>}
 */
const CALLS = {
  FormatOptions: [(value) => formatHashed('', value), (value) => hashLines('', value)],
  EditOptions: [(value) => applyHashToText('', [], value)],
  ReadOptions: [(value) => readHashed([], value), (value) => readJson('a', value)],
  SearchOptions: [(value) => searchHashed({ search: 'a' }, value)],
  ApplyOptions: [
    (value) => applyHash({ operations: [] }, value),
    (value) => applyJson({ operations: [] }, value),
  ],
  RecoverOptions: [(value) => recoverTransactions(value)],
  ReadRequest: [(value) => readHashed(value), (value) => session.read(value)],
  JsonRequest: [(value) => readJson(value)],
  SearchQuery: [(value) => searchHashed(value), (value) => session.search(value)],
  CommandPolicy: [(value) => checkCommand('', value)],
  CommandRules: [(value) => checkCommand('', { rules: value })],
  CommandTools: [(value) => checkCommand('', { tools: value })],
  HashSessionOptions: [(value) => new HashSession(value)],
  HashSessionLimits: [(value) => new HashSession({ limits: value })],
  HashSessionMemory: [(value) => new HashSession({ memory: value })],
  HashSessionStore: [(value) => new HashSession({ store: value })],
  SessionReadOptions: [
    (value) => session.read([], value),
    (value) => session.search({ search: 'a' }, value),
  ],
  AnnotateOptions: [(value) => session.annotate('', value)],
  SessionApplyOptions: [(value) => session.apply({ operations: [] }, value)],
}

/** The types for the expectations in messages. Interfaces of nested objects are added. */
const TYPES = new Map([
  ['true or false', 'boolean'],
  ['a string', 'string'],
  ['a directory, or false', 'string | false'],
  ['a string or an array of strings', 'string | readonly string[]'],
  ['an array of two whole numbers', 'readonly [from: number, to: number]'],
  ['the name of a dialect', 'api.Dialect'],
  ['an AbortSignal', 'AbortSignal'],
  ['true, false or a number of lines', 'boolean | number'],
  [
    'true, false, or an object with true or false per rule',
    'boolean | Partial<Record<api.RepairRule, boolean>>',
  ],
])

/** @param {string} expected */
function typeOf(expected) {
  const type = TYPES.get(expected)
  if (type) return type
  if (expected.startsWith('a whole number from ')) return 'number'
  assert.match(expected, /^one of "/)
  return expected.slice('one of '.length).replaceAll(', ', ' | ')
}

/**
 * The error of a call with an invalid value.
 * @param {(value: any) => unknown} call
 * @param {unknown} value
 */
async function refusal(call, value) {
  try {
    await call(value)
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
  return undefined
}

/**
 * The property names that a call knows.
 * @param {(value: any) => unknown} call
 */
async function namesOf(call) {
  const message = await refusal(call, { '?': 0 })
  const list = /has the unknown name "\?": the known ones are (.+)$/.exec(message ?? '')
  assert.ok(list, message)
  return list[1].split(', ')
}

/** Required properties, without which some calls check no others. */
const NEEDED = { path: 'a', search: 'a', id: 'a' }

/**
 * The expected type of a property.
 * @param {(value: any) => unknown} call
 * @param {string} name
 * @param {string[]} names
 */
async function expectedOf(call, name, names) {
  const needs = (await refusal(call, {})) !== undefined
  const others = Object.entries(NEEDED).filter(([other]) => needs && names.includes(other))
  const given = { ...Object.fromEntries(others), [name]: Symbol('none') }
  const message = (await refusal(call, given)) ?? ''
  const expected = new RegExp(`\\.${name} is a symbol: expected (.+)$`).exec(message)?.[1]
  assert.ok(expected, name)
  return expected
}

/**
 * The type of the objects that a call accepts, in TypeScript.
 * @param {(value: any) => unknown} call
 */
async function taken(call) {
  const missing = /\.(\w+) is undefined/.exec((await refusal(call, {})) ?? '')
  const names = await namesOf(call)
  const properties = names.map(async (name) => {
    const mark = missing?.[1] === name ? '' : '?'
    const quoted = /^\w+$/.test(name) ? name : `'${name}'`
    return `${quoted}${mark}: ${typeOf(await expectedOf(call, name, names))}`
  })
  return `{ ${(await Promise.all(properties)).join('; ')} }`
}

/** Types that decide whether two others are equal, name by name. */
const SAME = [
  'type Flat<T> = { [Name in keyof T]: T[Name] }',
  // The function types are written out: for an alias, the compiler compares only the arguments.
  'type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false',
  'type Same<A, B> = Is<Flat<A>, Flat<B>>',
]

/** @param {string} name @param {string} type @param {number} [index] */
const compared = (name, type, index = 0) =>
  `export const same${name}${index}: Same<api.${name}, ${type}> = true`

test('the declarations of options and requests match the addon', async (t) => {
  if (isEmulated) return t.skip('the compiler does not run in an emulator')
  for (const name of [
    'HashSessionLimits',
    'HashSessionMemory',
    'HashSessionStore',
    'CommandRules',
    'CommandTools',
  ])
    TYPES.set(`an object with ${(await namesOf(CALLS[name][0])).join(', ')}`, `api.${name}`)
  /** @type {string[]} */
  const lines = []
  for (const [name, calls] of Object.entries(CALLS)) {
    for (const [index, call] of calls.entries()) {
      lines.push(compared(name, await taken(call), index))
    }
  }
  // Tests the comparison: one name too few or too many, an unknown option, another type.
  const tools = '{ read?: string; search?: string'
  lines.push(compared('CommandTools', `${tools}; edit?: string }`, 1))
  for (const other of ['', '; edit: string', '; edit?: number', '; edit?: string; x?: string']) {
    lines.push('// @ts-expect-error', compared('CommandTools', `${tools}${other} }`, lines.length))
  }
  await withMess({}, (dir) => assert.equal(compile(dir, [...SAME, ...lines]), ''))
})

test('errors have the place, the value and the expected type', async () => {
  const whole = 'expected a whole number from 0 to'
  /** @type {[(value: any) => unknown, unknown, string][]} */
  const cases = [
    [
      readHashed,
      { path: 'a', columns: [1, 'x'] },
      `requests.columns[1] is the string "x": ${whole}`,
    ],
    [
      readHashed,
      { path: 'a', columns: [1] },
      'requests.columns is an array: expected an array of two',
    ],
    [readHashed, { path: 'a', fold: 1.5 }, `requests.fold is the number 1.5: ${whole}`],
    [readHashed, [{ path: null }], 'requests[0].path is null: expected a string'],
    [
      (rules) => checkCommand('', { rules }),
      { 'in-place': 1 },
      'policy.rules.in-place is the number 1',
    ],
    [
      (roots) => checkCommand('', { roots }),
      ['a', 1],
      'policy.roots[1] is the number 1: expected a',
    ],
    [
      (limits) => new HashSession({ limits }),
      { maxLines: -1 },
      'options.limits.maxLines is the numb',
    ],
    [
      (repairs) => applyHashToText('', [], { repairs }),
      { echoes: null },
      'options.repairs["echoes"] is',
    ],
  ]
  for (const [call, value, start] of cases) {
    const message = await refusal(call, value)
    assert.ok(message?.startsWith(start), message)
  }
})

test('regression: a missing value is read once, and reported as it was', async () => {
  let reads = 0
  const once = {
    get path() {
      reads += 1
      return reads === 1 ? undefined : 'a'
    },
  }
  assert.equal(await refusal(readHashed, once), 'requests.path is undefined: expected a string')
  assert.equal(reads, 1)
  const store = (/** @type {any} */ value) => new HashSession({ store: value })
  const missing = 'options.store.id is'
  assert.equal(await refusal(store, { id: null }), `${missing} null: expected a string`)
  assert.equal(await refusal(store, {}), `${missing} undefined: expected a string`)
})

test('of several errors, the first in declaration order is reported', async () => {
  const message = await refusal(readHashed, { maxLines: -1, startLine: 'a', path: 'a' })
  assert.match(message ?? '', /^requests\.startLine is the string "a": expected a whole number/)
})

test('regression: functions that scripts replace during a call are not cached', async () => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { formatHashed } = require(workerData)
    const { keys } = Object
    Object.keys = () => ['replaced']
    const shown = () => formatHashed('a', { startLine: 7 })
    const first = shown()
    Object.keys = keys
    parentPort.postMessage([first, shown()])
  `
  const module = fileURLToPath(new URL('../index.js', import.meta.url))
  const worker = new Worker(source, { eval: true, workerData: module })
  const shown = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  const expected = formatHashed('a', { startLine: 7 })
  assert.deepEqual(shown, [expected, expected])
})

test('null counts as omitted, and a string as an array with it', () => {
  // @ts-expect-error: null is not declared
  const nulls = checkCommand('cat /a/b', { reads: null, rules: { reader: null }, tools: null })
  assert.equal(nulls.verdict, 'read')
  assert.equal(checkCommand('cat /a/b', { roots: '/c' }).verdict, 'allow')
})

test('an object is not read if another type is expected', async () => {
  let reads = 0
  const counts = new Proxy({}, { get: () => reads++, ownKeys: () => [`${reads++}`] })
  const message = await refusal(readHashed, { path: 'a', maxLines: counts })
  assert.match(message ?? '', /^requests\.maxLines is an object: expected a whole number/)
  assert.equal(reads, 0)
})
