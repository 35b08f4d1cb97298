//! Describes a repair for the model that wrote the text. A description is a clause of limited
//! length that begins with a small letter and has no full stop.

use super::echoes::{Neighbours, TextEnd};
use super::{EditContext, EditSite, ModelText, Rule, equal_ignoring_whitespace, indentation};
use hashline_lines::rows::one_line;

/// The maximum length of a quoted line.
const QUOTE_LIMIT_CHARS: usize = 60;

/// Describes how `rule` changed `before` to `after`.
pub(super) fn describe(
    rule: Rule,
    context: &EditContext<'_, '_>,
    before: &ModelText,
    after: &ModelText,
) -> String {
    match rule {
        Rule::StripPlus => match before.non_blank_lines().count() {
            1 => "the `+` in front of your line was removed".to_owned(),
            _ => "the `+` in front of each of your lines was removed".to_owned(),
        },
        Rule::StripAnchors => removed_anchors(
            before.lines.iter().map(String::as_str).zip(after.lines.iter().map(String::as_str)),
        ),
        Rule::FollowIndent => followed(before, after),
        Rule::InheritIndent => inherited(before, after),
        Rule::Echoes => dropped_echoes(context, before, after),
        Rule::Merges => merged(before.site, after.site),
        Rule::Wraps => unwrapped(before, after),
        Rule::PairedIndent => match changed_count(before, after) {
            1 => "one of your lines was indented like the line it replaces".to_owned(),
            count => format!("{count} of your lines were indented like the lines they replace"),
        },
        Rule::Confusables => {
            "characters of your text that look like `-` were replaced by `-`".to_owned()
        }
    }
}

/// A line as a quotation within a sentence.
fn quoted(line: &str) -> String {
    let line = one_line(line.trim());
    match line.char_indices().nth(QUOTE_LIMIT_CHARS) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}

/// Describes the removal of anchors. `lines` are the lines before and after it.
pub fn removed_anchors<'l>(lines: impl Iterator<Item = (&'l str, &'l str)>) -> String {
    let (mut first, mut removed, mut filled) = ("", 0, 0);
    for (before, after) in lines.filter(|(before, _)| !before.trim().is_empty()) {
        filled += 1;
        if before.len() > after.len() {
            let anchor = before.strip_suffix(after).unwrap_or_default();
            first = if removed == 0 { anchor } else { first };
            removed += 1;
        }
    }
    let first = quoted(first);
    match (removed, filled) {
        (1, 1) => format!("the anchor {first} in front of your line was removed"),
        (1, _) => format!("the anchor {first} in front of one of your lines was removed"),
        _ if removed == filled => {
            format!("an anchor like {first} in front of each of your lines was removed")
        }
        _ => format!("an anchor like {first} in front of {removed} of your lines was removed"),
    }
}

/// The number of lines that differ. Both texts have the same number of lines.
fn changed_count(before: &ModelText, after: &ModelText) -> usize {
    before.lines.iter().zip(&after.lines).filter(|(old, new)| old != new).count()
}

fn inherited(before: &ModelText, after: &ModelText) -> String {
    let (what, were) = match (changed_count(before, after), before.non_blank_lines().count()) {
        (1, 1) => ("your line".to_owned(), "was"),
        (1, _) => ("your first line".to_owned(), "was"),
        (count, _) => (format!("your {count} lines"), "were"),
    };
    let whitespace = after.non_blank_lines().next().map_or("", |line| indentation(line));
    let like = match before.site.line() {
        Some(line) => format!(", as line {line} is"),
        None => String::new(),
    };
    format!("{what} {were} indented by {}{like}", amount(whitespace))
}

fn followed(before: &ModelText, after: &ModelText) -> String {
    let what = match before.non_blank_lines().count() {
        1 => "your line was".to_owned(),
        count => format!("your {count} lines were"),
    };
    let pairs = before.lines.iter().zip(&after.lines);
    let mut pairs = pairs.map(|(old, new)| (indentation(old), indentation(new)));
    let how = match pairs.find(|(old, new)| old != new) {
        Some((old, new)) => format!("indented by {} instead of {}", amount(new), amount(old)),
        None => "given the whitespace at line ends that is there now".to_owned(),
    };
    let line = before.site.line().map_or("the lines".to_owned(), |line| format!("line {line}"));
    format!("{what} {how}: another process re-indented {line} since you read it")
}

/// The amount and kind of whitespace.
fn amount(whitespace: &str) -> String {
    let count = whitespace.len();
    let plural = if count == 1 { "" } else { "s" };
    match (whitespace.contains(' '), whitespace.contains('\t')) {
        (true, true) => format!("{count} spaces and tabs"),
        (false, true) => format!("{count} tab{plural}"),
        _ => format!("{count} space{plural}"),
    }
}

/// Describes lines that were dropped from the start and the end of a text because they repeat its
/// neighbours.
fn dropped_echoes(context: &EditContext<'_, '_>, before: &ModelText, after: &ModelText) -> String {
    let Some(neighbours) = Neighbours::of(before.site) else {
        return "lines that repeat the lines next to your text were removed from it".to_owned();
    };
    let dropped = before.lines.len() - after.lines.len();
    let repeated = |end: TextEnd, lines: &[String]| {
        let (first, last) = neighbours.run(end, lines.len())?;
        let known = (first..=last).map(|number| context.text(number));
        equal_ignoring_whitespace(&known.collect::<Vec<_>>(), lines).then_some((first, last))
    };
    // All were dropped at one end, or one at each end.
    let splits = [0, dropped, 1];
    let description = splits.into_iter().filter(|&start| start <= dropped).find_map(|start| {
        let end = before.lines.len() - (dropped - start);
        let (at_start, at_end) = (&before.lines[..start], &before.lines[end..]);
        let clauses = [(TextEnd::Start, at_start), (TextEnd::End, at_end)]
            .into_iter()
            .filter(|(_, lines)| !lines.is_empty())
            .map(|(end, lines)| Some(dropped_echo(end, lines, repeated(end, lines)?)))
            .collect::<Option<Vec<_>>>()?;
        Some(clauses.join(", and "))
    });
    description.unwrap_or_else(|| {
        "lines that repeat the lines next to your text were removed from it".to_owned()
    })
}

fn dropped_echo(end: TextEnd, lines: &[String], (first, last): (u64, u64)) -> String {
    let end = match end {
        TextEnd::Start => "first",
        TextEnd::End => "last",
    };
    match lines {
        [line] => {
            format!("your {end} line {} repeated line {first} and was removed", quoted(line))
        }
        _ => format!(
            "your {end} {} lines repeated lines {first} to {last} and were removed",
            lines.len()
        ),
    }
}

fn merged(before: EditSite, after: EditSite) -> String {
    let (EditSite::Lines(was, _), EditSite::Lines(first, last)) = (before, after) else {
        return "your line also contains the text of one more line, which was replaced with it"
            .to_owned();
    };
    let taken = if first < was { first } else { last };
    format!("your line also contains the text of line {taken}, which was replaced with it")
}

fn unwrapped(before: &ModelText, after: &ModelText) -> String {
    let mut pairs = before.lines.iter().zip(&after.lines);
    let whole = pairs.find(|(old, new)| old != new).map(|(_, new)| new);
    let whole = whole.or(after.lines.last()).map_or("", String::as_str);
    format!(
        "your lines that make up {} were joined to that one line, as in the file",
        quoted(whole)
    )
}
