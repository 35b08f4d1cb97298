//! Lines of a text: their number, offsets and terminators, with checks of the cancellation flag.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::LineEnding;
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::Result;
use hashline_base::parallel;
use hashline_lines::lines::{Unit, count_lines};

/// Like [`count_lines`], with checks of the flag; reports the progress of a long text.
pub fn count_lines_while(
    text: &[u8],
    cancel: &Cancel,
    passed: &(dyn Fn(usize) + Sync),
) -> Result<u64> {
    if text.len() <= PIECE_BYTES {
        return Ok(count_lines(text, Unit::Byte));
    }
    let count = AtomicU64::new(u64::from(!text.ends_with(b"\n")));
    let pieces: Vec<&[u8]> = text.chunks(PIECE_BYTES).collect();
    parallel::all(&pieces, cancel, |piece| {
        count.fetch_add(memchr::memchr_iter(b'\n', piece).count() as u64, Ordering::Relaxed);
        passed(piece.len());
        true
    })?;
    Ok(count.into_inner())
}

/// The size of a chunk in which newlines are counted.
const CHUNK_BYTES: usize = 4096;

/// The offset of a line.
pub fn offset_of_line(text: &[u8], line: u64, cancel: &Cancel) -> Result<usize> {
    offset_after_lines(text, 0, line - 1, cancel)
}

/// The offset of the line `lines` lines after `start`.
pub fn offset_after_lines(text: &[u8], start: usize, lines: u64, cancel: &Cancel) -> Result<usize> {
    if lines == 0 {
        return Ok(start);
    }
    let (mut left, mut offset) = (lines, start);
    for piece in text.get(start..).unwrap_or_default().chunks(PIECE_BYTES) {
        cancel.check()?;
        for chunk in piece.chunks(CHUNK_BYTES) {
            // Counting newlines is several times as fast as finding each one.
            let newlines = || memchr::memchr_iter(b'\n', chunk);
            let count = newlines().count() as u64;
            if left <= count
                && let Some(newline) = newlines().nth(left as usize - 1)
            {
                return Ok(offset + newline + 1);
            }
            left -= count;
            offset += chunk.len();
        }
    }
    Ok(offset)
}

/// The line terminators of a text.
pub fn line_ending(text: &[u8], cancel: &Cancel) -> Result<LineEnding> {
    if text.len() <= PIECE_BYTES {
        cancel.check()?;
        return Ok(Terminators::of(b"", text).ending());
    }
    let seen = Mutex::new(Terminators::default());
    let pieces: Vec<_> = (0..text.len()).step_by(PIECE_BYTES).collect();
    parallel::all(&pieces, cancel, |&start| {
        let (before, rest) = text.split_at(start);
        let found = Terminators::of(before, &rest[..rest.len().min(PIECE_BYTES)]);
        let mut seen = seen.lock();
        *seen = Terminators { lf: seen.lf || found.lf, crlf: seen.crlf || found.crlf };
        // After both kinds were found, the answer is known.
        !(seen.lf && seen.crlf)
    })?;
    Ok(seen.into_inner().ending())
}

/// The kinds of terminators seen.
#[derive(Clone, Copy, Default)]
struct Terminators {
    lf: bool,
    crlf: bool,
}

impl Terminators {
    /// The terminators in a piece of a text.
    fn of(before: &[u8], piece: &[u8]) -> Terminators {
        let mut found = Terminators::default();
        let has_return = before.ends_with(b"\r") || memchr::memchr(b'\r', piece).is_some();
        for newline in memchr::memchr_iter(b'\n', piece) {
            let is_crlf = match newline {
                0 => before.ends_with(b"\r"),
                at => piece[at - 1] == b'\r',
            };
            found.lf |= !is_crlf;
            found.crlf |= is_crlf;
            if !has_return || (found.lf && found.crlf) {
                break;
            }
        }
        found
    }

    fn ending(self) -> LineEnding {
        match (self.lf, self.crlf) {
            (true, true) => LineEnding::Mixed,
            (true, false) => LineEnding::Lf,
            (false, true) => LineEnding::CrLf,
            (false, false) => LineEnding::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Texts of a few chunks, with lines that end at chunk boundaries.
        #[test]
        fn offset_after_lines_agrees_with_line_by_line(
            lengths in prop::collection::vec(prop_oneof![0usize..3, 0usize..200, 4090usize..4100], 0..40),
            is_open in any::<bool>(),
            share in 0.0..1.0,
        ) {
            let lines = lengths.iter().map(|length| "x".repeat(*length) + "\n");
            let mut text = lines.collect::<String>().into_bytes();
            if is_open {
                text.pop();
            }
            let start = (share * text.len() as f64) as usize;
            let ends = (start..text.len()).filter(|&at| text[at] == b'\n').map(|at| at + 1);
            let naive: Vec<usize> = [start].into_iter().chain(ends).collect();
            let found = |lines| offset_after_lines(&text, start, lines, &Cancel::default()).unwrap();
            for (lines, offset) in (0..).zip(&naive) {
                prop_assert_eq!(found(lines), *offset);
            }
            // A text with fewer lines ends earlier.
            prop_assert_eq!(found(naive.len() as u64), text.len());
            prop_assert_eq!(found(u64::MAX), text.len());
        }
    }

    #[test]
    fn endings_are_found_across_piece_boundaries() {
        for shift in [0, 1, 2] {
            for (ending, expected) in [("\n", LineEnding::Lf), ("\r\n", LineEnding::CrLf)] {
                // A line ends at the end of the first piece or extends past it.
                let line = "x".repeat(PIECE_BYTES - shift);
                for pieces in [1, 2, 6] {
                    let text = format!("{line}{ending}").repeat(pieces);
                    let found = |text: &str| line_ending(text.as_bytes(), &Cancel::default());
                    assert_eq!(found(&text).unwrap(), expected);
                    assert_eq!(found(&format!("{text}\r")).unwrap(), expected);
                    assert_eq!(found(&format!("{text}\n{text}\r\n")).unwrap(), LineEnding::Mixed);
                }
                assert_eq!(
                    line_ending(line.as_bytes(), &Cancel::default()).unwrap(),
                    LineEnding::None
                );
            }
        }
    }
}
