// The platforms with prebuilt packages, by their napi-rs names, which are also the names of their
// directories in npm/.

/**
 * @typedef {object} Target
 * @property {string} triple what Rust calls it
 * @property {string} [glibc] the oldest glibc to link for
 * @property {string} [macos] the oldest macOS to link for
 */

// The Windows packages are built without Microsoft's tools, and run next to them.
/** @type {Record<string, Target>} */
export const TARGETS = {
  'linux-x64-gnu': { triple: 'x86_64-unknown-linux-gnu', glibc: '2.17' },
  'linux-arm64-gnu': { triple: 'aarch64-unknown-linux-gnu', glibc: '2.17' },
  'linux-arm-gnueabihf': { triple: 'armv7-unknown-linux-gnueabihf', glibc: '2.17' },
  'linux-x64-musl': { triple: 'x86_64-unknown-linux-musl' },
  'linux-arm64-musl': { triple: 'aarch64-unknown-linux-musl' },
  'darwin-x64': { triple: 'x86_64-apple-darwin', macos: '11.0' },
  'darwin-arm64': { triple: 'aarch64-apple-darwin', macos: '11.0' },
  'win32-x64-msvc': { triple: 'x86_64-pc-windows-gnullvm' },
  'win32-arm64-msvc': { triple: 'aarch64-pc-windows-gnullvm' },
}

/**
 * The Rust name of a target, and the cargo-zigbuild name, which includes the oldest glibc.
 * @param {string} name
 */
export function rustTriple(name) {
  const { triple, glibc } = TARGETS[name]
  return { triple, zigTriple: glibc ? `${triple}.${glibc}` : triple }
}

/**
 * The file name of a target's addon.
 * @param {string} name
 */
export const addonName = (name) => `hashline-native.${name}.node`

/**
 * The path of a target's built addon.
 * @param {string} name
 */
export const addonPath = (name) => `npm/${name}/${addonName(name)}`

/**
 * The file name of a target's program.
 * @param {string} name
 */
export const programName = (name) => (name.startsWith('win32') ? 'hashline.exe' : 'hashline')

/**
 * The path of a target's built program.
 * @param {string} name
 */
export const programPath = (name) => `npm/${name}/${programName(name)}`

/**
 * The targets that were named on the command line; by default all.
 * @param {string[]} names
 */
export function chosen(names) {
  const unknown = names.find((name) => !(name in TARGETS))
  if (unknown === undefined) return names.length > 0 ? names : Object.keys(TARGETS)
  throw new Error(`no such target: ${unknown}; there are ${Object.keys(TARGETS).join(', ')}`)
}
