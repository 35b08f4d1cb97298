//! Formats rows and diffs for a terminal: colours of its own palette, legible on light and dark
//! backgrounds, and visible control characters, so that no file can move the cursor.

use std::borrow::Cow;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use hashline_core::Dialect;
use hashline_core::host::{GAP, Pattern, RowAnchor};

/// Anchors, gaps and numbers: unobtrusive.
pub const QUIET: Style = AnsiColor::Cyan.on_default();
/// Headers.
pub const HEADER: Style = Style::new().bold();
/// Added lines.
pub const ADDED: Style = AnsiColor::Green.on_default();
/// Removed lines.
pub const REMOVED: Style = AnsiColor::Red.on_default();

/// Matches of a search.
const MATCH: Style = AnsiColor::Red.on_default().bold();

/// How texts are coloured.
#[derive(Clone, Copy)]
pub struct Painter {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// Whether colours are shown.
    pub has_color: bool,
    /// Whether the output is a terminal.
    pub is_terminal: bool,
}

impl Painter {
    /// Whether texts are changed at all.
    pub fn changes_anything(&self) -> bool {
        self.has_color || self.is_terminal
    }

    /// A text in a style, if colours are shown.
    pub fn styled(&self, style: Style, text: &str) -> String {
        if self.has_color && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A text of a file, as shown.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_terminal { visible(text) } else { text.into() }
    }

    /// Rows with anchors, headers and gaps, and highlighted matches.
    pub fn rows(&self, text: &str, pattern: Option<&Pattern>) -> String {
        self.by_line(text, |line| {
            let (anchor, rest) = line.split_at(self.anchor_bytes(line));
            if !anchor.is_empty() {
                self.styled(QUIET, anchor) + &self.highlighted(rest, pattern)
            } else if line == GAP {
                self.styled(QUIET, line)
            } else if line.starts_with("--- ") {
                self.styled(HEADER, &self.shown(line))
            } else {
                self.shown(line).into_owned()
            }
        })
    }

    /// The text of a line with its matches.
    fn highlighted(&self, line: &str, pattern: Option<&Pattern>) -> String {
        let mut painted = String::with_capacity(line.len() + 16);
        let mut at = 0;
        for Range { start, end } in pattern.map(|one| one.matches_in(line)).unwrap_or_default() {
            painted += &self.shown(&line[at..start]);
            painted += &self.styled(MATCH, &self.shown(&line[start..end]));
            at = end;
        }
        painted + &self.shown(&line[at..])
    }

    /// A diff in the unified format.
    pub fn unified_diff(&self, text: &str) -> String {
        self.by_line(text, |line| {
            let style = match line.as_bytes() {
                [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => HEADER,
                [b'+', ..] => ADDED,
                [b'-', ..] => REMOVED,
                [b'@', ..] => QUIET,
                _ => Style::new(),
            };
            self.styled(style, &self.shown(line))
        })
    }

    fn by_line(&self, text: &str, paint: impl Fn(&str) -> String) -> String {
        let mut painted = String::with_capacity(text.len() * 2);
        for line in text.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(line) => painted += &(paint(line) + "\n"),
                None => painted += &paint(line),
            }
        }
        painted
    }

    /// The length of the anchor and its separator at the start of a row; 0 without one.
    fn anchor_bytes(&self, line: &str) -> usize {
        RowAnchor::of(self.dialect, line).map_or(0, |row| line.len() - row.text.len())
    }
}

/// A text with visible control characters, except tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    let hides = |character: char| character.is_control() && character != '\t';
    if !text.contains(hides) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\u{7f}' => shown += "^?",
            '\0'..' ' if hides(character) => {
                shown.extend(['^', char::from(character as u8 + b'@')]);
            }
            _ if hides(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painter(has_color: bool) -> Painter {
        Painter { dialect: Dialect::by_name("cli").unwrap(), has_color, is_terminal: true }
    }

    #[test]
    fn anchors_are_distinguished_from_text() {
        let painter = painter(true);
        for (line, expected) in
            [("12:a3|x", 6), ("12:a3", 0), ("12:a3:x", 0), ("x", 0), ("", 0), ("1:ab|", 5)]
        {
            assert_eq!(painter.anchor_bytes(line), expected, "{line}");
        }
        let row = "\u{1b}[36m1:ab|\u{1b}[0m--- x\n";
        assert_eq!(painter.rows("1:ab|--- x\n", None), row);
    }

    #[test]
    fn control_characters_are_made_visible() {
        let text = painter(false).rows("1:ab|\u{1b}[31mred\tx\u{7f}\u{9b}\r\n", None);
        assert_eq!(text, "1:ab|^[[31mred\tx^?\\u{9b}^M\n");
    }
}
