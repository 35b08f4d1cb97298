// A part of a whole, how sure it is, and how it is written.

/** The deviate of the normal distribution with 2.5 % on each side beyond it. */
const Z = 1.959964

/**
 * Wilson's 95 % interval of a proportion.
 * @param {number} count
 * @param {number} all
 */
export function interval(count, all) {
  if (all === 0) return { low: 0, high: 1 }
  const part = count / all
  const middle = part + Z ** 2 / (2 * all)
  const half = Z * Math.sqrt((part * (1 - part)) / all + Z ** 2 / (4 * all ** 2))
  const scale = 1 + Z ** 2 / all
  return {
    low: count === 0 ? 0 : (middle - half) / scale,
    high: count === all ? 1 : (middle + half) / scale,
  }
}

/**
 * With as many digits as a small part needs, and its distance from the whole.
 * @param {number} part
 */
export function percent(part) {
  const value = 100 * part
  if (value === 0 || value === 100) return `${value} %`
  const distance = Math.min(value, 100 - value)
  const digits = distance >= 10 ? 1 : distance >= 0.1 ? 2 : distance >= 0.001 ? 4 : 5
  return `${value.toFixed(digits)} %`
}
