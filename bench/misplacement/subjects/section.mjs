// A case in the patch language of `@oh-my-pi/hashline`.

/** @import { Edit } from '../../edit/history/text.mjs' */

/**
 * The patch of one file.
 * @param {string} header of the file, with the tag of the version that was seen
 * @param {Edit[]} operations
 */
export const sectionsOf = (header, operations) => [header, ...operations.map(sectionOf)].join('\n')

/** @param {Edit} edit */
function sectionOf(edit) {
  const body = edit.lines.map((line) => `\n+${line}`).join('')
  if ('after' in edit) return `${edit.after === 0 ? 'PUT <1:' : `PUT >${edit.after}:`}${body}`
  const range = `${edit.first}.=${edit.last}`
  return edit.lines.length === 0 ? `CUT ${range}` : `PUT ${range}:${body}`
}
