export * from './hashline/common.cjs'

/** A line number, from 1, and the hash of that line. */
export type LineTag = { line: number; hash: string }

/** An edit of whole lines, by anchors that refer to the original text. */
export type HashlineEdit =
  | { op: 'set'; tag: LineTag; content: string[] }
  | { op: 'replace'; first: LineTag; last: LineTag; content: string[] }
  | { op: 'append'; after?: LineTag; content: string[] }
  | { op: 'prepend'; before?: LineTag; content: string[] }
  | { op: 'insert'; after: LineTag; before: LineTag; content: string[] }

/** An edit by text; `applyHashlineEdits` does not accept it. */
export type ReplaceTextEdit = {
  op: 'replaceText'
  old_text: string
  new_text: string
  all?: boolean
}

export type EditSpec = HashlineEdit | ReplaceTextEdit

/**
 * Applies edits to a text, all of them or none: an anchor that does not match throws. Duplicates
 * are removed from `edits`.
 */
export function applyHashlineEdits(
  content: string,
  edits: HashlineEdit[],
): {
  content: string
  /** The number of the first line that changed. */
  firstChangedLine: number | undefined
  warnings?: string[]
  /** Edits that change nothing. The index does not count duplicates. */
  noopEdits?: Array<{ editIndex: number; loc: string; currentContent: string }>
}
