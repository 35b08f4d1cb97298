//! The part of an answer that is about one file, as rows. Both the text of the answer and the lines
//! that the memory counts as shown are made from the rows that fit.

use std::borrow::Cow;

use super::{Formatted, HunkNames, LINE_LIMIT_BYTES, number_of};
use crate::edit::outcome::Relocation;
use crate::edit::resolve::AmbiguousLines;
use hashline_base::error::Mention;
use hashline_disk::bytes::string_of;
use hashline_lines::anchor::anchor_text;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::LineHasher;
use hashline_lines::rows::{GAP, cut_line_bytes, cut_mark_bytes, render_start};
use hashline_lines::tag::Tag;
use hashline_memory::{ShownLines, ShownPart};

/// The part of an answer that is about one file.
pub struct Section<'t> {
    hasher: LineHasher,
    rows: Vec<Row<'t>>,
    /// The size of the rendered rows, without version suffixes (`Edition`).
    size_bytes: usize,
    /// The number of the last line; `None` at the start of a group.
    last: Option<u64>,
    /// The tag of the new text, in dialects without hashes.
    pub tag: Option<Tag>,
    /// Whether the call is about this file alone. Then the answer does not name it.
    pub is_only_file: bool,
}

#[derive(Clone)]
enum Row<'t> {
    /// A line with its anchor and its text, which may be cut.
    Line(Line<'t>),
    /// The anchors of a range of lines, without their texts.
    Anchors(Anchors),
    /// Omitted lines.
    Gap,
    /// A sentence about what was done.
    Note(Note),
}

#[derive(Clone)]
struct Line<'t> {
    number: u64,
    hash: u32,
    /// The part of the text that is shown.
    text: Cow<'t, [u8]>,
    /// The size of the whole text.
    whole_bytes: usize,
}

#[derive(Clone)]
struct Anchors {
    first: u64,
    last: u64,
    /// The numbers of the lines, with their hashes.
    lines: Vec<(u64, u32)>,
    /// By how much the lines below have moved, if the row says so.
    shift: Option<i64>,
}

/// A row about what was done to a file.
#[derive(Clone, Debug)]
pub enum Note {
    /// An anchor was found on another line.
    Relocated(Relocation),
    /// An operation took the block from one line to another.
    Block { operation: usize, first: u64, last: u64 },
    /// The lines after `after` have new numbers.
    Shift { after: u64, by: i64, has_new_hashes: bool },
    /// The number of changed regions that are not shown, and the line of the first.
    Unshown { places: usize, line: u64 },
    /// What the host changed beyond the rows.
    Formatted(Formatted),
    /// Why there are no rows.
    NoRows(String),
}

impl Note {
    fn text(&self, names: HunkNames<'_>) -> String {
        match self {
            Note::Relocated(Relocation { from, to, distance, .. }) => {
                let direction = if *distance > 0 { "further down" } else { "further up" };
                let lines = number_of(distance.unsigned_abs(), "line");
                format!("{from} was found {lines} {direction}: {to} was used.")
            }
            Note::Block { operation, first, last } => {
                let operation = names.written(Mention::OperationAtStart(*operation));
                format!("{operation} took the block of lines {first}-{last}.")
            }
            Note::Shift { after, by, has_new_hashes } => {
                let hashes = " Those without letters or digits have new hashes.";
                let hashes = if *has_new_hashes { hashes } else { "" };
                format!("Lines after {after} moved by {by:+}.{hashes}")
            }
            Note::Unshown { places, line } => {
                format!("{places} more changed places, from line {line} on, are not shown.")
            }
            Note::Formatted(formatted) => formatted.text(),
            Note::NoRows(reason) => reason.clone(),
        }
    }
}

impl Row<'_> {
    fn render(
        &self,
        dialect: &Dialect,
        ambiguous: &AmbiguousLines,
        names: HunkNames<'_>,
        out: &mut Vec<u8>,
    ) {
        match self {
            Row::Line(Line { number, hash, text, whole_bytes }) => {
                let edition = ambiguous.edition(*number);
                render_start(dialect, (*number, *hash, edition), text, *whole_bytes, out);
            }
            Row::Anchors(anchors) => {
                out.extend_from_slice(anchors.text(dialect, ambiguous).as_bytes());
            }
            Row::Gap => out.extend_from_slice(GAP.as_bytes()),
            Row::Note(note) => out.extend_from_slice(note.text(names).as_bytes()),
        }
        out.push(b'\n');
    }

    /// Adds the lines that it shows or names.
    fn add_shown(&self, shown: &mut ShownLines) {
        match self {
            Row::Line(line) => {
                shown.lines.insert(line.number..line.number + 1);
                if line.text.len() < line.whole_bytes {
                    let part = 0..line.text.len();
                    shown.parts.push(ShownPart::new(line.number, &part, line.whole_bytes));
                }
            }
            Row::Anchors(anchors) => {
                anchors.lines.iter().for_each(|&(line, _)| shown.lines.insert(line..line + 1));
            }
            Row::Gap | Row::Note(_) => {}
        }
    }
}

impl Anchors {
    /// `4-6: 4ab 5cd 6ef`, `4ab` for one line, and `(4-6)` in dialects without hashes.
    fn text(&self, dialect: &Dialect, ambiguous: &AmbiguousLines) -> String {
        let Anchors { first, last, lines, shift } = self;
        let range = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let mut words = Vec::new();
        if dialect.has_hashes() {
            words.extend((first < last).then(|| format!("{range}:")));
            let mut next = *first;
            for &(number, hash) in lines {
                if number > next {
                    words.push(GAP.to_owned());
                }
                words.push(anchor_text(dialect, number, hash, ambiguous.edition(number)));
                next = number + 1;
            }
        } else {
            words.push(format!("({range})"));
        }
        words.extend(shift.map(shift_text));
        words.join(" ")
    }
}

pub(super) fn shift_text(by: i64) -> String {
    format!("(old lines below: {by:+})")
}

impl Clone for Section<'_> {
    fn clone(&self) -> Self {
        let &Section { ref hasher, ref rows, size_bytes, last, tag, is_only_file } = self;
        // A hasher has nothing but its dialect that counts.
        let hasher = LineHasher::new(hasher.dialect());
        Section { hasher, rows: rows.clone(), size_bytes, last, tag, is_only_file }
    }
}

impl<'t> Section<'t> {
    pub fn new(dialect: &'static Dialect) -> Section<'t> {
        let hasher = LineHasher::new(dialect);
        Section {
            hasher,
            rows: Vec::new(),
            size_bytes: 0,
            last: None,
            tag: None,
            is_only_file: false,
        }
    }

    fn push(&mut self, row: Row<'t>) {
        let dialect = self.hasher.dialect();
        self.size_bytes += match &row {
            Row::Line(line) => {
                let hidden_bytes = line.whole_bytes - line.text.len();
                let mark_bytes = if hidden_bytes > 0 { cut_mark_bytes(hidden_bytes) } else { 0 };
                dialect.anchor_bytes(line.number, line.hash) + 2 + line.text.len() + mark_bytes
            }
            Row::Anchors(anchors) => anchors.text(dialect, &AmbiguousLines::default()).len() + 1,
            Row::Gap => GAP.len() + 1,
            Row::Note(note) => note.text(HunkNames::default()).len() + 1,
        };
        self.rows.push(row);
    }

    /// Adds a line, with a gap before it if it does not follow the last line.
    pub fn line(&mut self, number: u64, text: Cow<'t, [u8]>) {
        if self.last.is_some_and(|last| number > last + 1) {
            self.gap();
        }
        let hash = self.hasher.hash(number, &text);
        let (whole_bytes, shown_bytes) = (text.len(), cut_line_bytes(&text, LINE_LIMIT_BYTES));
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..shown_bytes]),
            Cow::Owned(text) => Cow::Owned(text[..shown_bytes].to_vec()),
        };
        self.push(Row::Line(Line { number, hash, text, whole_bytes }));
        self.last = Some(number);
    }

    /// Adds the anchors of some lines from `first` to `last`, without their texts.
    pub fn anchors<'l>(
        &mut self,
        (first, last): (u64, u64),
        lines: impl Iterator<Item = (u64, Cow<'l, [u8]>)>,
    ) {
        let lines = lines.map(|(number, text)| (number, self.hasher.hash(number, &text))).collect();
        self.push(Row::Anchors(Anchors { first, last, lines, shift: None }));
    }

    /// Adds to a last row of anchors by how much the lines below have moved.
    pub fn shift_below(&mut self, by: i64) {
        if let Some(Row::Anchors(anchors)) = self.rows.last_mut() {
            anchors.shift = Some(by);
            self.size_bytes += shift_text(by).len() + 1;
        }
    }

    /// Adds a row for omitted lines.
    pub fn gap(&mut self) {
        self.push(Row::Gap);
    }

    /// Adds a note.
    pub fn note(&mut self, note: Note) {
        self.push(Row::Note(note));
    }

    /// The section with notes above its rows.
    pub fn with_notes_above(mut self, notes: impl Iterator<Item = Note>) -> Section<'t> {
        self.rows.splice(..0, notes.map(Row::Note));
        self
    }

    /// The notes above its rows.
    pub fn notes_above(&self) -> Vec<Note> {
        let note = |row: &Row<'_>| match row {
            Row::Note(note) => Some(note.clone()),
            Row::Line(_) | Row::Anchors(_) | Row::Gap => None,
        };
        self.rows.iter().map_while(note).collect()
    }

    /// The section with its own copies of the texts.
    pub fn into_owned(self) -> Section<'static> {
        let owned = |row| match row {
            Row::Line(line) => Row::Line(Line { text: Cow::Owned(line.text.into_owned()), ..line }),
            Row::Anchors(anchors) => Row::Anchors(anchors),
            Row::Gap => Row::Gap,
            Row::Note(note) => Row::Note(note),
        };
        let Section { hasher, rows, size_bytes, last, tag, is_only_file } = self;
        let rows = rows.into_iter().map(owned).collect();
        Section { hasher, rows, size_bytes, last, tag, is_only_file }
    }

    /// Starts a new group with the rows of `add`, after a gap if `with_gap`. Adds nothing if `add`
    /// adds no row.
    pub fn group(&mut self, with_gap: bool, add: impl FnOnce(&mut Section<'t>)) {
        let (rows, size_bytes) = (self.rows.len(), self.size_bytes);
        if with_gap && rows > 0 {
            self.gap();
        }
        let before = self.rows.len();
        self.last = None;
        add(self);
        if self.rows.len() == before {
            self.rows.truncate(rows);
            self.size_bytes = size_bytes;
        }
    }

    /// The size of the rendered rows, without version suffixes (`Edition`).
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The numbers of all lines that have an anchor here, with their hashes.
    pub fn anchored_lines(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.rows.iter().flat_map(|row| {
            let (line, anchors) = match row {
                Row::Line(line) => (Some((line.number, line.hash)), &[][..]),
                Row::Anchors(anchors) => (None, anchors.lines.as_slice()),
                Row::Gap | Row::Note(_) => (None, &[][..]),
            };
            line.into_iter().chain(anchors.iter().copied())
        })
    }

    /// The lines that the rows show or name.
    pub fn shown(&self) -> ShownLines {
        let mut shown = ShownLines::default();
        self.rows.iter().for_each(|row| row.add_shown(&mut shown));
        shown
    }

    /// The rendered rows. Each ends with a newline.
    pub fn text(&self, ambiguous: &AmbiguousLines) -> String {
        let mut out = Vec::new();
        let dialect = self.hasher.dialect();
        self.rows
            .iter()
            .for_each(|row| row.render(dialect, ambiguous, HunkNames::default(), &mut out));
        string_of(out)
    }

    /// The first rows, as many as fit into `room_bytes`.
    pub fn fitting(
        &self,
        room_bytes: usize,
        ambiguous: &AmbiguousLines,
        names: HunkNames<'_>,
    ) -> FittingRows {
        let (mut out, mut shown) = (Vec::new(), ShownLines::default());
        let dialect = self.hasher.dialect();
        for (at, row) in self.rows.iter().enumerate() {
            let end = out.len();
            row.render(dialect, ambiguous, names, &mut out);
            if out.len() > room_bytes {
                out.truncate(end);
                let omitted = self.rows.len() - at;
                return FittingRows { text: string_of(out), shown, omitted };
            }
            row.add_shown(&mut shown);
        }
        FittingRows { text: string_of(out), shown, omitted: 0 }
    }
}

/// The rows of a section that fit into an answer.
pub struct FittingRows {
    /// The rendered rows. Each ends with a newline.
    pub text: String,
    /// The lines that they show or name.
    pub shown: ShownLines,
    /// The number of rows that do not fit.
    pub omitted: usize,
}
