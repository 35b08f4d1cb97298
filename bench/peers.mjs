// The peers: the hashline module inside a published coding agent, and ripgrep.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The package whose module is the peer. The module imports nothing, so the package is unpacked
 * without the hundreds of others that it depends on. */
export const PEER = { name: '@oh-my-pi/pi-coding-agent', version: '13.19.0' }
/** What the package must be, as its registry states. */
const PEER_INTEGRITY =
  'sha512-fc6icJozz0aci/Ca9+Hdl/xXOW+4SGJNKkklgIgD0kn9+IfluoOl/DhI6T51jaOQkNb/Rlq9AGXkCOCqDqIbDg=='

/**
 * The path of the peer's module (TypeScript, for Bun); fetched on first use.
 * @param {string} cacheDir
 */
export function peerModule(cacheDir) {
  const dir = join(cacheDir, `peer-${PEER.version}`)
  const module = join(dir, 'package/src/patch/hashline.ts')
  if (existsSync(module)) return module
  mkdirSync(dir, { recursive: true })
  const wanted = `${PEER.name}@${PEER.version}`
  const packed = execFileSync('npm', ['pack', '--json', wanted], { cwd: dir, encoding: 'utf8' })
  const [{ filename, integrity }] = JSON.parse(packed)
  if (integrity !== PEER_INTEGRITY) throw new Error(`${wanted} is not what it was: ${integrity}`)
  execFileSync('tar', ['xzf', filename], { cwd: dir })
  return module
}

/** The version of ripgrep, or why there is none. */
export function ripgrepVersion() {
  const { stdout, error } = spawnSync('rg', ['--version'], { encoding: 'utf8' })
  return { version: stdout?.split('\n')[0], missing: error?.message }
}
