#!/usr/bin/env node

// `hashline-bench`: the commands.

import { setMaxListeners } from 'node:events'
import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemFor } from './attempt.mjs'
import { EndpointError, endpoint } from './endpoint.mjs'
import { loadEngine } from './engine.mjs'
import {
  argumentsOf,
  DEFAULT_TASKS,
  endpointOf,
  HELP,
  numberOf,
  outOf,
  priceOf,
  required,
  Usage,
} from './options.mjs'
import { progressOn } from './progress.mjs'
import { BENCH, FORMAT, openRun, readRun, readTasks } from './record.mjs'
import { replayed, summaryOf } from './replay.mjs'
import { writeReport } from './report.mjs'
import { resultOf } from './result.mjs'
import { carryOut } from './run.mjs'
import { schemesNamed } from './schemes.mjs'
import { placeFor } from './task.mjs'
import { fixedTasks } from './tasks/fixed.mjs'
import { tasksOfRepository } from './tasks/fromGit.mjs'
import { amongLanguages } from './tasks/languages.mjs'

/** @import { Engine } from './engine.mjs' */
/** @import { Values } from './options.mjs' */
/** @import { About } from './record.mjs' */
/** @import { Scheme } from './schemes.mjs' */
/** @import { Task } from './task.mjs' */

/** @type {Record<string, (values: Values, names: string[]) => void | Promise<void>>} */
const COMMANDS = { run, tasks, report, export: exported, replay }

/** @param {string[]} argv */
export async function main(argv) {
  const { values, positionals } = argumentsOf(argv)
  if (values.help || argv.length === 0) return console.log(HELP)
  const [name = 'run', ...names] = positionals
  if (!Object.hasOwn(COMMANDS, name)) {
    throw new Usage(`there is no command ${name}: expected ${Object.keys(COMMANDS).join(', ')}.`)
  }
  await COMMANDS[name](values, names)
}

/** @param {Values} values */
async function run(values) {
  const about = endpointOf(values)
  const [runs, parallel, budget] = [
    numberOf(values, 'runs'),
    numberOf(values, 'parallel'),
    numberOf(values, 'budget'),
  ]
  const price = priceOf(values, about.model)
  const engine = loadEngine(values.engine)
  const schemes = schemesNamed(values.schemes, engine)
  const tasks = chosenTasks(values)
  const dir = outOf(values)
  const set = values['task-file'] === undefined ? 'fixed' : 'own'
  const record = openRun(dir, aboutRun(about, engine, schemes, tasks, set), tasks)
  const interrupt = new AbortController()
  setMaxListeners(0, interrupt.signal)
  const stop = () => interrupt.abort(new Interrupted())
  process.once('SIGINT', stop)
  const progress = progressOn(process.stderr)
  try {
    const ask = endpoint({ ...about, engine, signal: interrupt.signal, onProblem: onceEach() })
    const plan = { tasks, schemes, runs, parallel, budget, record, wire: about.wire, ask }
    const end = await carryOut({ ...plan, onProgress: progress.tell })
    progress.end()
    if (end.done < end.all) {
      console.error(`The budget of ${budget} tokens is spent: ${end.done} of ${end.all} attempts.`)
      console.error('Run the same command with a larger --budget to continue.')
    }
  } catch (error) {
    progress.end()
    if (error instanceof Interrupted || error instanceof EndpointError) {
      console.error('The results are kept. Run the same command to continue.')
    }
    throw error
  } finally {
    process.removeListener('SIGINT', stop)
    record.close()
  }
  writeReport(resultOf(readRun(dir)), dir, price)
  console.log(join(dir, 'report.md'))
}

/** Prints each problem once, however often it occurs. */
function onceEach() {
  /** @type {Set<string>} */
  const told = new Set()
  return (/** @type {string} */ message) => {
    if (told.has(message)) return
    told.add(message)
    console.error(`\nTrying again: ${message}`)
  }
}

class Interrupted extends Error {
  constructor() {
    super('interrupted')
  }
}

/**
 * @param {ReturnType<typeof endpointOf>} about
 * @param {Engine} engine
 * @param {Scheme[]} schemes
 * @param {Task[]} tasks
 * @param {'fixed' | 'own'} set
 * @returns {About}
 */
function aboutRun({ model, api, baseUrl, limit, extra }, engine, schemes, [task], set) {
  const told = schemes.map((scheme) => {
    const place = placeFor(task)
    const { tools, close } = scheme.open(place)
    close()
    place.remove()
    const shown = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }))
    return [scheme.name, { system: systemFor(tools), tools: shown }]
  })
  const started = new Date().toISOString().slice(0, 10)
  const { hostname, pathname } = new URL(baseUrl)
  const about = { model, api, address: hostname + pathname, limit, extra, set }
  const versions = { format: FORMAT, bench: BENCH, engine: engine.version }
  return { ...versions, ...about, started, schemes: Object.fromEntries(told) }
}

/** @param {Values} values @returns {Task[]} */
function chosenTasks(values) {
  const count = values.tasks === undefined ? undefined : numberOf(values, 'tasks')
  const isWanted = amongLanguages(values.languages)
  const file = values['task-file']
  if (file !== undefined) return tasksIn(file, isWanted).slice(0, count)
  const onFetch = (/** @type {string} */ name) => console.error(`Fetching ${name}, for tasks`)
  const { tasks, missing } = fixedTasks({ count: count ?? DEFAULT_TASKS, isWanted, onFetch })
  for (const why of missing) console.error(`Skipped: ${why}`)
  if (tasks.length === 0) throw new Usage('No task can be made: none of the packages can be had.')
  return tasks
}

/** @param {string} file @param {(language: string) => boolean} isWanted @returns {Task[]} */
function tasksIn(file, isWanted) {
  if (!existsSync(file)) throw new Usage(`--task-file: there is no file ${file}.`)
  const tasks = readTasks(file).filter(({ language }) => isWanted(language))
  if (tasks.length === 0) throw new Usage(`${file} has no such task.`)
  return tasks
}

/** @param {Values} values @param {string[]} repositories */
async function tasks(values, repositories) {
  const out = required(values, 'out')
  if (repositories.length === 0)
    throw new Usage('name a git repository: tasks REPOSITORY… --out FILE')
  const isWanted = amongLanguages(values.languages)
  const [count, commits] = [numberOf(values, 'count'), numberOf(values, 'commits')]
  /** @type {Task[]} */
  const made = []
  for (const [at, repository] of repositories.entries()) {
    const { seed } = values
    const each = Math.ceil((count - made.length) / (repositories.length - at))
    // Lock files and the like have no language.
    const known = (/** @type {string} */ language) => language !== '' && isWanted(language)
    made.push(
      ...(await tasksOfRepository({ repository, count: each, seed, commits, isWanted: known })),
    )
  }
  writeFileSync(out, made.map((task) => `${JSON.stringify(task)}\n`).join(''))
  console.log(`${made.length} tasks: ${out}`)
}

/** @param {Values} values @param {string[]} names */
function report(values, [dir]) {
  const run = readRun(named(dir))
  writeReport(resultOf(run), dir, priceOf(values, run.about.model))
  console.log(join(dir, 'report.md'))
}

/** @param {Values} values @param {string[]} names */
function exported(values, [dir]) {
  const out = required(values, 'out')
  writeFileSync(out, `${JSON.stringify(resultOf(readRun(named(dir))))}\n`)
  console.log(out)
}

/** @param {Values} values @param {string[]} names */
async function replay(values, [dir]) {
  const { entries, tasks } = readRun(named(dir))
  const engine = loadEngine(required(values, 'engine'))
  const names = [...new Set(entries.map(({ scheme }) => scheme))]
  const schemes = names
    .flatMap((name) => schemesNamed(name, engine))
    .filter(({ isEngines }) => isEngines)
  const all = []
  for await (const one of replayed({ entries, tasks, schemes })) all.push(one)
  if (values.out) {
    writeFileSync(values.out, all.map((one) => `${JSON.stringify(one)}\n`).join(''))
  }
  console.log(`engine ${engine.version}\n${summaryOf(all)}`)
}

/** @param {string | undefined} dir */
function named(dir) {
  if (dir === undefined) throw new Usage('name the directory of a run.')
  return resolve(dir)
}

/** Whether this file was started as the program: npm starts it through a link. */
function isMain() {
  const started = process.argv[1]
  return started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)
}

if (isMain()) {
  main(process.argv.slice(2)).catch((error) => {
    const isKnown = error instanceof Usage || error instanceof EndpointError
    console.error(isKnown || !process.env.DEBUG ? `hashline-bench: ${error.message}` : error)
    process.exitCode = error instanceof Interrupted ? 130 : error instanceof Usage ? 2 : 1
  })
}
