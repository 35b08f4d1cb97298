export * from './hashline/common.cjs'

/** A line number, from 1, and the hash of that line. */
export type Anchor = { line: number; hash: string }

/** An edit of whole lines, by anchors that refer to the original text. */
export type HashlineEdit =
  | { op: 'replace_line'; pos: Anchor; lines: string[] }
  | { op: 'replace_range'; pos: Anchor; end: Anchor; lines: string[] }
  | { op: 'append_at'; pos: Anchor; lines: string[] }
  | { op: 'prepend_at'; pos: Anchor; lines: string[] }
  | { op: 'append_file'; lines: string[] }
  | { op: 'prepend_file'; lines: string[] }

/**
 * Applies edits to a text, all of them or none: an anchor that does not match throws. Duplicates
 * are removed from `edits`, and escaped tabs at the start of lines are corrected in it.
 */
export function applyHashlineEdits(
  text: string,
  edits: HashlineEdit[],
): {
  lines: string
  /** The number of the first line that changed. */
  firstChangedLine: number | undefined
  /** Corrections and likely mistakes. */
  warnings?: string[]
  /** Edits that change nothing. The index does not count duplicates. */
  noopEdits?: Array<{ editIndex: number; loc: string; current: string }>
}

export interface CompactHashlineDiffPreview {
  preview: string
  /** The number of added lines, whether the preview shows them or not. */
  addedLines: number
  removedLines: number
}

/** The most lines that the preview shows per run and in total. */
export interface CompactHashlineDiffOptions {
  /** 2 by default, on each side of a run between two changes. */
  maxUnchangedRun?: number
  /** 2 by default. */
  maxAdditionRun?: number
  /** 2 by default. */
  maxDeletionRun?: number
  /** 16 by default. */
  maxOutputLines?: number
}

/**
 * Shortens a diff of numbered lines (`+12|text`, `-12|text`, ` 12|text`) for a model: with fresh
 * anchors and truncated runs.
 */
export function buildCompactHashlineDiffPreview(
  diff: string,
  options?: CompactHashlineDiffOptions,
): CompactHashlineDiffPreview
