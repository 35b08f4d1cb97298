// What may be edited, in opencode's terms: its own editing tools are hidden, and what is said about
// them goes for `apply_hash`, for everybody and for each agent.

/** The tools of opencode that edit files; their permission has this name. */
const EDIT = 'edit'
/** How agents of old configurations name these tools. */
const OLD_NAMES = ['edit', 'write', 'patch', 'multiedit']

/**
 * Hides opencode's editing tools, since a denied permission hides a tool, and gives `apply` what was
 * said about them, unless something is said about it.
 * @param {Record<string, any>} config
 * @param {string} apply the name of our tool
 * @param {Record<string, string>} ofPlan what the agent `plan` may edit by itself
 */
export function giveEditPermission(config, apply, ofPlan) {
  config.permission = { ...moved(config, apply), [EDIT]: 'deny' }
  const { plan, ...others } = config.agent ?? {}
  const permission = { [apply]: ofPlan, ...moved(plan ?? {}, apply) }
  config.agent = { ...others, plan: { ...plan, permission } }
  for (const agents of [config.agent, config.mode ?? {}]) {
    for (const agent of Object.values(agents)) {
      const permission = moved(agent, apply)
      // After a rule for everything, the tools would be back.
      if (Object.keys(permission).length > 0) agent.permission = { ...permission, [EDIT]: 'deny' }
    }
  }
}

/**
 * The permissions of a configuration or an agent, with `apply` in the place of `edit`: of two rules
 * that fit, the later one counts.
 * @param {{ permission?: any, tools?: Record<string, boolean> }} of
 * @param {string} apply
 * @returns {Record<string, unknown>}
 */
function moved({ permission, tools = {} }, apply) {
  const given = typeof permission === 'string' ? { '*': permission } : (permission ?? {})
  const isForbidden = OLD_NAMES.some((name) => tools[name] === false)
  const all = isForbidden && !(EDIT in given) ? { [EDIT]: 'deny', ...given } : given
  const entries = Object.entries(all)
  if (apply in all) return Object.fromEntries(entries.filter(([name]) => name !== EDIT))
  return Object.fromEntries(entries.map(([name, rule]) => [name === EDIT ? apply : name, rule]))
}
