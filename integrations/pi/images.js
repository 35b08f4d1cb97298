// The images of a result, as far as models take them.

/** @import { ToolImage } from 'hashline-native/tools' */

/** What the makers of models take. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MAX_BYTES = 5 * 1024 * 1024

/**
 * The images that are passed on, and what the model is told of the others.
 * @param {ToolImage[]} images
 */
export function passed(images) {
  const notes = images.flatMap(({ path, mimeType, data }) => {
    if (!TYPES.includes(mimeType))
      return [`(${path}: not passed on, since models take no ${mimeType}.)`]
    if (data.length <= MAX_BYTES) return []
    return [`(${path}: not passed on, since it has more than ${MAX_BYTES} bytes.)`]
  })
  const content = images
    .filter(({ mimeType, data }) => TYPES.includes(mimeType) && data.length <= MAX_BYTES)
    .map(({ mimeType, data }) => ({
      type: /** @type {const} */ ('image'),
      mimeType,
      data: Buffer.from(data).toString('base64'),
    }))
  return { content, notes }
}
