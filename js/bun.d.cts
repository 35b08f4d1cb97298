import type * as addon from '../index.js'
import type {
  HashSessionOptions,
  ReadOptions,
  ReadReport,
  ReadRequest,
  SearchQuery,
  SessionApplyOptions,
} from '../index.js'

// The functions that are those of `hashline-native`, with the same results.

export declare const applyHashSync: typeof addon.applyHashSync
export declare const applyHashToText: typeof addon.applyHashToText
export declare const checkCommand: typeof addon.checkCommand
export declare const formatHashed: typeof addon.formatHashed
export declare const hashLines: typeof addon.hashLines
export declare const readHashedSync: typeof addon.readHashedSync
export declare const readJsonSync: typeof addon.readJsonSync
export declare const recoverTransactionsSync: typeof addon.recoverTransactionsSync
export declare const searchHashedSync: typeof addon.searchHashedSync
export declare const version: typeof addon.version

/**
 * Reads one file: its lines with their anchors, and nothing else. Throws when it cannot be read,
 * or is no text.
 */
export declare function readText(
  request: string | ReadRequest,
  options?: Omit<ReadOptions, 'signal'>,
): string

/** As the `HashSession` of `hashline-native`, with the calls that wait for their answers. */
export declare class HashSession {
  /** A session that was shown nothing yet. Throws for misuse of the options. */
  constructor(options?: HashSessionOptions)
  /** Reads files, within the limits of one call. */
  readSync(requests: string | ReadRequest | readonly (string | ReadRequest)[]): ReadReport
  /** Searches files, within the limits of one call. */
  searchSync(query: SearchQuery): addon.SearchResult
  /** Applies a patch whose anchors mean the lines that were shown: all of it, or nothing. */
  applySync(patch: addon.Patch, options?: Omit<SessionApplyOptions, 'signal'>): addon.ApplyOutcome
  /** Learns from what a tool showed earlier. Returns how many lines were learned. */
  observe(text: string, path?: string): number
  /** Forgets what was shown of a file, or of all files. */
  forget(path?: string): void
  /** A session of its own that remembers all that this one does. */
  fork(): HashSession
  /** What went wrong with keeping the session on disk. */
  get notes(): string[]
  /**
   * Lets go of its memory, which else happens some time after nothing refers to the session any
   * more. No call is possible afterwards.
   */
  close(): void
}
