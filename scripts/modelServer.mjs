// A server on loopback with a scripted model. It implements OpenAI's chat completions and
// Anthropic's messages, whole and streamed, as far as agents and client libraries need them.

import { createServer } from 'node:http'

/**
 * @typedef {object} Turn the request, as a step of the script receives it
 * @property {string[]} results the results of the last tool calls
 * @property {string} system
 * @property {string} prompt the last message of the user
 * @property {{ name: string, description: string, schema: any }[]} tools
 * @property {any} body the request itself
 *
 * @typedef {{ name: string, args: unknown, raw?: string }} ToolCall `raw`: the arguments as literal
 * text, instead of `args`
 * @typedef {{ text?: string, calls?: ToolCall[], isCut?: boolean, usage?: { input: number, output: number } }} Answer
 * `isCut`: whether it was cut at the token limit
 * @typedef {{ status: number, message: string }} HttpError instead of an answer
 * @typedef {(turn: Turn) => Answer | HttpError} Step
 *
 * @typedef {object} ModelServer
 * @property {string} url without a path: `http://127.0.0.1:1234`
 * @property {Turn[]} turns the requests that steps answered
 * @property {unknown[]} faults errors of steps, and unexpected requests
 * @property {() => void} close
 */

/** A call of one tool, as the answer of a step. */
export const call = (/** @type {string} */ name, /** @type {unknown} */ args) => ({
  calls: [{ name, args }],
})

/**
 * Starts a server whose n-th answer is that of the n-th step, or of a single step. Requests without
 * tools, by which agents generate titles and the like, get a fixed answer and use no step.
 * @param {Step[] | Step} steps
 * @returns {Promise<ModelServer>}
 */
export async function startModelServer(steps) {
  /** @type {Turn[]} */
  const turns = []
  /** @type {unknown[]} */
  const faults = []
  const server = createServer(async (request, response) => {
    try {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      const dialect = DIALECTS.find(({ path }) => pathname.endsWith(path))
      const text = await textOf(request)
      if (request.method !== 'POST' || dialect === undefined) return refuse(response, 404, pathname)
      const body = JSON.parse(text)
      const turn = dialect.turn(body)
      const answer = turn.tools.length === 0 ? { text: 'Fine.' } : next(turn)
      if ('status' in answer) refuse(response, answer.status, answer.message)
      else dialect.send(response, body, answer)
    } catch (error) {
      faults.push(error)
      refuse(response, 400, String(error))
    }
  })

  /** @param {Turn} turn */
  function next(turn) {
    const step = Array.isArray(steps) ? steps[turns.length] : steps
    turns.push(turn)
    if (step === undefined) throw new Error(`the script has no step ${turns.length}`)
    return step(turn)
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${address.port}`, turns, faults, close }
}

/** @param {import('node:http').IncomingMessage} request */
async function textOf(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {string} message
 */
function refuse(response, status, message) {
  // Clients that should retry need not wait here.
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
  response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }))
}

/** The text of a content that is a string or a list of parts. @param {any} content */
const contentText = (content) =>
  [content ?? '']
    .flat()
    .reduce((all, part) => all + (part.text ?? (typeof part === 'string' ? part : '')), '')

/** The messages after the last answer of the model. @param {any[]} messages */
const sinceAnswer = (messages) =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)

/** Splits a text into pieces for streaming. @param {string} text */
const pieces = (text) => text.match(/.{1,7}/gsu) ?? []

/** The usage of an answer that does not set its own. */
const USAGE = { input: 10, output: 10 }

let made = 0
/** @param {string} prefix */
const newId = (prefix) => `${prefix}_${++made}`

/**
 * @typedef {object} Wire
 * @property {string} path
 * @property {(body: any) => Turn} turn
 * @property {(response: import('node:http').ServerResponse, body: any, answer: Answer) => void} send
 */

/** @type {Wire} */
const OPENAI = {
  path: '/chat/completions',
  turn: (body) => ({
    results: sinceAnswer(body.messages)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => contentText(content)),
    system: body.messages
      .filter((/** @type {any} */ { role }) => role === 'system' || role === 'developer')
      .map((/** @type {any} */ { content }) => contentText(content))
      .join('\n'),
    prompt: contentText(
      body.messages.findLast((/** @type {any} */ { role }) => role === 'user')?.content,
    ),
    tools: (body.tools ?? []).map((/** @type {any} */ { function: tool }) => ({
      name: tool.name,
      description: tool.description,
      schema: tool.parameters,
    })),
    body,
  }),
  send(response, { model, stream }, { text = '', calls = [], isCut, usage: used = USAGE }) {
    const id = newId('chatcmpl')
    const about = { id, created: 0, model }
    const usage = {
      prompt_tokens: used.input,
      completion_tokens: used.output,
      total_tokens: used.input + used.output,
    }
    const finish_reason = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
    const toolCalls = calls.map(({ name, args, raw = JSON.stringify(args) }) => ({
      id: newId('call'),
      type: 'function',
      function: { name, arguments: raw },
    }))
    if (!stream) {
      const message = {
        role: 'assistant',
        content: text || null,
        ...(calls.length > 0 && { tool_calls: toolCalls }),
      }
      const choices = [{ index: 0, message, finish_reason }]
      return sendJson(response, { ...about, object: 'chat.completion', choices, usage })
    }
    /** @param {object} delta @param {string | null} [finish_reason] */
    const chunk = (delta, finish_reason = null) => ({
      ...about,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    })
    const events = [chunk({ role: 'assistant', content: '' })]
    for (const content of pieces(text)) events.push(chunk({ content }))
    toolCalls.forEach(({ id, type, function: { name, arguments: args } }, index) => {
      events.push(chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }))
      for (const piece of pieces(args)) {
        events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
      }
    })
    events.push({ ...chunk({}, finish_reason), ...{ usage } })
    sendEvents(response, [
      ...events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
      'data: [DONE]\n\n',
    ])
  },
}

/** @type {Wire} */
const ANTHROPIC = {
  path: '/v1/messages',
  turn: (body) => ({
    results: sinceAnswer(body.messages)
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => contentText(content)),
    system: contentText(body.system),
    prompt: contentText(
      body.messages.findLast((/** @type {any} */ { role }) => role === 'user')?.content,
    ),
    tools: (body.tools ?? []).map((/** @type {any} */ { name, description, input_schema }) => ({
      name,
      description,
      schema: input_schema,
    })),
    body,
  }),
  send(response, { model, stream }, { text = '', calls = [], isCut, usage: used = USAGE }) {
    const content = [
      ...(text ? [{ type: 'text', text }] : []),
      ...calls.map(({ name, args, raw }) => ({
        type: 'tool_use',
        id: newId('toolu'),
        name,
        input: raw ?? args,
      })),
    ]
    const usage = { input_tokens: used.input, output_tokens: used.output }
    const stop_reason = isCut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn'
    const message = { id: newId('msg'), type: 'message', role: 'assistant', model, usage }
    const ending = { stop_reason, stop_sequence: null }
    if (!stream) return sendJson(response, { ...message, content, ...ending })
    /** @type {{ type: string, [more: string]: unknown }[]} */
    const events = [
      {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, stop_sequence: null },
      },
    ]
    content.forEach((block, index) => {
      const isText = 'text' in block
      const content_block = isText ? { type: 'text', text: '' } : { ...block, input: {} }
      events.push({ type: 'content_block_start', index, content_block })
      for (const piece of pieces(isText ? String(block.text) : JSON.stringify(block.input))) {
        const delta = isText
          ? { type: 'text_delta', text: piece }
          : { type: 'input_json_delta', partial_json: piece }
        events.push({ type: 'content_block_delta', index, delta })
      }
      events.push({ type: 'content_block_stop', index })
    })
    events.push({ type: 'message_delta', delta: ending, usage }, { type: 'message_stop' })
    sendEvents(
      response,
      events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`),
    )
  },
}

const DIALECTS = [OPENAI, ANTHROPIC]

/** @param {import('node:http').ServerResponse} response @param {object} value */
function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** @param {import('node:http').ServerResponse} response @param {string[]} events */
function sendEvents(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''))
}
