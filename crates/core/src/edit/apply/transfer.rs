//! Moved and copied lines: their bytes at the source, and their encoding and indentation at the
//! destination.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::kept_bytes::foreign_error;
use crate::edit::plan::{Edit, NewLines, PlanText};
use crate::edit::request::{InsertAt, LineEdit, MovedIndent, Operation, Transfer};
use crate::edit::resolve::{Resolved, Spot};
use hashline_base::error::{Code, Error, Mention, Result};
use hashline_disk::bytes::Charset;
use hashline_lines::lines::{Terminator, Unit};

/// The lines that an operation moves or copies.
pub(super) struct Taken {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) is_copy: bool,
    /// The bytes of the lines in the source file, without terminators.
    texts: Vec<Vec<u8>>,
    terminators: Vec<Terminator>,
    /// The terminator for a line that has none in the source file.
    usual: Terminator,
    charset: Charset,
    /// Whether the lines are only shown as UTF-8, because a session did not find their encoding.
    is_unknown_charset: bool,
    byte_order_mark: Vec<u8>,
}

/// Taken lines, by operation.
pub(super) type TakenLines = HashMap<usize, Taken>;

/// The lines that the operations of one file take.
pub(super) fn taken(subject: &PlanText<'_>, resolved: &[Resolved<'_>]) -> TakenLines {
    let (document, index) = (subject.document, subject.index);
    let (body, unit) = (document.body(), index.unit());
    let mut all = TakenLines::new();
    let is_unknown_charset = LazyCell::new(|| {
        // A cancelled call reports nothing of this.
        document.is_of_unknown_charset(subject.cancel).unwrap_or_default()
    });
    for one in resolved {
        let (LineEdit::Take(transfer), Spot::Lines(first, last)) =
            (&one.operation.action, one.spot)
        else {
            continue;
        };
        let spans = index.from_line(body, first).into_iter().flatten();
        let spans = spans.take((last - first + 1) as usize);
        let (texts, terminators) =
            spans.map(|span| (span.text(body).to_vec(), span.terminator(unit))).unzip();
        let taken = Taken {
            first,
            last,
            is_copy: transfer.is_copy,
            texts,
            terminators,
            usual: subject.terminator(first),
            charset: document.charset(),
            is_unknown_charset: *is_unknown_charset,
            byte_order_mark: document.raw()[..document.bom_bytes()].to_vec(),
        };
        all.insert(one.operation.index, taken);
    }
    all
}

impl Taken {
    /// The number of lines.
    pub(super) fn count(&self) -> u64 {
        self.texts.len() as u64
    }

    /// The lines as strings, if all of them are valid in their encoding.
    pub(super) fn lines(&self) -> Option<Vec<String>> {
        let line = |text: &Vec<u8>| {
            let decoded = self.charset.decode(text);
            String::from_utf8(decoded.text.into_owned()).ok().filter(|_| !decoded.is_lossy)
        };
        self.texts.iter().map(line).collect()
    }

    /// The lines in the encoding of a file, which may be unknown.
    fn in_charset(
        &self,
        operation: &Operation,
        charset: Charset,
        is_unknown: bool,
    ) -> Result<Vec<Vec<u8>>> {
        if charset == self.charset && is_unknown == self.is_unknown_charset {
            let whole = |text: &Vec<u8>| text.len().is_multiple_of(charset.unit().width_bytes());
            return match self.texts.iter().all(whole) {
                true => Ok(self.texts.clone()),
                false => Err(self.unreadable(operation)),
            };
        }
        let encoded = self.texts.iter().map(|text| {
            let decoded = self.charset.decode(text);
            let decoded = std::str::from_utf8(&decoded.text).ok().filter(|_| !decoded.is_lossy);
            let decoded = decoded.ok_or_else(|| self.unreadable(operation))?;
            let other = decoded.chars().find(|character| is_unknown && !character.is_ascii());
            if let Some(character) = other {
                return Err(foreign_error(operation.index, character));
            }
            charset.encode(decoded).map_err(|character| {
                let message = Mention::Operation(operation.index) + format!(
                    ": the character {character:?} (U+{:04X}) of the lines does not exist in the encoding of {}, {}",
                    u32::from(character),
                    operation.path,
                    charset.name()
                );
                Error::new(Code::UnencodableText, message)
            })
        });
        encoded.collect()
    }

    fn unreadable(&self, operation: &Operation) -> Error {
        let message = Mention::Operation(operation.index)
            + format!(
                ": lines {} to {} contain bytes that are invalid in {}: they cannot be copied to a file in another encoding",
                self.first,
                self.last,
                self.charset.name()
            );
        Error::new(Code::UnencodableText, message)
    }
}

/// The edit that inserts the lines at their destination.
pub(super) fn put<'o>(
    subject: &PlanText<'_>,
    one: &Resolved<'o>,
    transfer: &Transfer,
    taken: &Taken,
) -> Result<Option<Edit<'o>>> {
    let Spot::Gap(gap) = one.spot else { return Ok(None) };
    let operation = one.operation;
    let (charset, cancel) = (subject.document.charset(), subject.cancel);
    let is_unknown = subject.document.is_of_unknown_charset(cancel)?;
    let mut lines = taken.in_charset(operation, charset, is_unknown)?;
    if transfer.indent == MovedIndent::Fit {
        let neighbour = match transfer.at {
            Some(InsertAt::After(_)) => one.anchor_line,
            _ => None,
        };
        fit(&mut lines, &indent_at(subject, gap, neighbour), subject.index.unit());
    }
    Ok(Some(Edit::Insert { operation, gap, lines: NewLines::Bytes(lines) }))
}

/// Whether a move changes nothing, because the destination is where the lines already are.
pub(super) fn is_unmoved(taken: &Taken, edit: &Edit<'_>) -> bool {
    match edit {
        Edit::Insert { gap, lines: NewLines::Bytes(lines), .. } => {
            !taken.is_copy
                && (*gap + 1 == taken.first || *gap == taken.last)
                && *lines == taken.texts
        }
        _ => false,
    }
}

/// The indentation at a gap: that of the next non-blank line below it, or of the neighbour if that
/// is deeper.
fn indent_at(subject: &PlanText<'_>, gap: u64, neighbour: Option<u64>) -> Vec<u8> {
    let (body, unit) = (subject.document.body(), subject.index.unit());
    let below = subject.index.from_line(body, gap + 1).into_iter().flatten();
    let below = below.map(|span| span.text(body)).find(|text| !is_blank(text, unit));
    let neighbour = neighbour.and_then(|line| Some(subject.index.span(body, line)?.text(body)));
    let indents = [neighbour, below].into_iter().flatten().map(|text| indent(text, unit));
    indents.max_by_key(|indent| indent.len()).unwrap_or_default().to_vec()
}

/// Replaces the common indentation of the lines.
fn fit(lines: &mut [Vec<u8>], new: &[u8], unit: Unit) {
    let own = lines.iter().filter(|text| !is_blank(text, unit)).map(|text| indent(text, unit));
    let common = own.reduce(|one, other| {
        let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        &one[..same - same % unit.width_bytes()]
    });
    let Some(length) = common.map(<[u8]>::len) else { return };
    for text in lines.iter_mut().filter(|text| !is_blank(text, unit)) {
        text.splice(..length, new.iter().copied());
    }
}

/// The spaces and tabs that a line begins with.
fn indent(text: &[u8], unit: Unit) -> &[u8] {
    let is_white = |character: &[u8]| match (unit, character) {
        (Unit::Byte, [byte]) | (Unit::Utf16Le, [byte, 0]) | (Unit::Utf16Be, [0, byte]) => {
            matches!(byte, b' ' | b'\t')
        }
        _ => false,
    };
    let width = unit.width_bytes();
    let count = text.chunks(width).take_while(|character| is_white(character)).count();
    &text[..count * width]
}

fn is_blank(text: &[u8], unit: Unit) -> bool {
    indent(text, unit).len() == text.len()
}

/// The content of a new file that consists of lines of other files.
pub(super) struct GatheredLines {
    pub(super) charset: Charset,
    pub(super) bytes: Vec<u8>,
}

/// Builds the content of a new file from the lines that operations take, in their order. Its
/// encoding is that of the first lines. Lines keep their terminators; only the last one may have
/// none.
pub(super) fn gather(operations: &[&Operation], taken: &TakenLines) -> Result<GatheredLines> {
    let parts: Vec<_> = operations
        .iter()
        .filter_map(|operation| Some((*operation, taken.get(&operation.index)?)))
        .collect();
    let Some((_, first)) = parts.first() else {
        return Ok(GatheredLines { charset: Charset::Utf8, bytes: Vec::new() });
    };
    let (charset, is_unknown) = (first.charset, first.is_unknown_charset);
    let mut bytes = Vec::new();
    let lines: usize = parts.iter().map(|(_, taken)| taken.texts.len()).sum();
    let mut at = 0;
    for (operation, part) in &parts {
        for (text, &own) in
            part.in_charset(operation, charset, is_unknown)?.iter().zip(&part.terminators)
        {
            at += 1;
            bytes.extend_from_slice(text);
            let end = match own {
                Terminator::None if at == lines => continue,
                Terminator::None => part.usual,
                own => own,
            };
            let end = end.after(text, charset.unit()).as_str();
            bytes.extend(charset.encode(end).expect("every encoding has line ends"));
        }
    }
    // A first line that starts with U+FEFF already has the mark.
    if !bytes.starts_with(&first.byte_order_mark) {
        bytes.splice(..0, first.byte_order_mark.iter().copied());
    }
    Ok(GatheredLines { charset, bytes })
}
