// Prints the answers of a binding to all cases, one per line: `HOST print.mjs MODULE CASES`, where
// MODULE exports the functions of the binding.

import { pathToFileURL } from 'node:url'
import { lineOf, loadCases } from './run.mjs'

const [module, cases] = process.argv.slice(2)
const imported = await import(pathToFileURL(module).href)
const lines = loadCases(cases).map((one) => lineOf(one, imported))
process.stdout.write(`${lines.join('\n')}\n`)
