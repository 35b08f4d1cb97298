// The peers: the hashline module inside a published coding agent, and ripgrep.

import { spawnSync } from 'node:child_process'

export { PEER, peerModule } from '../scripts/peer.mjs'

/** The version of ripgrep, or why it is missing. */
export function ripgrepVersion() {
  const { stdout, error } = spawnSync('rg', ['--version'], { encoding: 'utf8' })
  return { version: stdout?.split('\n')[0], missing: error?.message }
}
