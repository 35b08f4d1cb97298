// The functions of the C interface, opened by `Deno.dlopen`.

import { functionsOver, refuse } from '../../js/ffi/functions.cjs'
import { binaryPath } from '../../js/ffi/library.cjs'
import { declarations } from '../../js/ffi/signatures.cjs'

/** @import { Input } from '../../js/ffi/functions.cjs' */

/** @type {any} */
const { Deno } = globalThis

const described = declarations(({ inputs, ofSession }) => ({
  parameters: [
    ...(ofSession ? ['u64'] : []),
    ...Array.from({ length: inputs }, () => ['buffer', 'usize']).flat(),
    'buffer',
    'buffer',
  ],
  result: 'bool',
}))

const { symbols } = Deno.dlopen(binaryPath(), {
  hashline_free: { parameters: ['buffer'], result: 'void' },
  hashline_session_close: { parameters: ['u64'], result: 'bool' },
  ...described,
})

/** Copies a text, and frees its buffer. @param {BigUint64Array} room */
function taken(room) {
  const data = Deno.UnsafePointer.create(room[0])
  if (data === null) return undefined
  const bytes = Deno.UnsafePointerView.getArrayBuffer(data, Number(room[1]))
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  symbols.hashline_free(room)
  return text
}

/**
 * @param {string} name
 * @param {Input[]} inputs
 * @param {number} [session]
 */
function called(name, inputs, session) {
  const [answer, error] = [new BigUint64Array(2), new BigUint64Array(5)]
  const given = inputs.flatMap((input) => {
    if (input === undefined) return [null, 0]
    // Deno passes an empty buffer as null.
    return input.length === 0 ? [new Uint8Array(1), 0] : [input, input.length]
  })
  const of = session === undefined ? [] : [BigInt(session)]
  if (symbols[name](...of, ...given, answer, error)) return answer
  const code = Deno.UnsafePointerView.getCString(Deno.UnsafePointer.create(error[0]))
  const [message, path] = [taken(error.subarray(1, 3)), taken(error.subarray(3, 5))]
  throw refuse({ code, message: message ?? '', path })
}

export const {
  applyHashSync,
  applyHashToText,
  checkCommand,
  formatHashed,
  HashSession,
  hashLines,
  readHashedSync,
  readJsonSync,
  recoverTransactionsSync,
  searchHashedSync,
} = functionsOver({
  call: (name, inputs, session) => taken(called(name, inputs, session)) ?? '',
  open: (name, inputs, session) => Number(called(name, inputs, session)[0]),
  close: (session) => symbols.hashline_session_close(BigInt(session)),
})
