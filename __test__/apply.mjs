// A process that applies one patch: `apply.mjs REQUEST`, a JSON object with `patch` and `options`.
// Prints the outcome, or the error, as JSON.

import { applyHashSync } from 'hashline-native'

const { patch, options } = JSON.parse(process.argv[2])
try {
  console.log(JSON.stringify(applyHashSync(patch, options)))
} catch (thrown) {
  const error = /** @type {import('hashline-native').HashlineError} */ (thrown)
  console.log(JSON.stringify({ status: 'thrown', code: error.code, message: error.message }))
}
