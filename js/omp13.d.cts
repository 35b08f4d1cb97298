export * from './hashline/common.cjs'

/** A line number, from 1, and the hash of that line. */
export type Anchor = { line: number; hash: string }

/** An edit of whole lines, by anchors that all refer to the text before the edits. */
export type HashlineEdit =
  | { op: 'replace_line'; pos: Anchor; lines: string[] }
  | { op: 'replace_range'; pos: Anchor; end: Anchor; lines: string[] }
  | { op: 'append_at'; pos: Anchor; lines: string[] }
  | { op: 'prepend_at'; pos: Anchor; lines: string[] }
  | { op: 'append_file'; lines: string[] }
  | { op: 'prepend_file'; lines: string[] }

/**
 * Applies edits to a text, all of them or none: an anchor that does not hold throws. Duplicates
 * are removed from `edits`, and escaped tabs at the start of lines are corrected there.
 */
export function applyHashlineEdits(
  text: string,
  edits: HashlineEdit[],
): {
  lines: string
  /** The number of the first line that is another one now. */
  firstChangedLine: number | undefined
  /** What was corrected, and what looks wrong. */
  warnings?: string[]
  /** Edits that say what is there already. The index counts without duplicates. */
  noopEdits?: Array<{ editIndex: number; loc: string; current: string }>
}

export interface CompactHashlineDiffPreview {
  preview: string
  /** How many lines the diff adds, whether the preview shows them or not. */
  addedLines: number
  removedLines: number
}

/** How many lines of a run the preview shows, and how many in all. */
export interface CompactHashlineDiffOptions {
  /** 2 when left out, on each side of a run between two changes. */
  maxUnchangedRun?: number
  /** 2 when left out. */
  maxAdditionRun?: number
  /** 2 when left out. */
  maxDeletionRun?: number
  /** 16 when left out. */
  maxOutputLines?: number
}

/**
 * A diff of numbered lines (`+12|text`, `-12|text`, ` 12|text`), made short for a model: with
 * fresh anchors, and long runs cut.
 */
export function buildCompactHashlineDiffPreview(
  diff: string,
  options?: CompactHashlineDiffOptions,
): CompactHashlineDiffPreview
