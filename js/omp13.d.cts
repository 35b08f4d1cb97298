import type { LineTag } from './hashline/common.cjs'

export * from './hashline/common.cjs'

export type Anchor = LineTag

/** An edit of whole lines, by anchors that all refer to the text before the edits. */
export type HashlineEdit =
  | { op: 'replace_line'; pos: Anchor; lines: string[] }
  | { op: 'replace_range'; pos: Anchor; end: Anchor; lines: string[] }
  | { op: 'append_at'; pos: Anchor; lines: string[] }
  | { op: 'prepend_at'; pos: Anchor; lines: string[] }
  | { op: 'append_file'; lines: string[] }
  | { op: 'prepend_file'; lines: string[] }

export interface HashlineResult {
  lines: string
  /** The number of the first line that is another one now. */
  firstChangedLine: number | undefined
  /** What was corrected, and what looks wrong. */
  warnings?: string[]
  /** Edits that say what is there already. The index counts without duplicates. */
  noopEdits?: Array<{ editIndex: number; loc: string; current: string }>
}

/**
 * Applies edits to a text, all of them or none: an anchor that does not hold throws. Duplicates
 * are removed from `edits`, and escaped tabs at the start of lines are corrected there.
 */
export function applyHashlineEdits(text: string, edits: HashlineEdit[]): HashlineResult
