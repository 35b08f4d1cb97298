// Converts a tool and its results into the forms of vendors and frameworks.

'use strict'

const addon = require('../addon.cjs')

/** @import { AiSdkTool, HashTool, JsonSchema, ToolImage } from '../tools.cjs' */

/** @type {typeof import('../tools.cjs').toOpenAI} */
function toOpenAI(tool, { strict } = {}) {
  return formOf('openai', tool, strict)
}

/** @type {typeof import('../tools.cjs').toAnthropic} */
function toAnthropic(tool) {
  return formOf('anthropic', tool)
}

/**
 * A tool in the form of a vendor; the addon converts it.
 * @param {'openai' | 'anthropic'} vendor
 * @param {Pick<HashTool, 'name' | 'description' | 'inputSchema'>} tool
 * @param {boolean} [strict]
 */
function formOf(vendor, { name, description, inputSchema }, strict) {
  return JSON.parse(
    addon.tools.form(vendor, JSON.stringify({ name, description, inputSchema }), strict),
  )
}

/** @type {typeof import('../tools.cjs').toOpenAIContent} */
function toOpenAIContent({ text, images }) {
  const shown = images.map((image) => ({
    type: /** @type {const} */ ('image_url'),
    image_url: { url: `data:${image.mimeType};base64,${base64(image)}` },
  }))
  return [...typedText(text), ...shown]
}

/** @type {typeof import('../tools.cjs').toAnthropicContent} */
function toAnthropicContent({ text, images }) {
  const shown = images.map((image) => ({
    type: /** @type {const} */ ('image'),
    source: {
      type: /** @type {const} */ ('base64'),
      media_type: /** @type {'image/png'} */ (image.mimeType),
      data: base64(image),
    },
  }))
  return [...typedText(text), ...shown]
}

/** @type {typeof import('../tools.cjs').toGeminiParts} */
function toGeminiParts({ text, images }) {
  const shown = images
    // Gemini does not take GIF.
    .filter(({ mimeType }) => mimeType !== 'image/gif')
    .map((image) => ({ inlineData: { mimeType: image.mimeType, data: base64(image) } }))
  return [...(text === '' ? [] : [{ text }]), ...shown]
}

/** The part of a text, if there is any: an empty one makes Anthropic refuse the request.
 * @param {string} text */
const typedText = (text) => (text === '' ? [] : [{ type: /** @type {const} */ ('text'), text }])

/** @param {ToolImage} image */
const base64 = ({ data }) => Buffer.from(data).toString('base64')

/** @type {typeof import('../tools.cjs').toStandardSchema} */
function toStandardSchema({ inputSchema }) {
  // Some callers modify the schema, so each gets a copy.
  const schema = () => copied(inputSchema)
  return {
    '~standard': {
      version: 1,
      vendor: 'hashline-native',
      validate: (value) =>
        isObject(value) ? { value } : { issues: [{ message: 'expected an object' }] },
      jsonSchema: { input: schema, output: schema },
    },
  }
}

/** @type {typeof import('../tools.cjs').toAiSdk} */
function toAiSdk(tools) {
  return Object.fromEntries(Object.values(tools).map((tool) => [tool.name, aiSdkTool(tool)]))
}

/**
 * @param {HashTool} tool
 * @returns {AiSdkTool}
 */
function aiSdkTool(tool) {
  return {
    description: tool.description,
    inputSchema: toStandardSchema(tool),
    execute: (args, { abortSignal } = {}) => tool.execute(args, { signal: abortSignal }),
    toModelOutput({ output: { text, isError, images } }) {
      if (isError) return { type: 'error-text', value: text }
      // Some providers show a list of parts to the model as JSON.
      if (images.length === 0) return { type: 'text', value: text }
      const shown = images.map(({ mimeType, data }) => ({
        type: /** @type {const} */ ('file'),
        mediaType: mimeType,
        data: { type: /** @type {const} */ ('data'), data },
      }))
      return { type: 'content', value: [...typedText(text), ...shown] }
    },
  }
}

/** @type {typeof import('../tools.cjs').toZodShape} */
function toZodShape(z, { inputSchema }) {
  return zodFields(z, inputSchema, (type) => lenient(z, type))
}

/**
 * The part of zod that is used. The types of its versions differ too much for a more precise one.
 * @typedef {{ describe(text: string): ZodType, optional(): ZodType, int(): ZodType, strict(): ZodType, catch(value: (context: unknown) => unknown): ZodType }} ZodType
 * @param {any} z
 * @param {JsonSchema} schema
 * @param {(type: ZodType) => ZodType} wrapped
 * @returns {Record<string, ZodType>}
 */
function zodFields(z, { properties = {}, required = [] }, wrapped) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = wrapped(zodType(z, schema))
    const optional = required.includes(name) ? type : type.optional()
    const { description } = schema
    return [name, description === undefined ? optional : optional.describe(description)]
  })
  return Object.fromEntries(fields)
}

/**
 * A type that accepts every value unchanged and whose JSON Schema is that of `type`: `execute`
 * accepts, refuses and reports deviations.
 * @param {any} z
 * @param {ZodType} type
 */
function lenient(z, type) {
  /** @type {unknown} */
  let given
  const noted = (/** @type {unknown} */ value) => {
    given = value
    return value
  }
  // zod calls this synchronously right after `noted`, and once without a context to find a default
  // for the JSON Schema.
  const asGiven = (/** @type {unknown} */ context) => (context === undefined ? undefined : given)
  return z.preprocess(noted, type.catch(asGiven))
}

/**
 * @param {any} z
 * @param {JsonSchema} schema
 * @returns {ZodType}
 */
function zodType(z, schema) {
  switch (schema.type) {
    case 'object':
      // `strict` keeps fields: for an unknown name, zod then passes the whole object unchanged.
      return z.object(zodFields(z, schema, (type) => type)).strict()
    case 'array':
      return z.array(zodType(z, schema.items ?? { type: 'string' }))
    case 'integer':
      return z.number().int()
    case 'boolean':
      return z.boolean()
    default:
      return schema.enum === undefined ? z.string() : z.enum(schema.enum)
  }
}

/**
 * @param {JsonSchema} schema
 * @returns {Record<string, unknown>}
 */
const copied = (schema) => JSON.parse(JSON.stringify(schema))

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

module.exports = {
  toAiSdk,
  toAnthropic,
  toAnthropicContent,
  toGeminiParts,
  toOpenAI,
  toOpenAIContent,
  toStandardSchema,
  toZodShape,
}
