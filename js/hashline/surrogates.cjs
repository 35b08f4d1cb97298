// Halves of surrogate pairs, which a string of JavaScript may hold alone and UTF-8 may not.

'use strict'

/** Each half without its other half. */
const LONE_SURROGATES = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

module.exports = { LONE_SURROGATES }
