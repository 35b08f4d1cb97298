//! Everything an answer of a session offers is accepted when it is sent back, and refers to the
//! line that the answer showed: rows, anchors in messages, whole requests. A call composed before
//! an answer never refers to a line that only that answer showed.
//!
//! Long sessions on files with repeated lines, with edits by the session and by others.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::Outcome;
use hashline_core::Query;
use hashline_core::ReadRequest;
use hashline_core::SearchQuery;
use hashline_core::SyntaxCheck;
use hashline_core::{AnswerForm, AnswerOptions, DiffHunk};
use hashline_core::{ApplyOptions, Durability, PatchOptions};
use hashline_core::{Session, SessionOptions, WorkspaceOptions};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

use crate::support::Dice;

const PATH: &str = "f.js";

/// A line of the file, with a unique id.
#[derive(Clone, Debug)]
struct Line {
    id: usize,
    text: String,
}

/// A row of an answer.
#[derive(Clone, Debug)]
struct Row {
    number: usize,
    /// As written in the answer.
    anchor: String,
    /// The id of its line.
    id: usize,
    /// The content of the file at that time.
    content: String,
    /// The newest id at that time.
    newest: usize,
}

/// An operation that is sent after a later answer.
struct Late {
    operation: Value,
    /// The row it refers to.
    row: Row,
    /// The line to which it resolved before that answer.
    by_chance: Option<usize>,
}

/// The number of requests sent, by kind, and of those refused.
#[derive(Debug, Default)]
struct Tally {
    sent: BTreeMap<String, (usize, usize)>,
    /// Requests that were refused, or resolved to the wrong line.
    wrong: Vec<String>,
    /// Rows that name a version.
    with_version: usize,
    rows: usize,
}

impl Tally {
    fn count(&mut self, kind: &str, is_refused: bool) {
        let (sent, refused) = self.sent.entry(kind.to_owned()).or_default();
        *sent += 1;
        *refused += usize::from(is_refused);
    }
}

struct World {
    dir: tempfile::TempDir,
    _state: tempfile::TempDir,
    dialect: &'static Dialect,
    session: Session,
    lines: Vec<Line>,
    next: usize,
    /// Lines that the session removed.
    gone: HashSet<usize>,
    /// Lines that the session wrote.
    written: HashSet<usize>,
    dice: Dice,
    /// How many old anchors are sent after each step. Then others only move lines: after other
    /// changes it can be uncertain which of several equal lines is which.
    old_anchors: usize,
    /// All rows that were shown, oldest first.
    rows: Vec<Row>,
    tally: Tally,
}

impl World {
    fn new(seed: u64, dialect: &'static Dialect, syntax: SyntaxCheck) -> World {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let durability = Durability::Process;
        let workspace = WorkspaceOptions {
            root: dir.path().into(),
            state_dir: Some(state.path().into()),
            dialect,
            apply: ApplyOptions { durability, syntax: Some(syntax), ..ApplyOptions::default() },
            ..WorkspaceOptions::default()
        };
        let options = SessionOptions { workspace, ..SessionOptions::default() };
        let mut world = World {
            dir,
            _state: state,
            dialect,
            session: Session::new(options).unwrap(),
            lines: Vec::new(),
            next: 0,
            gone: HashSet::new(),
            written: HashSet::new(),
            dice: Dice(seed),
            old_anchors: 0,
            rows: Vec::new(),
            tally: Tally::default(),
        };
        for _ in 0..8 {
            let block = world.block();
            world.lines.extend(block);
        }
        world.write();
        world
    }

    fn line(&mut self, text: &str) -> Line {
        self.next += 1;
        Line { id: self.next, text: text.to_owned() }
    }

    /// A function like the others.
    fn block(&mut self) -> Vec<Line> {
        let name = self.dice.below(3);
        let mut texts = vec![format!("function f{name}(x) {{")];
        for _ in 0..=self.dice.below(2) {
            texts.extend(["  if (x) {", "    go()", "  }", "  return 1"].map(str::to_owned));
        }
        texts.extend(["}", ""].map(str::to_owned));
        texts.iter().map(|text| self.line(text)).collect()
    }

    fn content(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    fn write(&self) {
        fs::write(self.dir.path().join(PATH), self.content()).unwrap();
    }

    fn anchor(&self, number: usize, text: &str) -> String {
        let number = number as u64;
        self.dialect.anchor_text(number, hash_line(self.dialect, number, text))
    }

    /// Other processes insert unique lines, or remove them: the other lines move.
    fn shift(&mut self) {
        let is_note = |line: &Line| line.text.starts_with("// note ");
        let notes: Vec<usize> =
            (0..self.lines.len()).filter(|&at| is_note(&self.lines[at])).collect();
        let count = 1 + self.dice.below(8);
        if notes.len() > 20 {
            let at = notes[self.dice.below(notes.len())];
            let run = self.lines[at..].iter().take(count).take_while(|line| is_note(line)).count();
            self.lines.drain(at..at + run);
        } else {
            let at = self.dice.below(self.lines.len() + 1);
            let texts = (0..count).map(|note| format!("// note {} {note}", self.next));
            let texts: Vec<String> = texts.collect();
            let notes: Vec<Line> = texts.iter().map(|text| self.line(text)).collect();
            self.lines.splice(at..at, notes);
        }
        self.write();
    }

    /// Other processes insert, copy or remove lines.
    fn others(&mut self) {
        let at = self.dice.below(self.lines.len());
        match self.dice.below(3) {
            0 => {
                let block = self.block();
                self.lines.splice(at..at, block);
            }
            1 => {
                let text = self.dice.one_of(&["  return 1", "}", "    go()", "// note"]);
                let line = self.line(text);
                self.lines.insert(at, line);
            }
            _ if self.lines.len() > 30 => {
                let end = (at + 1 + self.dice.below(4)).min(self.lines.len());
                self.lines.drain(at..end);
            }
            _ => {}
        }
        self.write();
    }

    fn read(&mut self) {
        let start = self.dice.below(self.lines.len()) as u64 + 1;
        let start_line = Some(start);
        let mut request = ReadRequest { path: PATH.into(), start_line, ..ReadRequest::default() };
        request.limits.max_lines = Some(5 + self.dice.below(30) as u64);
        let text = self.session.read_with(&[request], &Cancel::default()).unwrap().text;
        self.answered("read", &text);
    }

    fn search(&mut self) {
        let search = self.dice.one_of(&["go()", "return", "}"]);
        let mut query = SearchQuery::new(Query {
            search: search.into(),
            regex: false,
            case_sensitive: true,
            ..Query::default()
        });
        query.max_matches = 4;
        let text = self.session.search(query).unwrap().text;
        self.answered("search", &text);
    }

    /// A row that was shown, preferably a recent one.
    fn some_row(&mut self) -> Option<Row> {
        let count = self.rows.len();
        let newest = self.dice.one_of(&[count, 200, 20]).min(count);
        let row = self.rows.get((count - 1).checked_sub(self.dice.below(newest))?)?;
        // An anchor refers to the row where it was shown last.
        self.rows.iter().rev().find(|one| one.anchor == row.anchor).cloned()
    }

    /// An operation on a line that was shown, correct or with a mistake that models make.
    /// Replacements start and end with unique lines, so that the remaining lines are identifiable.
    fn operation(&mut self) -> Option<(Value, Row)> {
        let row = self.some_row()?;
        let (at, number) = (&row.anchor, row.number);
        let texts = ["  return 2", "  return 1\n}", "    go()\n    go()", "  if (x) {\n  }", "}"];
        let text = self.dice.one_of(&texts);
        self.next += 1;
        let new = format!("// {}\n{text}\n// end", self.next);
        let mut operation = match self.dice.below(10) {
            0 => json!({"op": "set_line", "anchor": at, "text": new}),
            1 => json!({"op": "insert_after", "anchor": at, "text": text}),
            2 => json!({"op": "insert_before", "anchor": at, "text": text}),
            3 => json!({"op": "delete", "anchor": at}),
            4 | 5 => {
                let mut ends = self.rows.iter().rev();
                let end = &ends.find(|one| (number + 1..number + 6).contains(&one.number))?.anchor;
                json!({"op": "replace_range", "start_anchor": at, "end_anchor": end, "text": new})
            }
            6 => json!({"op": "delete", "anchor": at, "block": true}),
            7 => json!({"op": "set_line", "anchor": self.anchor(number, "wrong"), "text": new}),
            8 => json!({"op": "set_line", "anchor": self.anchor(number + 1, "}"), "text": new}),
            _ => json!({"op": "replace_text", "old_text": "  go2()\n  }", "new_text": text}),
        };
        operation["path"] = PATH.into();
        Some((operation, row))
    }

    fn edit(&mut self) {
        let Some((operation, _)) = self.operation() else { return };
        let composed_before =
            self.operation().and_then(|(operation, row)| self.late(operation, row));
        let form = self.dice.one_of(&[AnswerForm::Brief, AnswerForm::Region]);
        let answer = AnswerOptions { form: Some(form), context_lines: None };
        match self.send(&self.session, &json!([operation]), false, answer) {
            Outcome::Applied(applied) => {
                for file in &applied.files {
                    self.follow(&file.diff.as_ref().unwrap().hunks);
                }
                let warning = if applied.warnings.is_empty() { "" } else { " with a warning" };
                self.answered(&format!("{form:?}{warning}"), &applied.text);
            }
            Outcome::Rejected(rejected) => {
                self.answered(&format!("{:?}", rejected.code), &rejected.text);
            }
        }
        if let Some(late) = composed_before {
            self.send_late(&late);
        }
    }

    fn send(
        &self,
        session: &Session,
        operations: &Value,
        dry_run: bool,
        answer: AnswerOptions,
    ) -> Outcome {
        let patch = json!({"operations": operations}).into();
        let diff_context_lines = Some(0);
        let options =
            PatchOptions { answer, dry_run, diff_context_lines, ..PatchOptions::default() };
        session.apply_with(&patch, &options, &Cancel::default()).unwrap()
    }

    /// Applies operations to a fork of the session, as a dry run.
    fn try_out(&self, operations: &Value) -> Outcome {
        self.send(&self.session.fork(), operations, true, AnswerOptions::default())
    }

    /// Updates the model after the session edited the file.
    fn follow(&mut self, hunks: &[DiffHunk]) {
        let after = fs::read_to_string(self.dir.path().join(PATH)).unwrap();
        let after: Vec<&str> = after.lines().collect();
        for hunk in hunks.iter().rev() {
            let (old, new) = (hunk.old_start as usize - 1, hunk.new_start as usize - 1);
            let new = after[new..new + hunk.new_lines as usize].iter();
            let new: Vec<Line> = new.map(|text| self.line(text)).collect();
            self.written.extend(new.iter().map(|line| line.id));
            let gone = self.lines.splice(old..old + hunk.old_lines as usize, new);
            self.gone.extend(gone.map(|line| line.id));
        }
        assert!(after.iter().eq(self.lines.iter().map(|line| &line.text)));
    }

    /// Sends back everything that an answer offers for the current file.
    fn answered(&mut self, kind: &str, text: &str) {
        let mut rows: Vec<Row> = Vec::new();
        for row in text.lines().filter(|row| !is_about_the_call(row)) {
            let anchors = anchors_in(self.dialect, row);
            rows.extend(anchors.iter().filter_map(|anchor| self.row_of(anchor)));
        }
        for row in &rows {
            self.send_back(kind, row);
        }
        for pair in rows.windows(2).filter(|pair| pair[1].number == pair[0].number + 1) {
            self.send_range(kind, &pair[0], &pair[1]);
        }
        if let Some((_, request)) = text.split_once("send {") {
            let (request, _) = request.split_once("}]}: then it parses").unwrap();
            self.send_request(&format!("{kind}: request"), &format!("{{{request}}}]}}"));
        }
        self.rows.extend(rows);
    }

    /// The row with an anchor, if it is a row of the current file.
    fn row_of(&self, anchor: &str) -> Option<Row> {
        let short = anchor.split('@').next().unwrap();
        let digits = short.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = short[..digits].parse().ok()?;
        let line = self.lines.get(number.checked_sub(1)?)?;
        let (anchor, content) = (anchor.to_owned(), self.content());
        (self.anchor(number, &line.text) == short).then_some(Row {
            number,
            anchor,
            id: line.id,
            content,
            newest: self.next,
        })
    }

    fn send_back(&mut self, kind: &str, row: &Row) {
        self.tally.rows += 1;
        self.tally.with_version += usize::from(row.anchor.contains('@'));
        let op = self.dice.one_of(&["set_line", "insert_after", "insert_before"]);
        let operation =
            json!({"op": op, "path": PATH, "anchor": row.anchor, "text": "x", "verbatim": true});
        let outcome = self.try_out(&json!([operation]));
        if breaks(&outcome) {
            return;
        }
        self.tally.count(&format!("{kind}: row"), matches!(outcome, Outcome::Rejected(_)));
        match landed(&operation, &outcome) {
            Ok(line) if line == row.number => {}
            other => self.tally.wrong.push(format!("{kind}: {operation}: {other:?}")),
        }
    }

    fn send_range(&mut self, kind: &str, first: &Row, last: &Row) {
        let (start, end) = (&first.anchor, &last.anchor);
        let operation =
            json!({"op": "delete", "path": PATH, "start_anchor": start, "end_anchor": end});
        let outcome = self.try_out(&json!([operation]));
        if breaks(&outcome) {
            return;
        }
        self.tally.count(&format!("{kind}: range"), matches!(outcome, Outcome::Rejected(_)));
        let removed = match &outcome {
            Outcome::Applied(applied) => applied.files[0].removed,
            Outcome::Rejected(_) => 0,
        };
        if removed != 2 || landed(&operation, &outcome) != Ok(first.number) {
            self.tally.wrong.push(format!("{kind}: {operation}: {outcome:?}"));
        }
    }

    fn send_request(&mut self, kind: &str, request: &str) {
        let request: Value = serde_json::from_str(request).unwrap();
        let outcome = self.try_out(&request["operations"]);
        let is_refused = matches!(outcome, Outcome::Rejected(_));
        self.tally.count(kind, is_refused);
        if is_refused {
            self.tally.wrong.push(format!("{kind}: {request}: {outcome:?}"));
        }
    }

    /// Sends any anchors that were ever shown. They name the lines for which they were shown, or are
    /// refused.
    fn send_old(&mut self) {
        for _ in 0..self.old_anchors {
            let row = self.rows[self.dice.below(self.rows.len())].clone();
            let op = self.dice.one_of(&["set_line", "insert_after", "insert_before", "delete"]);
            let mut operation = json!({"op": op, "path": PATH, "anchor": row.anchor});
            if op != "delete" {
                operation["text"] = "x".into();
                operation["verbatim"] = true.into();
            }
            let outcome = self.try_out(&json!([operation]));
            if breaks(&outcome) {
                continue;
            }
            let is_left = self.lines.iter().any(|line| line.id == row.id);
            let kind = format!("old: {}", if is_left { "left" } else { "gone" });
            self.tally.count(&kind, matches!(outcome, Outcome::Rejected(_)));
            let Ok(line) = landed(&operation, &outcome) else { continue };
            // If the content is the same again, a number refers to the line in that content.
            let is_there_again = row.content == self.content() && line == row.number;
            let id = self.lines[line - 1].id;
            // The session may have written an equal line in the place of one that it removed.
            let is_rewritten = !is_left && id > row.newest && self.written.contains(&id);
            if id != row.id && !is_there_again && !is_rewritten {
                self.tally.wrong.push(format!("{kind}: {operation} took {line}: {row:?}"));
            }
        }
    }

    /// An operation that is composed now and sent after another one. A line that others moved can
    /// resolve to an equal line by chance; that is also the case before the other operation.
    fn late(&mut self, mut operation: Value, row: Row) -> Option<Late> {
        if operation["anchor"] != row.anchor || operation["block"] == true {
            return None;
        }
        if operation["op"] != "delete" {
            operation["verbatim"] = true.into();
        }
        let line = landed(&operation, &self.try_out(&json!([operation]))).ok();
        let by_chance = line.map(|line| self.lines[line - 1].id);
        Some(Late { operation, row, by_chance })
    }

    /// Sends an operation that was composed before the last answer, as a harness does that runs
    /// several calls before the model sees the first answer. It may be refused.
    fn send_late(&mut self, late: &Late) {
        let Late { operation, row, by_chance } = late;
        let outcome = self.try_out(&json!([operation]));
        self.tally.count("composed before", matches!(outcome, Outcome::Rejected(_)));
        let Ok(line) = landed(operation, &outcome) else { return };
        let id = self.lines[line - 1].id;
        // If the content is the same again, a number refers to the line in that content.
        let is_there_again = row.content == self.content() && line == row.number;
        // The anchor of a removed line can resolve to a line that was added since.
        let is_free = is_there_again || self.gone.contains(&row.id);
        if id != row.id && Some(id) != *by_chance && !is_free {
            self.tally.wrong.push(format!("composed before: {operation} took {line}: {row:?}"));
        }
    }

    fn live(&mut self, rounds: usize) {
        self.read();
        for _ in 0..rounds {
            match self.dice.below(10) {
                0 => self.read(),
                1 => self.search(),
                2 if self.old_anchors > 0 => self.shift(),
                2 => self.others(),
                _ => self.edit(),
            }
            self.send_old();
        }
    }
}

/// Whether all anchors are valid, but the file would not parse.
fn breaks(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Rejected(rejected) if rejected.code == Code::BreaksSyntax)
}

/// The line that an operation changed, or next to which it inserted; otherwise the reason.
fn landed(operation: &Value, outcome: &Outcome) -> Result<usize, String> {
    match outcome {
        Outcome::Rejected(rejected) => Err(rejected.text.clone()),
        Outcome::Applied(applied) => {
            let Some(file) = applied.files.first() else { return Err("no change".to_owned()) };
            let start = file.diff.as_ref().unwrap().hunks[0].old_start as usize;
            Ok(if operation["op"] == "insert_after" { start - 1 } else { start })
        }
    }
}

/// Whether a row of an answer quotes the call, or shows old lines.
fn is_about_the_call(row: &str) -> bool {
    let headlines = [" mismatch at ", "neighbours at ", "anchor at ", "range at ", "No block at "];
    let is_headline = |row: &str| headlines.iter().any(|words| row.contains(words));
    row.starts_with("- ")
        || row.starts_with("Not shown: ")
        || row.ends_with(" was used.")
        || is_headline(row)
}

/// The anchors in a row of an answer, at its start or in its text.
fn anchors_in(dialect: &Dialect, row: &str) -> Vec<String> {
    let is_part = |one: char| one.is_ascii_alphanumeric() || "@:".contains(one);
    if let Some((head, _)) = row.split_once('|').filter(|(head, _)| head.chars().all(is_part)) {
        return vec![head.to_owned()];
    }
    let words = row.split(|one: char| !is_part(one)).map(|word| word.trim_end_matches(':'));
    let is_anchor = |word: &&str| {
        let short = word.split('@').next().unwrap();
        let rest = short.trim_start_matches(|one: char| one.is_ascii_digit());
        let hash = rest.trim_start_matches(':');
        rest.len() < short.len()
            && (word.contains('@') || hash.len() == dialect.width)
            && (dialect.separator.is_some() == rest.starts_with(':'))
    };
    words.filter(is_anchor).map(str::to_owned).collect()
}

/// Runs many sessions; returns the total of what was sent.
fn live(dialect: &str, syntax: SyntaxCheck, seeds: std::ops::Range<u64>, rounds: usize) -> Tally {
    live_with(0, dialect, syntax, seeds, rounds)
}

fn live_with(
    old_anchors: usize,
    dialect: &str,
    syntax: SyntaxCheck,
    seeds: std::ops::Range<u64>,
    rounds: usize,
) -> Tally {
    let mut all = Tally::default();
    for seed in seeds {
        let mut world = World::new(seed, Dialect::by_name(dialect).unwrap(), syntax);
        world.old_anchors = old_anchors;
        world.live(rounds);
        for (kind, (sent, refused)) in world.tally.sent {
            let entry = all.sent.entry(kind).or_default();
            *entry = (entry.0 + sent, entry.1 + refused);
        }
        all.wrong.extend(world.tally.wrong.into_iter().map(|one| format!("seed {seed}: {one}")));
        all.with_version += world.tally.with_version;
        all.rows += world.tally.rows;
    }
    all
}

fn check(tally: &Tally) {
    assert!(
        tally.wrong.is_empty(),
        "{} wrong, e.g. {:#?}",
        tally.wrong.len(),
        &tally.wrong[..3.min(tally.wrong.len())]
    );
    // Only a small part of the rows name a version.
    assert!(tally.with_version > 0 && tally.with_version * 5 < tally.rows, "{tally:?}");
}

#[test]
fn regression_requests_offered_by_an_answer_are_accepted() {
    check(&live("lean", SyntaxCheck::Warn, 0..6, 30));
    check(&live("pi", SyntaxCheck::Refuse, 6..9, 30));
}

/// Sends old anchors in long sessions.
fn check_old_anchors(dialect: &str, seeds: std::ops::Range<u64>, rounds: usize) {
    let tally = live_with(5, dialect, SyntaxCheck::Off, seeds, rounds);
    let (left, refused) = tally.sent["old: left"];
    let of_rows = format!("{} of {} rows have a version", tally.with_version, tally.rows);
    // Where lines are equal, the rule of three diffs can be wrong, once in thousands of cases.
    assert!(tally.wrong.len() * 2_000 < left, "{:#?}", tally.wrong);
    assert!(tally.with_version > 0 && tally.with_version * 5 < tally.rows, "{of_rows}");
    assert!(refused * 5 < left, "{refused} of {left} refused");
}

#[test]
fn regression_an_old_anchor_means_the_line_for_which_it_was_shown() {
    check_old_anchors("lean", 0..4, 60);
    check_old_anchors("pi", 4..6, 60);
}

#[test]
#[ignore = "takes minutes"]
fn old_anchors_mean_their_lines_in_long_sessions() {
    for dialect in ["lean", "pi", "pi26"] {
        check_old_anchors(dialect, 0..40, 100);
    }
}

#[test]
#[ignore = "takes minutes"]
fn long_sessions_accept_what_they_offer() {
    for (dialect, syntax) in [
        ("lean", SyntaxCheck::Warn),
        ("lean", SyntaxCheck::Refuse),
        ("pi", SyntaxCheck::Warn),
        ("pi26", SyntaxCheck::Warn),
    ] {
        let tally = live(dialect, syntax, 0..60, 100);
        check(&tally);
    }
}
