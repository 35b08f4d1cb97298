// An agent without any framework: it calls OpenAI's chat completions by fetch, which most servers
// support.

import { HashSession } from 'hashline-native'
import { hashTools, toOpenAI } from 'hashline-native/tools'

/**
 * @param {{ baseURL: string, model: string, cwd: string, prompt: string }} options
 * @returns {Promise<string>} the final answer of the model
 */
export async function run({ baseURL, model, cwd, prompt }) {
  const tools = Object.values(hashTools(new HashSession({ cwd })))
  /** @type {any[]} */
  const messages = [{ role: 'user', content: prompt }]
  for (;;) {
    const body = JSON.stringify({ model, messages, tools: tools.map((tool) => toOpenAI(tool)) })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body })
    const { choices } = /** @type {any} */ (await response.json())
    const [{ message }] = choices
    messages.push(message)
    if (!message.tool_calls) return message.content
    for (const { id, function: call } of message.tool_calls) {
      const tool = tools.find(({ name }) => name === call.name)
      const result = await tool?.execute(call.arguments)
      messages.push({ role: 'tool', tool_call_id: id, content: result?.text ?? 'No such tool.' })
    }
  }
}
