// Arguments that pi's check of the schema would refuse, though the tools take them.

/** @import { JsonSchema } from 'hashline-native/tools' */

/** Names that other tools have for fields, for each field of ours. */
const OTHER_NAMES = {
  path: ['file_path', 'filePath', 'file'],
  pattern: ['query', 'search'],
  more_paths: ['paths', 'files'],
  paths: ['path', 'file_path'],
  globs: ['glob', 'include'],
}

/**
 * The arguments with the names of the schema, where its required fields and lists are missing, and
 * lists as lists.
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
 * A list that is JSON text, as a list. Other text is the only item of a list of texts.
 * @param {string} text
 * @param {boolean} isOfTexts
 */
function asList(text, isOfTexts) {
  try {
    const value = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch {
    // A path may begin as JSON does: `[id]/page.tsx`.
  }
  return isOfTexts ? [text] : text
}
