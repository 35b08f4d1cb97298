// The addon's functions for these modules; see src/omp.rs.

'use strict'

/**
 * @typedef {'omp' | 'omp13'} Dialect
 * @typedef {object} Native
 * @property {(dialect: Dialect, text: string, startLine: number) => string | null} formatLines
 * @property {(text: string, seed: number) => number} hashText
 * @property {(text: string) => ArrayBuffer} lineFeedCounts
 * @property {(text: string) => ArrayBuffer} lineStarts
 */

/** @type {{ omp: Native }} */
const addon = /** @type {any} */ (require('../addon.cjs'))

module.exports = addon.omp
