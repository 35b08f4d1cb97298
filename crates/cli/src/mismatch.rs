//! Reports a refused patch: all stale anchors at once, with the current lines.

use std::collections::{BTreeMap, HashSet};

use hashline_core::Code;
use hashline_core::Dialect;
use hashline_core::host::{
    ANSWER_LIMIT_BYTES, GAP, file_header, omitted_problems, reported_failures,
};
use hashline_core::{Failure, Outcome, Rejected};

use crate::call::Call;
use crate::exit::{Exit, Failure as CommandFailure, print_to_stderr};

/// Prints the reasons, on standard error or as JSON, and returns the exit status.
pub fn report(call: &mut Call<'_>, rejected: Rejected) -> Result<Exit, CommandFailure> {
    let is_stale = rejected.failures.iter().all(is_stale);
    let exit = if is_stale { Exit::Mismatch } else { Exit::Error };
    if call.shared.json {
        call.out.json(&Outcome::Rejected(rejected))?;
        return Ok(exit);
    }
    let dialect = call.files.workspace().options().dialect;
    // Otherwise the messages say more than that a line has changed.
    let is_applied = rejected.failures.iter().all(|failure| failure.is_applied);
    let is_plain = is_stale && !is_applied && !call.files.has_memory();
    let text = if is_plain { stale_text(&rejected, dialect) } else { rejected.text };
    print_to_stderr(&text);
    Ok(exit)
}

/// Whether fresh anchors are enough to fix the operation.
fn is_stale(failure: &Failure) -> bool {
    matches!(
        failure.code,
        Code::HashMismatch | Code::AmbiguousAnchor | Code::LineOutOfRange | Code::NotShown
    ) && failure.anchor.is_some()
}

/// The lines of one file that are shown, by number, and which of them the patch names.
#[derive(Default)]
struct Shown<'a> {
    rows: BTreeMap<u64, &'a str>,
    named: Vec<u64>,
}

/// The headline, the lines, and the anchors to use instead.
fn stale_text(rejected: &Rejected, dialect: &Dialect) -> String {
    let reported = reported_failures(&rejected.failures, ANSWER_LIMIT_BYTES);
    let mut files: Vec<(&str, Shown<'_>)> = Vec::new();
    for failure in reported {
        let path = failure.path.as_deref().unwrap_or_default();
        let at = files.iter().position(|(known, _)| *known == path).unwrap_or_else(|| {
            files.push((path, Shown::default()));
            files.len() - 1
        });
        let shown = &mut files[at].1;
        let rows = failure.lines.iter().flat_map(|lines| lines.lines());
        shown.rows.extend(rows.filter_map(|row| Some((number_of(row)?, row))));
        shown.named.extend(failure.anchor.as_deref().and_then(number_of));
    }
    for (_, shown) in &mut files {
        shown.keep_what_is_there();
    }
    let mut text = headline(&files, dialect);
    let has_headers = files.len() > 1;
    for (path, shown) in &files {
        if !text.is_empty() {
            text.push('\n');
        }
        if has_headers {
            text += &file_header(path);
            text.push('\n');
        }
        shown.print(&mut text);
    }
    let instead = instead(reported, &rejected.remaps);
    let rows = [
        Some(instead).filter(|rows| !rows.is_empty()),
        omitted_problems(rejected.failures.len() - reported.len()),
    ];
    for rows in rows.into_iter().flatten() {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &rows;
    }
    text
}

/// How many lines have changed; empty if all anchors are beyond the last line.
fn headline(files: &[(&str, Shown<'_>)], dialect: &Dialect) -> String {
    let count: usize = files.iter().map(|(_, shown)| shown.named.len()).sum();
    let have = match count {
        0 => return String::new(),
        1 => "line has",
        _ => "lines have",
    };
    let form = dialect.form("LINE");
    format!(
        "{count} {have} changed since last read. \
         Use the updated {form} references shown below (>>> marks changed lines).\n"
    )
}

impl Shown<'_> {
    /// Counts each line once, and only existing ones.
    fn keep_what_is_there(&mut self) {
        self.named.sort_unstable();
        self.named.dedup();
        self.named.retain(|number| self.rows.contains_key(number));
    }

    fn print(&self, text: &mut String) {
        let mut last = None;
        for (&number, row) in &self.rows {
            if last.is_some_and(|last| number > last + 1) {
                *text += &format!("    {GAP}\n");
            }
            let mark = if self.named.contains(&number) { ">>>" } else { "   " };
            *text += &format!("{mark} {row}\n");
            last = Some(number);
        }
    }
}

/// The replacement of each anchor: the fresh anchor of the same line, or the message. Lines of JSON
/// documents are not shown, so their messages are complete.
fn instead(reported: &[Failure], remaps: &[(String, String)]) -> String {
    let reported_anchors: HashSet<&str> =
        reported.iter().filter_map(|one| one.anchor.as_deref()).collect();
    let is_reported_line =
        |anchor: &str| number_of(anchor).is_some() && reported_anchors.contains(anchor);
    let mut remaps: Vec<_> = remaps.iter().filter(|(stale, _)| is_reported_line(stale)).collect();
    remaps.sort_by_key(|(stale, _)| number_of(stale));
    let is_mapped = |anchor: &str| remaps.iter().any(|(stale, _)| stale == anchor);
    let mut rows: Vec<String> =
        remaps.iter().map(|(stale, fresh)| format!("{stale} -> {fresh}")).collect();
    for failure in reported {
        let message = failure.message.to_string();
        if !failure.anchor.as_deref().is_some_and(is_mapped) && !rows.contains(&message) {
            rows.push(message);
        }
    }
    rows.join("\n")
}

/// The line number at the start of an anchor.
fn number_of(row: &str) -> Option<u64> {
    let end = row.find(|character: char| !character.is_ascii_digit()).unwrap_or(row.len());
    row[..end].parse().ok()
}
