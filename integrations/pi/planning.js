// Detects oh-my-pi's plan mode, in which only the plan may be written. An extension can see the
// mode only in the conversation.

/** @typedef {{ type: string, mode?: string, customType?: string, message?: { role: string } }} Entry */

/** Precedes the user's message in plan mode. */
const ACTIVE = 'plan-mode-context'
/** Follows a plan that was approved without the user. */
const APPROVED = 'plan-yolo-handoff'

/**
 * Whether the conversation ends in plan mode.
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
