// Selects the images of a result that models accept, and resizes them as pi's own tool does.

/**
 * @import { ToolImage } from 'hashline-native/tools'
 *
 * @typedef {{ data: string, mimeType: string, note?: string }} Encoded `data` in base64
 * @typedef {(data: Uint8Array, mimeType: string) => Promise<Encoded | null>} Resize null if it
 *   cannot be done
 */

/** The types that models accept. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** The strictest vendor accepts 5 MB in base64. */
const MAX_CHARS = 4.5 * 1024 * 1024

/**
 * The accepted images, and notes for the model on accepted and skipped ones.
 * @param {ToolImage[]} images
 * @param {{ resize?: Resize, isSeen?: boolean }} [how] `isSeen`: whether the model accepts images
 */
export async function passed(images, { resize, isSeen = true } = {}) {
  const content = []
  const notes = []
  for (const image of images) {
    const { path } = image
    const found = isSeen ? await encoded(image, resize) : 'this model does not accept images'
    if (typeof found === 'string') {
      notes.push(`(${path}: not shown, because ${found}.)`)
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
 * @returns {Promise<Encoded | string>} a string is the reason to skip the image
 */
async function encoded({ data, mimeType }, resize) {
  if (!TYPES.includes(mimeType)) return `models do not accept ${mimeType}`
  const resized = await resize?.(data, mimeType).catch(() => null)
  if (resized) return resized
  const chars = Math.ceil(data.length / 3) * 4
  if (chars > MAX_CHARS) return `it has ${data.length} bytes and cannot be resized`
  return { data: Buffer.from(data).toString('base64'), mimeType }
}
