// Adapts arguments that pi's schema check would refuse although the tools accept them.

/** @import { JsonSchema } from 'hashline-native/tools' */

/** Names of other tools, for each field of the schema. */
const OTHER_NAMES = {
  path: ['file_path', 'filePath', 'file'],
  pattern: ['query', 'search'],
  more_paths: ['paths', 'files'],
  paths: ['path', 'file_path'],
  globs: ['glob', 'include'],
}

/**
 * Arguments under the names of the schema, if required fields are missing, and with lists as lists.
 * @param {any} args
 * @param {JsonSchema} schema
 */
export function prepared(args, { properties = {} }) {
  if (typeof args !== 'object' || args === null) return args
  const result = { ...args }
  for (const [field, others] of Object.entries(OTHER_NAMES)) {
    const other = others.find((name) => !(name in properties) && (result[name] ?? null) !== null)
    if (!(field in properties) || (result[field] ?? null) !== null || other === undefined) continue
    result[field] = result[other]
    delete result[other]
  }
  for (const [field, { type, items }] of Object.entries(properties)) {
    if (type !== 'array' || typeof result[field] !== 'string') continue
    result[field] = asList(result[field], items?.type === 'string')
  }
  return result
}

/**
 * Parses a list that is JSON text. Other text becomes the only item of a list of texts.
 * @param {string} text
 * @param {boolean} isOfTexts
 */
function asList(text, isOfTexts) {
  try {
    const value = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch {
    // A path may look like JSON: `[id]/page.tsx`.
  }
  return isOfTexts ? [text] : text
}
