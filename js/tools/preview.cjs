// Previews of edits whose arguments are still arriving.

'use strict'

const addon = require('../addon.cjs')

/**
 * @import { HashSession } from '../..'
 * @import { EditPreview, HashToolsOptions, PreviewOptions } from '../tools.cjs'
 *
 * @typedef {object} Previewed an editing tool
 * @property {HashSession} session
 * @property {'apply' | 'apply_json'} kind
 * @property {Omit<HashToolsOptions, 'names' | 'files' | 'approve'>} options
 * @property {boolean} isOfHost whether its files are those of the host
 */

/** A longer text is cut here, because the addon reads only this much of it. */
const TEXT_BYTES = 2 ** 20

/**
 * What a call would do as far as it has arrived. Throws nothing.
 * @param {Previewed} tool
 * @param {unknown} args
 * @param {PreviewOptions} [given]
 * @returns {EditPreview}
 */
function preview({ session, kind, options, isOfHost }, args, given) {
  try {
    const isLong = typeof args === 'string' && args.length > TEXT_BYTES
    const read = isLong ? args.slice(0, TEXT_BYTES + 1) : args
    const json = addon.tools.preview(session, kind, read, options, given?.partial === true)
    const found = JSON.parse(json)
    return isOfHost ? withoutUnloaded(found) : found
  } catch {
    // The session is closed, or a getter of the caller threw.
    return { files: [], refused: [], omitted: [] }
  }
}

/**
 * A file of the host that the session does not have yet may exist.
 * @param {EditPreview} preview
 * @returns {EditPreview}
 */
function withoutUnloaded({ refused, omitted, ...rest }) {
  const isUnloaded = (/** @type {EditPreview['refused'][0]} */ { code }) =>
    code === 'FILE_NOT_FOUND'
  const unloaded = refused.filter(isUnloaded).map(({ operation, path }) => ({
    ...(operation !== undefined && { operation }),
    ...(path !== undefined && { path }),
    reason: /** @type {const} */ ('file-not-loaded'),
  }))
  return {
    ...rest,
    refused: refused.filter((one) => !isUnloaded(one)),
    omitted: [...omitted, ...unloaded],
  }
}

module.exports = { preview }
