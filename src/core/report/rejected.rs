//! Why nothing was done: the current lines around every failed anchor, and the cause.

use std::collections::BTreeSet;

use super::{CONTEXT_LINES, Rows};
use crate::dialect::Dialect;
use crate::error::Code;
use crate::request::Failure;
use crate::resolve::{Evidence, Refusal};

/// How many lines with the same hash a report names.
const MAX_NAMED_LINES: usize = 5;

/// What a report needs to know about a refused anchor.
#[derive(Clone, Debug)]
pub struct AnchorReport {
    /// The file, as the request wrote it.
    pub path: String,
    /// The first line of the report.
    pub headline: String,
    /// The numbers of the lines to show.
    shown: (u64, u64),
    /// The lines around the anchor, by number.
    lines: Vec<(u64, Vec<u8>)>,
    /// The cause.
    pub truth: String,
    /// The stale anchor and the fresh anchor of the same line, where the cause points there.
    pub remap: Option<(String, String)>,
}

/// The failures of one file's refused anchors, and what to report of them.
pub fn anchor_failures(
    evidence: &Evidence<'_>,
    window_lines: u64,
    path: &str,
    refusals: &[Refusal<'_>],
) -> Vec<(Failure, AnchorReport)> {
    let failure = |refusal: &Refusal<'_>| {
        let report = report(evidence, window_lines, path, refusal);
        let failure = Failure {
            operation: refusal.operation.index,
            path: (!path.is_empty()).then(|| path.to_owned()),
            code: refusal.code,
            message: format!("{} {}", report.headline, report.truth),
            anchor: Some(refusal.anchor.text(evidence.dialect)),
            lines: Some(rendered(evidence.dialect, [&report])),
            suggestion: refusal.suggested_line.and_then(|line| evidence.fresh(line)),
        };
        (failure, report)
    };
    refusals.iter().map(failure).collect()
}

fn report(
    evidence: &Evidence<'_>,
    window_lines: u64,
    path: &str,
    refusal: &Refusal<'_>,
) -> AnchorReport {
    let line = u64::from(refusal.anchor.line);
    let anchor = refusal.anchor.text(evidence.dialect);
    let headline = match refusal.code {
        Code::LineOutOfRange => format!("Line out of range at {anchor}."),
        Code::AmbiguousAnchor => format!("Ambiguous anchor at {anchor}."),
        _ => format!("Hash mismatch at {anchor}."),
    };
    let centre = line.min(evidence.count());
    let first = centre.saturating_sub(CONTEXT_LINES).max(1);
    let last = (centre + CONTEXT_LINES).min(evidence.count());
    let lines = evidence
        .index
        .from_line(evidence.text, first)
        .into_iter()
        .flatten();
    let lines = (first..=last)
        .zip(lines)
        .map(|(number, span)| (number, span.text(evidence.text).to_vec()));
    let fresh = evidence
        .fresh(line)
        .filter(|fresh| refusal.near.is_empty() && *fresh != anchor);
    AnchorReport {
        path: path.to_owned(),
        headline,
        shown: (first, last),
        lines: lines.collect(),
        truth: truth(evidence, window_lines, refusal),
        remap: fresh.map(|fresh| (anchor, fresh)),
    }
}

/// What is known about the cause, and what to use instead.
fn truth(evidence: &Evidence<'_>, window_lines: u64, refusal: &Refusal<'_>) -> String {
    let line = u64::from(refusal.anchor.line);
    let hash = evidence.dialect.hash_text(refusal.anchor.hash);
    let fresh = |line: u64| evidence.fresh(line).unwrap_or_default();
    let plural = if evidence.count() == 1 { "" } else { "s" };
    let past_end = line > evidence.count();
    let or_same = match past_end || refusal.hint_differs {
        true => String::new(),
        false => format!(", or {} for line {line}", fresh(line)),
    };
    let place = match refusal.near.as_slice() {
        [] if refusal.hint_differs => {
            return format!("Line {line} has that hash, but not the text behind the anchor.");
        }
        [] if !refusal.hash_only.is_empty() => {
            let others: Vec<String> = refusal
                .hash_only
                .iter()
                .take(MAX_NAMED_LINES)
                .map(u64::to_string)
                .collect();
            format!(
                "{hash} is the hash of line {}, but the text there is not the one behind the anchor{or_same}.",
                others.join(", ")
            )
        }
        [] if past_end => String::new(),
        [] => format!(
            "No line within {window_lines} of line {line} has the hash {hash}: use {} for line {line}.",
            fresh(line)
        ),
        &[found] => format!(
            "{hash} is the hash of line {found}: use {}{or_same}.",
            fresh(found)
        ),
        several => {
            let mut named: Vec<u64> = several.iter().take(MAX_NAMED_LINES).copied().collect();
            named.sort_unstable();
            let named: Vec<String> = named.into_iter().map(fresh).collect();
            let more = if several.len() > named.len() {
                " and more"
            } else {
                ""
            };
            format!(
                "{hash} is the hash of {} lines: use one of {}{more}{or_same}.",
                several.len(),
                named.join(", ")
            )
        }
    };
    match past_end {
        true => format!("The file has {} line{plural}. {place}", evidence.count())
            .trim_end()
            .to_owned(),
        false => place,
    }
}

fn rendered<'r>(
    dialect: &'static Dialect,
    reports: impl IntoIterator<Item = &'r AnchorReport>,
) -> String {
    let mut lines: Vec<_> = reports
        .into_iter()
        .flat_map(|report| &report.lines)
        .collect();
    lines.sort_by_key(|(number, _)| *number);
    lines.dedup_by_key(|(number, _)| *number);
    let mut rows = Rows::new(dialect);
    for (number, text) in lines {
        rows.line(*number, text);
    }
    rows.into_text().trim_end_matches('\n').to_owned()
}

/// The whole report. Failures that are not about an anchor are told by their messages;
/// anchors are grouped by file, with a header where several files are involved.
pub fn rejected_text(
    dialect: &'static Dialect,
    failures: &[Failure],
    anchors: &[AnchorReport],
) -> String {
    let mut out: Vec<String> = Vec::new();
    let others = failures.iter().filter(|failure| failure.anchor.is_none());
    out.extend(others.map(|failure| format!("{}: {}", failure.code.as_str(), failure.message)));
    let mut paths = Vec::new();
    for report in anchors {
        if !paths.contains(&report.path.as_str()) {
            paths.push(report.path.as_str());
        }
    }
    let involved: BTreeSet<_> = failures
        .iter()
        .filter_map(|failure| failure.path.as_deref())
        .collect();
    for path in paths {
        let reports: Vec<_> = anchors
            .iter()
            .filter(|report| report.path == path)
            .collect();
        if involved.len() > 1 {
            out.push(format!("--- {path} ---"));
        }
        push_new(
            &mut out,
            reports.iter().map(|report| report.headline.clone()),
        );
        if reports.iter().any(|report| report.shown.1 > 0) {
            out.push("Actual state:".to_owned());
            out.push(rendered(dialect, reports.iter().copied()));
        }
        push_new(&mut out, reports.iter().map(|report| report.truth.clone()));
    }
    out.join("\n")
}

/// Adds texts, each once.
fn push_new(out: &mut Vec<String>, texts: impl Iterator<Item = String>) {
    let mut seen = BTreeSet::new();
    out.extend(texts.filter(|text| seen.insert(text.clone())));
}
