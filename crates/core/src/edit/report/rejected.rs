//! Why nothing was done: the current lines around every failed anchor, and the cause.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{CONTEXT_LINES, LINE_LIMIT_BYTES, Section, not_shown, number_of};
use crate::edit::outcome::Failure;
use crate::edit::request::Operation;
use crate::edit::resolve::{AnchorRefusal, Evidence};
use hashline_base::error::{Code, Mention, Message};
use hashline_lines::checksum::Checksum;
use hashline_lines::lines::Span;
use hashline_lines::rows::{GAP, file_header, one_line, version_header};
use hashline_lines::tag::Tag;

/// How many lines with the same hash a report names.
const MAX_NAMED_LINES: usize = 5;

/// What a report needs to know about a refused anchor.
#[derive(Clone, Debug)]
pub struct AnchorReport {
    /// The file, as the request wrote it.
    pub path: String,
    /// What stands above the lines of the file in any case, where lines have no hashes.
    header: Option<String>,
    /// The first line of the report.
    pub headline: Message,
    /// The lines to show, rendered, by number.
    lines: Vec<(u64, Arc<str>)>,
    /// The cause.
    pub truth: Message,
    /// The refused anchor and the one that is to be used for the same line or value, where that
    /// is known.
    pub remap: Option<(String, String)>,
}

impl AnchorReport {
    /// A report of a refused anchor, with the current lines of these ranges, as many as a refusal
    /// has room for.
    pub(in crate::edit) fn new(
        evidence: &Evidence<'_>,
        path: &str,
        headline: impl Into<Message>,
        ranges: &[(u64, u64)],
        truth: impl Into<Message>,
    ) -> AnchorReport {
        let (headline, truth) = (headline.into(), truth.into());
        let mut rendered = RenderedLines::new(evidence);
        let mut lines: Vec<(u64, Arc<str>)> = Vec::new();
        let mut left_bytes = evidence.limit_bytes;
        for &(first, last) in ranges {
            let spans = evidence.index.from_line(evidence.text, first).into_iter().flatten();
            for (number, span) in (first..=last).zip(spans) {
                let row = rendered.line(number, span.text(evidence.text));
                let Some(rest_bytes) = left_bytes.checked_sub(row.len() + 1) else { break };
                left_bytes = rest_bytes;
                lines.push((number, row));
            }
        }
        lines.sort_by_key(|(number, _)| *number);
        lines.dedup_by_key(|(number, _)| *number);
        let header = header_of(evidence, path);
        AnchorReport { path: path.to_owned(), header, headline, lines, truth, remap: None }
    }

    /// A report of the refused anchor of a value. It shows no lines, so its cause, which quotes the
    /// value, stands right below its headline. `fresh` is the anchor that the value has now.
    pub fn of_value(
        path: &str,
        anchor: &str,
        headline: &str,
        truth: &str,
        fresh: Option<&str>,
    ) -> AnchorReport {
        AnchorReport {
            path: path.to_owned(),
            header: None,
            headline: format!("{headline}\n{truth}").into(),
            lines: Vec::new(),
            truth: Message::default(),
            remap: fresh.map(|fresh| (anchor.to_owned(), fresh.to_owned())),
        }
    }

    /// The numbers of the lines that it shows.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.lines.iter().map(|(number, _)| *number)
    }

    /// The failure that it explains.
    pub(in crate::edit) fn failure(
        &self,
        operation: &Operation,
        code: Code,
        anchor: String,
    ) -> Failure {
        Failure {
            operation: operation.index,
            path: (!self.path.is_empty()).then(|| self.path.clone()),
            code,
            message: self.headline.clone() + " " + self.truth.clone(),
            anchor: Some(anchor),
            lines: Some(self.rows()),
            suggestion: None,
        }
    }

    /// Its lines with their anchors.
    pub(in crate::edit) fn rows(&self) -> String {
        rendered([self])
    }
}

/// The header of a file as it is, where lines have no hashes. A text in memory has no path.
fn header_of(evidence: &Evidence<'_>, path: &str) -> Option<String> {
    let is_needed = !evidence.dialect.has_hashes() && !path.is_empty();
    is_needed.then(|| version_header(path, Tag::of(evidence.text)))
}

/// The failures of one file's refused anchors, and what to report of them.
pub fn anchor_failures(
    evidence: &Evidence<'_>,
    window_lines: u64,
    path: &str,
    refusals: &[AnchorRefusal<'_>],
) -> Vec<(Failure, AnchorReport)> {
    let mut shown = RenderedLines::new(evidence);
    let failure = |refusal: &AnchorRefusal<'_>| {
        let report = report(evidence, window_lines, path, refusal, &mut shown);
        let anchor = refusal.anchor.text(evidence.dialect);
        let suggestion = refusal.suggested_line.and_then(|line| evidence.fresh(line));
        let failure =
            Failure { suggestion, ..report.failure(refusal.operation, refusal.code, anchor) };
        (failure, report)
    };
    refusals.iter().map(failure).collect()
}

fn report(
    evidence: &Evidence<'_>,
    window_lines: u64,
    path: &str,
    refusal: &AnchorRefusal<'_>,
    rendered: &mut RenderedLines<'_>,
) -> AnchorReport {
    let line = u64::from(refusal.anchor.line);
    let anchor = refusal.anchor.text(evidence.dialect);
    if let Some(lines) = refusal.changed {
        return changed_report(evidence, path, &anchor, lines);
    }
    let centre = line.min(evidence.count());
    let first = centre.saturating_sub(CONTEXT_LINES).max(1);
    let last = (centre + CONTEXT_LINES).min(evidence.count());
    let lines = evidence.index.from_line(evidence.text, first).into_iter().flatten();
    let lines = (first..=last)
        .zip(lines)
        .map(|(number, span)| (number, rendered.line(number, span.text(evidence.text))));
    let fresh = evidence
        .fresh(line)
        .filter(|fresh| refusal.near.iter().all(|&found| is_far(line, found)) && *fresh != anchor);
    AnchorReport {
        path: path.to_owned(),
        header: header_of(evidence, path),
        headline: headline(refusal.code, &anchor).into(),
        lines: lines.collect(),
        truth: truth(evidence, window_lines, refusal).into(),
        remap: fresh.map(|fresh| (anchor, fresh)),
    }
}

/// What is wrong with an anchor, in short.
pub(in crate::edit) fn headline(code: Code, anchor: &str) -> String {
    match code {
        Code::NotShown => format!("Not shown: {anchor}."),
        Code::PartlyShown => format!("Partly shown: {anchor}."),
        Code::LineOutOfRange => format!("Line out of range at {anchor}."),
        Code::AmbiguousAnchor => format!("Ambiguous anchor at {anchor}."),
        _ => format!("Hash mismatch at {anchor}."),
    }
}

/// The most that a report shows of a block that differs from its checksum.
const CHANGED_LIMIT_LINES: u64 = 200;
const CHANGED_LIMIT_BYTES: usize = 40_000;

/// The report of lines that are not what their checksum says.
fn changed_report(
    evidence: &Evidence<'_>,
    path: &str,
    anchor: &str,
    (first, last): (u64, u64),
) -> AnchorReport {
    let lines = evidence.index.from_line(evidence.text, first).into_iter().flatten();
    let mut bytes = 0;
    let fits = |span: &Span| {
        bytes += span.text(evidence.text).len().min(LINE_LIMIT_BYTES);
        bytes <= CHANGED_LIMIT_BYTES.min(evidence.limit_bytes / 5 * 4)
    };
    let shown = lines.take(CHANGED_LIMIT_LINES as usize).take_while(fits).count() as u64;
    let shown_last = last.min(first + shown.max(1) - 1);
    let left_out = match last - shown_last {
        0 => String::new(),
        _ => format!(" Read the rest from line {}.", shown_last + 1),
    };
    let start = evidence.index.span(evidence.text, first).map_or(0, |span| span.start);
    let fresh = Checksum::of(first, shown_last, &evidence.text[start..]);
    let truth = format!(
        "Some of the lines of the checksum changed since you read them: use the lines above, whose checksum is {fresh}.{left_out}"
    );
    let headline = format!("Checksum mismatch at {anchor}.");
    AnchorReport::new(evidence, path, headline, &[(first, shown_last)], truth)
}

/// Lines of a file, each rendered once however many failures show it.
struct RenderedLines<'e> {
    evidence: &'e Evidence<'e>,
    known: HashMap<u64, Arc<str>>,
}

impl<'e> RenderedLines<'e> {
    fn new(evidence: &'e Evidence<'e>) -> RenderedLines<'e> {
        RenderedLines { evidence, known: HashMap::new() }
    }

    fn line(&mut self, number: u64, text: &[u8]) -> Arc<str> {
        let row = || {
            let mut section = Section::new(self.evidence.dialect);
            section.line(number, text.into());
            section.text(&self.evidence.doubtful).trim_end_matches('\n').into()
        };
        Arc::clone(self.known.entry(number).or_insert_with(row))
    }
}

/// A line that is further away than this is not proposed: other lines have the same hash by
/// accident, and the more of them are looked at, the more often.
const NEIGHBOUR_LINES: u64 = 3;

pub(in crate::edit) fn is_far(line: u64, found: u64) -> bool {
    line.abs_diff(found) > NEIGHBOUR_LINES
}

/// What is wrong with the anchor of a blank line where there is text.
pub(in crate::edit) fn not_blank(line: u64, fresh: &str) -> String {
    format!("Line {line} is not blank: use {fresh} for line {line}.")
}

/// What is known about the cause, and what to use instead.
fn truth(evidence: &Evidence<'_>, window_lines: u64, refusal: &AnchorRefusal<'_>) -> String {
    let line = u64::from(refusal.anchor.line);
    let hash = evidence.dialect.hash_text(refusal.anchor.hash);
    let fresh = |line: u64| evidence.fresh(line).unwrap_or_default();
    let past_end = line > evidence.count();
    let or_same = if past_end || refusal.hint_differs {
        String::new()
    } else {
        format!(", or {} for line {line}", fresh(line))
    };
    let place = match refusal.near.as_slice() {
        _ if refusal.anchor.is_bare(evidence.dialect) && !past_end => not_blank(line, &fresh(line)),
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
            let (plural, have) = if far.len() == 1 { ("", "has") } else { ("s", "have") };
            format!(
                "No line next to line {line} has the hash {hash} (line{plural} {}, further away, {have}): use {} for line {line}.",
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
        let told = format!("The file has {}. {place}", number_of(evidence.count(), "line"));
        told.trim_end().to_owned()
    } else {
        place
    }
}

/// What is said of a number with the hash of a neighbour. Of 67 recorded anchors of that kind whose
/// text is not more like the neighbour, the number was meant in 65 (`vectors/mispaired.jsonl`).
pub(in crate::edit) const NUMBER_IS_LIKELIER: &str =
    "In such a mistake the number is usually right";

/// Whether that can be said. A text that is like the neighbour says more, and so does one behind the
/// anchor.
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

/// A report, with the operation, if there are any.
type OfOperation<'a> = (Option<usize>, &'a AnchorReport);

/// The report of a refusal. Of the failures that are not about an anchor it has the messages, but
/// only of those among the first `told`; of `anchors` it has all, by file, with headers where the
/// failures are about several files. Each names its operation. Last comes how many failures are not told.
pub fn rejected_text(
    failures: &[Failure],
    told: usize,
    has_operations: bool,
    anchors: &[OfOperation<'_>],
) -> String {
    let involved: BTreeSet<_> = failures.iter().filter_map(|one| one.path.as_deref()).collect();
    let plain = failures[..told].iter().filter(|failure| failure.anchor.is_none());
    let names = RowNames { operation: has_operations, path: has_operations || involved.len() > 1 };
    let mut out: Vec<String> = plain.map(|failure| plain_row(failure, names)).collect();
    let mut files: Vec<(&str, Vec<OfOperation<'_>>)> = Vec::new();
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
        push_new(&mut out, reports.iter().map(|(_, report)| report.headline.to_string()));
        if reports.iter().any(|(_, report)| !report.lines.is_empty()) {
            out.push("Actual state:".to_owned());
            out.push(rendered(reports.iter().map(|(_, report)| *report)));
        }
        let unnamed = Some(path).filter(|path| !has_header && !path.is_empty());
        out.extend(causes(unnamed, &reports));
    }
    out.extend(untold(failures.len() - told));
    out.join("\n")
}

/// What tells the failures of a refusal apart.
#[derive(Clone, Copy)]
struct RowNames {
    operation: bool,
    path: bool,
}

/// A failure that is not about an anchor: its message, with the operation and the path where these
/// tell failures apart and it names none.
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

/// So much of a long path is looked for in a message, which may have it cut.
const PATH_PART_BYTES: usize = 200;

/// Whether a message names a path, and has not only its letters within a word.
fn names_path(message: &str, path: &str) -> bool {
    let part = &path[..path.floor_char_boundary(PATH_PART_BYTES)];
    let is_apart = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
    message.match_indices(part).any(|(at, _)| {
        let behind = message[at + part.len()..].chars().next();
        is_apart(message[..at].chars().next_back()) && (part.len() < path.len() || is_apart(behind))
    })
}

/// How many operations are named that fail for one cause.
const MAX_NAMED_OPERATIONS: usize = 5;

/// The causes of failed anchors of a file, each once, with the operations, and the path if nothing
/// else names it.
fn causes(path: Option<&str>, reports: &[OfOperation<'_>]) -> Vec<String> {
    let mut causes: Vec<(&Message, Vec<usize>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (operation, report) in reports.iter().filter(|(_, report)| !report.truth.is_empty()) {
        let at = *known.entry(&report.truth).or_insert_with(|| {
            causes.push((&report.truth, Vec::new()));
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
    let row = |(truth, operations): &(&Message, Vec<usize>)| {
        if operations.is_empty() {
            return truth.to_string();
        }
        let named: Vec<String> =
            operations.iter().take(MAX_NAMED_OPERATIONS).map(usize::to_string).collect();
        let more = if operations.len() > named.len() { " and more" } else { "" };
        let plural = if operations.len() > 1 { "s" } else { "" };
        if let ([one], Some(path)) = (operations.as_slice(), path)
            && truth.has(Mention::Operation(*one))
        {
            return format!("{}: {truth}", one_line(path));
        }
        format!("Operation{plural} {}{more}{file}: {truth}", named.join(", "))
    };
    causes.iter().map(row).collect()
}

/// What is said of problems that have no place in a text.
pub fn untold(count: usize) -> Option<String> {
    not_shown(count, "problem", "")
}

/// Adds texts, each once.
fn push_new(out: &mut Vec<String>, texts: impl Iterator<Item = String>) {
    let mut seen = BTreeSet::new();
    out.extend(texts.filter(|text| !text.is_empty() && seen.insert(text.clone())));
}
