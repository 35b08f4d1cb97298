// The tools of an agent over a `HashSession`: how they are described to a model, what it may write, and
// what it gets back. Ten lines make a loop (examples/agents/README.md):
//
//   const tools = hashTools(new HashSession({ cwd }))
//   const request = { model, messages, tools: Object.values(tools).map((tool) => toOpenAI(tool)) }
//   …
//   const tool = Object.values(tools).find((tool) => tool.name === call.function.name)
//   const { text } = await tool.execute(call.function.arguments, { signal })

import type {
  AppliedOutcome,
  CommandPolicy,
  FileView,
  HashlineErrorCode,
  HashSession,
  JsonView,
  Operation,
  RejectedOutcome,
  Repair,
  SearchResult,
} from '..'

/**
 * What the tools are called: `read`, `search`, `apply_hash`, `read_json` and `apply_json` when left
 * out.
 */
export interface ToolNames {
  read?: string
  search?: string
  apply?: string
  readJson?: string
  applyJson?: string
}

export interface HashToolsOptions {
  /** Other names; descriptions and messages use them. */
  names?: ToolNames
  /**
   * How the answer to an edit tells of changed lines: the lines with their new anchors (`'region'`),
   * or the new anchors alone (`'brief'`). When left out, what the session was given, or else
   * `'brief'`, unless `answerContext` is given.
   */
  answer?: 'region' | 'brief'
  /**
   * How many unchanged lines the answer to an edit shows on either side of each changed region: 0 to
   * 3. When left out, what the session was given, or else 1. Refusals show two.
   */
  answerContext?: number
  /**
   * Adds two tools, which read JSON documents and edit their values by path: `readJson` and
   * `applyJson`, which the model calls `read_json` and `apply_json`.
   */
  json?: boolean
  /**
   * The operations that `apply` and `applyJson` allow; all when left out. The descriptions and
   * schemas have these alone, and all others are refused. Each of the tools that there are needs
   * one at least.
   */
  operations?: readonly OperationName[]
}

/** The name of an operation: `'set_line'`. */
export type OperationName = Operation['op']

/**
 * The tools over one session, which remembers what they showed. No interface, whose values
 * `Object.values` would give as `any`.
 */
export type HashTools = {
  read: HashTool<ReadData>
  search: HashTool<SearchData>
  apply: HashTool<ApplyData>
}

/** The tools for JSON documents over the same session. */
export type JsonTools = {
  readJson: HashTool<ReadJsonData>
  applyJson: HashTool<ApplyData>
}

/** Makes the tools: three, or five with the option `json`. */
export function hashTools(
  session: HashSession,
  options: HashToolsOptions & { json: true },
): HashTools & JsonTools
export function hashTools(
  session: HashSession,
  options?: HashToolsOptions & { json?: false },
): HashTools
export function hashTools(
  session: HashSession,
  options?: HashToolsOptions,
): HashTools & Partial<JsonTools>

/**
 * Learns from a call of an earlier run what it showed: `session.observe`, with the path taken from
 * the arguments as `execute` takes it (`@a.txt`, `file://`, `file_path`, JSON text …). `tool` is the
 * tool, or its name when that is all that was kept. Returns how many lines were learned: none of
 * what `readJson` showed, since an edit by a path does not depend on what was shown.
 */
export function remember(
  session: HashSession,
  tool: HashTool | string,
  args: unknown,
  text: string,
): number

/** One tool, for any framework: hand its schema to the model, and the model's call to `execute`. */
export interface HashTool<Data extends ToolData = ToolData> {
  /** The name by which the model calls it. */
  readonly name: string
  /** The name for people: `Read`. */
  readonly title: string
  /** Its description for the model. */
  readonly description: string
  /** The same in one line, for a list in a system prompt. */
  readonly snippet: string
  /** Rules for a system prompt, one sentence or two each. */
  readonly guidelines: readonly string[]
  /**
   * The schema of the arguments. It is flat and plain: no `oneOf`, `anyOf`, `allOf`, `$ref`,
   * `const`, lists of types or `additionalProperties`, which one vendor or another refuses.
   */
  readonly inputSchema: JsonSchema
  /** What it does to the world, in the words of the Model Context Protocol. */
  readonly annotations: ToolAnnotations
  /**
   * A call in a few words, for a line of a terminal: `greet.js ×2`. Takes arguments of which only
   * a part has arrived, as an object or as the JSON text so far; empty as long as there is nothing
   * to say.
   */
  callTitle(args: unknown): string
  /**
   * Does what the model asks for. `args` is what the model wrote: the object, or its JSON text.
   * What is wrong about it, or goes wrong, is reported in a result with `isError`: the promise is
   * rejected with an `AbortError` alone, when `signal` fires.
   */
  execute(args: unknown, options?: ExecuteOptions): Promise<ToolResult<Data>>
}

export interface ExecuteOptions {
  /** Cancels the call, as long as it has not begun to change files. */
  signal?: AbortSignal | undefined
  /**
   * Of an apply: checks everything and writes nothing. For asking a person first, with
   * the `diff` of the result.
   */
  dryRun?: boolean | undefined
}

/** What a call gives. */
export interface ToolResult<Data extends ToolData = ToolData> {
  /**
   * For the model: at most 2,000 lines and 50 KB, and a few lines that say what is left out and
   * how to go on. (Of reads and searches the session's `limits` count.)
   */
  text: string
  /** Whether nothing was read, searched or written. */
  isError: boolean
  /** The images among the files that were read, if png, jpeg, gif or webp; `text` names them all. */
  images: ToolImage[]
  /** The same as data, for the harness. */
  structured: Data
  /** The outcome in a few words, for a line of a terminal: `greet.js +1 -2`. */
  summary: string
  /** Of an apply: what changed, as a unified diff. */
  diff?: string
}

export interface ToolImage {
  /** The path as requested. */
  path: string
  /** Its media type. */
  mimeType: string
  /** Its bytes. */
  data: Uint8Array
}

/** A call as data. A call that came to nothing has `code`, and may have nothing else. */
export interface ToolData {
  /** What was taken otherwise than the model wrote it: arguments, and texts of an apply. */
  repairs: (ArgumentRepair | Repair)[]
  /** The code of what went wrong. */
  code?: HashlineErrorCode
}

/** A read as data. A file that could not be read has the kind `'error'`, and says why. */
export interface ReadData extends ToolData {
  /** Each file as `readHashed` tells it, without its text. */
  files?: WithoutText<FileView>[]
  /** Whether a limit left out anything. */
  truncated?: boolean
}

type WithoutText<T> = T extends unknown ? Omit<T, 'text'> : never

/** A search as data: the files with matches, their counts, and warnings. */
export interface SearchData extends ToolData, Partial<Omit<SearchResult, 'text'>> {}

/** A read of a JSON document as data: its path, which of its lines were shown, and `nextLine`. */
export interface ReadJsonData extends ToolData, Partial<Omit<JsonView, 'text'>> {}

/**
 * An apply as data, of lines or of values. With the status `'applied'` it has what an
 * `AppliedOutcome` has, with `'rejected'` what a `RejectedOutcome` has, and without a status `code`
 * alone: the call was malformed, or the disk failed.
 */
export interface ApplyData
  extends ToolData,
    Partial<Omit<AppliedOutcome, 'status' | 'repairs' | 'text'>>,
    Partial<Omit<RejectedOutcome, 'status' | 'code' | 'text'>> {
  status?: 'applied' | 'rejected'
}

/** Something that a model wrote in another form than the schema says, and that was taken as meant. */
export interface ArgumentRepair {
  /**
   * `json-text` (a string holding JSON where its value belongs), `code-fence` (JSON in a block of
   * code), `wrapped` (one thing where a list belongs), `unwrapped` (a list where one thing belongs),
   * `at-path` (`@src/a.ts`), `file-url` (`file:///…`), `other-name` (a field under the name that
   * other tools have for it), `implied-op` (an operation without `op`, and the fields of one alone),
   * `number` (digits as a string, or a line 0), `json-string` (words where JSON text belongs),
   * `move-path` (`path` of a move, which the session calls `from`), `unused` (a field that is
   * empty). Of the last two the text says nothing.
   */
  rule:
    | 'json-text'
    | 'code-fence'
    | 'wrapped'
    | 'unwrapped'
    | 'at-path'
    | 'file-url'
    | 'other-name'
    | 'implied-op'
    | 'number'
    | 'json-string'
    | 'move-path'
    | 'unused'
  /** Where in the arguments: `operations[0].path`. */
  field: string
  /** What was done, in a few words. */
  message: string
}

/** The hints of the Model Context Protocol on what a tool does. */
export interface ToolAnnotations {
  title: string
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** The part of JSON Schema that the tools use. */
export interface JsonSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  enum?: string[]
}

export interface GuardOptions {
  /** What the tools are called, if not as usual. */
  names?: ToolNames
  /** What counts as reading and writing, and where it is allowed; as for `checkCommand`. */
  policy?: CommandPolicy
}

/**
 * Why a shell command is to be blocked, for the model: it reads or writes files past the tools, and
 * this names the tool to use instead. Undefined for a command that may run, and for one that does
 * not parse and has no such part, unless `policy.unparsed` is `'write'`.
 */
export function guard(command: string, options?: GuardOptions): string | undefined

/** A tool of OpenAI's chat completions, and of every server that speaks them. */
export interface OpenAITool {
  type: 'function'
  function: {
    name: string
    description: string
    parameters: Record<string, unknown>
    strict?: boolean
  }
}

/**
 * For `tools` of OpenAI's chat completions. With `strict` the schema is the one of OpenAI's strict
 * mode: every field required, those that may be left out nullable, no others.
 */
export function toOpenAI(tool: HashTool, options?: { strict?: boolean }): OpenAITool

/** A tool of Anthropic's messages. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: 'object'; properties?: unknown; required?: string[] }
}

/** For `tools` of Anthropic's messages. */
export function toAnthropic(tool: HashTool): AnthropicTool

/** What a call gives a model: its text and its images. */
type Shown = Pick<ToolResult, 'text' | 'images'>

/**
 * For `content` of a user message of OpenAI's chat completions: a message with the role `tool` takes
 * text alone, so a result with images goes on in a message behind it.
 */
export function toOpenAIContent(
  result: Shown,
): ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]

/** For `content` of a `tool_result` of Anthropic's messages. */
export function toAnthropicContent(result: Shown): (
  | { type: 'text'; text: string }
  | {
      type: 'image'
      source: {
        type: 'base64'
        media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
        data: string
      }
    }
)[]

/** For `parts` of a content of Gemini, which takes no GIF. */
export function toGeminiParts(
  result: Shown,
): ({ text: string } | { inlineData: { mimeType: string; data: string } })[]

/** The Standard Schema of a tool's arguments, with its JSON Schema. */
export interface ArgumentsSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'hashline-native'
    readonly types?: {
      readonly input: Record<string, unknown>
      readonly output: Record<string, unknown>
    }
    readonly validate: (
      value: unknown,
    ) => { value: Record<string, unknown> } | { issues: { message: string }[] }
    readonly jsonSchema: {
      readonly input: (options?: unknown) => Record<string, unknown>
      readonly output: (options?: unknown) => Record<string, unknown>
    }
  }
}

/**
 * For frameworks that take a Standard Schema, such as `inputSchema` of the AI SDK. It lets through
 * every object: `execute` says what is wrong in it, in words for the model.
 */
export function toStandardSchema(tool: HashTool): ArgumentsSchema

/**
 * The fields of a tool's arguments as zod types, for frameworks that want those. `z` is the zod
 * that the framework uses, 3.21 or later. The types say in JSON Schema what the model is to write,
 * and let every value through as it is, since `execute` takes more and says what is wrong. Fields
 * under other names get through when the framework's object lets unknown ones pass.
 */
export function toZodShape(
  z: { string(): unknown },
  tool: HashTool,
  // biome-ignore lint/suspicious/noExplicitAny: types of whichever zod it is
): Record<string, any>
