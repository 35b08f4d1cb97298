export * from './hashline/common.cjs'

/** A line number, from 1, and the hash of that line. */
export type LineTag = { line: number; hash: string }

/** An edit of whole lines, by anchors that all refer to the text before the edits. */
export type HashlineEdit =
  | { op: 'set'; tag: LineTag; content: string[] }
  | { op: 'replace'; first: LineTag; last: LineTag; content: string[] }
  | { op: 'append'; after?: LineTag; content: string[] }
  | { op: 'prepend'; before?: LineTag; content: string[] }
  | { op: 'insert'; after: LineTag; before: LineTag; content: string[] }

/** An edit by text; not one of `applyHashlineEdits`. */
export type ReplaceTextEdit = {
  op: 'replaceText'
  old_text: string
  new_text: string
  all?: boolean
}

export type EditSpec = HashlineEdit | ReplaceTextEdit

/**
 * Applies edits to a text, all of them or none: an anchor that does not hold throws. Duplicates
 * are removed from `edits`.
 */
export function applyHashlineEdits(
  content: string,
  edits: HashlineEdit[],
): {
  content: string
  /** The number of the first line that is another one now. */
  firstChangedLine: number | undefined
  warnings?: string[]
  /** Edits that say what is there already. The index counts without duplicates. */
  noopEdits?: Array<{ editIndex: number; loc: string; currentContent: string }>
}
