// Counts right, wrong and refused results.

/** @typedef {'right' | 'wrong' | 'refused'} Verdict */

export class Tally {
  right = 0
  wrong = 0
  refused = 0
  /** The wrong results whose texts were repaired. */
  repaired = 0

  get all() {
    return this.right + this.wrong + this.refused
  }
}
