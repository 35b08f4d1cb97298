// Requests and answers in both protocols of endpoints: OpenAI's chat completions and Anthropic's
// messages. Pure conversions: nothing is sent here.

/** @import { Engine } from './engine.mjs' */
/** @import { Tool } from './schemes.mjs' */

/**
 * @typedef {{ id: string, name: string, args: unknown }} Call
 * @typedef {{ input: number, output: number, cacheRead: number, cacheWrite: number }} Reported tokens
 * that an endpoint reports; `input` includes those read from a cache or written to it
 * @typedef {{ text: string, calls: Call[], stop: 'whole' | 'cut' | 'refused' }} Answer `cut`: at
 * the token limit; `refused`: by a safety filter
 * @typedef {{ id: string, text: string, isError: boolean }} Result of a call
 */
/**
 * @typedef {object} Wire
 * @property {string} key the environment variable with the key of its vendor
 * @property {string} host of its vendor
 * @property {(base: string) => string} path of requests, relative to the base address
 * @property {(key: string) => Record<string, string>} headers
 * @property {(prompt: string) => unknown[]} first the first messages of a conversation
 * @property {(request: { model: string, system: string, messages: unknown[], tools: Tool[], limit: number }, engine: Engine) => Record<string, unknown>} body
 * @property {(body: any) => Answer | undefined} answer undefined for another body
 * @property {(body: any) => Reported} usage of any body; 0 for missing counts
 * @property {(body: any, results: Result[]) => unknown[]} next the messages for an answer and the
 * results of its calls
 */

/** @param {unknown} value */
function count(value) {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : 0
}

/**
 * @param {unknown} reason
 * @param {{ cut: string[], refused: string[] }} words the values for each reason
 * @returns {Answer['stop']}
 */
const stopOf = (reason, { cut, refused }) =>
  cut.includes(String(reason)) ? 'cut' : refused.includes(String(reason)) ? 'refused' : 'whole'

/** @param {unknown} content a string, or a list of parts */
const textOf = (content) =>
  [content ?? '']
    .flat()
    .map((/** @type {any} */ part) => (typeof part === 'string' ? part : (part?.text ?? '')))
    .join('')

/** @type {Wire} */
const openai = {
  key: 'OPENAI_API_KEY',
  host: 'api.openai.com',
  path: (base) => `${base}/chat/completions`,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  first: (prompt) => [{ role: 'user', content: prompt }],
  body: ({ model, system, messages, tools, limit }, engine) => ({
    model,
    // Only OpenAI accepts the newer name, and refuses the older one for some models.
    ...(/^(?:gpt-[5-9]|o\d)/.test(model)
      ? { max_completion_tokens: limit }
      : { max_tokens: limit }),
    messages: [{ role: 'system', content: system }, ...messages],
    tools: tools.map((tool) => engine.tools.toOpenAI(/** @type {any} */ (tool))),
  }),
  answer(body) {
    const message = body?.choices?.[0]?.message
    if (typeof message !== 'object' || message === null) return undefined
    const reason = body.choices[0].finish_reason
    return {
      text: textOf(message.content),
      calls: listed(message.tool_calls).map((call, at) => ({
        id: String(call?.id ?? `call_${at}`),
        name: String(call?.function?.name ?? ''),
        args: call?.function?.arguments,
      })),
      stop: stopOf(reason, { cut: ['length'], refused: ['content_filter'] }),
    }
  },
  usage: (body) => ({
    input: count(body?.usage?.prompt_tokens),
    output: count(body?.usage?.completion_tokens),
    cacheRead: count(body?.usage?.prompt_tokens_details?.cached_tokens),
    cacheWrite: 0,
  }),
  next: (body, results) => [
    // Some servers refuse other fields of an answer when it is sent back.
    messageBack(body.choices[0].message),
    ...results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  ],
}

/** @param {any} message */
function messageBack({ content, tool_calls }) {
  const calls = listed(tool_calls).map((call, at) => ({
    ...call,
    id: String(call?.id ?? `call_${at}`),
    type: 'function',
  }))
  return {
    role: 'assistant',
    content: content ?? null,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** @type {Wire} */
const anthropic = {
  key: 'ANTHROPIC_API_KEY',
  host: 'api.anthropic.com',
  path: (base) => (base.endsWith('/v1') ? `${base}/messages` : `${base}/v1/messages`),
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  first: (prompt) => [{ role: 'user', content: prompt }],
  body: ({ model, system, messages, tools, limit }, engine) => ({
    model,
    max_tokens: limit,
    system,
    messages,
    tools: tools.map((tool) => engine.tools.toAnthropic(/** @type {any} */ (tool))),
  }),
  answer(body) {
    if (!Array.isArray(body?.content)) return undefined
    const cut = ['max_tokens', 'model_context_window_exceeded']
    return {
      text: textOf(body.content.filter((/** @type {any} */ part) => part?.type === 'text')),
      calls: body.content
        .filter((/** @type {any} */ part) => part?.type === 'tool_use')
        .map((/** @type {any} */ { id, name, input }) => ({
          id: String(id),
          name: String(name),
          args: input,
        })),
      stop: stopOf(body.stop_reason, { cut, refused: ['refusal'] }),
    }
  },
  usage(body) {
    const { usage } = body ?? {}
    const cacheRead = count(usage?.cache_read_input_tokens)
    const cacheWrite = count(usage?.cache_creation_input_tokens)
    const input = count(usage?.input_tokens) + cacheRead + cacheWrite
    return { input, output: count(usage?.output_tokens), cacheRead, cacheWrite }
  },
  next: ({ content }, results) => [
    { role: 'assistant', content },
    {
      role: 'user',
      content: results.map(({ id, text, isError }) => ({
        type: 'tool_result',
        tool_use_id: id,
        is_error: isError,
        content: text,
      })),
    },
  ],
}

/** @param {unknown} value @returns {any[]} */
const listed = (value) => (Array.isArray(value) ? value : [])

/** @type {Record<string, Wire>} */
export const WIRES = { openai, anthropic }

/**
 * The protocol of an endpoint, by default.
 * @param {string} baseUrl
 */
export const wireNameOf = (baseUrl) =>
  /(?:^|\.)anthropic\./.test(new URL(baseUrl).hostname) ? 'anthropic' : 'openai'
