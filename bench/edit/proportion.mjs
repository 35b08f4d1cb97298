// A proportion, its confidence interval, and its format.

/** The quantile of the normal distribution with 2.5 % beyond it on each side. */
const Z = 1.959964

/**
 * Wilson's 95 % interval of a proportion.
 * @param {number} count
 * @param {number} all
 */
export const interval = (count, all) => (all === 0 ? { low: 0, high: 1 } : wilson(count / all, all))

/**
 * The interval for attempts at tasks. Several runs of one task are not independent: they count as
 * fewer attempts, depending on how similar the runs of a task are (Kish's effective size), but at
 * least as one per task.
 * @param {boolean[][]} tasks the results of the runs of each task
 */
export function intervalOf(tasks) {
  const all = tasks.flat()
  if (all.length === 0) return { low: 0, high: 1 }
  const part = all.filter(Boolean).length / all.length
  return wilson(part, effectiveSize(tasks, part, all.length))
}

/** @param {boolean[][]} tasks @param {number} part @param {number} count of attempts */
function effectiveSize(tasks, part, count) {
  if (part === 0 || part === 1) return tasks.length
  const off = (/** @type {boolean[]} */ runs) =>
    runs.reduce((sum, is) => sum + (Number(is) - part), 0) ** 2
  const variance = tasks.reduce((sum, runs) => sum + off(runs), 0) / count ** 2
  return Math.min(count, Math.max(tasks.length, (part * (1 - part)) / variance))
}

/** @param {number} part @param {number} size */
function wilson(part, size) {
  const middle = part + Z ** 2 / (2 * size)
  const half = Z * Math.sqrt((part * (1 - part)) / size + Z ** 2 / (4 * size ** 2))
  const scale = 1 + Z ** 2 / size
  return {
    low: part === 0 ? 0 : (middle - half) / scale,
    high: part === 1 ? 1 : (middle + half) / scale,
  }
}

/**
 * The 95 % interval of a mean of paired differences, by Agresti and Min: as if there were two more
 * tasks, half a one for each side.
 * @param {number[]} differences of each task, from -1 to 1
 */
export function differenceOf(differences) {
  const sum = differences.reduce((all, one) => all + one, 0)
  const squares = differences.reduce((all, one) => all + one ** 2, 0) + 1
  const size = differences.length + 2
  const half = (Z * Math.sqrt(squares - sum ** 2 / size)) / size
  return {
    mean: differences.length === 0 ? 0 : sum / differences.length,
    low: Math.max(-1, sum / size - half),
    high: Math.min(1, sum / size + half),
  }
}

/**
 * Formats a proportion with enough digits for small values, and its distance from 1.
 * @param {number} part
 */
export function percent(part) {
  const value = 100 * part
  if (value === 0 || value === 100) return `${value} %`
  const distance = Math.min(value, 100 - value)
  const digits = distance >= 10 ? 1 : distance >= 0.1 ? 2 : distance >= 0.001 ? 4 : 5
  return `${value.toFixed(digits)} %`
}
