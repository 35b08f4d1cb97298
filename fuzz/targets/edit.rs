//! Reads any file, applies edits with current anchors, and compares the result with the naive
//! reference. Lines outside of the edits keep their bytes; new lines have the given text and a
//! terminator of the file; the anchors of the report match the file after the edits; a rejected patch
//! changes nothing.

#![no_main]

use std::cell::RefCell;
use std::path::PathBuf;

use arbitrary::{Arbitrary, Result, Unstructured};
use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::ReadRequest;
use hashline_core::host::RowAnchor;
use hashline_core::host::Value;
use hashline_core::{Applied, NoopReason, Outcome};
use hashline_core::{ApplyOptions, Durability, EditOptions, apply_to_text};
use hashline_core::{Workspace, WorkspaceOptions};
use hashline_disk::fs::OsFileSystem;
use hashline_fuzz::naive::{self, Expected, File, Op};
use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::{DIALECTS, Dialect};
use hashline_lines::hash::hash_line;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    dialect: u8,
    /// Edits a file on disk; otherwise a text in memory, if the bytes allow it.
    on_disk: bool,
    /// Without `verbatim` repairs may change the text, and the result is not compared.
    verbatim: bool,
    /// The index of an operation that gets a wrong hash.
    stale: Option<u8>,
    form: Form,
    lines: Vec<(Text, Ending)>,
    raw: Vec<u8>,
    open_end: bool,
    ops: Vec<Edit>,
}

#[derive(Arbitrary, Debug)]
enum Form {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    /// The bytes of `raw` follow the lines.
    Invalid,
    /// The file is `raw`.
    Raw,
}

#[derive(Arbitrary, Debug)]
enum Ending {
    Lf,
    CrLf,
}

/// A short text from a small alphabet: lines have equal hashes, normalize to the same text and look
/// like markup.
#[derive(Debug)]
struct Text(String);

impl<'a> Arbitrary<'a> for Text {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Text> {
        const PIECES: [&str; 16] = [
            "a",
            "b",
            "}",
            " ",
            "\t",
            "+",
            "-",
            "1:60|",
            "é",
            "🎉",
            "\u{feff}",
            "\u{85}",
            "\r",
            "…",
            "\u{fffd}",
            "return x;",
        ];
        let mut text = String::new();
        for _ in 0..input.int_in_range(0..=4)? {
            text += input.choose(&PIECES)?;
        }
        // A trailing `\r` would become part of the terminator.
        Ok(Text(text.trim_end_matches('\r').to_owned()))
    }
}

#[derive(Arbitrary, Debug)]
enum Edit {
    Set {
        line: u8,
        lines: Vec<Text>,
    },
    Replace {
        line: u8,
        length: u8,
        lines: Vec<Text>,
    },
    Delete {
        line: u8,
        length: Option<u8>,
    },
    After {
        line: u8,
        first: Text,
        lines: Vec<Text>,
    },
    Before {
        line: u8,
        first: Text,
        lines: Vec<Text>,
    },
    Start {
        first: Text,
    },
    End {
        first: Text,
    },
    /// Sets a line to its own text: a no-op, also for a line with invalid bytes.
    Same {
        line: u8,
    },
}

fuzz_target!(|input: Input| run(&input));

fn run(input: &Input) {
    // Dialects without hashes have patches in another language.
    let dialects: Vec<_> = DIALECTS.iter().filter(|dialect| dialect.has_hashes()).collect();
    let dialect = dialects[usize::from(input.dialect) % dialects.len()];
    let bytes = file_bytes(input);
    let file = File::new(&bytes);
    let texts = file.texts();
    let mut ops = Vec::new();
    let mut values = Vec::new();
    for (at, edit) in input.ops.iter().take(6).enumerate() {
        let Some((op, mut fields)) = operation(dialect, &texts, edit) else {
            continue;
        };
        if input.stale.is_some_and(|stale| usize::from(stale) == at) {
            corrupt_hash(dialect, &mut fields);
        }
        if input.verbatim {
            fields.push(("verbatim".to_owned(), Value::Bool(true)));
        }
        ops.push(op);
        values.push(fields);
    }
    let is_stale = input.stale.is_some_and(|stale| usize::from(stale) < input.ops.len().min(6));
    let subject = Subject { dialect, bytes: &bytes, file: &file, texts: &texts };
    let in_memory = match std::str::from_utf8(&bytes) {
        Ok(text) if !input.on_disk && file.bom.is_empty() => Some(text),
        _ => None,
    };
    let (outcome, after) = match in_memory {
        Some(text) => subject.edit_in_memory(text, values),
        None => subject.edit_on_disk(values),
    };
    if input.verbatim && !is_stale {
        subject.compare(&ops, &outcome, &after);
    } else if let Outcome::Rejected(_) = outcome {
        assert_eq!(after, bytes, "a refusal changes nothing");
    }
    if let Outcome::Applied(applied) = &outcome {
        subject.check_report(applied, &after);
    }
}

fn file_bytes(input: &Input) -> Vec<u8> {
    let mut text = String::new();
    for (at, (line, ending)) in input.lines.iter().take(12).enumerate() {
        text += &line.0;
        text += match ending {
            _ if input.open_end && at + 1 == input.lines.len().min(12) => "",
            Ending::Lf => "\n",
            Ending::CrLf => "\r\n",
        };
    }
    let raw = || {
        let raw = &input.raw[..input.raw.len().min(64)];
        let wide = raw.starts_with(&[0xFF, 0xFE]) || raw.starts_with(&[0xFE, 0xFF]);
        // NUL would make the file a binary one.
        let plain = |&byte: &u8| if byte == 0 && !wide { b'0' } else { byte };
        raw.iter().map(plain).collect::<Vec<u8>>()
    };
    let units = |bom: u16| std::iter::once(bom).chain(text.encode_utf16());
    match input.form {
        Form::Utf8 => text.into_bytes(),
        Form::Utf8Bom => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        Form::Utf16Le => units(0xFEFF).flat_map(u16::to_le_bytes).collect(),
        Form::Utf16Be => units(0xFEFF).flat_map(u16::to_be_bytes).collect(),
        Form::Invalid => {
            let tail = raw().into_iter().map(|byte| byte.max(1));
            text.into_bytes().into_iter().chain(tail).collect()
        }
        Form::Raw => raw(),
    }
}

type Fields = Vec<(String, Value)>;

fn string(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

fn operation(dialect: &'static Dialect, texts: &[String], edit: &Edit) -> Option<(Op, Fields)> {
    let count = texts.len();
    let number = |line: &u8| (count > 0).then(|| usize::from(*line) % count + 1);
    let anchor = |line: usize| {
        let hash = hash_line(dialect, line as u64, &texts[line - 1]);
        string(dialect.anchor_text(line as u64, hash))
    };
    let owned = |lines: &[Text]| -> Vec<String> {
        lines.iter().take(4).map(|text| text.0.clone()).collect()
    };
    let with_first = |first: &Text, rest: &[Text]| [vec![first.0.clone()], owned(rest)].concat();
    let array = |lines: &[String]| Value::Array(lines.iter().map(string).collect());
    let fields = |op: &str, rest: Vec<(&str, Value)>| {
        let rest = rest.into_iter().map(|(name, value)| (name.to_owned(), value));
        let mut fields = vec![("op".to_owned(), string(op)), ("path".to_owned(), string("f"))];
        fields.extend(rest);
        fields
    };
    let insert = |op: &str, at: Value, gap: usize, lines: Vec<String>| {
        let fields = fields(op, vec![("anchor", at), ("text", array(&lines))]);
        Some((Op::Insert { gap, lines }, fields))
    };
    match edit {
        Edit::Set { line, lines } => {
            let (line, lines) = (number(line)?, owned(lines));
            let fields =
                fields("set_line", vec![("anchor", anchor(line)), ("text", array(&lines))]);
            Some((Op::Replace { first: line, last: line, lines }, fields))
        }
        Edit::Same { line } => {
            let line = number(line)?;
            // A request cannot contain a trailing `\r`: it is removed.
            let lines = vec![texts[line - 1].trim_end_matches('\r').to_owned()];
            let fields =
                fields("set_line", vec![("anchor", anchor(line)), ("text", array(&lines))]);
            Some((Op::Replace { first: line, last: line, lines }, fields))
        }
        Edit::Replace { line, length, lines } => {
            let (first, lines) = (number(line)?, owned(lines));
            let last = (first + usize::from(length % 4)).min(count);
            let fields = fields(
                "replace_range",
                vec![
                    ("start_anchor", anchor(first)),
                    ("end_anchor", anchor(last)),
                    ("text", array(&lines)),
                ],
            );
            Some((Op::Replace { first, last, lines }, fields))
        }
        Edit::Delete { line, length } => {
            let first = number(line)?;
            let (last, target) = match length {
                None => (first, vec![("anchor", anchor(first))]),
                Some(length) => {
                    let last = (first + usize::from(length % 4)).min(count);
                    let (Value::String(start), Value::String(end)) = (anchor(first), anchor(last))
                    else {
                        return None;
                    };
                    (last, vec![("range", string(format!("{start}-{end}")))])
                }
            };
            let lines = Vec::new();
            Some((Op::Replace { first, last, lines }, fields("delete", target)))
        }
        Edit::After { line, first, lines } => {
            let line = number(line)?;
            insert("insert_after", anchor(line), line, with_first(first, lines))
        }
        Edit::Before { line, first, lines } => {
            let line = number(line)?;
            insert("insert_before", anchor(line), line - 1, with_first(first, lines))
        }
        Edit::Start { first } => insert("insert_before", string("BOF"), 0, vec![first.0.clone()]),
        Edit::End { first } => insert("insert_after", string("EOF"), count, vec![first.0.clone()]),
    }
}

/// Changes the hash of an anchor, or of the second anchor of a range.
fn corrupt_hash(dialect: &Dialect, fields: &mut Fields) {
    for (_, value) in fields {
        let Value::String(text) = value else { continue };
        let last_at = text.rfind('-').map_or(0, |at| at + 1);
        if let Ok(anchor) = Anchor::parse(dialect, &text[last_at..]) {
            let other = (anchor.hash + 1) % dialect.modulus();
            text.replace_range(last_at.., &dialect.anchor_text(anchor.line.into(), other));
        }
    }
}

thread_local! {
    static DIR: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

/// A temporary directory, in memory if possible, because every input is written to it.
fn dir() -> PathBuf {
    DIR.with_borrow_mut(|dir| {
        let new = || {
            let memory = tempfile::tempdir_in("/dev/shm");
            memory.or_else(|_| tempfile::tempdir()).expect("a temporary directory")
        };
        dir.get_or_insert_with(new).path().to_owned()
    })
}

struct Subject<'a> {
    dialect: &'static Dialect,
    bytes: &'a [u8],
    file: &'a File,
    texts: &'a [String],
}

impl Subject<'_> {
    fn options(&self) -> WorkspaceOptions {
        let durability = Durability::Process;
        WorkspaceOptions {
            dialect: self.dialect,
            apply: ApplyOptions { durability, ..ApplyOptions::default() },
            ..WorkspaceOptions::default()
        }
    }

    fn edit_in_memory(&self, text: &str, ops: Vec<Fields>) -> (Outcome, Vec<u8>) {
        let patch = Value::Array(ops.into_iter().map(Value::Object).collect());
        let outcome = apply_to_text(self.dialect, text, &patch.into(), &EditOptions::default());
        let after = outcome.content.unwrap_or_else(|| text.to_owned());
        (outcome.outcome, after.into_bytes())
    }

    fn edit_on_disk(&self, ops: Vec<Fields>) -> (Outcome, Vec<u8>) {
        let dir = dir();
        let (path, root) = (dir.join("f"), dir.to_str().expect("UTF-8").to_owned());
        std::fs::write(&path, self.bytes).expect("the file is written");
        self.check_read(&root);
        let ops = ops.into_iter().map(Value::Object).collect();
        let patch = Value::Object(vec![("operations".to_owned(), Value::Array(ops))]);
        let options = WorkspaceOptions {
            root: root.into(),
            // Not the state directory of the user.
            state_dir: Some(dir.join("state")),
            ..self.options()
        };
        let outcome = Workspace::on(&OsFileSystem, &options).apply(patch);
        let after = std::fs::read(&path).expect("the file is there");
        (outcome.expect("no fault"), after)
    }

    fn check_read(&self, root: &str) {
        let request = ReadRequest { path: "f".into(), ..ReadRequest::default() };
        let options = WorkspaceOptions {
            dialect: self.dialect,
            root: root.into(),
            ..WorkspaceOptions::default()
        };
        let views =
            Workspace::on(&OsFileSystem, &options).read_with(&[request], &Cancel::default());
        let view = views.expect("the options are fine").remove(0);
        let shown = view.as_text().unwrap_or_else(|| panic!("{view:?}"));
        let rows = (1..).zip(self.texts).map(|(number, text)| self.row(number, text));
        assert_eq!(view.text, rows.collect::<Vec<_>>().join("\n"));
        assert_eq!(shown.line_count, self.texts.len() as u64);
        let terminated =
            self.file.lines.last().is_some_and(|line| !self.file.encoding.split(line).1.is_empty());
        assert_eq!(shown.final_newline, terminated);
    }

    fn row(&self, number: usize, text: &str) -> String {
        let hash = hash_line(self.dialect, number as u64, text);
        let anchor = self.dialect.anchor_text(number as u64, hash);
        format!("{anchor}{}{text}", self.dialect.text_mark as char)
    }

    /// Compares the result with that of the naive reference.
    fn compare(&self, ops: &[Op], outcome: &Outcome, after: &[u8]) {
        let ops = match outcome {
            Outcome::Applied(applied) => without_duplicates(ops, applied),
            Outcome::Rejected(rejected) => {
                assert_eq!(after, self.bytes, "a refusal changes nothing");
                match rejected.code {
                    Code::OverlappingEdits => {
                        assert!(naive::have_conflict(ops), "{}", rejected.text);
                    }
                    // A file that ends in an incomplete code unit is not edited.
                    Code::UnsupportedEncoding => {
                        assert!(!self.bytes.len().is_multiple_of(2), "{}", rejected.text);
                    }
                    // A line at the start of the file would be read as a byte order mark.
                    Code::UnencodableText => {
                        let is_mark = |line: &Vec<u8>| {
                            matches!(line[..], [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
                        };
                        assert!(self.file.lines.iter().any(is_mark), "{}", rejected.text);
                    }
                    _ => panic!("{}", rejected.text),
                }
                return;
            }
        };
        assert!(!naive::have_conflict(&ops), "conflicting operations were applied: {ops:?}");
        let is_marked = self.texts.first().is_some_and(|text| text.starts_with(naive::MARK));
        let ops = if is_marked { ops } else { naive::without_mark(ops) };
        let mut expected = naive::apply(self.texts.len(), &ops);
        let result = self.file.edited(after);
        let encoding = self.file.encoding;
        let was_open = self.file.lines.last().is_some_and(|line| encoding.split(line).1.is_empty());
        // If the last line, without terminator, is deleted, the file ends with the terminator of
        // the line before it, which is an old or an inserted line.
        let deletes_end = |op: &Op| matches!(op, Op::Replace { last, lines, .. } if lines.is_empty() && *last == self.texts.len());
        let end_is_deleted = ops.iter().any(deletes_end);
        let ends_in_nothing = self.ends_in_nothing(&ops);
        if ends_in_nothing && !(end_is_deleted && result.lines.len() == expected.len()) {
            expected.pop();
        }
        let may_close = !was_open || ends_in_nothing || end_is_deleted;
        assert_eq!(result.lines.len(), expected.len(), "{ops:?}\n{:?}", result.texts());
        let terminators = self.file.lines.iter().map(|line| encoding.split(line).1);
        let used: Vec<_> = terminators.filter(|terminator| !terminator.is_empty()).collect();
        for (at, (expected, line)) in expected.iter().zip(&result.lines).enumerate() {
            let is_last = at + 1 == result.lines.len();
            let (_, terminator) = encoding.split(line);
            match expected {
                Expected::Old(number) => {
                    let old = &self.file.lines[number - 1];
                    let (old_text, old_terminator) = encoding.split(old);
                    if old_terminator.is_empty() && (!is_last || ends_in_nothing) {
                        // The last line, without terminator, has lines inserted after it.
                        assert_eq!(
                            encoding.split(line).0,
                            old_text,
                            "line {number} keeps its bytes"
                        );
                        assert!(!terminator.is_empty());
                    } else {
                        assert_eq!(line, old, "line {number} keeps its bytes");
                    }
                }
                Expected::New(new) => {
                    assert_eq!(&encoding.text(line), new, "new line {}", at + 1);
                    match terminator {
                        "" => assert!(is_last && was_open, "line {} has a terminator", at + 1),
                        _ if is_last => assert!(may_close, "the file still ends without one"),
                        _ => {}
                    }
                    if !terminator.is_empty() {
                        let fits = if used.is_empty() {
                            terminator == "\n"
                        } else {
                            used.contains(&terminator)
                        };
                        assert!(fits, "new line {} ends in {terminator:?}", at + 1);
                    }
                }
            }
        }
    }

    /// Whether the result ends in an empty line without terminator. It does not count as a line: the
    /// file ends with the terminator of the line before it.
    fn ends_in_nothing(&self, ops: &[Op]) -> bool {
        let was_open = |line: &Vec<u8>| self.file.encoding.split(line).1.is_empty();
        self.file.lines.last().is_some_and(was_open)
            && matches!(
                naive::apply(self.texts.len(), ops).last(),
                Some(Expected::New(text)) if text.is_empty()
            )
    }

    /// Checks that every row of the report is a line of the file after the edits.
    fn check_report(&self, applied: &Applied, after: &[u8]) {
        let now = self.file.edited(after).texts();
        for row in applied.text.split('\n') {
            let digits = row.bytes().take_while(u8::is_ascii_digit).count();
            let Ok(number) = row[..digits].parse::<usize>() else {
                continue;
            };
            // Notes on relocations also start with an anchor, but without the mark after it.
            if RowAnchor::of(self.dialect, row).is_some() {
                let text = now.get(number - 1).unwrap_or_else(|| panic!("no line {number}: {row}"));
                assert_eq!(row, self.row(number, text), "a row of the report");
            }
        }
        match applied.files.as_slice() {
            [] => assert_eq!(after, self.bytes, "nothing was changed"),
            [one] => assert_eq!(one.line_count, Some(now.len() as u64)),
            more => panic!("{} files", more.len()),
        }
    }
}

/// The operations without those that the outcome reports as duplicates, which must equal others.
fn without_duplicates(ops: &[Op], applied: &Applied) -> Vec<Op> {
    let is_duplicate = |at: usize| {
        applied.noops.iter().any(|noop| match noop.reason {
            NoopReason::Duplicate { of } if noop.operation == at => {
                assert_eq!(ops[of], ops[at], "a duplicate equals its original");
                true
            }
            _ => false,
        })
    };
    let distinct = (0..ops.len()).filter(|&at| !is_duplicate(at));
    distinct.map(|at| ops[at].clone()).collect()
}
