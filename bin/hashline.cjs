#!/usr/bin/env node
// Starts the program `hashline` of the platform package: with the same arguments, standard streams
// and end. `hashline doctor` prints the path of the program itself, for configurations.

'use strict'

const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { constants } = require('node:os')
const { join } = require('node:path')
const {
  BUILD,
  isClone,
  platformError,
  platformName,
  platformPackage,
  versionProblem,
} = require('../js/platform.cjs')

const PROGRAM = process.platform === 'win32' ? 'hashline.exe' : 'hashline'
const FAILED = 2

const name = platformName()
const built = builtHere()
const program = built ?? installed()
const problem = built === undefined && program !== undefined ? unfit() : undefined
if (program === undefined && isClone()) {
  fail(`hashline: the program is not built. Run ${BUILD}.`)
} else if (program === undefined || problem !== undefined) {
  fail(platformError(name, problem).message)
} else {
  start(program)
}

/** The program that was built in a clone; a package has none. */
function builtHere() {
  const path = join(__dirname, '..', 'npm', name, PROGRAM)
  return existsSync(path) ? path : undefined
}

function installed() {
  try {
    return require.resolve(`${platformPackage(name)}/${PROGRAM}`)
  } catch {
    return undefined
  }
}

/** Why the program of the platform package is not the one of this package, if it is not. */
function unfit() {
  return versionProblem(require(`${platformPackage(name)}/package.json`).version)
}

/** @param {string} program */
function start(program) {
  passSignals(() => child)
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
  child.on('error', ({ message }) => fail(`${program} cannot be started: ${message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? FAILED
    else endBy(signal)
  })
}

/**
 * Forwards the signals that would end this process: the program decides when to stop. Ctrl-C
 * reaches it directly and again from here, which is harmless: a signal to this process alone cannot
 * be distinguished from Ctrl-C. On Windows, only Ctrl-C interrupts, and forwarding it would end the
 * program in the middle of its work.
 * @param {() => import('node:child_process').ChildProcess} child set before a signal is handled,
 *   although the program may run, and be noticed, before `spawn` returns
 */
function passSignals(child) {
  process.on('SIGINT', () => process.platform === 'win32' || child().kill('SIGINT'))
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child().kill(signal))
  }
}

/**
 * Ends as the program did; with the code that shells have for it where this process does not die of
 * such a signal.
 * @param {NodeJS.Signals} signal
 */
function endBy(signal) {
  process.exitCode = 128 + constants.signals[signal]
  // This one would start a debugger.
  if (signal === 'SIGUSR1') return
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/** @param {string} message */
function fail(message) {
  console.error(message)
  process.exitCode = FAILED
}
