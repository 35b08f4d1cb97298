import type * as addon from '../index.js'
import type { HashSessionOptions, ReadOptions, ReadRequest } from '../index.js'

// The functions of `hashline-native`, with the same results.

export declare const applyHashSync: typeof addon.applyHashSync
export declare const applyHashToText: typeof addon.applyHashToText
export declare const applyJsonSync: typeof addon.applyJsonSync
export declare const checkCommand: typeof addon.checkCommand
export declare const formatHashed: typeof addon.formatHashed
export declare const HashlineError: typeof addon.HashlineError
export type HashlineError = addon.HashlineError
export declare const hashLines: typeof addon.hashLines
export declare const readHashedSync: typeof addon.readHashedSync
export declare const readJsonSync: typeof addon.readJsonSync
export declare const recoverTransactionsSync: typeof addon.recoverTransactionsSync
export declare const searchHashedSync: typeof addon.searchHashedSync
export declare const version: typeof addon.version

/**
 * Reads one file: only its lines with their anchors. Throws if it cannot be read or is not text.
 */
export declare function readText(
  request: string | ReadRequest,
  options?: Omit<ReadOptions, 'signal'>,
): string

/** The `HashSession` of `hashline-native`, without the calls that return promises. */
export interface HashSession
  extends Omit<
    addon.HashSession,
    'annotate' | 'apply' | 'applyJson' | 'fork' | 'plan' | 'read' | 'readJson' | 'search'
  > {
  /** A separate session that remembers everything that this one does. */
  fork(): HashSession
}
export declare const HashSession: new (options?: HashSessionOptions) => HashSession
