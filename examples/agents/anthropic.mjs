// An agent with the package `@anthropic-ai/sdk`, streaming, that shows images to the model.

import Anthropic from '@anthropic-ai/sdk'
import { HashSession } from 'hashline-native'
import { hashTools, toAnthropic, toAnthropicContent } from 'hashline-native/tools'

/** @import { ToolResult } from 'hashline-native/tools' */

/**
 * @param {{ baseURL: string, model: string, cwd: string, prompt: string }} options
 * @returns {Promise<string>} the final answer of the model
 */
export async function run({ baseURL, model, cwd, prompt }) {
  const client = new Anthropic({ baseURL, apiKey: process.env.ANTHROPIC_API_KEY ?? 'none' })
  const tools = Object.values(hashTools(new HashSession({ cwd })))
  /** @type {Anthropic.MessageParam[]} */
  const messages = [{ role: 'user', content: prompt }]
  for (;;) {
    const request = { model, messages, max_tokens: 8192, tools: tools.map(toAnthropic) }
    const { content } = await client.messages.stream(request).finalMessage()
    const results = content.flatMap((block) => {
      if (block.type !== 'tool_use') return []
      const call = tools.find(({ name }) => name === block.name)?.execute(block.input)
      return [call?.then((result) => toolResult(block.id, result)) ?? noTool(block.id)]
    })
    if (results.length === 0) {
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    }
    messages.push({ role: 'assistant', content })
    messages.push({ role: 'user', content: await Promise.all(results) })
  }
}

/**
 * @param {string} id
 * @param {ToolResult} result
 * @returns {Anthropic.ToolResultBlockParam}
 */
function toolResult(id, result) {
  const { isError } = result
  const content = toAnthropicContent(result)
  return { type: 'tool_result', tool_use_id: id, is_error: isError, content }
}

/** @param {string} id @returns {Anthropic.ToolResultBlockParam} */
const noTool = (id) => ({
  type: 'tool_result',
  tool_use_id: id,
  is_error: true,
  content: 'No such tool.',
})
