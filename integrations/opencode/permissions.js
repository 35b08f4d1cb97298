// Edit permissions in opencode's terms: its own editing tools are hidden, and their permissions
// apply to `apply_hash`, globally and for each agent.

/** The permission of opencode's editing tools. */
const EDIT = 'edit'
/** The names of these tools in old configurations. */
const OLD_NAMES = ['edit', 'write', 'patch', 'multiedit']

/**
 * Hides opencode's editing tools by denying their permission, and gives their former permission to
 * `apply`, unless `apply` has its own.
 * @param {Record<string, any>} config
 * @param {string} apply the name of the editing tool of this plug-in
 * @param {Record<string, string>} ofPlan what the agent `plan` may edit by default
 */
export function giveEditPermission(config, apply, ofPlan) {
  config.permission = { ...moved(config, apply), [EDIT]: 'deny' }
  const { plan, ...others } = config.agent ?? {}
  const permission = { [apply]: ofPlan, ...moved(plan ?? {}, apply) }
  config.agent = { ...others, plan: { ...plan, permission } }
  for (const agents of [config.agent, config.mode ?? {}]) {
    for (const agent of Object.values(agents)) {
      const permission = moved(agent, apply)
      // A later rule for everything would show the tools again.
      if (Object.keys(permission).length > 0) agent.permission = { ...permission, [EDIT]: 'deny' }
    }
  }
}

/**
 * The permissions of a configuration or an agent, with `apply` at the position of `edit`, because
 * the last matching rule applies.
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

/**
 * Whether every agent may read every file without a question, as far as the configuration says.
 * Without rules opencode asks only for `.env` files.
 * @param {Record<string, any>} config
 */
export function mayReadAll(config) {
  const agents = [config, ...Object.values(config.agent ?? {}), ...Object.values(config.mode ?? {})]
  return agents.every(({ permission, tools }) => tools?.read !== false && allowsReads(permission))
}

/** @param {unknown} permission a rule for everything, or the rules of tools */
function allowsReads(permission) {
  if (typeof permission === 'string') return permission === 'allow'
  let isAllowed = true
  // The last matching rule applies.
  for (const [tool, rule] of Object.entries(permission ?? {})) {
    if (tool !== 'read' && !tool.includes('*')) continue
    const rules = typeof rule === 'object' && rule !== null ? Object.values(rule) : [rule]
    isAllowed = rules.every((one) => one === 'allow')
  }
  return isAllowed
}
