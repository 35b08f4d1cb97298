// Declarations that `hashline-native/omp` and `hashline-native/omp13` share. They export exactly
// the names of the originals, so that `export *` next to an agent's own types has no duplicates.

// biome-ignore lint/complexity/noUselessEmptyExport: without it a declaration file exports all
export {}

/** A line number, from 1, and the hash of that line. */
type LineTag = { line: number; hash: string }

/** An anchor whose line has another hash. */
type HashMismatch = {
  line: number
  /** The hash in the anchor. */
  expected: string
  /** The hash of the line. */
  actual: string
}

export interface HashlineStreamOptions {
  /** The number of the first line: 1 by default. */
  startLine?: number
  /** The most lines in a chunk: 200 by default. */
  maxChunkLines?: number
  /** The most UTF-8 bytes in a chunk: 65,536 by default. A longer line is a chunk of its own. */
  maxChunkBytes?: number
}

/** The hash of a line: two letters. `idx` is its number. */
export function computeLineHash(idx: number, line: string): string

/** The anchor of a line: `12#XY`. */
export function formatLineTag(line: number, content: string): string

/** The lines of a text, each with its anchor: `12#XY:text`. */
export function formatHashLines(content: string, startLine?: number): string

/** As `formatHashLines`, for UTF-8 bytes, in chunks of lines. */
export function streamHashLinesFromUtf8(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  options?: HashlineStreamOptions,
): AsyncGenerator<string>

/** As `formatHashLines`, for lines, in chunks of lines. */
export function streamHashLinesFromLines(
  lines: Iterable<string> | AsyncIterable<string>,
  options?: HashlineStreamOptions,
): AsyncGenerator<string>

/** Reads an anchor as a model wrote it. Throws if it is malformed. */
export function parseTag(ref: string): LineTag

/** Throws unless the anchor is that of a line of the file. */
export function validateLineRef(ref: LineTag, fileLines: string[]): void

/** Anchors whose lines have changed. The message shows the current lines, for a model. */
export class HashlineMismatchError extends Error {
  constructor(mismatches: HashMismatch[], fileLines: string[])
  readonly mismatches: HashMismatch[]
  readonly fileLines: string[]
  /** From the stale anchor to the fresh anchor of the same line. */
  readonly remaps: ReadonlyMap<string, string>
  static formatMessage(mismatches: HashMismatch[], fileLines: string[]): string
}
