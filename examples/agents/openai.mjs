// An agent with the package `openai`, streaming. Its runner calls the tools.

import { HashSession } from 'hashline-native'
import { hashTools, toOpenAI } from 'hashline-native/tools'
import OpenAI from 'openai'

/**
 * @param {{ baseURL: string, model: string, cwd: string, prompt: string }} options
 * @returns {Promise<string>} the final answer of the model
 */
export async function run({ baseURL, model, cwd, prompt }) {
  const client = new OpenAI({ baseURL, apiKey: process.env.OPENAI_API_KEY ?? 'none' })
  const tools = Object.values(hashTools(new HashSession({ cwd })))
  const runner = client.chat.completions.runTools({
    model,
    stream: true,
    messages: [{ role: 'user', content: prompt }],
    tools: tools.map((tool) => {
      const { function: about } = toOpenAI(tool, { strict: true })
      const call = async (/** @type {string} */ args) => (await tool.execute(args)).text
      return { type: 'function', function: { ...about, function: call } }
    }),
  })
  return (await runner.finalContent()) ?? ''
}
