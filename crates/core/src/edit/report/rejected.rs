//! The report of a refusal: the current lines around every failed anchor, and the cause.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{CONTEXT_LINES, LINE_LIMIT_BYTES, Section, number_of, omission};
use crate::edit::outcome::Failure;
use crate::edit::request::{LineEdit, Operation};
use crate::edit::resolve::{AnchorRefusal, CurrentText};
use hashline_base::error::{Code, Mention, Message};
use hashline_lines::checksum::Checksum;
use hashline_lines::lines::Span;
use hashline_lines::rows::{GAP, file_header, one_line, version_header};
use hashline_lines::tag::Tag;

/// The maximum number of lines with the same hash that a report names.
const MAX_NAMED_LINES: usize = 5;

/// The report of one refused anchor.
#[derive(Clone, Debug)]
pub struct AnchorReport {
    /// The file, as the request wrote it.
    pub path: String,
    /// The header of the file, which its lines need in dialects without hashes.
    header: Option<String>,
    /// The first line of the report.
    pub headline: Message,
    /// The lines to show: the number and the rendered row of each.
    lines: Vec<(u64, Arc<str>)>,
    /// The cause, and what to use instead.
    pub explanation: Message,
    /// The refused anchor and the current anchor of the same line or value, if it is known.
    pub remap: Option<(String, String)>,
}

impl AnchorReport {
    /// The report on the anchor of a line. It shows the current lines of `ranges`, as many as fit
    /// into a refusal.
    pub(in crate::edit) fn new(
        current_text: &CurrentText<'_>,
        path: &str,
        headline: impl Into<Message>,
        ranges: &[(u64, u64)],
        explanation: impl Into<Message>,
    ) -> AnchorReport {
        let (headline, explanation) = (headline.into(), explanation.into());
        let mut rendered = RenderedLines::new(current_text);
        let mut lines: Vec<(u64, Arc<str>)> = Vec::new();
        let mut left_bytes = current_text.limit_bytes;
        for &(first, last) in ranges {
            let spans =
                current_text.index.from_line(current_text.text, first).into_iter().flatten();
            for (number, span) in (first..=last).zip(spans) {
                let row = rendered.line(number, span.text(current_text.text));
                let Some(rest_bytes) = left_bytes.checked_sub(row.len() + 1) else { break };
                left_bytes = rest_bytes;
                lines.push((number, row));
            }
        }
        lines.sort_by_key(|(number, _)| *number);
        lines.dedup_by_key(|(number, _)| *number);
        let header = header_of(current_text, path);
        AnchorReport { path: path.to_owned(), header, headline, lines, explanation, remap: None }
    }

    /// The report of an anchor of a value. It shows no lines, so its explanation, which quotes the
    /// value, is part of the headline. `fresh` is the current anchor of the value.
    pub fn of_value(
        path: &str,
        anchor: &str,
        headline: &str,
        explanation: &str,
        fresh: Option<&str>,
    ) -> AnchorReport {
        AnchorReport {
            path: path.to_owned(),
            header: None,
            headline: Message::from(headline.to_owned()),
            lines: Vec::new(),
            explanation: Message::from(explanation.to_owned()),
            remap: fresh.map(|fresh| (anchor.to_owned(), fresh.to_owned())),
        }
    }

    /// The numbers of the lines that it shows.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.lines.iter().map(|(number, _)| *number)
    }

    /// The failure that the report explains.
    pub(in crate::edit) fn failure(
        &self,
        operation: &Operation,
        code: Code,
        anchor: impl Into<Option<String>>,
    ) -> Failure {
        Failure {
            operation: operation.index,
            path: (!self.path.is_empty()).then(|| self.path.clone()),
            code,
            message: self.headline.clone() + " " + self.explanation.clone(),
            anchor: anchor.into(),
            lines: Some(self.rows()),
            suggestion: None,
            is_applied: false,
        }
    }

    /// The lines of the report as text.
    pub(in crate::edit) fn rows(&self) -> String {
        rendered([self])
    }
}

/// The header with the current tag of a file, in dialects without hashes. A text in memory has no
/// path and no header.
fn header_of(current_text: &CurrentText<'_>, path: &str) -> Option<String> {
    let is_needed = !current_text.dialect.has_hashes() && !path.is_empty();
    is_needed.then(|| version_header(path, Tag::of(current_text.text)))
}

/// The failures of the refused anchors of one file, with their reports.
pub fn anchor_failures(
    current_text: &CurrentText<'_>,
    window_lines: u64,
    path: &str,
    refusals: &[AnchorRefusal<'_>],
) -> Vec<(Failure, AnchorReport)> {
    let mut rendered = RenderedLines::new(current_text);
    let failure = |refusal: &AnchorRefusal<'_>| {
        let report = report(current_text, window_lines, path, refusal, &mut rendered);
        let anchor = refusal.anchor.text(current_text.dialect);
        let suggestion = refusal.suggested_line.and_then(|line| current_text.fresh(line));
        let is_applied = applied_at(current_text, refusal).is_some();
        let failure = report.failure(refusal.operation, refusal.code, anchor);
        (Failure { suggestion, is_applied, ..failure }, report)
    };
    refusals.iter().map(failure).collect()
}

fn report(
    current_text: &CurrentText<'_>,
    window_lines: u64,
    path: &str,
    refusal: &AnchorRefusal<'_>,
    rendered: &mut RenderedLines<'_>,
) -> AnchorReport {
    let line = u64::from(refusal.anchor.line);
    let anchor = refusal.anchor.text(current_text.dialect);
    if let Some(lines) = refusal.changed {
        return changed_report(current_text, path, &anchor, lines);
    }
    let centre = line.min(current_text.count());
    let first = centre.saturating_sub(CONTEXT_LINES).max(1);
    let last = (centre + CONTEXT_LINES).min(current_text.count());
    let lines = current_text.index.from_line(current_text.text, first).into_iter().flatten();
    let lines = (first..=last)
        .zip(lines)
        .map(|(number, span)| (number, rendered.line(number, span.text(current_text.text))));
    let fresh = current_text
        .fresh(line)
        .filter(|fresh| refusal.near.iter().all(|&found| is_far(line, found)) && *fresh != anchor);
    let mut explanation = explanation(current_text, window_lines, refusal);
    if let Some(line) = applied_at(current_text, refusal) {
        explanation += &format!(
            " The file has the new text of this edit from line {line} on: perhaps it was applied before."
        );
    }
    AnchorReport {
        path: path.to_owned(),
        header: header_of(current_text, path),
        headline: headline(refusal.code, &anchor).into(),
        lines: lines.collect(),
        explanation: explanation.into(),
        remap: fresh.map(|fresh| (anchor, fresh)),
    }
}

/// The line from which on the file already has the new text of the operation.
fn applied_at(current_text: &CurrentText<'_>, refusal: &AnchorRefusal<'_>) -> Option<u64> {
    let LineEdit::Replace { first, lines, .. } = &refusal.operation.action else { return None };
    let start = u64::from(first.line);
    let end = start + lines.len() as u64;
    // An edit that removes lines leaves nothing to compare at an anchor after its new text. There,
    // the edit must have changed its first line.
    let is_comparable = (start..end).contains(&u64::from(refusal.anchor.line))
        || current_text.fresh(start).is_some_and(|fresh| fresh != first.text(current_text.dialect));
    let spans = current_text.index.from_line(current_text.text, start).into_iter().flatten();
    let is_same = |(span, line): &(Span, &String)| span.text(current_text.text) == line.as_bytes();
    let is_applied = !lines.is_empty()
        && is_comparable
        && spans.zip(lines).take_while(is_same).count() == lines.len();
    is_applied.then_some(start)
}

/// The headline of a refused anchor.
pub(in crate::edit) fn headline(code: Code, anchor: &str) -> String {
    match code {
        Code::NotShown => format!("Not shown: {anchor}."),
        Code::PartlyShown => format!("Partly shown: {anchor}."),
        Code::LineOutOfRange => format!("Line out of range at {anchor}."),
        Code::AmbiguousAnchor => format!("Ambiguous anchor at {anchor}."),
        _ => format!("Hash mismatch at {anchor}."),
    }
}

/// Limits for the shown lines of a block whose checksum differs.
const CHANGED_LIMIT_LINES: u64 = 200;
const CHANGED_LIMIT_BYTES: usize = 40_000;

/// The report of a checksum that differs from that of the current lines.
fn changed_report(
    current_text: &CurrentText<'_>,
    path: &str,
    anchor: &str,
    (first, last): (u64, u64),
) -> AnchorReport {
    let lines = current_text.index.from_line(current_text.text, first).into_iter().flatten();
    let mut bytes = 0;
    let fits = |span: &Span| {
        bytes += span.text(current_text.text).len().min(LINE_LIMIT_BYTES);
        bytes <= CHANGED_LIMIT_BYTES.min(current_text.limit_bytes / 5 * 4)
    };
    let shown = lines.take(CHANGED_LIMIT_LINES as usize).take_while(fits).count() as u64;
    let shown_last = last.min(first + shown.max(1) - 1);
    let rest = match last - shown_last {
        0 => String::new(),
        _ => format!(" Read the rest from line {}.", shown_last + 1),
    };
    let start = current_text.index.span(current_text.text, first).map_or(0, |span| span.start);
    let fresh = Checksum::of(first, shown_last, &current_text.text[start..]);
    let explanation = format!(
        "Some of the lines of the checksum changed since you read them: use the lines above, whose checksum is {fresh}.{rest}"
    );
    let headline = format!("Checksum mismatch at {anchor}.");
    AnchorReport::new(current_text, path, headline, &[(first, shown_last)], explanation)
}

/// A cache of rendered lines, because several failures can show the same line.
struct RenderedLines<'e> {
    current_text: &'e CurrentText<'e>,
    known: HashMap<u64, Arc<str>>,
}

impl<'e> RenderedLines<'e> {
    fn new(current_text: &'e CurrentText<'e>) -> RenderedLines<'e> {
        RenderedLines { current_text, known: HashMap::new() }
    }

    fn line(&mut self, number: u64, text: &[u8]) -> Arc<str> {
        let row = || {
            let mut section = Section::new(self.current_text.dialect);
            section.line(number, text.into());
            section.text(&self.current_text.ambiguous).trim_end_matches('\n').into()
        };
        Arc::clone(self.known.entry(number).or_insert_with(row))
    }
}

/// A line with the same hash that is further away is not suggested. Hashes are short, so the more
/// lines are searched, the likelier is an accidental match.
const NEIGHBOUR_LINES: u64 = 3;

pub(in crate::edit) fn is_far(line: u64, found: u64) -> bool {
    line.abs_diff(found) > NEIGHBOUR_LINES
}

/// The explanation of an anchor of a blank line where there is text.
pub(in crate::edit) fn not_blank(line: u64, fresh: &str) -> String {
    format!("Line {line} is not blank: use {fresh} for line {line}.")
}

/// The cause, as far as it is known, and what to use instead.
fn explanation(
    current_text: &CurrentText<'_>,
    window_lines: u64,
    refusal: &AnchorRefusal<'_>,
) -> String {
    let line = u64::from(refusal.anchor.line);
    let hash = current_text.dialect.hash_text(refusal.anchor.hash);
    let fresh = |line: u64| current_text.fresh(line).unwrap_or_default();
    let past_end = line > current_text.count();
    let or_same = if past_end || refusal.hint_differs {
        String::new()
    } else {
        format!(", or {} for line {line}", fresh(line))
    };
    let matching = match refusal.near.as_slice() {
        _ if refusal.anchor.is_bare(current_text.dialect) && !past_end => {
            not_blank(line, &fresh(line))
        }
        [] if refusal.hint_differs => {
            return format!("Line {line} has that hash, but not the text after the anchor.");
        }
        [] if !refusal.hash_only.is_empty() => {
            let others: Vec<String> =
                refusal.hash_only.iter().take(MAX_NAMED_LINES).map(u64::to_string).collect();
            format!(
                "{hash} is the hash of line {}, but its text is not the text after the anchor{or_same}.",
                others.join(", ")
            )
        }
        [] if past_end => String::new(),
        [] => format!(
            "No line within {window_lines} of line {line} has the hash {hash}: use {} for line {line}.",
            fresh(line)
        ),
        far if !past_end
            && !refusal.hint_differs
            && far.iter().all(|&found| is_far(line, found)) =>
        {
            let named: Vec<String> = far.iter().take(MAX_NAMED_LINES).map(u64::to_string).collect();
            let (plural, have, are) =
                if far.len() == 1 { ("", "has", "is") } else { ("s", "have", "are") };
            format!(
                "No line next to line {line} has the hash {hash}; line{plural} {} {have} it but {are} too far away: use {} for line {line}.",
                named.join(", "),
                fresh(line)
            )
        }
        &[found] if is_number_likelier(refusal, found, past_end) => format!(
            "{hash} is the hash of line {found}. {NUMBER_IS_LIKELIER}: use {}, or {} for line {found}.",
            fresh(line),
            fresh(found)
        ),
        &[found] => format!("{hash} is the hash of line {found}: use {}{or_same}.", fresh(found)),
        several => {
            let mut named: Vec<u64> = several.iter().take(MAX_NAMED_LINES).copied().collect();
            named.sort_unstable();
            let named: Vec<String> = named.into_iter().map(fresh).collect();
            let more = if several.len() > named.len() { " and more" } else { "" };
            format!(
                "{hash} is the hash of {} lines: use one of {}{more}{or_same}.",
                several.len(),
                named.join(", ")
            )
        }
    };
    if past_end {
        let text = format!("The file has {}. {matching}", number_of(current_text.count(), "line"));
        text.trim_end().to_owned()
    } else {
        matching
    }
}

/// The explanation of an anchor with the number of one line and the hash of its neighbour. In 65 of
/// 67 recorded anchors of this kind whose text is not more similar to the neighbour, the number was
/// right (`vectors/mispaired.jsonl`).
pub(in crate::edit) const NUMBER_IS_LIKELIER: &str = "In such cases the number is usually right";

/// Whether the number is likelier to be right than the hash. The new text, if it is similar to the
/// neighbour, and the text after an anchor are better evidence.
fn is_number_likelier(refusal: &AnchorRefusal<'_>, found: u64, past_end: bool) -> bool {
    let has_hint = refusal.anchor.hint.is_some();
    !past_end && !has_hint && refusal.suggested_line.is_none_or(|line| line != found)
}

fn rendered<'r>(reports: impl IntoIterator<Item = &'r AnchorReport>) -> String {
    let mut lines: Vec<_> = reports.into_iter().flat_map(|report| &report.lines).collect();
    lines.sort_by_key(|(number, _)| *number);
    lines.dedup_by_key(|(number, _)| *number);
    let mut out: Vec<&str> = Vec::with_capacity(lines.len());
    let mut last = None;
    for (number, row) in lines {
        if last.is_some_and(|last| *number > last + 1) {
            out.push(GAP);
        }
        out.push(row);
        last = Some(*number);
    }
    out.join("\n")
}

/// A report, with its operation if the answer names operations.
type OperationReport<'a> = (Option<usize>, &'a AnchorReport);

/// The text of a refusal. The messages of the first `reported` failures that are not about an
/// anchor come first. All of `anchors` follow, grouped by file, with headers if the failures are
/// about several files. Each names its operation. The last row says how many failures are omitted.
pub fn rejected_text(
    failures: &[Failure],
    reported: usize,
    has_operations: bool,
    anchors: &[OperationReport<'_>],
) -> String {
    let involved: BTreeSet<_> = failures.iter().filter_map(|one| one.path.as_deref()).collect();
    let plain = failures[..reported].iter().filter(|failure| failure.anchor.is_none());
    let names = RowNames { operation: has_operations, path: has_operations || involved.len() > 1 };
    let mut out: Vec<String> = plain.map(|failure| plain_row(failure, names)).collect();
    let mut files: Vec<(&str, Vec<OperationReport<'_>>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for &(operation, report) in anchors {
        let at = *known.entry(&report.path).or_insert_with(|| {
            files.push((&report.path, Vec::new()));
            files.len() - 1
        });
        files[at].1.push((operation, report));
    }
    for (path, reports) in files {
        let own_header = reports.iter().find_map(|(_, report)| report.header.clone());
        let has_header = involved.len() > 1 || own_header.is_some();
        if has_header {
            out.push(own_header.unwrap_or_else(|| file_header(path)));
        }
        push_unique(&mut out, reports.iter().map(|(_, report)| report.headline.to_string()));
        if reports.iter().any(|(_, report)| !report.lines.is_empty()) {
            out.push("Actual state:".to_owned());
            out.push(rendered(reports.iter().map(|(_, report)| *report)));
        }
        let unnamed = Some(path).filter(|path| !has_header && !path.is_empty());
        out.extend(causes(unnamed, &reports));
    }
    out.extend(omitted_problems(failures.len() - reported));
    out.join("\n")
}

/// What the row of a failure names besides its message.
#[derive(Clone, Copy)]
struct RowNames {
    operation: bool,
    path: bool,
}

/// The row of a failure that is not about an anchor: its message, with the operation and the path
/// if `names` asks for them and the message does not name them.
fn plain_row(failure: &Failure, names: RowNames) -> String {
    let (code, message) = (failure.code.as_str(), &failure.message);
    let Some(path) = failure.path.as_deref() else { return format!("{code}: {message}") };
    let operation = if names.operation && !message.has_operation() {
        format!("{}: ", Mention::Operation(failure.operation))
    } else {
        String::new()
    };
    let path = if names.path && !names_path(message, path) {
        format!("{}: ", one_line(path))
    } else {
        String::new()
    };
    format!("{code}: {path}{operation}{message}")
}

/// Only this much of a long path is searched for in a message, which may contain a cut path.
const PATH_PART_BYTES: usize = 200;

/// Whether a message names a path. Its characters within a longer word do not count.
fn names_path(message: &str, path: &str) -> bool {
    let part = &path[..path.floor_char_boundary(PATH_PART_BYTES)];
    let is_apart = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
    message.match_indices(part).any(|(at, _)| {
        let after = message[at + part.len()..].chars().next();
        is_apart(message[..at].chars().next_back()) && (part.len() < path.len() || is_apart(after))
    })
}

/// The maximum number of operations that are named with one cause.
const MAX_NAMED_OPERATIONS: usize = 5;

/// The explanations of the failed anchors of a file, each once, with its operations. `path` is
/// given if the rows above do not name the file.
fn causes(path: Option<&str>, reports: &[OperationReport<'_>]) -> Vec<String> {
    let mut causes: Vec<(&Message, Vec<usize>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (operation, report) in reports.iter().filter(|(_, report)| !report.explanation.is_empty()) {
        let at = *known.entry(&report.explanation).or_insert_with(|| {
            causes.push((&report.explanation, Vec::new()));
            causes.len() - 1
        });
        let operations = &mut causes[at].1;
        if let Some(operation) = operation
            && !operations.contains(operation)
            && operations.len() <= MAX_NAMED_OPERATIONS
        {
            operations.push(*operation);
        }
    }
    let file = path.map(|path| format!(", {}", one_line(path))).unwrap_or_default();
    let row = |(explanation, operations): &(&Message, Vec<usize>)| {
        if operations.is_empty() {
            return explanation.to_string();
        }
        let named: Vec<String> =
            operations.iter().take(MAX_NAMED_OPERATIONS).map(usize::to_string).collect();
        let more = if operations.len() > named.len() { " and more" } else { "" };
        let plural = if operations.len() > 1 { "s" } else { "" };
        if let ([one], Some(path)) = (operations.as_slice(), path)
            && explanation.has(Mention::Operation(*one))
        {
            return format!("{}: {explanation}", one_line(path));
        }
        format!("Operation{plural} {}{more}{file}: {explanation}", named.join(", "))
    };
    causes.iter().map(row).collect()
}

/// The row that says how many problems a text omits.
pub fn omitted_problems(count: usize) -> Option<String> {
    omission(count, "problem", "")
}

/// Adds texts without duplicates.
fn push_unique(out: &mut Vec<String>, texts: impl Iterator<Item = String>) {
    let mut seen = BTreeSet::new();
    out.extend(texts.filter(|text| !text.is_empty() && seen.insert(text.clone())));
}
