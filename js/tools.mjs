// `hashline-native/tools` for `import`: the same functions as for `require`.

import tools from './tools.cjs'

export const {
  annotation,
  guard,
  hashTools,
  remember,
  toAiSdk,
  toAnthropic,
  toAnthropicContent,
  toGeminiParts,
  toOpenAI,
  toOpenAIContent,
  toStandardSchema,
  toZodShape,
} = tools
