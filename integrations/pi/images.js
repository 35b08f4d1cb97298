// The images of a result, as far as models take them, and as small as pi makes those of its own
// tool.

/**
 * @import { ToolImage } from 'hashline-native/tools'
 *
 * @typedef {{ data: string, mimeType: string, note?: string }} Encoded `data` in base64
 * @typedef {(data: Uint8Array, mimeType: string) => Promise<Encoded | null>} Resize null when it
 *   cannot be done
 */

/** What the makers of models take. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** The strictest of them takes 5 MB in base64. */
const MAX_CHARS = 4.5 * 1024 * 1024

/**
 * The images that are passed on, and the text for the model about them and the others.
 * @param {ToolImage[]} images
 * @param {{ resize?: Resize, isSeen?: boolean }} [how] `isSeen`: whether the model takes images
 */
export async function passed(images, { resize, isSeen = true } = {}) {
  const content = []
  const notes = []
  for (const image of images) {
    const { path } = image
    const found = isSeen ? await encoded(image, resize) : 'since this model takes no images'
    if (typeof found === 'string') {
      notes.push(`(${path}: not passed on, ${found}.)`)
      continue
    }
    const { data, mimeType, note } = found
    content.push({ type: /** @type {const} */ ('image'), data, mimeType })
    if (note !== undefined) notes.push(`(${path}: ${note})`)
  }
  return { content, notes }
}

/**
 * @param {ToolImage} image
 * @param {Resize} [resize]
 * @returns {Promise<Encoded | string>} a string says why it is not passed on
 */
async function encoded({ data, mimeType }, resize) {
  if (!TYPES.includes(mimeType)) return `since models take no ${mimeType}`
  const resized = await resize?.(data, mimeType).catch(() => null)
  if (resized) return resized
  const chars = Math.ceil(data.length / 3) * 4
  if (chars > MAX_CHARS) return `since it has ${data.length} bytes and could not be made smaller`
  return { data: Buffer.from(data).toString('base64'), mimeType }
}
