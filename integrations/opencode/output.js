// Where opencode keeps what is too long for the model: the output of a tool, whose file it names.

import { homedir } from 'node:os'
import { join } from 'node:path'

/** The directory of opencode's own data, which it tells nobody of. */
export const dataDirectory = (env = process.env) =>
  join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'opencode')

/** Long outputs of tools. */
export const outputDirectory = (env = process.env) => join(dataDirectory(env), 'tool-output')
