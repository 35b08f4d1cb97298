// Workers: processes that do a unit of work on request, so that runtimes and settings that exclude
// each other in one process can take turns.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const COLLECT = 'collect'

/**
 * Starts a script of this folder with one JSON argument. It answers each line with a line.
 * @param {string} runtime the program: node or bun
 * @param {string} script
 * @param {object} task
 * @param {{ alone?: boolean, collects?: boolean }} [place] `alone`: on one processor, so with one
 * thread; `collects`: under Node, it can collect garbage on request
 */
export async function startWorker(runtime, script, task, { alone, collects } = {}) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const command = [runtime, ...(collects ? ['--expose-gc'] : []), path, JSON.stringify(task)]
  if (alone) command.unshift('taskset', '--cpu-list', '0')
  const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await answers.next()
    if (done) throw new Error(`${script} under ${runtime} ended with ${child.exitCode}`)
    return JSON.parse(value)
  }
  const greeting = await next()
  return {
    /** The first message of the worker. */
    greeting,
    /** Makes the worker do its work once. */
    async work() {
      child.stdin.write('\n')
      return await next()
    },
    /** Makes the worker collect garbage. */
    async collect() {
      child.stdin.write(`${COLLECT}\n`)
      await next()
    },
    async stop() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/**
 * The worker's side: reports that it is ready, then works once per empty line.
 * @param {() => unknown} work its result, or that of its promise, is the answer
 * @param {unknown} [greeting]
 */
export async function serve(work, greeting = null) {
  console.log(JSON.stringify(greeting))
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = line === COLLECT ? collectGarbage() : await work()
    console.log(JSON.stringify(answer ?? null))
  }
}

function collectGarbage() {
  if (!globalThis.gc) throw new Error('the worker was started without --expose-gc')
  globalThis.gc()
}

/**
 * Runs a script to its end; its last line is JSON.
 * @param {string} runtime
 * @param {string} script
 * @param {object} task
 */
export async function runOnce(runtime, script, task) {
  const worker = await startWorker(runtime, script, task)
  await worker.stop()
  return worker.greeting
}
