// A tool in the forms in which vendors and frameworks take one.

'use strict'

const { isObject } = require('./arguments.cjs')

/** @import { HashTool, JsonSchema } from '../tools.cjs' */

/** @type {typeof import('../tools.cjs').toOpenAI} */
function toOpenAI({ name, description, inputSchema }, { strict } = {}) {
  const parameters = strict ? strictSchema(inputSchema) : copied(inputSchema)
  return {
    type: 'function',
    function: { name, description, parameters, ...(strict !== undefined && { strict }) },
  }
}

/** @type {typeof import('../tools.cjs').toAnthropic} */
function toAnthropic({ name, description, inputSchema }) {
  return { name, description, input_schema: { ...copied(inputSchema), type: 'object' } }
}

/** @type {typeof import('../tools.cjs').toStandardSchema} */
function toStandardSchema({ inputSchema }) {
  // Callers are known to write into the schema that they get, so each gets one of its own.
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

/** @type {typeof import('../tools.cjs').toZodShape} */
function toZodShape(z, { inputSchema }) {
  return zodFields(z, inputSchema, (type) => lenient(z, type))
}

/**
 * What is used of zod. The types of its versions differ so much that one for all says little.
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
 * A type that lets every value through as it is, and whose JSON Schema is that of `type`: what a
 * model wrote in another form is for `execute` to take or to refuse, and to tell.
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
  // zod calls this straight after `noted`, since nothing in between waits; and once without a
  // context, when it looks for a default to put into the JSON Schema.
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
      // Not to lose fields: a name that it does not know makes zod hand over the whole as it is.
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
 * The schema in OpenAI's strict mode: all fields required, those that may be left out nullable.
 * @param {JsonSchema} schema
 * @returns {Record<string, unknown>}
 */
function strictSchema(schema) {
  const { properties, required = [], items, ...rest } = schema
  const fields = Object.entries(properties ?? {}).map(([name, field]) => {
    const strict = strictSchema(field)
    return [name, required.includes(name) ? strict : { ...strict, type: [field.type, 'null'] }]
  })
  return {
    ...rest,
    ...(items && { items: strictSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(fields),
      required: Object.keys(properties),
      additionalProperties: false,
    }),
  }
}

/**
 * @param {JsonSchema} schema
 * @returns {Record<string, unknown>}
 */
const copied = (schema) => JSON.parse(JSON.stringify(schema))

module.exports = { toAnthropic, toOpenAI, toStandardSchema, toZodShape }
