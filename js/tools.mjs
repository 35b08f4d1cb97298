// `hashline-native/tools` for `import`: the very functions that `require` gives.

import tools from './tools.cjs'

export const {
  guard,
  hashTools,
  remember,
  toAnthropic,
  toAnthropicContent,
  toGeminiParts,
  toOpenAI,
  toOpenAIContent,
  toStandardSchema,
  toZodShape,
} = tools
