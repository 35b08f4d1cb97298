// Counts right, wrong and refused results.

/** @typedef {'right' | 'wrong' | 'refused'} Verdict */

export class Tally {
  right = 0
  wrong = 0
  refused = 0
  /** The wrong results whose texts were repaired. */
  repaired = 0
  /** The results at the right place with another indentation of new lines. */
  indented = 0
  /** The cases that have a right place. */
  possible = 0
  /** The refusals that do not show all lines that have the text of the edit's lines now. */
  unshown = 0
  /** How often there were refusals, repairs and warnings, by kind. @type {Map<string, number>} */
  remarks = new Map()

  get all() {
    return this.right + this.wrong + this.refused
  }
}
