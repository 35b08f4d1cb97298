// What a configuration of opencode permits. Its rules for `edit` apply to the edit tool of this
// plug-in, which has that name.

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
