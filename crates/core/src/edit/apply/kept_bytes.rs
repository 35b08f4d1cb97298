//! Refuses edits that would write two encodings into one file, or U+FFFD over the bytes that it
//! shows. Only in sessions: elsewhere the caller chooses the encoding.

use std::borrow::Cow;
use std::ops::Range;

use super::planned_file::PlanRequest;
use crate::edit::plan::{Plan, Region};
use hashline_base::error::{Code, Error, Mention, Result};
use hashline_disk::bytes::{Charset, Document, Utf8Tally};
use hashline_lines::lines::Lines;

/// The operation that would mix encodings in a file or overwrite its invalid bytes, with the error.
pub(super) fn mixed_bytes(
    document: &Document,
    plan: &Plan,
    request: &PlanRequest<'_, '_>,
) -> Option<(usize, Error)> {
    if !request.is_of_session {
        return None;
    }
    let is_verbatim =
        |index: &usize| request.operations.iter().any(|one| one.index == *index && one.verbatim);
    let may_be_refused = |region: &&Region| !region.operations.iter().all(is_verbatim);
    if !document.lossy() {
        let (operation, character) = text_among_shifts(document, plan, may_be_refused)?;
        return Some((operation, shifts_error(operation, character)));
    }
    let marks = |region: &&Region| adds_marks(document, region) && may_be_refused(region);
    if let Some(region) = plan.regions.iter().find(marks) {
        let operation = *region.operations.first()?;
        return Some((operation, mark_error(operation, document.charset())));
    }
    match foreign_text(document, plan, request) {
        Ok(found) => {
            found.map(|(operation, character)| (operation, foreign_error(operation, character)))
        }
        Err(error) => Some((*plan.regions.first()?.operations.first()?, error)),
    }
}

fn old_bytes<'d>(document: &'d Document, region: &Region) -> &'d [u8] {
    let Range { start, end } = region.start..region.end;
    document.body().get(start..end).unwrap_or_default()
}

/// The new bytes of a region, without lines that were moved or copied: these are checked where they
/// are taken.
fn written<'r>(document: &Document, region: &'r Region) -> Cow<'r, [u8]> {
    if region.pasted.is_empty() {
        return Cow::Borrowed(&region.bytes);
    }
    let is_pasted = |line: u64| {
        region.pasted.iter().any(|part| (part.above..part.above + part.lines).contains(&line))
    };
    let lines = Lines::new(&region.bytes, document.unit()).zip(0..);
    let own = lines.filter(|(_, line)| !is_pasted(*line));
    Cow::Owned(own.flat_map(|(span, _)| span.text(&region.bytes)).copied().collect())
}

/// Whether the new bytes of a region have more U+FFFD than the old ones.
fn adds_marks(document: &Document, region: &Region) -> bool {
    let Ok(mark) = document.charset().encode("\u{fffd}") else { return false };
    let count = |bytes| memchr::memmem::find_iter(bytes, &mark).count();
    count(&written(document, region)) > count(old_bytes(document, region))
}

/// The operation that brings UTF-8 into a file of an unknown encoding, with a character. A patch
/// that replaces all bytes that are not UTF-8 makes the file UTF-8.
fn foreign_text(
    document: &Document,
    plan: &Plan,
    request: &PlanRequest<'_, '_>,
) -> Result<Option<(usize, char)>> {
    let cancel = request.cancel;
    if !document.is_of_unknown_charset(cancel)? {
        return Ok(None);
    }
    let mut left = Utf8Tally::of(document.body(), cancel)?.invalid;
    let mut found = None;
    for region in &plan.regions {
        let old = Utf8Tally::of(old_bytes(document, region), cancel)?;
        let new = Utf8Tally::of(&region.bytes, cancel)?;
        left = (left + new.invalid).saturating_sub(old.invalid);
        let written = written(document, region);
        if found.is_none() && Utf8Tally::of(&written, cancel)?.valid > old.valid {
            let mut text = written.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            let character = text.find(|character| !character.is_ascii());
            found = region.operations.first().copied().zip(character);
        }
    }
    Ok(found.filter(|_| left > 0))
}

/// What starts two-byte characters in ISO-2022-JP, whose files are ASCII for any program that does
/// not know their encoding. No sequence of terminals begins so.
const SHIFT: &[u8] = b"\x1b$";

/// The operation that brings UTF-8 into a file in ISO-2022-JP, with a character. A patch that
/// replaces all of its shifts makes the file UTF-8.
fn text_among_shifts(
    document: &Document,
    plan: &Plan,
    may_be_refused: impl Fn(&&Region) -> bool,
) -> Option<(usize, char)> {
    if document.charset() != Charset::Utf8 {
        return None;
    }
    let region = plan.regions.iter().filter(may_be_refused).find(|one| !one.bytes.is_ascii())?;
    let shifts = |bytes: &[u8]| memchr::memmem::find_iter(bytes, SHIFT).count();
    let replaced: usize = plan.regions.iter().map(|one| shifts(old_bytes(document, one))).sum();
    if !document.body().is_ascii() || shifts(document.body()) == replaced {
        return None;
    }
    let text = std::str::from_utf8(&region.bytes).ok()?;
    let character = text.chars().find(|character| !character.is_ascii())?;
    Some((*region.operations.first()?, character))
}

fn shifts_error(operation: usize, character: char) -> Error {
    let message = Mention::Operation(operation)
        + format!(
            ": the file has escape sequences of ISO-2022-JP, so {character:?} (U+{:04X}) in UTF-8 would mix two encodings. Write only ASCII; or make the file UTF-8: read it with `encoding` \"iso-2022-jp\", then `delete_file` and `add_file` in one patch. To write it anyway, set \"verbatim\": true.",
            u32::from(character)
        );
    Error::new(Code::UnencodableText, message)
}

/// The error for text beyond ASCII in a file of an unknown encoding.
pub(super) fn foreign_error(operation: usize, character: char) -> Error {
    let message = Mention::Operation(operation)
        + format!(
            ": the file is not UTF-8 and its encoding is unknown, so {character:?} (U+{:04X}) cannot be written in it. Read the file with its `encoding`, such as \"windows-1252\", then edit it; or write only ASCII.",
            u32::from(character)
        );
    Error::new(Code::UnencodableText, message)
}

fn mark_error(operation: usize, charset: Charset) -> Error {
    let message = Mention::Operation(operation)
        + format!(
            ": the text has U+FFFD (\u{fffd}), which only shows bytes that are invalid in {}: it would overwrite them. Edit the text next to it with `replace_text`, or read the file with its `encoding`. To write U+FFFD itself, set \"verbatim\": true.",
            charset.standard_name()
        );
    Error::new(Code::UnsupportedEncoding, message)
}
