//! Explains to the model why a session refused an anchor: the lines as they were shown, the current
//! lines, and what to do.

use super::locate::{PartlyShown, Reason, Refused, UnknownLines};
use crate::edit::outcome::Failure;
use crate::edit::report::rejected::{NUMBER_IS_LIKELIER, headline, is_far, not_blank};
use crate::edit::report::{AnchorReport, CONTEXT_LINES, number_of, reported_lines};
use crate::edit::request::Operation;
use crate::edit::resolve::{CurrentText, text_is_of_other};
use crate::view::excerpt::ANSWER_LIMIT_BYTES;
use hashline_base::error::{Code, Mention, Message};
use hashline_lines::anchor::Anchor;
use hashline_lines::hash::hash_line;
use hashline_lines::rows::one_line;
use hashline_lines::tag::Tag;
use hashline_memory::LineSet;

/// The most unseen or changed lines that a refusal shows.
const UNSEEN_LIMIT_LINES: u64 = 200;

/// The most bytes of a line that one read shows in addition to its anchor and marks.
const READ_ON_BYTES: usize = ANSWER_LIMIT_BYTES - 200;

/// The failure of one refused anchor, with its report.
pub fn remembered_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    refused: &Refused<'_>,
) -> (Failure, AnchorReport) {
    let anchor = refused.anchor.text(current_text.dialect);
    let headline = match (refused.code, refused.anchor.tag) {
        (Code::HashMismatch, Some(tag)) => {
            format!("Line {anchor} of [{path}#{tag}] cannot be edited.")
        }
        _ if has_changed(&refused.reason) => format!("Changed lines at {anchor}."),
        (code, _) => headline(code, &anchor),
    };
    let ranges = ranges(current_text, refused);
    let mut report = AnchorReport::new(current_text, path, headline, &ranges, Message::default());
    let shown = report.numbers().map(|number| number..number + 1).collect();
    report.explanation = explanation(current_text, operation, refused, &shown).into();
    let line = u64::from(refused.anchor.line);
    let suggestion = match &refused.reason {
        Reason::NotShown(unknown) if is_only_line(unknown, line) => current_text.fresh(line),
        _ => None,
    };
    let failure = Failure { suggestion, ..report.failure(operation, refused.code, anchor) };
    (failure, report)
}

/// The failure of an operation that replaces a whole file, of which the model does not know some
/// lines that would be removed.
pub fn unknown_file_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    unknown: &LineSet,
) -> (Failure, AnchorReport) {
    let mut ranges = Vec::new();
    let mut left = UNSEEN_LIMIT_LINES;
    for range in unknown.ranges() {
        let length = (range.end - range.start).min(left);
        if length > 0 {
            ranges.push((range.start, range.start + length - 1));
        }
        left -= length;
    }
    let headline = format!("Not shown: {}.", spans(unknown));
    let mut report = AnchorReport::new(current_text, path, headline, &ranges, Message::default());
    let shown = report.numbers().map(|number| number..number + 1).collect();
    let shown = reported_lines(shown, |number| current_text.line(number)).whole();
    let rest = unknown.without(&shown).ranges().first().map(|range| range.start);
    let subject = Message::from(Mention::Operation(operation.index))
        + " would remove these lines, and you were not shown them whole as they are now. ";
    report.explanation = subject
        + match rest {
            None => "They are shown above: send it again if you mean to remove them.".to_owned(),
            Some(line) => format!("Read the file from line {line} on first."),
        };
    (report.failure(operation, Code::NotShown, None), report)
}

/// The current lines to show.
fn ranges(current_text: &CurrentText<'_>, refused: &Refused<'_>) -> Vec<(u64, u64)> {
    let count = current_text.count();
    let around = |first: u64, last: u64| {
        let first = first.min(count).saturating_sub(CONTEXT_LINES).max(1);
        (first, last.min(count).saturating_add(CONTEXT_LINES).min(count))
    };
    match &refused.reason {
        Reason::NotShown(unknown) => {
            let mut left = UNSEEN_LIMIT_LINES;
            let mut shown = Vec::new();
            for range in unknown.all().ranges() {
                let length = (range.end - range.start).min(left);
                if length > 0 {
                    shown.push(around(range.start, range.start + length - 1));
                }
                left -= length;
            }
            shown
        }
        // The anchor is valid, and the start of the line was shown.
        Reason::PartlyShown { .. } => Vec::new(),
        Reason::Ambiguous { places } => places.iter().map(|&place| around(place, place)).collect(),
        Reason::OtherHash { near, is_current: true } => {
            let line = u64::from(refused.anchor.line);
            let near = near.first().map(|&near| around(near, near));
            std::iter::once(around(line, line)).chain(near).collect()
        }
        Reason::RecomputedNumber { now } => {
            let line = u64::from(refused.anchor.line);
            std::iter::once(line).chain(*now).map(|line| around(line, line)).collect()
        }
        _ if refused.now == (0, 0) => {
            let line = u64::from(refused.anchor.line);
            vec![around(line, line)]
        }
        _ => {
            let (first, last) = refused.now;
            vec![around(first, last.min(first.saturating_add(UNSEEN_LIMIT_LINES - 1)))]
        }
    }
}

/// The cause, and what to do.
fn explanation(
    current_text: &CurrentText<'_>,
    operation: &Operation,
    refused: &Refused<'_>,
    shown: &LineSet,
) -> String {
    let line = u64::from(refused.anchor.line);
    let dialect = current_text.dialect;
    let hash = dialect.hash_text(refused.anchor.hash);
    let forgotten = if refused.forgotten {
        " (Some earlier reads of this file are no longer remembered.)"
    } else {
        ""
    };
    match &refused.reason {
        Reason::OwnEdit | Reason::OwnEditThenOthers | Reason::Changed | Reason::Forgotten
            if current_text.count() == 0 =>
        {
            format!("The file is empty now.{}", removed_rows(current_text, refused))
        }
        Reason::NotShown(unknown) => {
            format!("{}{forgotten}", not_shown(current_text, refused.anchor, unknown, shown))
        }
        Reason::PartlyShown { lines } => partly_shown(current_text, lines),
        Reason::OutOfRange => {
            format!("The file has {}.{forgotten}", number_of(current_text.count(), "line"))
        }
        Reason::Forgotten => format!(
            "Your read of line {line} is no longer remembered, and the file changed since: use the lines above."
        ),
        Reason::OtherVersion { is_known } => other_version(current_text, refused, *is_known),
        Reason::OtherHash { near, is_current } => {
            other_hash(current_text, operation, refused, (near, *is_current), &hash)
        }
        Reason::RecomputedNumber { now } => recomputed_number(current_text, refused, *now, &hash),
        Reason::OtherText => {
            format!("Line {line} has that hash, but not the text after the anchor.")
        }
        Reason::MovedOut { to, first, last } => moved_out(current_text, refused, to, *first, *last),
        Reason::OwnEdit => format!(
            "Your own edit changed these lines since you read them: use the lines above.{}",
            removed_rows(current_text, refused)
        ),
        Reason::OwnEditThenOthers => format!(
            "Your own edit changed these lines since you read them, and another process changed the file after that: use the lines above.{}",
            removed_rows(current_text, refused)
        ),
        Reason::Changed => format!(
            "Another process changed these lines or too much around them since you read them: use the lines above.{}",
            removed_rows(current_text, refused)
        ),
        Reason::Replaced => format!(
            "Another process replaced the file since you read it: less than a tenth of the lines that you know is left. Use the lines above, or read the file again.{}",
            removed_rows(current_text, refused)
        ),
        Reason::Reindented => {
            "Another process re-indented these lines since you read them: use the lines above, and indent your text like them."
                .to_owned()
        }
        Reason::Ambiguous { places } => match places.as_slice() {
            [one] => format!(
                "This anchor was shown for line {one}, and earlier for a line whose place is uncertain now. If you mean line {one}, use its anchor above; otherwise read the file again."
            ),
            places => {
                let places: Vec<String> = places.iter().map(u64::to_string).collect();
                format!(
                    "This anchor was shown in several versions of the file, for lines that are now at {}: use the anchor above of the line that you mean.",
                    places.join(" and ")
                )
            }
        },
    }
}

/// Explains lines that the model knows only in part, and how to read the rest of the first one.
fn partly_shown(current_text: &CurrentText<'_>, lines: &[PartlyShown]) -> String {
    let Some(PartlyShown { line, parts }) = lines.first() else { return String::new() };
    let text = current_text.line(*line).unwrap_or_default();
    let unseen = parts.first_unseen().unwrap_or_default();
    let start = text.len().min(unseen.start as usize);
    let end = text.len().min(unseen.end as usize).min(start + READ_ON_BYTES);
    let chars = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().count();
    let from = chars(&text[..start]) + 1;
    let to = (from + chars(&text[start..end])).saturating_sub(1).max(from);
    let others = match lines.len() {
        1 => String::new(),
        count => format!(", and parts of {}", number_of(count as u64 - 1, "more line")),
    };
    // A patch in oh-my-pi's language has neither this operation nor this field.
    let (instead, anyway) = match current_text.dialect.has_hashes() {
        true => (
            "change a part of the line with replace_text, or ",
            ", or add \"verbatim\": true to replace it unseen",
        ),
        false => ("", ""),
    };
    format!(
        "You were shown {} of the {} bytes of line {line}{others}, and your text would replace it whole: {instead}read the rest (line {line}, columns: [{from}, {to}]) and repeat the edit{anyway}.",
        parts.seen_bytes(),
        parts.line_bytes,
    )
}

/// Explains lines that the model does not know.
fn not_shown(
    current_text: &CurrentText<'_>,
    anchor: &Anchor,
    unknown: &UnknownLines,
    shown: &LineSet,
) -> String {
    let line = u64::from(anchor.line);
    let UnknownLines { unseen, changed } = unknown;
    let all = unknown.all();
    let never = || {
        let was = if unseen.count() == 1 { "was" } else { "were" };
        format!("{} {was} never shown to you", spans(unseen))
    };
    let since = || {
        let them = if changed.count() == 1 { "it" } else { "them" };
        format!("Another process changed {} since you read {them}", spans(changed))
    };
    let why = match (unseen.is_empty(), changed.is_empty()) {
        (_, true) => capitalized(&never()),
        (true, false) => since(),
        (false, false) => format!("{}, and {}", since(), never()),
    };
    let fresh = current_text.fresh(line).filter(|_| is_only_line(unknown, line));
    let is_other = |fresh: &String| *fresh != anchor.text(current_text.dialect);
    if let Some(fresh) = fresh.filter(is_other).filter(|_| anchor.is_bare(current_text.dialect)) {
        return format!("{why}. {}", not_blank(line, &fresh));
    }
    if let Some(rest) = all.without(shown).ranges().first().map(|range| range.start) {
        let count = all.common(shown).count();
        return format!(
            "{why}. The first {count} of them are shown above: read on from line {rest}, and repeat the edit if you mean them."
        );
    }
    let (they_are, them) = if all.count() == 1 { ("It is", "it") } else { ("They are", "them") };
    format!("{why}. {they_are} shown above: repeat the edit if you mean {them}.")
}

/// Whether all lines of a refusal were shown before another process changed them.
fn has_changed(why: &Reason) -> bool {
    matches!(why, Reason::NotShown(unknown) if unknown.unseen.is_empty())
}

/// Whether `unknown` is only this line, and it was never shown.
fn is_only_line(unknown: &UnknownLines, line: u64) -> bool {
    unknown.changed.is_empty() && unknown.unseen == LineSet::of(line, line)
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// Explains lines that an own edit moved to another file.
fn moved_out(
    current_text: &CurrentText<'_>,
    refused: &Refused<'_>,
    to: &str,
    first: u64,
    last: u64,
) -> String {
    let start = refused.anchor.line;
    let anchor = |now: u64| {
        let number = u64::from(start) + (now - first);
        let shown = refused.shown.iter().find(|shown| shown.number == number)?;
        let hash = hash_line(current_text.dialect, now, &String::from_utf8_lossy(&shown.text));
        Some(current_text.dialect.anchor_text(now, hash))
    };
    let name = |now: u64| anchor(now).unwrap_or_else(|| format!("line {now}"));
    let to = one_line(to);
    if first >= last {
        return format!("Your own edit moved this line to {to}: use {} there.", name(first));
    }
    let (first, last) = (name(first), name(last));
    format!("Your own edit moved these lines to {to}: use {first} to {last} there.")
}

/// Explains an anchor of another version.
fn other_version(current_text: &CurrentText<'_>, refused: &Refused<'_>, is_known: bool) -> String {
    let line = refused.anchor.line;
    let tag = refused.anchor.tag.map_or_else(String::new, |tag| tag.to_string());
    let now = Tag::of(current_text.text);
    let never = if is_known {
        format!("Line {line} of that version was never shown to you, and the file changed since")
    } else {
        format!("No version #{tag} of the file was shown to you")
    };
    format!("{never}. The file is #{now} now: use that tag, and the lines above.")
}

/// Explains a hash with which the line was not shown.
fn other_hash(
    current_text: &CurrentText<'_>,
    operation: &Operation,
    refused: &Refused<'_>,
    (near, is_current): (&[u64], bool),
    hash: &str,
) -> String {
    let line = u64::from(refused.anchor.line);
    let own = own_hash(current_text, refused);
    let fresh = |number: u64| current_text.fresh(number).unwrap_or_default();
    if refused.anchor.is_bare(current_text.dialect) {
        return match is_current {
            true => not_blank(line, &fresh(line)),
            false => format!(
                "Line {line} was not shown as a blank line: use the lines above.{}",
                removed_rows(current_text, refused)
            ),
        };
    }
    match (near, own) {
        (&[found, ..], Some(own)) if is_current => {
            let is = if own.is_empty() { "is blank".to_owned() } else { format!("has {own}") };
            let (own, other) = (fresh(line), fresh(found));
            let both = format!("Line {line} {is}; your hash {hash} is that of line {found}");
            if refused.anchor.hint.is_some() {
                format!(
                    "{both}, and so is the text after it: use {other}, or {own} for line {line}."
                )
            } else if text_is_of_other(current_text, operation, line, found) {
                format!(
                    "{both}, and your text is more like that line: use {other}, or {own} for line {line}."
                )
            } else if is_far(line, found) {
                format!("{both}: which one? Use {own} or {other}.")
            } else {
                format!("{both}. {NUMBER_IS_LIKELIER}: use {own}, or {other} for line {found}.")
            }
        }
        (_, Some(_)) if is_current => {
            format!(
                "No line near line {line} has the hash {hash}: use {} for line {line}.",
                fresh(line)
            )
        }
        (&[found, ..], Some(own)) => format!(
            "Line {line} was shown {}; {hash} was the hash of line {found}: use the lines above.{}",
            how_shown(&own),
            removed_rows(current_text, refused)
        ),
        _ => format!("Line {line} was shown with another hash: use the lines above."),
    }
}

/// Explains a hash with which the line was not shown, but which the current line has.
fn recomputed_number(
    current_text: &CurrentText<'_>,
    refused: &Refused<'_>,
    now: Option<u64>,
    hash: &str,
) -> String {
    let line = u64::from(refused.anchor.line);
    let own = own_hash(current_text, refused).unwrap_or_else(|| "another hash".to_owned());
    let fresh = |number: u64| current_text.fresh(number).unwrap_or_default();
    let shown = format!("Line {line} was shown {}", how_shown(&own));
    let now_there = match refused.anchor.is_bare(current_text.dialect) {
        true => format!("line {line} is blank now"),
        false => format!("{hash} is the hash of the current line {line}"),
    };
    match now {
        Some(now) => format!(
            "{shown} and is line {now} now; {now_there}: which one? Use {} or {}.",
            fresh(now),
            fresh(line)
        ),
        None => format!(
            "{shown}, and where that line is now is uncertain; {now_there}: use {} if you mean that, or read the file again.",
            fresh(line)
        ),
    }
}

/// How a line with a hash was shown. Blank lines may have no hash.
fn how_shown(hash: &str) -> String {
    if hash.is_empty() { "as a blank line".to_owned() } else { format!("with {hash}") }
}

/// The hash with which the line of an anchor was shown.
fn own_hash(current_text: &CurrentText<'_>, refused: &Refused<'_>) -> Option<String> {
    let line = u64::from(refused.anchor.line);
    let own = refused.shown.iter().find(|shown| shown.number == line)?;
    let text = String::from_utf8_lossy(&own.text);
    Some(current_text.dialect.hash_text(hash_line(current_text.dialect, line, &text)))
}

/// The lines as they were shown, marked as removed.
fn removed_rows(current_text: &CurrentText<'_>, refused: &Refused<'_>) -> String {
    if refused.shown.is_empty() {
        return String::new();
    }
    let row = |shown: &super::locate::ShownLine| {
        let text = String::from_utf8_lossy(&shown.text);
        let hash = hash_line(current_text.dialect, shown.number, &text);
        let cut: String = text.chars().take(200).collect();
        format!("\n- {}|{cut}", current_text.dialect.anchor_text(shown.number, hash))
    };
    let rows: String = refused.shown.iter().map(row).collect();
    let of_lines = match refused.omitted_lines {
        0 => String::new(),
        lines => format!("\n(of {} lines)", lines + refused.shown.len() as u64),
    };
    format!(" You had read:{rows}{of_lines}")
}

/// The most ranges of lines that a message names.
const SPANS_LIMIT: usize = 5;

fn spans(lines: &LineSet) -> String {
    let span = |range: &std::ops::Range<u64>| match range.end - range.start {
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    };
    let named: Vec<String> = lines.ranges().iter().take(SPANS_LIMIT).map(span).collect();
    let more = if lines.ranges().len() > named.len() { " and more" } else { "" };
    let noun = if lines.count() == 1 { "line" } else { "lines" };
    format!("{noun} {}{more}", named.join(", "))
}
