#!/usr/bin/env node
// Starts the program `hashline` of the platform package: with the same arguments, standard streams
// and end. `hashline doctor` prints the path of the program itself, for configurations.

'use strict'

const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { platformError, platformName, platformPackage } = require('../js/platform.cjs')

const PROGRAM = process.platform === 'win32' ? 'hashline.exe' : 'hashline'
const FAILED = 2

const program = builtHere() ?? installed()
if (program === undefined) {
  fail(platformError(platformName()).message)
} else {
  start(program)
}

/** The program that cargo has built in a clone; a package has no such folder. */
function builtHere() {
  const path = join(__dirname, '..', 'target', 'release', PROGRAM)
  return existsSync(path) ? path : undefined
}

function installed() {
  try {
    return require.resolve(`${platformPackage(platformName())}/${PROGRAM}`)
  } catch {
    return undefined
  }
}

/** @param {string} program */
function start(program) {
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
  child.on('error', ({ message }) => fail(`${program} cannot be started: ${message}`))
  // Ctrl-C reaches the program by itself, which knows best when to stop; what is sent to this
  // process alone is passed on.
  process.on('SIGINT', () => {})
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal))
  }
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? FAILED
      return
    }
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** @param {string} message */
function fail(message) {
  console.error(message)
  process.exitCode = FAILED
}
