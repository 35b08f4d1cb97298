// The tools of an agent over a `HashSession`: their descriptions for a model, their arguments and
// their results. Ten lines make a loop (examples/agents/README.md):
//
//   const tools = hashTools(new HashSession({ cwd }))
//   const request = { model, messages, tools: Object.values(tools).map((tool) => toOpenAI(tool)) }
//   …
//   const tool = Object.values(tools).find((tool) => tool.name === call.function.name)
//   const { text } = await tool.execute(call.function.arguments, { signal })

import type {
  AppliedOutcome,
  CommandPolicy,
  DiffHunk,
  FileChange,
  FileView,
  HashlineErrorCode,
  HashSession,
  JsonView,
  Operation,
  RejectedOutcome,
  Repair,
  SearchResult,
  TextEdit,
} from '..'

/**
 * The names of the tools: by default `read`, `search`, `apply`, `read_json`, `apply_json` and
 * `undo_edit`.
 */
export interface ToolNames {
  read?: string
  search?: string
  apply?: string
  readJson?: string
  applyJson?: string
  undo?: string
}

export interface HashToolsOptions {
  /** Other names, which descriptions and messages then use. */
  names?: ToolNames
  /**
   * How the answer to an edit reports changed lines: the lines with their new anchors (`'region'`),
   * or only the new anchors (`'brief'`). The default is the session's option, otherwise `'brief'`,
   * unless `answerContext` is given.
   */
  answer?: 'region' | 'brief'
  /**
   * How many unchanged lines the answer to an edit shows before and after each changed region: 0 to
   * 3. The default is the session's option, otherwise 1. Refusals show two.
   */
  answerContext?: number
  /**
   * Adds two tools that read JSON documents and edit their values by path: `readJson` and
   * `applyJson`. The model calls them `read_json` and `apply_json`.
   */
  json?: boolean
  /** Adds a tool that undoes the last edit: `undo`. The model calls it `undo_edit`. */
  undo?: boolean
  /**
   * The operations that `apply` and `applyJson` allow; all by default. Descriptions and schemas
   * list only these, and others are refused. Each tool needs at least one.
   */
  operations?: readonly OperationName[]
  /**
   * The files of the host, which the tools then use instead of the disk: an editor's buffers, a
   * container, a project in memory. The session must have `disk: false`.
   */
  files?: HostFiles
  /**
   * Approves each edit before it is written, such as by showing its diff to a person. What is then
   * written is exactly what `plan` shows, or nothing if a file was changed meanwhile.
   */
  approve?: Approve
  /**
   * Works on the files of each edit after they are written and before the edit is answered: formats
   * them, or returns diagnostics. Other calls of the session's tools wait for it.
   */
  afterWrite?: AfterWrite
  /** How long `afterWrite` may take, in milliseconds: 10,000 by default. Then its signal fires. */
  afterWriteTimeoutMs?: number
}

/**
 * Works on written files. The answer then has the anchors, counts and diffs of the final texts. What
 * it throws is reported to the model, and the edit stays written.
 */
export type AfterWrite = (
  files: WrittenFile[],
  context: {
    /** Fires at the limit of time, and when the signal of the call fires. */
    signal: AbortSignal
  },
) => Promise<AfterWriteResult> | AfterWriteResult

/** What `afterWrite` returns: diagnostics, or nothing. */
export type AfterWriteResult =
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` is accepted
  | void
  | readonly Diagnostic[]
  | { diagnostics?: readonly Diagnostic[] | undefined }

/** A file that an edit has written. */
export interface WrittenFile {
  /** Its absolute path; its last one if it was deleted. */
  path: string
  change: 'created' | 'edited' | 'moved' | 'deleted'
  /** Its absolute path before, if it was moved. */
  from?: string
}

/**
 * A message about a line. The answer shows at most 20, the most serious first, each below its line
 * with the anchor of the line. Those of files that the session cannot read are ignored.
 */
export interface Diagnostic {
  /** The path, absolute or relative to the session's `cwd`. */
  path: string
  /** The line, from 1. */
  line: number
  /** The column, from 1. */
  column?: number | undefined
  /** `'error'` by default. */
  severity?: 'error' | 'warning' | 'information' | 'hint' | undefined
  /** What is wrong. It is shown on one line, without control characters. */
  message: string
}

/**
 * Answers whether an edit may be written: `true`, `false`, or the reason against it, which the model
 * reads. What it throws is a reason, too.
 */
export type Approve = (
  plan: {
    /** The files that would change, each with its `diff` and `hunks`. */
    files: FileChange[]
    /** All diffs together. */
    diff: string
    /** The edit in a few words: `greet.js +1 -2`. */
    summary: string
  },
  context: { signal?: AbortSignal | undefined },
) => Promise<boolean | string> | boolean | string

/**
 * Files that the host holds. Paths are absolute. Each function may return a promise; what it throws
 * is reported to the model. `signal` is that of the call.
 *
 * Before a call, the files that it names are read. An edit is written file by file; each file is
 * read again before, and the edit fails if its text is another one. If it fails, what was written is
 * written back where the host still has it, and the answer says so.
 *
 * Calls over one object of this kind run one after the other, also of several sessions. When `signal`
 * fires, the call ends at once; what the host was writing then is still written back.
 */
export interface HostFiles {
  /** The text or the bytes of a file; `null` if it does not exist. */
  read(
    path: string,
    context: { signal?: AbortSignal | undefined },
  ): Promise<HostContent | null> | HostContent | null
  /** Writes or creates a file. `edits` make `content` of the text that was read; empty if unknown. */
  write(
    path: string,
    content: HostContent,
    context: { edits: TextEdit[]; signal?: AbortSignal | undefined },
  ): unknown
  /** Removes a file. Without it, the model cannot delete files; without `rename`, nor move them. */
  remove?(path: string, context: { signal?: AbortSignal | undefined }): unknown
  /** Renames a file. Without it, the file is written under the new name, and the old one removed. */
  rename?(from: string, to: string, context: { signal?: AbortSignal | undefined }): unknown
  /**
   * The files below these paths, for a search, which loads at most 10,000 files and 256 MiB. It may
   * return more than `globs` match. Without it, a search covers only files that were read before.
   */
  list?(query: {
    paths: string[]
    globs: string[]
    signal?: AbortSignal | undefined
  }): Promise<string[]> | string[]
}

/** The content of a file: its text, or its bytes, for another encoding than UTF-8. */
export type HostContent = string | Uint8Array

/** The name of an operation: `'set_line'`. */
export type OperationName = Operation['op']

/**
 * The tools over one session, which remembers what they showed. This is not an interface, because
 * `Object.values` would return its values as `any`.
 */
export type HashTools = {
  read: HashTool<ReadData>
  search: HashTool<SearchData>
  apply: EditTool
}

/** The tools for JSON documents over the same session. */
export type JsonTools = {
  readJson: HashTool<ReadJsonData>
  applyJson: EditTool
}

/** The tool that undoes the last edit of the session. */
export type UndoTool = {
  undo: HashTool<ApplyData>
}

/** Tools that an option creates. */
type CreatedBy<Options, Name extends string, Tools> = Name extends keyof Options
  ? Options[Name] extends true
    ? Tools
    : Options[Name] extends false | undefined
      ? unknown
      : Partial<Tools>
  : unknown

/** Creates the tools: three, two more with the option `json`, and one more with `undo`. */
export function hashTools<Options extends HashToolsOptions = Record<never, never>>(
  session: HashSession,
  options?: Options & HashToolsOptions,
): HashTools & CreatedBy<Options, 'json', JsonTools> & CreatedBy<Options, 'undo', UndoTool>

/**
 * Learns from a call of an earlier run what the call showed: `session.observe`, with the path taken
 * from the arguments as by `execute` (`@a.txt`, `file://`, `file_path`, JSON text …). `tool` is the
 * tool, or its name. Returns how many lines were learned: none for `readJson`, because an edit by
 * path does not depend on what was shown.
 */
export function remember(
  session: HashSession,
  tool: HashTool | string,
  args: unknown,
  text: string,
): number

/** What is known about the command of an output. */
export interface AnnotationOptions {
  /** The command line: its `cd`, and options such as `make -C`, are followed. */
  command?: string
  /** Where it ran. */
  cwd?: string
  /** When it started, as `Date.now()` returns it. */
  since?: number
  signal?: AbortSignal | undefined
}

/**
 * The lines that the output of a shell command names, to append to it: `session.annotate` with a
 * heading, and limits that no agent cuts (20 files, 60 lines, 6 KiB). Empty if it names none, or if
 * it shows all of them with their anchors itself.
 */
export function annotation(
  session: HashSession,
  output: string | Uint8Array,
  options?: AnnotationOptions,
): Promise<string>

/** One tool, for any framework: pass its schema to the model, and the model's call to `execute`. */
export interface HashTool<Data extends ToolData = ToolData> {
  /** The name by which the model calls it. */
  readonly name: string
  /** The name for people: `Read`. */
  readonly title: string
  /** Its description for the model. */
  readonly description: string
  /** The description in one line, for a list in a system prompt. */
  readonly snippet: string
  /** Rules for a system prompt, each in one or two sentences. */
  readonly guidelines: readonly string[]
  /**
   * The schema of the arguments. It is flat and plain: without `oneOf`, `anyOf`, `allOf`, `$ref`,
   * `const`, lists of types or `additionalProperties`, each of which some vendor refuses.
   */
  readonly inputSchema: JsonSchema
  /** The side effects, in the terms of the Model Context Protocol. */
  readonly annotations: ToolAnnotations
  /**
   * A short title of a call, for one line of a terminal: `greet.js ×2`. Accepts partial arguments,
   * as an object or as the JSON text received so far; empty if there is nothing to show yet.
   */
  callTitle(args: unknown): string
  /**
   * Runs a call. `args` is what the model wrote: the object, or its JSON text. Errors are reported
   * in a result with `isError`. The promise is rejected only with an `AbortError`, when `signal`
   * fires.
   */
  execute(args: unknown, options?: ExecuteOptions): Promise<ToolResult<Data>>
}

/** A tool that edits files. */
export interface EditTool extends HashTool<ApplyData> {
  /**
   * What a call would do as far as it has arrived, for an interface: the diff of the operations
   * that are complete. `args` is the JSON text received so far, or an object. Anything else gives an
   * empty preview: it never throws.
   *
   * It is synchronous, writes nothing, and delays no call. Nothing of it counts as shown to the
   * model.
   *
   * An operation is complete when its closing brace has arrived (in a patch of `omp`, when the next
   * hunk begins). It is shown if it goes together with those before it that are shown, and it then
   * stays in later previews, unless a file changes. Syntax is not checked.
   */
  preview(args: unknown, options?: PreviewOptions): EditPreview
}

export interface PreviewOptions {
  /**
   * Whether the last field and the last operation of an object may be incomplete: for frameworks
   * that parse partial arguments. Default: false. Not needed for text.
   */
  partial?: boolean | undefined
}

/** What a call would do as far as it has arrived. */
export interface EditPreview {
  /** The files that the complete operations change. */
  files: PreviewedFile[]
  /** Where the operation that is still arriving points. */
  pending?: PendingOperation
  /** The complete operations that would be refused, and why. */
  refused: PreviewRefusal[]
  /** Operations that are not shown although they may be valid. */
  omitted: PreviewOmission[]
}

/** A file that the complete operations change. */
export interface PreviewedFile {
  /** Its path after the edit. */
  path: string
  /** Its path before, if it is moved. */
  from?: string
  change: 'edited' | 'created' | 'moved' | 'deleted'
  /** Lines added. */
  added: number
  /** Lines removed. */
  removed: number
  /** The diff in the unified format. */
  diff: string
  /** The diff as hunks. */
  hunks: DiffHunk[]
}

/** An operation that is still arriving. Fields are missing until they have arrived. */
export interface PendingOperation {
  /** Its number in the call, from 0. */
  operation: number
  /** `set_line`; in a patch of `omp`, `PUT`. */
  op?: string
  path?: string
  /** The anchor of its first line or of its value, as the model wrote it. */
  anchor?: string
  /** The lines that it names, or next to which it inserts, where they are now: from 1. */
  lines?: { start: number; end: number }
}

/** A complete operation that would be refused. */
export interface PreviewRefusal {
  /** Its number in the call, from 0; missing if the call as a whole is refused. */
  operation?: number
  path?: string
  code: HashlineErrorCode
  /** Why, in words for the model. */
  message: string
}

/** What a preview does not show. */
export interface PreviewOmission {
  /** The number of the operation, from 0; missing for all that follow. */
  operation?: number
  path?: string
  /**
   * `arguments-too-large`: only the first MiB of the text is read, and no larger object.
   * `file-too-large`: the file has more than 2 MiB. `too-many-refused`: 16 operations are refused,
   * and this one and those after it were not tried. `file-not-loaded`: the file is one of the
   * host's (option `files`) that no call has read yet.
   */
  reason: 'arguments-too-large' | 'file-too-large' | 'too-many-refused' | 'file-not-loaded'
}

export interface ExecuteOptions {
  /** Cancels the call, unless it has begun to change files. */
  signal?: AbortSignal | undefined
  /**
   * For an apply: checks everything and writes nothing. Use it to ask a person first, with the
   * `diff` of the result.
   */
  dryRun?: boolean | undefined
  /**
   * For an apply: the `plan` of a dry run with the same arguments. The edit is refused with
   * `CONCURRENT_CHANGE` if it would not do exactly what the dry run reported.
   */
  plan?: string | undefined
}

/** The result of a call. */
export interface ToolResult<Data extends ToolData = ToolData> {
  /**
   * For the model: at most 2,000 lines and 50 KB, and a few lines that say what was omitted and how
   * to continue. (For reads and searches, the session's `limits` apply.)
   */
  text: string
  /** Whether the call read, searched or wrote nothing. */
  isError: boolean
  /**
   * The images among the files that were read, if PNG, JPEG, GIF or WebP; `text` names them all.
   */
  images: ToolImage[]
  /** The same as data, for the harness. */
  structured: Data
  /** The outcome in a few words, for one line of a terminal: `greet.js +1 -2`. */
  summary: string
  /** For an apply: the changes as a unified diff. */
  diff?: string
  /** For a dry run: identifies what it reported, for the option `plan`. */
  plan?: string
}

export interface ToolImage {
  /** The path as requested. */
  path: string
  /** Its media type. */
  mimeType: string
  /** Its bytes. */
  data: Uint8Array
}

/** A call as data. A failed call has `code`, and may have nothing else. */
export interface ToolData {
  /**
   * Where the call was interpreted differently from what the model wrote: arguments, and texts of
   * an apply.
   */
  repairs: (ArgumentRepair | Repair)[]
  /** The code of the error. */
  code?: HashlineErrorCode
}

/** A read as data. A file that could not be read has the kind `'error'` and the reason. */
export interface ReadData extends ToolData {
  /** Each file as in `readHashed`, without its text. */
  files?: WithoutText<FileView>[]
  /** Whether a limit omitted anything. */
  truncated?: boolean
}

type WithoutText<T> = T extends unknown ? Omit<T, 'text'> : never

/** A search as data: the files with matches, their counts, and warnings. */
export interface SearchData extends ToolData, Partial<Omit<SearchResult, 'text'>> {}

/** A read of a JSON document as data: its path, the range of lines shown, and `nextLine`. */
export interface ReadJsonData extends ToolData, Partial<Omit<JsonView, 'text'>> {}

/**
 * An apply as data, of lines or of values. With the status `'applied'` it has the fields of an
 * `AppliedOutcome`, with `'rejected'` those of a `RejectedOutcome`. Without a status it has only
 * `code`: the call was malformed, or the disk failed.
 */
export interface ApplyData
  extends ToolData,
    Partial<Omit<AppliedOutcome, 'status' | 'repairs' | 'text'>>,
    Partial<Omit<RejectedOutcome, 'status' | 'code' | 'text'>> {
  status?: 'applied' | 'rejected'
}

/** An argument that deviates from the schema, and was interpreted as intended. */
export interface ArgumentRepair {
  /**
   * `json-text` (a string holding JSON instead of its value), `code-fence` (JSON in a code block),
   * `wrapped` (a single value instead of a list), `unwrapped` (a list instead of a single value),
   * `at-path` (`@src/a.ts`), `file-url` (`file:///…`), `path-lines` (`src/a.ts:10-20`),
   * `path-blanks` (`src/a.ts\n`), `path-separator` (`src\\a.ts`), `other-name` (a field under the name that
   * other tools use), `implied-op` (an operation without `op`, whose fields fit only one), `number`
   * (digits as a string, or a line 0), `json-string` (plain words instead of JSON text),
   * `move-path` (`path` of a move instead of `from`), `unused` (an empty field). The text does not
   * mention the last two.
   */
  rule:
    | 'json-text'
    | 'code-fence'
    | 'wrapped'
    | 'unwrapped'
    | 'at-path'
    | 'file-url'
    | 'path-lines'
    | 'path-blanks'
    | 'path-separator'
    | 'other-name'
    | 'implied-op'
    | 'number'
    | 'json-string'
    | 'move-path'
    | 'unused'
  /** The place in the arguments: `operations[0].path`. */
  field: string
  /** A short description of the repair. */
  message: string
}

/** The hints of the Model Context Protocol on the side effects of a tool. */
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
  /** The names of the tools, if not the default ones. */
  names?: ToolNames
  /** What counts as reading and writing, and where it is allowed; as for `checkCommand`. */
  policy?: CommandPolicy
}

/**
 * Why a shell command must be blocked, for the model: it reads or writes files without the tools,
 * and the reason names the tool to use instead. Undefined for a command that may run, and for one
 * that cannot be parsed and has no finding, unless `policy.unparsed` is `'write'`.
 */
export function guard(command: string, options?: GuardOptions): string | undefined

/** A tool of OpenAI's chat completions, and of compatible servers. */
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
 * For `tools` of OpenAI's chat completions. With `strict` the schema is that of OpenAI's strict
 * mode: every field is required, optional ones are nullable, and no others are allowed.
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

/** The part of a result that the model receives: its text and its images. */
type Shown = Pick<ToolResult, 'text' | 'images'>

/**
 * For `content` of a user message of OpenAI's chat completions. A message with the role `tool`
 * accepts only text, so the images of a result go into a message after it.
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

/** For `parts` of a Gemini content, which does not accept GIF. */
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
 * For frameworks that take a Standard Schema, such as `inputSchema` of the AI SDK. It accepts every
 * object: `execute` reports errors in it, in words for the model.
 */
export function toStandardSchema(tool: HashTool): ArgumentsSchema

/** A tool of the AI SDK. */
export interface AiSdkTool {
  readonly description: string
  readonly inputSchema: ArgumentsSchema
  execute(
    args: Record<string, unknown>,
    options?: { abortSignal?: AbortSignal | undefined },
  ): Promise<ToolResult>
  toModelOutput(options: { output: ToolResult }):
    | { type: 'text' | 'error-text'; value: string }
    | {
        type: 'content'
        value: (
          | { type: 'text'; text: string }
          | { type: 'file'; mediaType: string; data: { type: 'data'; data: Uint8Array } }
        )[]
      }
}

/** For `tools` of the AI SDK (`ai` 7): `toAiSdk(hashTools(session))`. The keys are the names. */
export function toAiSdk(
  tools: readonly HashTool[] | { readonly [key: string]: HashTool },
): Record<string, AiSdkTool>

/**
 * The fields of a tool's arguments as zod types, for frameworks that require those. `z` is the
 * framework's zod, 3.21 or later. The types describe in JSON Schema what the model should write,
 * but accept every value unchanged, because `execute` accepts more and reports errors. Fields under
 * other names pass if the framework's object allows unknown ones.
 */
export function toZodShape(
  z: { string(): unknown },
  tool: HashTool,
  // biome-ignore lint/suspicious/noExplicitAny: types of whichever zod it is
): Record<string, any>
