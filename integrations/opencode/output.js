// Where opencode stores outputs that are too long for the model. It passes the model the file's
// name.

import { homedir } from 'node:os'
import { join } from 'node:path'

/** opencode's own data directory, which its interface does not provide. */
export const dataDirectory = (env = process.env) =>
  join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'opencode')

/** The directory of long tool outputs. */
export const outputDirectory = (env = process.env) => join(dataDirectory(env), 'tool-output')
