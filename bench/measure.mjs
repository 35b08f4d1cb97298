// Measures functions side by side: they take turns in one process, so that the load of the machine
// affects all of them equally, until their medians are steady.

/**
 * @typedef {object} Sample
 * @property {number} median nanoseconds of one call
 * @property {number} low the lower quartile
 * @property {number} high the upper quartile
 * @property {number} rounds the turns of each function
 * @property {boolean} steady whether the median was steady at the end
 */

/**
 * A median is steady if its 95 % confidence interval is at most this fraction of it in each
 * direction.
 */
const STEADY = 0.02
const LEAST_ROUNDS = 9
/** The minimum duration of one turn, so that the clock is exact. */
const LEAST_TURN_NS = 2e6
/** The first calls move memory and compile code. */
const WARM_UP_CALLS = 3
const WARM_UP_NS = 1e8

const now = () => Number(process.hrtime.bigint())

/**
 * Measures functions side by side; they may return promises.
 * @template {string} Name
 * @param {Record<Name, () => unknown>} contestants
 * @param {object} [options]
 * @param {number} [options.seconds]
 * @param {number} [options.rounds] the maximum
 * @param {Partial<Record<Name, () => unknown>>} [options.before] runs before each turn, without
 * being measured
 * @returns {Promise<Record<Name, Sample>>}
 */
export async function compare(contestants, { seconds = 20, rounds = 2000, before = {} } = {}) {
  const names = /** @type {Name[]} */ (Object.keys(contestants))
  const times = new Map(names.map((name) => [name, /** @type {number[]} */ ([])]))
  const turns = new Map()
  for (const name of names) {
    turns.set(name, Math.max(1, Math.ceil(LEAST_TURN_NS / (await warmTime(contestants[name])))))
  }
  const deadline = now() + seconds * 1e9
  for (let round = 1; round <= rounds; round++) {
    // The first function in one round is the last in the next.
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) {
      await before[name]?.()
      times.get(name)?.push(await turn(contestants[name], turns.get(name)))
    }
    if (round < LEAST_ROUNDS && round < rounds) continue
    const all = [...times.values()]
    if (all.every(isSteady) || now() > deadline) break
  }
  const samples = names.map((name) => [name, summary(times.get(name) ?? [])])
  return Object.fromEntries(samples)
}

/**
 * The time of a call after its code is compiled.
 * @param {() => unknown} contestant
 */
async function warmTime(contestant) {
  const warm = now() + WARM_UP_NS
  let calls = 0
  while (calls < WARM_UP_CALLS || now() < warm) {
    await contestant()
    calls++
  }
  return await turn(contestant, Math.min(calls, 20))
}

/**
 * @param {() => unknown} contestant
 * @param {number} calls
 */
async function turn(contestant, calls) {
  const started = now()
  for (let call = 0; call < calls; call++) {
    const result = contestant()
    if (result instanceof Promise) await result
  }
  return (now() - started) / calls
}

/**
 * The order statistics that bound the median of `count` values with 95 % confidence.
 * @param {number} count
 */
function bounds(count) {
  const half = 0.98 * Math.sqrt(count)
  return [
    Math.max(0, Math.floor(count / 2 - half)),
    Math.min(count - 1, Math.ceil(count / 2 + half)),
  ]
}

/** @param {number[]} values */
function isSteady(values) {
  const sorted = values.toSorted((one, other) => one - other)
  const [from, to] = bounds(sorted.length)
  return (sorted[to] - sorted[from]) / 2 <= STEADY * quantile(sorted, 0.5)
}

/**
 * @param {number[]} values
 * @returns {Sample}
 */
export function summary(values) {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, median, high] = [0.25, 0.5, 0.75].map((at) => quantile(sorted, at))
  return { low, median, high, rounds: sorted.length, steady: isSteady(values) }
}

/**
 * @param {number[]} sorted
 * @param {number} at from 0 to 1
 */
function quantile(sorted, at) {
  const place = at * (sorted.length - 1)
  const below = sorted[Math.floor(place)]
  return below + (sorted[Math.ceil(place)] - below) * (place % 1)
}
