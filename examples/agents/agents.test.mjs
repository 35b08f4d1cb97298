// Runs each example with a scripted model: it reads, edits by a stale anchor, reads the refusal,
// edits again and moves the edited lines.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withMess } from '../../__test__/support.mjs'
import { HashSession } from '../../index.js'
import { hashTools, toZodShape } from '../../js/tools.mjs'
import { call, startModelServer } from '../../scripts/modelServer.mjs'
import { skipWithout } from '../../scripts/packages.mjs'
import { anchorOf, apply, setLine } from './steps.mjs'

/**
 * @import { HashTool } from 'hashline-native/tools'
 * @import { Step, Turn } from '../../scripts/modelServer.mjs'
 */

const FOLDER = dirname(fileURLToPath(import.meta.url))
const TSC = join(FOLDER, '../../node_modules/typescript/bin/tsc')
const skip = skipWithout(FOLDER)

const PROMPT = 'Greet with an exclamation mark.'
const SOURCE = "function greet(name) {\n  return 'Hello, ' + name\n}\n"

/** @type {Step[]} */
const STEPS = [
  ({ tools, prompt }) => {
    assert.deepEqual(tools.map(({ name }) => name).sort(), ['apply', 'read', 'search'])
    assert.equal(prompt, PROMPT)
    return {
      calls: [
        ...call('read', { path: 'greet.js' }).calls,
        ...call('read', { path: 'a.png' }).calls,
      ],
    }
  },
  ({ results: [shown, image] }) => {
    assert.match(shown, /^1\w\w\|function greet/)
    assert.match(image, /\(image, image\/png/)
    return setLine('greet.js', '2aa', 'x')
  },
  ({ results: [refused] }) => {
    assert.match(refused, /^Nothing was written\.\n/)
    return setLine('greet.js', anchorOf(refused, 'return'), "  return 'Hello, ' + name + '!'")
  },
  ({ results: [report] }) => {
    assert.match(report, /^1 edit, \+1 -1\n/)
    return {
      calls: [
        ...call('read', { path: 'greet.js', fold: true, open: ['2-2'] }).calls,
        ...call('search', { pattern: "'!'", enclosing: true }).calls,
      ],
    }
  },
  ({ results: [folded, found] }) => {
    assert.match(folded, /^1\w\w\|function greet/)
    const anchor = anchorOf(found, 'function greet')
    const move = { op: 'move_lines', path: 'greet.js', anchor, block: true, to: 'hello.js' }
    return apply(move)
  },
  ({ results: [report] }) => {
    assert.match(report, /took the block of lines 1-3/)
    return { text: 'Done.' }
  },
]

/**
 * Runs an agent on the file, and checks the result.
 * @param {(url: string, cwd: string) => Promise<string>} run
 * @param {(turns: Turn[]) => void} [check]
 */
const checked = (run, check) =>
  withMess({ 'greet.js': SOURCE, 'a.png': PNG }, async (cwd, stateDir) => {
    process.env.XDG_STATE_HOME = stateDir
    const server = await startModelServer(STEPS)
    try {
      const answer = await run(server.url, cwd).catch((error) => error)
      assert.deepEqual(server.faults, [])
      assert.equal(answer, 'Done.')
      assert.equal(server.turns.length, STEPS.length)
      assert.equal(readFileSync(join(cwd, 'greet.js'), 'utf8'), '')
      assert.match(readFileSync(join(cwd, 'hello.js'), 'utf8'), /name \+ '!'\n\}\n$/)
      check?.(server.turns)
    } finally {
      server.close()
    }
  })

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

const model = 'scripted'
const prompt = PROMPT

test('the examples match the types of the packages', { skip }, () => {
  const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', FOLDER], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

test('without a framework', { skip }, async () => {
  const { run } = await import('./withoutFramework.mjs')
  await checked((url, cwd) => run({ baseURL: `${url}/v1`, model, cwd, prompt }))
})

test('openai', { skip }, async () => {
  const { run } = await import('./openai.mjs')
  await checked(
    (url, cwd) => run({ baseURL: `${url}/v1`, model, cwd, prompt }),
    ([{ body }]) => {
      assert.equal(body.stream, true)
      assert.equal(body.tools[0].function.strict, true)
    },
  )
})

test('@anthropic-ai/sdk', { skip }, async () => {
  const { run } = await import('./anthropic.mjs')
  await checked(
    (url, cwd) => run({ baseURL: url, model, cwd, prompt }),
    ([, { body }]) => {
      const [, image] = body.messages.at(-1).content
      assert.deepEqual(image.content[1].source.data, PNG.toString('base64'))
    },
  )
})

test('AI SDK, openai-compatible', { skip }, async () => {
  const { run } = await import('./aiSdk.mjs')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  await checked((url, cwd) => {
    const provider = createOpenAICompatible({ name: 'scripted', baseURL: `${url}/v1` })
    return run({ model: provider(model), cwd, prompt })
  })
})

test('AI SDK, anthropic', { skip }, async () => {
  const { run } = await import('./aiSdk.mjs')
  const { createAnthropic } = await import('@ai-sdk/anthropic')
  await checked(
    (url, cwd) => {
      const provider = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' })
      return run({ model: provider(model), cwd, prompt })
    },
    ([, { body }]) => {
      const [, image] = body.messages.at(-1).content
      assert.deepEqual(image.content[1].source.data, PNG.toString('base64'))
    },
  )
})

test('AI SDK, its own mock of a model', { skip }, async () => {
  const { run } = await import('./aiSdk.mjs')
  const { simulateReadableStream } = await import('ai')
  const { MockLanguageModelV4 } = await import('ai/test')
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  }
  await withMess({ 'greet.js': SOURCE }, async (cwd, stateDir) => {
    process.env.XDG_STATE_HOME = stateDir
    /** @type {any[]} */
    const prompts = []
    const mock = new MockLanguageModelV4({
      doStream: async (/** @type {any} */ options) => {
        prompts.push(options.prompt)
        const step = {
          type: 'tool-call',
          toolCallId: 'call_1',
          toolName: 'read',
          input: '{"path":"greet.js"}',
        }
        const id = 'text_1'
        const text = [
          { type: 'text-start', id },
          { type: 'text-delta', id, delta: 'Done.' },
          { type: 'text-end', id },
        ]
        const [body, unified] = prompts.length === 1 ? [[step], 'tool-calls'] : [text, 'stop']
        const finish = { type: 'finish', finishReason: { unified, raw: undefined }, usage }
        return {
          stream: simulateReadableStream({ chunks: /** @type {any[]} */ ([...body, finish]) }),
        }
      },
    })
    assert.equal(await run({ model: mock, cwd, prompt }), 'Done.')
    const { output } = prompts[1].at(-1).content[0]
    assert.match(output.value, /^1\w\w\|function greet/)
  })
})

test('regression: zod shapes accept what execute accepts, and describe the schema', {
  skip,
}, async () => {
  const { read, apply } = hashTools(new HashSession())
  const item = { op: 'set_line', path: 'a', text: null, file: 'b', all: 'true' }
  /** @type {[HashTool, unknown][]} */
  const calls = [
    [apply, { operations: [{ op: 'delete', path: 'a', anchor: '1aa' }] }],
    [apply, { operations: JSON.stringify([item]) }],
    [apply, { operations: item }],
    [apply, { operations: [item] }],
    [apply, {}],
    [read, { path: null, start_line: '5', max_lines: null, more_paths: 'a' }],
  ]
  for (const version of ['zod', 'zod/v3']) {
    const { z } = await import(version)
    for (const [tool, args] of calls) {
      assert.deepEqual(z.object(toZodShape(z, tool)).parse(args), args)
      assert.deepEqual(await z.object(toZodShape(z, tool)).parseAsync(args), args)
    }
  }
  const { z } = await import('zod')
  const schema = z.toJSONSchema(z.object(toZodShape(z, apply)), { io: 'input' })
  const { operations } = apply.inputSchema.properties ?? {}
  const { operations: ofZod } = /** @type {any} */ (schema).properties
  assert.deepEqual(schema.required, ['operations'])
  assert.equal(ofZod.description, operations.description)
  const { additionalProperties, ...items } = ofZod.items
  assert.deepEqual([additionalProperties, items], [false, operations.items])
})
