// The functions of the C interface that take texts and return one, as a foreign function interface
// needs to know them.

'use strict'

/**
 * @typedef {object} Signature
 * @property {number} inputs the number of texts, each a pointer and a length
 * @property {boolean} ofSession whether the first argument is the number of a session
 */

/** @param {number} inputs @returns {Signature} */
const call = (inputs) => ({ inputs, ofSession: false })
/** @param {number} inputs @returns {Signature} */
const sessionCall = (inputs) => ({ inputs, ofSession: true })

/** @type {Record<string, Signature>} */
const SIGNATURES = {
  hashline_read: call(2),
  hashline_read_text: call(2),
  hashline_read_json: call(2),
  hashline_search: call(2),
  hashline_apply: call(2),
  hashline_apply_text: call(3),
  hashline_format: call(2),
  hashline_hash_lines: call(2),
  hashline_check_command: call(2),
  hashline_recover: call(1),
  hashline_session_open: call(1),
  hashline_session_fork: sessionCall(0),
  hashline_session_read: sessionCall(1),
  hashline_session_search: sessionCall(1),
  hashline_session_annotate: sessionCall(2),
  hashline_session_tools: sessionCall(1),
  hashline_session_call_tool: sessionCall(3),
  hashline_session_apply: sessionCall(2),
  hashline_session_observe: sessionCall(2),
  hashline_session_forget: sessionCall(1),
  hashline_session_set_document: sessionCall(3),
  hashline_session_close_document: sessionCall(1),
  hashline_session_documents: sessionCall(0),
  hashline_session_changed_files: sessionCall(0),
  hashline_session_notes: sessionCall(0),
  hashline_session_memory_bytes: sessionCall(0),
  hashline_session_read_json: sessionCall(1),
}

/**
 * Describes each function for a host.
 * @template T
 * @param {(signature: Signature) => T} describe
 * @returns {Record<string, T>}
 */
function declarations(describe) {
  const entries = Object.entries(SIGNATURES)
  return Object.fromEntries(entries.map(([name, signature]) => [name, describe(signature)]))
}

module.exports = { declarations }
