// The progress of a run: one line that is updated on a terminal, otherwise a line periodically.

/** @import { Progress } from './run.mjs' */

const LINES = 20

/**
 * @param {NodeJS.WriteStream} stream
 * @param {() => number} [now] in milliseconds
 */
export function progressOn(stream, now = Date.now) {
  const begin = now()
  /** @type {number | undefined} */
  let before
  let told = 0
  return {
    /** @param {Progress} state */
    tell(state) {
      before ??= state.done
      const line = lineOf(state, state.done - before, now() - begin)
      if (stream.isTTY) stream.write(`\r${line}\x1b[K`)
      else if (state.done === state.all || state.done - told >= state.all / LINES) {
        told = state.done
        stream.write(`${line}\n`)
      }
    },
    end() {
      if (stream.isTTY) stream.write('\n')
    },
  }
}

/** @param {Progress} state @param {number} fresh @param {number} elapsedMs */
function lineOf({ all, done, spent }, fresh, elapsedMs) {
  const parts = [`${done} of ${all} attempts`, `${spent.toLocaleString('en')} tokens`]
  if (fresh > 0 && done < all) {
    const minutes = (elapsedMs / fresh) * ((all - done) / 60_000)
    parts.push(minutes < 1 ? 'less than a minute left' : `about ${Math.round(minutes)} min left`)
  }
  return parts.join(', ')
}
