// An agent with the AI SDK (`ai` 7), streaming, with any of its models.

import { ToolLoopAgent, tool } from 'ai'
import { HashSession } from 'hashline-native'
import { hashTools, toStandardSchema } from 'hashline-native/tools'

/** @import { LanguageModel } from 'ai' */
/** @import { HashTool, ToolResult } from 'hashline-native/tools' */

/**
 * @param {{ model: LanguageModel, cwd: string, prompt: string }} options
 * @returns {Promise<string>} the final answer of the model
 */
export async function run({ model, cwd, prompt }) {
  const tools = Object.values(hashTools(new HashSession({ cwd })))
  const toolSet = Object.fromEntries(tools.map((one) => [one.name, aiTool(one)]))
  const agent = new ToolLoopAgent({ model, tools: toolSet })
  const stream = await agent.stream({ prompt })
  return stream.text
}

/** @param {HashTool} hashTool */
const aiTool = (hashTool) =>
  tool({
    description: hashTool.description,
    inputSchema: toStandardSchema(hashTool),
    execute: (args, { abortSignal }) => hashTool.execute(args, { signal: abortSignal }),
    toModelOutput: ({ output }) => modelOutput(output),
  })

/**
 * The part of a result for the model. Some providers show a list of parts to the model as JSON, so
 * a list is used only for images.
 * @param {ToolResult} result
 */
function modelOutput({ text, isError, images }) {
  if (isError) return { type: /** @type {const} */ ('error-text'), value: text }
  if (images.length === 0) return { type: /** @type {const} */ ('text'), value: text }
  const shown = images.map(({ mimeType, data }) => ({
    type: /** @type {const} */ ('file'),
    mediaType: mimeType,
    data: { type: /** @type {const} */ ('data'), data },
  }))
  return {
    type: /** @type {const} */ ('content'),
    value: [{ type: /** @type {const} */ ('text'), text }, ...shown],
  }
}
