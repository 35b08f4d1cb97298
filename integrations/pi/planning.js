// Whether oh-my-pi is in plan mode, in which nothing but the plan may be written. Its own tools
// know; an extension sees it by the conversation alone.

/** @typedef {{ type: string, mode?: string, customType?: string, message?: { role: string } }} Entry */

/** What goes before a person's words while a plan is made. */
const ACTIVE = 'plan-mode-context'
/** What follows on a plan that was approved without a person. */
const APPROVED = 'plan-yolo-handoff'

/**
 * Whether a plan is being made at the end of a conversation.
 * @param {Iterable<Entry>} branch
 */
export function isPlanning(branch) {
  let planning = false
  let isNextPlanned = false
  for (const { type, mode, customType, message } of branch) {
    if (type === 'mode_change') planning = isNextPlanned = mode === 'plan'
    if (customType === ACTIVE) planning = isNextPlanned = true
    if (customType === APPROVED) planning = isNextPlanned = false
    if (message?.role === 'user') {
      planning = isNextPlanned
      isNextPlanned = false
    }
  }
  return planning
}
