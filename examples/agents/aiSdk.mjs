// An agent with the AI SDK (`ai` 7), streaming, with any of its models.

import { ToolLoopAgent } from 'ai'
import { HashSession } from 'hashline-native'
import { hashTools, toAiSdk } from 'hashline-native/tools'

/** @import { LanguageModel } from 'ai' */

/**
 * @param {{ model: LanguageModel, cwd: string, prompt: string }} options
 * @returns {Promise<string>} the final answer of the model
 */
export async function run({ model, cwd, prompt }) {
  const tools = toAiSdk(hashTools(new HashSession({ cwd })))
  const agent = new ToolLoopAgent({ model, tools })
  const stream = await agent.stream({ prompt })
  return stream.text
}
