//! Runs the cases of `vectors/bindings.jsonl` for which the program has commands: its answers must be
//! those of the addon, byte for byte. `__test__/bindings/run.mjs` defines the lines; this test
//! compares the answers of a case and the resulting files with the recorded ones.
//!
//! Two differences are converted first: the program spells options differently, and its guard
//! counts bytes of a command where JavaScript counts code units.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::support::Project;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Map, Value, json};

/// The spelling of options in messages, in the program and in JavaScript.
const SPELLINGS: [(&str, &str); 4] = [
    ("--max-file-bytes", "maxFileBytes"),
    ("--max-bytes", "maxBytes"),
    ("--start-line", "startLine"),
    ("--lines", "maxLines"),
];

/// Canonical JSON, with sorted keys.
fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(key, _)| key.as_str());
                let fields = fields.into_iter().map(|(key, field)| (key.clone(), sorted(field)));
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

fn write(project: &Project, files: &Value) {
    for (name, content) in files.as_object().unwrap() {
        if let Some(target) = content.get("link").and_then(Value::as_str) {
            std::os::unix::fs::symlink(target, project.path(name)).unwrap();
        } else if let Some(bytes) = content.get("base64").and_then(Value::as_str) {
            project.write(name, &BASE64_STANDARD.decode(bytes).unwrap());
        } else {
            project.write(name, content.as_str().unwrap().as_bytes());
        }
    }
}

/// All files below a directory.
fn contents(dir: &Path, prefix: &str, found: &mut Map<String, Value>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            contents(&path, &format!("{name}/"), found);
        } else if kind.is_symlink() {
            found.insert(name, json!({"link": fs::read_link(&path).unwrap()}));
        } else {
            let content = match String::from_utf8(fs::read(&path).unwrap()) {
                Ok(text) => json!(text),
                Err(error) => json!({"base64": BASE64_STANDARD.encode(error.as_bytes())}),
            };
            found.insert(name, content);
        }
    }
}

/// The arguments of a command line, and its standard input.
struct Words {
    words: Vec<String>,
    input: String,
}

/// Options by their JavaScript names, which are converted into arguments; the rest has no
/// equivalent.
struct Options<'a> {
    left: Map<String, Value>,
    words: &'a mut Vec<String>,
}

impl Options<'_> {
    fn value(&mut self, name: &str, word: &str) {
        match self.left.remove(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.words.extend([word.to_owned(), text]),
            Some(other) => self.words.extend([word.to_owned(), other.to_string()]),
        }
    }

    fn values(&mut self, name: &str, word: &str) {
        for value in many(self.left.remove(name)) {
            self.words.extend([word.to_owned(), value]);
        }
    }

    /// The argument for a flag, unless it has its `default`.
    fn flag(&mut self, name: &str, word: &str, default: bool) {
        if self.left.remove(name).is_some_and(|value| value != Value::Bool(default)) {
            self.words.push(word.to_owned());
        }
    }

    /// Returns `None` if an option has no equivalent.
    fn end(self) -> Option<()> {
        self.left.is_empty().then_some(())
    }
}

/// A string, or an array of strings.
fn many(value: Option<Value>) -> Vec<String> {
    match value {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The options of all calls; `dialect` is the default.
fn shared(given: &Value, dialect: &str, words: &mut Vec<String>) -> Map<String, Value> {
    let left = given.as_object().cloned().unwrap_or_default();
    let mut options = Options { left, words };
    options.left.entry("dialect").or_insert(json!(dialect));
    options.value("dialect", "--dialect");
    options.value("encoding", "--encoding");
    options.value("maxFileBytes", "--max-file-bytes");
    options.left
}

/// The options of a search.
fn matching(options: &mut Options<'_>) {
    options.flag("regex", "--regex", false);
    options.flag("caseSensitive", "--case-sensitive", false);
    options.value("contextBefore", "--before");
    options.value("contextAfter", "--after");
    options.value("maxMatches", "--max-matches");
    options.value("maxBytes", "--max-bytes");
    options.value("maxLineChars", "--max-line-chars");
}

/// The command line of a call; `None` if there is none.
fn words_of(call: &Value, dir: &str, is_of_session: bool) -> Option<Words> {
    let mut words: Vec<String> = ["--json", "--root", dir].map(str::to_owned).to_vec();
    let dialect = if is_of_session { "lean" } else { "pi" };
    let own = shared(&call["options"], dialect, &mut words);
    let (given, mut input) = (&call["given"], String::new());
    let is_plain = own.is_empty();
    match call["call"].as_str().unwrap() {
        "read" if is_plain => read_words(given, &mut words)?,
        "search" if is_plain => search_words(given, &mut words)?,
        "readJson" if is_plain => {
            words.push("json-read".to_owned());
            let mut options = Options { left: request(given), words: &mut words };
            let path = options.left.remove("path")?.as_str()?.to_owned();
            options.value("startLine", "--start-line");
            options.value("maxLines", "--lines");
            options.value("maxBytes", "--max-bytes");
            options.end()?;
            words.extend(["--".to_owned(), path]);
        }
        "apply" => {
            words.push("apply".to_owned());
            let mut options = Options { left: own, words: &mut words };
            options.left.entry("durability").or_insert(json!("process"));
            if is_of_session {
                options.left.entry("syntax").or_insert(json!("warn"));
            }
            options.value("durability", "--durability");
            options.value("relocate", "--relocate");
            options.value("relocateWindow", "--relocate-window");
            options.value("answer", "--answer");
            options.value("answerContext", "--answer-context");
            options.value("syntax", "--syntax");
            options.flag("dryRun", "--dry-run", false);
            options.value("context", "--context");
            options.end()?;
            input = given.to_string();
        }
        "checkCommand" => check_words(given, own, &mut words)?,
        "recover" => words.push("recover".to_owned()),
        _ => return None,
    }
    (!words.iter().any(|word| word.contains('\0'))).then_some(Words { words, input })
}

/// A string is a request for that path.
fn request(given: &Value) -> Map<String, Value> {
    let alone = || json!({"path": given}).as_object().cloned();
    given.as_object().cloned().or_else(alone).unwrap()
}

/// Several files are read with the same options.
fn read_words(given: &Value, words: &mut Vec<String>) -> Option<()> {
    let given = given.as_array().cloned().unwrap_or_else(|| vec![given.clone()]);
    let mut requests: Vec<_> = given.iter().map(request).collect();
    let paths: Vec<_> = requests.iter_mut().filter_map(|one| one.remove("path")).collect();
    let first = requests.first()?.clone();
    if requests.iter().any(|other| *other != first) {
        return None;
    }
    words.push("read".to_owned());
    let mut options = Options { left: first, words };
    options.value("startLine", "--start-line");
    options.value("maxLines", "--lines");
    if let Some(columns) = options.left.remove("columns") {
        let columns = format!("{}:{}", columns[0], columns[1]);
        options.words.extend(["--columns".to_owned(), columns]);
    }
    match options.left.remove("fold") {
        Some(Value::Bool(true)) => options.words.push("--fold".to_owned()),
        Some(lines) if lines.is_u64() => options.words.push(format!("--fold={lines}")),
        Some(_) => return None,
        None => {}
    }
    if let Some(open) = options.left.remove("open") {
        for name in open.as_array().cloned().unwrap_or_else(|| vec![open.clone()]) {
            options.words.push(format!("--open={}", name.as_str()?));
        }
    }
    options.value("search", "--search");
    matching(&mut options);
    options.end()?;
    words.push("--".to_owned());
    words.extend(paths.iter().map(|path| path.as_str().unwrap().to_owned()));
    Some(())
}

fn search_words(given: &Value, words: &mut Vec<String>) -> Option<()> {
    words.push("search".to_owned());
    let mut options = Options { left: given.as_object()?.clone(), words };
    let pattern = match options.left.remove("search") {
        Some(pattern) => Some(pattern.as_str()?.to_owned()),
        None => {
            options.words.push("--files".to_owned());
            None
        }
    };
    match options.left.remove("output").as_ref().and_then(Value::as_str) {
        Some("files") => options.words.push("-l".to_owned()),
        Some("count") => options.words.push("-c".to_owned()),
        Some(_) => return None,
        None => {}
    }
    options.flag("sizes", "--sizes", false);
    options.value("maxFiles", "--max-files");
    options.value("skip", "--skip");
    let paths = many(options.left.remove("paths"));
    matching(&mut options);
    options.value("maxMatchesPerFile", "--max-matches-per-file");
    options.value("maxDepth", "--max-depth");
    options.values("globs", "--glob");
    options.flag("enclosing", "--enclosing", false);
    options.flag("hidden", "--hidden", false);
    options.flag("followLinks", "--follow-links", false);
    options.flag("gitignore", "--no-gitignore", true);
    options.flag("ignoreFiles", "--no-ignore-files", true);
    options.flag("parentIgnoreFiles", "--no-parent-ignore-files", true);
    options.end()?;
    words.push("--".to_owned());
    words.extend(pattern);
    words.extend(paths);
    Some(())
}

fn check_words(given: &Value, left: Map<String, Value>, words: &mut Vec<String>) -> Option<()> {
    words.push("check".to_owned());
    let mut options = Options { left, words };
    let tools = options.left.remove("tools").unwrap_or_default();
    for (name, usual) in [("read", "read"), ("search", "search"), ("edit", "apply")] {
        let tool = tools[name].as_str().unwrap_or(usual).to_owned();
        options.words.extend([format!("--{name}-tool"), tool]);
    }
    options.flag("reads", "--allow-reads", true);
    options.flag("writes", "--allow-writes", true);
    let rules = options.left.remove("rules").unwrap_or_default();
    for (rule, is_on) in rules.as_object().into_iter().flatten() {
        let is_on = if is_on.as_bool()? { "on" } else { "off" };
        options.words.extend(["--rule".to_owned(), format!("{rule}={is_on}")]);
    }
    options.values("roots", "--serves");
    options.value("cwd", "--cwd");
    options.values("ignored", "--ignored");
    options.values("extraReads", "--extra-read");
    options.values("extraWrites", "--extra-write");
    options.values("except", "--except");
    options.values("readablePaths", "--readable");
    options.values("writablePaths", "--writable");
    options.value("unparsed", "--unparsed");
    options.end()?;
    words.extend(["--".to_owned(), given.as_str()?.to_owned()]);
    Some(())
}

/// The program's answer, in the form of the addon's.
fn answer(project: &Project, call: &Value, words: &Words) -> Value {
    let mut all = vec!["--state-dir".to_owned(), project.state().to_str().unwrap().to_owned()];
    all.extend(words.words.iter().cloned());
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let run = project.run_with(&all, &words.input);
    let (kind, mut text) =
        if run.stdout.is_empty() { ("error", run.stderr) } else { ("answer", run.stdout) };
    for (own, theirs) in SPELLINGS {
        text = text.replace(own, theirs);
    }
    text = text.replace(project.path("").to_str().unwrap().trim_end_matches('/'), "<dir>");
    let mut answer: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{all:?}: {text}"));
    if call["call"] == "checkCommand" {
        let command = call["given"].as_str().unwrap();
        for finding in answer["findings"].as_array_mut().unwrap() {
            for end in ["start", "end"] {
                let bytes = finding["span"][end].as_u64().unwrap() as usize;
                finding["span"][end] = json!(command[..bytes].encode_utf16().count());
            }
        }
    }
    json!({ kind: answer })
}

/// Successful dry runs need no session for the same answer. (Refusals depend on what a session
/// remembers.)
fn is_dry(call: &Value, expected: &Value) -> bool {
    call["options"]["dryRun"] == true && expected["answer"]["status"] == "applied"
}

/// The calls of a case with the expected answers; `None` if the program has no command for one of
/// them.
fn calls_of<'a>(case: &'a Value, dir: &str) -> Option<Vec<(&'a Value, &'a Value, Words)>> {
    let calls = case["calls"].as_array()?.iter().zip(case["expected"]["answers"].as_array()?);
    if case.get("session").is_some() {
        let is_shown =
            calls.clone().all(|(call, expected)| call["call"] == "read" || is_dry(call, expected));
        let dry = calls.filter(|(call, expected)| is_shown && is_dry(call, expected));
        let dry: Option<Vec<_>> = dry
            .map(|(call, expected)| Some((call, expected, words_of(call, dir, true)?)))
            .collect();
        return dry.filter(|dry| !dry.is_empty());
    }
    calls.map(|(call, expected)| Some((call, expected, words_of(call, dir, false)?))).collect()
}

#[test]
fn the_program_answers_like_the_addon() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/bindings.jsonl");
    let (mut seen, mut dry_runs) = (0, 0);
    for row in fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(row).unwrap();
        let project = Project::new(&[]);
        let dir = project.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let Some(calls) = calls_of(&case, &dir) else { continue };
        write(&project, &case["files"]);
        for (call, expected, words) in &calls {
            let is = answer(&project, call, words);
            assert_eq!(canonical(&is), canonical(expected), "{}: {:?}", case["name"], words.words);
            dry_runs += usize::from(is_dry(call, expected));
        }
        let mut files = Map::new();
        contents(&project.path(""), "", &mut files);
        let (is, expected) = (canonical(&files.into()), canonical(&case["expected"]["files"]));
        assert_eq!(is, expected, "{}", case["name"]);
        seen += 1;
    }
    assert!(seen >= 300 && dry_runs >= 3, "{seen} cases, {dry_runs} dry runs");
}
