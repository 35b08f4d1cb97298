// The part of `bun:ffi` that `../bun.cjs` uses, for type checks without the types of Bun.

declare module 'bun:ffi' {
  type Pointer = number & { readonly pointer: unique symbol }

  export const FFIType: Record<'ptr' | 'u64' | 'u32' | 'bool' | 'void', number>

  export function dlopen(
    path: string,
    functions: Record<string, { args: number[]; returns: number }>,
  ): { symbols: Record<string, (...args: unknown[]) => number> }

  export function ptr(memory: ArrayBufferView, offset?: number): Pointer

  export function toArrayBuffer(pointer: number, offset: number, length: number): ArrayBuffer

  export class CString {
    constructor(pointer: number)
    toString(): string
  }
}
