// Parses JSON from other sources.

/**
 * @param {string} text
 * @returns {{ value: any, why?: undefined } | { value?: undefined, why: string }}
 */
export function readJson(text) {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { why: /** @type {Error} */ (error).message }
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isObject = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
