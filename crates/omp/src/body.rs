//! Parses the rows below a head as the new lines of its hunk.

use crate::rows::shown_row;

/// A row of a body.
#[derive(Clone, Copy)]
pub(super) enum BodyRow<'a> {
    /// `+text`, the form of the grammar; without the `+`.
    Plus(&'a str),
    /// A row without a leading `+`.
    Bare(&'a str),
}

/// New lines with notes, or an error. Notes and errors have the index of their row, from 0.
pub(super) type ReadBody = Result<(Vec<String>, Vec<(usize, &'static str)>), (usize, &'static str)>;

const MINUS: &str = "a row that begins with - deletes nothing: the head names the lines to delete, and the rows below it are new text; write a new line that begins with - as +-";
const BARE: &str = "rows without a leading + were taken as new lines";
const BULLETS: &str = "rows that begin with \"- \" were taken as new lines: write +- for them";
const OLD_ROWS: &str = "rows that begin with - were ignored: the head names the lines to delete";
const NUMBERED: &str = "rows without a leading + were taken as new lines, without their numbers";

/// Parses the rows below a head. Leading and trailing blank rows are ignored.
pub(super) fn body(rows: &[BodyRow<'_>]) -> ReadBody {
    let is_blank = |row: &BodyRow<'_>| matches!(row, BodyRow::Bare(text) if text.trim().is_empty());
    let start = rows.iter().position(|row| !is_blank(row)).unwrap_or(rows.len());
    let end = rows.iter().rposition(|row| !is_blank(row)).map_or(start, |last| last + 1);
    let rows = &rows[start..end];
    let has_plus = rows.iter().any(|row| matches!(row, BodyRow::Plus(_)));
    let mut notes: Vec<(usize, &'static str)> = Vec::new();
    let mut note = |at: usize, what: &'static str| {
        if notes.iter().all(|(_, known)| *known != what) {
            notes.push((start + at, what));
        }
    };
    let are_numbered = !has_plus && are_numbered(rows);
    let mut lines = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let text = match *row {
            BodyRow::Plus(text) => text,
            BodyRow::Bare(text) if text.starts_with('-') => {
                match (has_plus, text.starts_with("- ")) {
                    (true, false) => {
                        note(at, OLD_ROWS);
                        continue;
                    }
                    (false, true) => note(at, BULLETS),
                    _ => return Err((start + at, MINUS)),
                }
                text
            }
            BodyRow::Bare(text) if are_numbered => {
                note(at, NUMBERED);
                shown_row(text).map_or("", |(_, text)| text)
            }
            BodyRow::Bare(text) => {
                note(at, BARE);
                if text.trim().is_empty() { "" } else { text }
            }
        };
        lines.push(text.to_owned());
    }
    Ok((lines, notes))
}

/// Whether all rows have the form in which a read shows lines.
fn are_numbered(rows: &[BodyRow<'_>]) -> bool {
    let is_numbered = |row: &BodyRow<'_>| match row {
        BodyRow::Bare(text) => text.trim().is_empty() || shown_row(text).is_some(),
        BodyRow::Plus(_) => false,
    };
    !rows.is_empty() && rows.iter().all(is_numbered)
}
