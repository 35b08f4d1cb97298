// Counts of right, wrong and refused.

/** @typedef {'right' | 'wrong' | 'refused'} Verdict */

export class Tally {
  right = 0
  wrong = 0
  refused = 0
  /** Of the wrong ones, those whose texts were mended. */
  repaired = 0

  get all() {
    return this.right + this.wrong + this.refused
  }
}
