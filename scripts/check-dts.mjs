// Fails with a diff if index.d.ts differs from the declarations in the Rust sources. Macros write
// the declarations during expansion, so `cargo check` is enough.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateTypeDef, readNapiConfig } from '@napi-rs/cli'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const work = join(root, 'target', 'check-dts')
const typeDefDir = join(work, 'parts')

rmSync(work, { recursive: true, force: true })
mkdirSync(typeDefDir, { recursive: true })

const { status, error } = spawnSync('cargo', ['check', '--package', 'hashline-native', '--lib'], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    NAPI_TYPE_DEF_TMP_FOLDER: typeDefDir,
    // Makes cargo expand the macros although no source changed.
    NAPI_FORCE_BUILD_HASHLINE_NATIVE: String(Date.now()),
  },
})
if (error) throw error
if (status !== 0) process.exit(status ?? 1)

// The rest is the same as in `napi build --platform --no-js`, with the same configuration.
const config = await readNapiConfig(join(root, 'package.json'))
const { dts } = await generateTypeDef({
  typeDefDir,
  configDtsHeaderFile: config.dtsHeaderFile,
  constEnum: config.constEnum,
  runtimeStringEnum: config.runtimeStringEnum,
  cwd: root,
})

let committed = ''
try {
  committed = readFileSync(join(root, 'index.d.ts'), 'utf8')
} catch {
  // A missing file differs completely.
}
if (committed !== dts) {
  const fresh = join(work, 'index.d.ts')
  writeFileSync(fresh, dts)
  console.error('index.d.ts is not current. Run `npm run build` and commit the result.\n')
  spawnSync('git', ['--no-pager', 'diff', '--no-index', 'index.d.ts', fresh], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exit(1)
}
console.log('index.d.ts is current')
