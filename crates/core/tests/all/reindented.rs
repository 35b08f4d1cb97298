//! Edits by old anchors, in sessions, on files whose whitespace others have changed.

use std::fs;

use hashline_core::Cancel;
use hashline_core::{ApplyOptions, Durability, SyntaxCheck};
use hashline_core::{Outcome, PatchOptions, ReadRequest};
use hashline_core::{Session, SessionOptions, WorkspaceOptions};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::json;

use crate::habits::{Figures, Line, Random, check, front, joined, measure};

const PATH: &str = "text.c";

fn session(dir: &tempfile::TempDir, state: &tempfile::TempDir) -> Session {
    let workspace = WorkspaceOptions {
        root: dir.path().into(),
        state_dir: Some(state.path().into()),
        apply: ApplyOptions {
            durability: Durability::Process,
            syntax: Some(SyntaxCheck::Off),
            ..ApplyOptions::default()
        },
        ..WorkspaceOptions::default()
    };
    Session::new(SessionOptions { workspace, ..SessionOptions::default() }).unwrap()
}

/// A new line that is indented like an old one.
fn edited(line: &Line) -> String {
    format!("{}edited(line);", front(&line.text))
}

/// A text with a line in the place of some.
fn replaced(lines: &[Line], at: usize, count: usize) -> String {
    let edited = Line { text: edited(&lines[at]), id: 0 };
    let mut text = lines.to_vec();
    text.splice(at..at + count, [edited]);
    joined(&text)
}

/// Each line of a text without whitespace at its ends.
fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

/// Edits of single lines and of short ranges, each by a session of its own that was shown the old
/// text.
fn edits(random: &mut Random, (old, new): (&[Line], &[Line]), count: usize, figures: &mut Figures) {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = dir.path().join(PATH);
    fs::write(&file, joined(old)).unwrap();
    let shown = session(&dir, &state);
    let mut request = ReadRequest { path: PATH.into(), ..ReadRequest::default() };
    request.limits.max_lines = Some(old.len() as u64);
    request.limits.max_bytes = Some(1 << 24);
    shown.read_with(&[request], &Cancel::default()).unwrap();
    let dialect = Dialect::default_dialect();
    let after = joined(new);
    for _ in 0..count {
        let first = random.below(old.len());
        let length = 1 + if random.below(3) == 0 { random.below(4) } else { 0 };
        let length = length.min(old.len() - first);
        let anchor = |at: usize| {
            let (number, text) = (at as u64 + 1, old[at].text.as_str());
            dialect.anchor_text(number, hash_line(dialect, number, text))
        };
        let edit = json!({
            "op": "replace_range", "path": PATH, "start_anchor": anchor(first),
            "end_anchor": anchor(first + length - 1), "text": edited(&old[first]),
        });
        fs::write(&file, &after).unwrap();
        let patch = json!({"operations": [edit]}).into();
        let (options, cancel) = (PatchOptions::default(), Cancel::default());
        let outcome = shown.fork().apply_with(&patch, &options, &cancel).unwrap();
        let truth = new.iter().position(|line| line.id == old[first].id);
        let is_whole = |&at: &usize| {
            let now = new.get(at..at + length);
            now.is_some_and(|now| now.iter().zip(&old[first..]).all(|(now, old)| now.id == old.id))
        };
        match (truth.filter(is_whole), outcome) {
            (None, Outcome::Rejected(_)) => {}
            (Some(_), Outcome::Rejected(_)) => figures.refused += 1,
            (truth, Outcome::Applied(applied)) => {
                let found = fs::read_to_string(&file).unwrap();
                let expected = truth.map(|at| replaced(new, at, length));
                match expected {
                    Some(expected) if trimmed(&expected) == trimmed(&found) => {
                        figures.right += 1;
                        figures.indented += u32::from(expected == found);
                    }
                    _ => {
                        figures.wrong += 1;
                        eprintln!(
                            "{first}, {length} lines, is at {truth:?}:\n{}\n{}=====\n{after}",
                            applied.text,
                            joined(old)
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn edits_follow_lines_whose_whitespace_changed() {
    check(&measure(20, |random, texts, figures| edits(random, texts, 20, figures)));
}

#[test]
#[ignore = "minutes"]
fn edits_follow_lines_whose_whitespace_changed_in_many_texts() {
    check(&measure(200, |random, texts, figures| edits(random, texts, 20, figures)));
}
