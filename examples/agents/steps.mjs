// What scripted models of several tests do.

import assert from 'node:assert/strict'
import { call } from '../../scripts/modelServer.mjs'

/** The anchor of the line that contains `text`. @param {string} shown @param {string} text */
export function anchorOf(shown, text) {
  const row = shown.split('\n').find((one) => one.includes(text))
  assert.ok(row, `${text} in ${shown}`)
  return row.split('|')[0]
}

/** @param {...object} operations */
export const apply = (...operations) => call('apply', { operations })

/** @param {string} path @param {string} anchor @param {string} text */
export const setLine = (path, anchor, text) => apply({ op: 'set_line', path, anchor, text })
