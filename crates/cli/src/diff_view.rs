//! Shows a diff on a terminal: with both line numbers and the signs of a diff; in a line that
//! replaces exactly one other, the changed part is marked.

use anstyle::{Effects, Style};
use hashline_core::{Change, DiffHunk, FileChange};
use unicode_width::UnicodeWidthChar;

use crate::paint::{ADDED, HEADER, Painter, QUIET, REMOVED};

/// Columns from one tab stop to the next.
const TAB_COLUMNS: usize = 4;

/// The columns of a terminal of unknown width.
const USUAL_COLUMNS: usize = 80;

/// The fewest columns for text: below that, the terminal wraps lines itself.
const LEAST_TEXT_COLUMNS: usize = 20;

/// Shows all files.
pub fn view(files: &[FileChange], painter: Painter) -> String {
    let columns =
        terminal_size::terminal_size().map_or(USUAL_COLUMNS, |(width, _)| usize::from(width.0));
    let views = files.iter().map(|file| view_of_file(file, painter, columns));
    views.collect::<Vec<_>>().join("\n")
}

fn view_of_file(file: &FileChange, painter: Painter, columns: usize) -> String {
    let hunks = file.diff.as_ref().map_or(&[][..], |diff| &diff.hunks);
    let last = hunks
        .iter()
        .map(|hunk| (hunk.old_start + hunk.old_lines).max(hunk.new_start + hunk.new_lines));
    let digits = last.max().unwrap_or(1).max(1).ilog10() as usize + 1;
    let page = Page { painter, columns, digits };
    let mut text = page.header(file);
    for (at, hunk) in hunks.iter().enumerate() {
        if at > 0 {
            text += &(painter.styled(QUIET, &format!("{:>digits$}", "...")) + "\n");
        }
        page.hunk(hunk, &mut text);
    }
    text
}

struct Page {
    painter: Painter,
    columns: usize,
    /// The digits of the largest line number.
    digits: usize,
}

/// One line of a hunk.
struct Row<'h> {
    sign: char,
    text: &'h str,
    old: Option<u64>,
    new: Option<u64>,
    /// The part that differs from the corresponding line on the other side of the change.
    differs: std::ops::Range<usize>,
}

impl Page {
    fn header(&self, file: &FileChange) -> String {
        let painter = self.painter;
        let path = match &file.from {
            Some(from) => format!("{from} -> {}", file.path),
            None => file.path.clone(),
        };
        let what = file.change.as_str();
        let mut header = painter.styled(HEADER, &painter.shown(&path)) + "  " + what;
        if file.change != Change::Moved {
            let (added, removed) = (format!("+{}", file.added), format!("-{}", file.removed));
            header += "  ";
            header += &painter.styled(ADDED, &added);
            header += " ";
            header += &painter.styled(REMOVED, &removed);
        }
        header + "\n"
    }

    fn hunk(&self, hunk: &DiffHunk, text: &mut String) {
        let mut rows = rows(hunk);
        mark_differences(&mut rows);
        for row in &rows {
            self.row(row, text);
        }
    }

    fn row(&self, row: &Row<'_>, text: &mut String) {
        let digits = self.digits;
        let number = |line: Option<u64>| match line {
            Some(line) => format!("{line:>digits$}"),
            None => " ".repeat(digits),
        };
        let (painter, style) = (self.painter, row.style());
        *text += &painter.styled(QUIET, &format!("{} {}", number(row.old), number(row.new)));
        *text += &painter.styled(style, &format!(" {} ", row.sign));
        let indent = 2 * digits + 4;
        let room = self.columns.saturating_sub(indent).max(LEAST_TEXT_COLUMNS);
        let mut line = Line { painter, indent, room, column: 0, text: String::new() };
        for (part, emphasis) in row.parts() {
            line.add(&painter.shown(part), emphasis);
        }
        *text += &line.text;
        text.push('\n');
    }
}

/// A line of text, wrapped at the width of the terminal.
struct Line {
    painter: Painter,
    indent: usize,
    room: usize,
    column: usize,
    text: String,
}

impl Line {
    fn add(&mut self, part: &str, style: Style) {
        let mut run = String::new();
        for character in part.chars() {
            let width = match character {
                '\t' => TAB_COLUMNS - self.column % TAB_COLUMNS,
                _ => character.width().unwrap_or(0),
            };
            if self.column + width > self.room {
                self.text += &self.painter.styled(style, &run);
                run.clear();
                self.text.push('\n');
                self.text += &" ".repeat(self.indent);
                self.column = 0;
            }
            self.column += width;
            match character {
                '\t' => run += &" ".repeat(width),
                _ => run.push(character),
            }
        }
        self.text += &self.painter.styled(style, &run);
    }
}

impl<'h> Row<'h> {
    fn style(&self) -> Style {
        match self.sign {
            '+' => ADDED,
            '-' => REMOVED,
            '\\' => QUIET,
            _ => Style::new(),
        }
    }

    /// The text in up to three parts; the middle one differs.
    fn parts(&self) -> [(&'h str, Style); 3] {
        let style = self.style();
        let loud = style.effects(Effects::INVERT);
        let (before, rest) = self.text.split_at(self.differs.start);
        let (differs, after) = rest.split_at(self.differs.len());
        [(before, style), (differs, loud), (after, style)]
    }
}

fn rows(hunk: &DiffHunk) -> Vec<Row<'_>> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut rows = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let mut rest = line.chars();
        let sign = rest.next().unwrap_or(' ');
        let text = rest.as_str();
        let mut row = Row { sign, text, old: None, new: None, differs: 0..0 };
        if matches!(sign, ' ' | '-') {
            row.old = Some(old);
            old += 1;
        }
        if matches!(sign, ' ' | '+') {
            row.new = Some(new);
            new += 1;
        }
        rows.push(row);
    }
    rows
}

/// Finds runs of removed lines that the same number of added lines replaces.
fn mark_differences(rows: &mut [Row<'_>]) {
    let run = |rows: &[Row<'_>], from: usize, sign: char| {
        rows[from..].iter().take_while(|row| row.sign == sign).count()
    };
    let mut at = 0;
    while at < rows.len() {
        let removed = run(rows, at, '-');
        let added = run(rows, at + removed, '+');
        if removed == added {
            for pair in at..at + removed {
                let (old, new) = differing_parts(rows[pair].text, rows[pair + removed].text);
                rows[pair].differs = old;
                rows[pair + removed].differs = new;
            }
        }
        at += (removed + added).max(1);
    }
}

/// The parts of two texts between their common prefix and suffix; both are empty if the texts have
/// almost nothing in common.
fn differing_parts(old: &str, new: &str) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let alike = |(one, other): &(char, char)| one == other;
    let bytes = |(one, _): (char, char)| one.len_utf8();
    let start: usize = old.chars().zip(new.chars()).take_while(alike).map(bytes).sum();
    let rest = old[start..].chars().rev().zip(new[start..].chars().rev());
    let end: usize = rest.take_while(alike).map(bytes).sum();
    if old[..start].trim().is_empty() && old[old.len() - end..].trim().is_empty() {
        return (0..0, 0..0);
    }
    (start..old.len() - end, start..new.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_differing_part_is_found() {
        let parts = |old: &'static str, new: &'static str| {
            let (one, other) = differing_parts(old, new);
            (&old[one], &new[other])
        };
        assert_eq!(parts("  say(hello)", "  say(bye)"), ("hello", "bye"));
        assert_eq!(parts("a b", "a b c"), ("", " c"));
        assert_eq!(parts("x é y", "x è y"), ("é", "è"));
        // Only whitespace is equal.
        assert_eq!(parts("  one", "  two"), ("", ""));
        assert_eq!(parts("aaa", "aa"), ("a", ""));
    }
}
