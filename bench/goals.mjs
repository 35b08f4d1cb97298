// The goal of each measurement. `most`: this package takes at most this multiple of the peer's
// time; `least`: the peer takes at least this multiple of this package's time. `beyond`: this
// package takes at most this much longer. `withinMs`: the time of this package; the peer is shown
// for comparison.

/**
 * @typedef {object} Goal
 * @property {string} work the description
 * @property {number} [most]
 * @property {number} [withinMs] the most milliseconds of this package
 * @property {number} [least] 0: no goal, but shown in the same way
 * @property {number} [beyond] the most nanoseconds of this package beyond the peer
 */

/** @type {Record<string, Goal>} */
export const GOALS = {
  'hash-ascii': {
    work: 'normalize and hash every line, ASCII source',
    most: 2.5,
  },
  'hash-ascii-avx512': {
    work: 'normalize and hash every line with AVX-512, ASCII source',
    most: 1.11,
  },
  'hash-ascii-portable': { work: 'normalize and hash every line, portable path', most: 5 },
  'hash-cyrillic': { work: 'normalize and hash, Cyrillic source, per byte', most: 2 },
  'hash-cjk': { work: 'normalize and hash, CJK source, per byte', most: 2 },
  'hash-cyrillic-portable': { work: 'normalize and hash, Cyrillic, portable path', most: 2 },
  'hash-cjk-portable': { work: 'normalize and hash, CJK, portable path', most: 2 },
  'hash-long': { work: 'normalize and hash, very long lines' },
  'read-page': { work: 'read 2,000 lines (62 KB)', most: 2 },
  'read-page-peer': { work: 'read 2,000 lines (62 KB)', least: 10 },
  'format-page-peer': { work: 'format 2,000 lines in memory', least: 8 },
  'read-large': { work: 'read a file of 86 MB, ASCII', most: 1.3 },
  'read-large-memory': { work: 'peak memory of reading 86 MB, ASCII', most: 3 },
  'read-mixed': { work: 'read a file of 86 MB that is not all ASCII' },
  'read-mixed-memory': {
    work: 'peak memory of reading 86 MB not all ASCII, two bytes a character in V8',
  },
  'large-cores': { work: 'read a file of 86 MB, two cores for one', least: 1.6 },
  'large-cores-following': {
    work: 'read a file of 86 MB, two cores for one, the last text not collected',
    least: 1.6,
  },
  'batch-cores': { work: 'read 5,000 files, two cores for one', least: 1.7 },
  cores: { work: 'nothing but arithmetic, two cores for one: what this machine can', least: 0 },
  'batch-wasm': { work: 'read 5,000 files', least: 10 },
  'batch-peer': { work: 'read 5,000 files', least: 10 },
  'search-rare': { work: 'search 10,000 files, rare pattern', most: 1.2 },
  'search-frequent': { work: 'search 10,000 files, frequent pattern', most: 1.2 },
  'apply-one': { work: 'one edit in 50,000 lines on disk', most: 3 },
  'apply-many': { work: '1,000 edits in 1,000,000 lines', most: 2 },
  'session-read': { work: 'a session reads 2,000 lines', most: 1.25 },
  'session-read-stored': { work: 'a session on disk reads 2,000 lines' },
  'session-search': {
    work: 'a session finds 150 matches in 150 files of 3,000 lines',
    most: 1.05,
  },
  'session-apply': { work: 'a session edits a file of 10,000 lines', most: 2 },
  'session-apply-changed': {
    work: 'a session edits a file of 10,000 lines that others changed at two places',
    most: 2,
  },
  'session-apply-parsed': {
    work: 'a session edits 2,000 lines of TypeScript for the first time, without and with a parser',
  },
  'session-apply-parsed-again': {
    work: 'a session edits 2,000 lines of TypeScript again, without and with a parser',
    most: 1.5,
  },
  'session-apply-parsed-later': {
    work: 'a session edits 2,000 lines of TypeScript for the third to sixth time, without and with a parser',
    most: 1.5,
  },
  'session-memory': { work: 'memory of a process after 100,000 reads and edits by a session' },
  'cli-start': { work: 'start of the program', most: 3 },
  'cli-start-node': { work: 'start of the program' },
  'cli-hook': { work: 'a hook judges a shell command, start to end', withinMs: 10 },
  'cli-hook-node': { work: 'a hook judges a shell command, start to end' },
  'cli-read': { work: 'the program reads a file of 86 MB' },
  'cli-read-node': { work: 'the program reads a file of 86 MB' },
  'cli-read-memory': { work: 'peak memory of the program reading 86 MB' },
  'cli-read-other': { work: 'the program reads a file of 86 MB', most: 0.5 },
  'cli-read-other-memory': { work: 'peak memory of the program reading 86 MB', most: 0.5 },
  'cli-search-rare': { work: 'the program searches 10,000 files, rare pattern', most: 1.2 },
  'cli-search-frequent': { work: 'the program searches 10,000 files, frequent pattern', most: 1.2 },
  'cli-search-many': { work: 'the program searches 300,000 files, rare pattern', most: 1 },
  'cli-search-many-memory': {
    work: 'peak memory of the program searching 300,000 files',
    most: 1.5,
  },
  'cli-json': { work: 'the program edits a value in a lock file of 5 MB', most: 3 },
  'cli-json-power': {
    work: 'the program edits a value in a lock file of 5 MB, safe from power cuts',
    most: 3,
  },
  'omp-format': { work: 'format 2,000 lines in memory', least: 8 },
  'omp-apply': { work: 'one edit in 2,000 lines in memory', least: 8 },
  'omp-apply-call': {
    work: 'one edit in 2,000 lines in memory, without reading the result',
    least: 8,
  },
  'omp-apply-ten': { work: 'ten edits in 2,000 lines in memory', least: 8 },
  'omp-apply-large': { work: 'one edit in 10,000 lines in memory', least: 10 },
  'omp-apply-large-call': {
    work: 'one edit in 10,000 lines in memory, without reading the result',
    least: 10,
  },
  'apply-text': {
    work: "one edit in 10,000 lines with the engine's outcome and text for the model",
    least: 2,
  },
  'omp-apply-200': { work: '200 edits in 2,000 lines in memory', least: 2 },
  'omp-apply-5000': { work: '5,000 edits in 10,000 lines in memory', least: 2 },
  'omp-apply-20000': { work: '20,000 edits in 50,000 lines in memory', least: 2 },
  'omp-apply-small': { work: 'one edit in 100 lines in memory', least: 1 },
  'omp-stale': { work: 'a stale anchor in 10,000 lines in memory', least: 1 },
  'omp-format-line': { work: 'format one line in memory', least: 1 },
  'omp-hash-wide': { work: 'the hash of one line in Chinese, Japanese or Korean', least: 1 },
  'omp-hash': { work: 'the hash of one line', most: 1 },
  'script-one': { work: "one hunk of oh-my-pi's language in 2,000 lines in memory", least: 1 },
  'script-ten': { work: "ten hunks of oh-my-pi's language in 2,000 lines in memory", least: 1 },
  'script-200': { work: "200 hunks of oh-my-pi's language in 2,000 lines in memory", least: 3 },
  'script-read': { work: 'read 2,000 lines with numbers and the tag of the file', least: 1 },
  'script-tag': { work: 'the tag of a file of 10,000 lines', least: 1 },
  'script-stale': {
    work: "a hunk of oh-my-pi's language by a stale tag in 10,000 lines",
    least: 1,
  },
  'tools-read': { work: 'a tool reads 1,000 lines', least: 3 },
  'tools-read-folded': { work: 'a tool reads a file over its limit: folded, and cut' },
  'tools-search-rare': { work: 'a tool searches 10,000 files, rare pattern', least: 3 },
  'tools-search-frequent': { work: 'a tool searches 10,000 files, 100 of many matches', least: 3 },
  'tools-edit': { work: 'a tool edits one of 2,000 lines', least: 3 },
  'tools-edit-power': { work: 'a tool edits one of 2,000 lines, safe from power cuts' },
  load: { work: 'start Node and load the addon', beyond: 5e6 },
  'load-bun': { work: 'start Bun and load the addon', beyond: 5e6 },
  'ffi-command': { work: 'Bun: judge a command' },
  'ffi-hash': { work: 'Bun: hash two lines in memory' },
  'ffi-small': { work: 'Bun: read two lines' },
  'ffi-page': { work: 'Bun: read 2,000 lines (62 KB)' },
  'ffi-format': { work: 'Bun: format 2,000 lines in memory' },
  'ffi-many': { work: 'Bun: read 100 files of two lines' },
  'ffi-apply': { work: 'Bun: a refused edit in memory' },
  'growth-view': { work: 'growth: view of a whole file', most: 2.2 },
  'growth-read': { work: 'growth: first page of a file', most: 2.2 },
  'growth-search': { work: 'growth: search in a file', most: 2.2 },
  'growth-apply': { work: 'growth: one edit', most: 2.2 },
}

/**
 * How far a row is from its goal.
 * @param {Goal} goal
 * @param {number} own
 * @param {number} peer
 */
export function judge({ most, least, beyond, withinMs }, own, peer) {
  if (beyond !== undefined) {
    const more = own - peer
    const goal = `at most ${beyond / 1e6} ms longer`
    return { text: `${round(more / 1e6)} ms longer`, goal, met: more <= beyond }
  }
  if (least !== undefined) {
    const ratio = peer / own
    if (least === 0) return { text: `${round(ratio)} × faster`, goal: '', met: undefined }
    return { text: `${round(ratio)} × faster`, goal: `at least ${least} ×`, met: ratio >= least }
  }
  const ratio = own / peer
  const text = `${round(ratio)} × the peer`
  if (withinMs !== undefined) {
    return { text, goal: `at most ${withinMs} ms`, met: own <= withinMs * 1e6 }
  }
  if (most === undefined) return { text, goal: '', met: undefined }
  return { text, goal: `at most ${most} ×`, met: ratio <= most }
}

/** @param {number} value */
export const round = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
