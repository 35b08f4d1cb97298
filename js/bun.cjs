// `hashline-native/bun`: opens the binary with `bun:ffi`, without Node-API.

'use strict'

const { CString, dlopen, FFIType, ptr, toArrayBuffer } = require('bun:ffi')
const { functionsOver, refuse } = require('./ffi/functions.cjs')
const { binaryPath } = require('./ffi/library.cjs')
const { declarations } = require('./ffi/signatures.cjs')

/** @import { Input } from './ffi/functions.cjs' */

/** The version of the C interface that this module supports. */
const ABI_VERSION = 1

const { ptr: pointer, u64, u32, bool } = FFIType

/** @type {Record<string, any>} */
const described = declarations(({ inputs, ofSession }) => ({
  args: [
    ...(ofSession ? [u64] : []),
    ...Array.from({ length: inputs }, () => [pointer, u64]).flat(),
    pointer,
    pointer,
  ],
  returns: bool,
}))

/** @type {any} */
const { symbols } = dlopen(binaryPath(), {
  hashline_version: { args: [], returns: pointer },
  hashline_abi_version: { args: [], returns: u32 },
  hashline_free: { args: [pointer], returns: FFIType.void },
  hashline_session_close: { args: [u64], returns: bool },
  ...described,
})

if (symbols.hashline_abi_version() !== ABI_VERSION) {
  const has = symbols.hashline_abi_version()
  throw new Error(
    `hashline-native: the binary has version ${has} of the C interface, but this module needs ${ABI_VERSION}. Install both from the same release.`,
  )
}

// The memory for results. No call is reentrant, so one of each is enough. A buffer is a pointer and
// a length; an error is a pointer to its code, followed by two buffers.
const answer = new BigUint64Array(2)
const error = new BigUint64Array(5)
const [answerPtr, errorPtr] = [ptr(answer), ptr(error)]
const [messagePtr, pathPtr] = [ptr(error, 8), ptr(error, 24)]

/** A pointer that is not null, for an input without bytes. */
const nowhere = ptr(new Uint8Array(1))

/**
 * Copies the bytes of a buffer.
 * @param {BigUint64Array} room
 * @param {number} at
 */
function text(room, at) {
  const [data, length] = [Number(room[at]), Number(room[at + 1])]
  return length === 0 ? '' : Buffer.from(toArrayBuffer(data, 0, length)).toString()
}

/** Reads the error and frees its buffers. */
function refusal() {
  const code = new CString(Number(error[0])).toString()
  const path = error[3] === 0n ? undefined : text(error, 3)
  const message = text(error, 1)
  symbols.hashline_free(messagePtr)
  symbols.hashline_free(pathPtr)
  return refuse({ code, message, path })
}

/**
 * @param {string} name
 * @param {Input[]} inputs
 * @param {number} [session]
 */
function called(name, inputs, session) {
  const given = inputs.flatMap((input) => {
    if (input === undefined) return [null, 0]
    return input.length === 0 ? [nowhere, 0] : [input, input.length]
  })
  const of = session === undefined ? [] : [session]
  if (!symbols[name](...of, ...given, answerPtr, errorPtr)) throw refusal()
}

const functions = functionsOver({
  call(name, inputs, session) {
    called(name, inputs, session)
    const copy = text(answer, 0)
    symbols.hashline_free(answerPtr)
    return copy
  },
  open(name, inputs, session) {
    called(name, inputs, session)
    return Number(answer[0])
  },
  close(session) {
    symbols.hashline_session_close(session)
  },
})

/** The version of the engine. */
const version = () => new CString(symbols.hashline_version()).toString()

module.exports = { ...functions, version }
