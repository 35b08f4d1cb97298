// Checks the packages with `publint` (the manifests) and `@arethetypeswrong/cli` (whether every
// module resolution finds matching declarations).

import { join } from 'node:path'
import { npmPackage, run } from './tools.mjs'

/** @import { Packed } from './pack.mjs' */

/**
 * Throws with the problems of a package.
 * @param {Packed[]} packages
 */
export function checkPackages(packages) {
  const publint = join(npmPackage('publint', '0.3.25'), 'src', 'cli.js')
  const attw = join(npmPackage('@arethetypeswrong/cli', '0.18.5'), 'dist', 'index.js')
  for (const { name, tarball } of packages) {
    run(process.execPath, [publint, tarball, '--strict'])
    if (name === 'hashline-native') run(process.execPath, [attw, tarball])
    console.log(`${name}: no complaints`)
  }
}
