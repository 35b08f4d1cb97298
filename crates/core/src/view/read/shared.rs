//! Renders a large text on several threads, each part directly into one buffer.
//!
//! A part is about one piece, of whole lines. All parts are counted first, which gives the number
//! of each part's first line and the offset of its output. So no part waits for another, and no
//! output is moved.

use parking_lot::Mutex;

use super::whole_lines;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_base::parallel;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::with_block_hasher;
use hashline_lines::normalize::blank::blank_lines;
use hashline_lines::rows::{BlockRenderer, zeroed_buffer};

/// A text with the counts of its parts.
pub(super) struct CountedText<'a> {
    parts: Vec<(&'a [u8], Counts)>,
    dialect: &'static Dialect,
    pub(super) line_count: u64,
}

impl<'a> CountedText<'a> {
    pub(super) fn of(
        dialect: &'static Dialect,
        text: &'a [u8],
        cancel: &Cancel,
    ) -> Result<CountedText<'a>> {
        let texts: Vec<&[u8]> = parts_of(text).collect();
        let count = |&text: &&'a [u8]| cancel.check().map(|()| (text, Counts::of(dialect, text)));
        let parts = parallel::map(&texts, count).into_iter().collect::<Result<Vec<_>>>()?;
        let line_count = parts.iter().map(|(_, counts)| counts.lines).sum();
        Ok(CountedText { parts, dialect, line_count })
    }

    /// All lines, joined by `\n`. `None` if the text changed meanwhile, as a mapped file can.
    pub(super) fn render(&self, cancel: &Cancel) -> Result<Option<Vec<u8>>> {
        let dialect = self.dialect;
        let mut line = 1;
        let mut sizes = Vec::with_capacity(self.parts.len());
        for (_, counts) in &self.parts {
            sizes.push((line, rendered_size(dialect, line, counts)));
            line += counts.lines;
        }
        let mut out = zeroed_buffer(sizes.iter().map(|(_, size_bytes)| size_bytes).sum());
        let mut rest = out.as_mut_slice();
        let mut parts = Vec::with_capacity(self.parts.len());
        for ((text, _), &(first_line, size_bytes)) in self.parts.iter().zip(&sizes) {
            let room;
            (room, rest) = rest.split_at_mut(size_bytes);
            parts.push(Mutex::new(RenderedPart { text, first_line, room }));
        }
        let rendered = parallel::map(&parts, |part| {
            cancel.check()?;
            let mut part = part.lock();
            Ok(part.render(dialect))
        });
        drop(parts);
        let fits = rendered.into_iter().collect::<Result<Vec<_>>>()?;
        // The newline after the last line.
        out.pop();
        Ok(fits.into_iter().all(|fits| fits).then_some(out))
    }
}

/// Splits a text into parts.
fn parts_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let part;
        (part, rest) = rest.split_at(if rest.is_empty() { 0 } else { whole_lines(rest) });
        (!part.is_empty()).then_some(part)
    })
}

/// The counts of a part.
struct Counts {
    lines: u64,
    /// Lines that are shown without a hash.
    bare_lines: usize,
    /// Bytes without line terminators.
    text_bytes: usize,
}

impl Counts {
    fn of(dialect: &Dialect, text: &[u8]) -> Counts {
        let newlines = memchr::memchr_iter(b'\n', text).count();
        let is_before_newline = |at: &usize| text.get(at + 1) == Some(&b'\n');
        let returns = memchr::memchr_iter(b'\r', text).filter(is_before_newline).count();
        Counts {
            lines: (newlines + usize::from(!text.ends_with(b"\n"))) as u64,
            bare_lines: match dialect.bare_blanks {
                true => blank_lines(&dialect.normalization, text),
                false => 0,
            },
            text_bytes: text.len().saturating_sub(newlines + returns),
        }
    }
}

/// The output size of a part, with a newline after each line.
fn rendered_size(dialect: &Dialect, first_line: u64, counts: &Counts) -> usize {
    let anchor_bytes = usize::from(dialect.separator.is_some()) + dialect.width + "|\n".len();
    let digits = digits_before(first_line + counts.lines) - digits_before(first_line);
    let anchors_bytes = digits as usize + anchor_bytes * counts.lines as usize;
    // A mapped file can change between counting lines and bytes.
    anchors_bytes.saturating_sub(dialect.width * counts.bare_lines) + counts.text_bytes
}

/// The total number of digits of the numbers below `end`.
fn digits_before(end: u64) -> u64 {
    let (mut digits, mut from) = (0, 1u64);
    for width in 1.. {
        let to = from.saturating_mul(10).min(end);
        digits += width * to.saturating_sub(from);
        if to == end {
            break;
        }
        from = to;
    }
    digits
}

/// A part and its output buffer.
struct RenderedPart<'a> {
    text: &'a [u8],
    first_line: u64,
    room: &'a mut [u8],
}

impl RenderedPart<'_> {
    /// Renders into the buffer; returns false if the output has another size.
    fn render(&mut self, dialect: &'static Dialect) -> bool {
        let mut renderer = BlockRenderer::new(dialect, self.first_line);
        let (mut line, mut rest, mut at) = (self.first_line, self.text, 0);
        let mut last = Vec::new();
        with_block_hasher(dialect, |hasher| {
            while !rest.is_empty() {
                let block = hasher.hash_block(line, rest);
                let (block_bytes, count) = (block.len_bytes(), block.hashes.len() as u64);
                at += match renderer.overwrite(rest, block, &mut self.room[at..]) {
                    Some(written) => written,
                    // The last lines must not write past the buffer into the next part.
                    None => {
                        renderer.append(rest, block, &mut last);
                        let written = last.len();
                        let Some(room) = self.room.get_mut(at..at + written) else { return false };
                        room.copy_from_slice(&last);
                        last.clear();
                        written
                    }
                };
                (line, rest) = (line + count, &rest[block_bytes..]);
            }
            at == self.room.len()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_lines::dialect::DIALECTS;
    use hashline_lines::lines::{Lines, Unit};
    use hashline_lines::rows::render_line;

    /// Renders line by line.
    fn naive(dialect: &'static Dialect, window: &[u8]) -> Vec<u8> {
        let mut hasher = hashline_lines::hash::LineHasher::new(dialect);
        let mut out = Vec::new();
        for (number, span) in (1..).zip(Lines::new(window, Unit::Byte)) {
            let text = span.text(window);
            render_line(dialect, number, hasher.hash(number, text), text, &mut out);
            out.push(b'\n');
        }
        out.pop();
        out
    }

    /// Several pieces, with all kinds of lines.
    fn text(seed: u64, ending: &str) -> Vec<u8> {
        let mut state = seed;
        let mut random = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        };
        let mut text = Vec::new();
        while text.len() < 5 << 20 {
            match random(12) {
                0 => {}
                1 => text.extend_from_slice("\u{e9}\u{4e2d}\u{1f600} ".repeat(9).as_bytes()),
                2 => text.extend_from_slice(b"a\rb\r"),
                4 => text.extend_from_slice("\t\u{a0}".repeat(random(3) as usize).as_bytes()),
                3 if random(200) == 0 => text.resize(text.len() + (2 << 20), b'x'),
                _ => text.extend_from_slice(
                    &b"    return value; // and so on and on"[..random(37) as usize],
                ),
            }
            let ending = if random(50) == 0 { "\n" } else { ending };
            text.extend_from_slice(ending.as_bytes());
        }
        text.extend_from_slice(&b"the end\n"[..random(9) as usize]);
        text
    }

    #[test]
    fn parallel_rendering_agrees_with_line_by_line() {
        for (seed, dialect) in DIALECTS.iter().enumerate() {
            for ending in ["\n", "\r\n"] {
                let window = text(seed as u64, ending);
                let counted = CountedText::of(dialect, &window, &Cancel::default()).unwrap();
                let shared = counted.render(&Cancel::default()).unwrap();
                let expected = naive(dialect, &window);
                assert!(shared == Some(expected), "{}", dialect.name);
                let count = Lines::new(&window, Unit::Byte).count() as u64;
                assert_eq!(counted.line_count, count);
            }
        }
    }

    #[test]
    fn digits_are_counted() {
        let mut digits = 0;
        for end in 1..12_000u64 {
            assert_eq!(digits_before(end), digits, "{end}");
            digits += u64::from(end.ilog10()) + 1;
        }
    }

    #[test]
    fn a_changed_text_is_not_rendered() {
        let (window, other) = (text(1, "\n"), text(2, "\n"));
        let dialect = Dialect::default_dialect();
        let mut counted = CountedText::of(dialect, &window, &Cancel::default()).unwrap();
        let shorter = &counted.parts[1].0[1..];
        for changed in [shorter, &other[..counted.parts[1].0.len() + 1], b""] {
            counted.parts[1].0 = changed;
            assert_eq!(counted.render(&Cancel::default()).unwrap(), None);
        }
    }

    #[test]
    fn a_call_is_cancelled_between_two_parts() {
        let window = text(1, "\n");
        let render = |cancel: &Cancel| {
            CountedText::of(Dialect::default_dialect(), &window, cancel)?.render(cancel)
        };
        let cancel = Cancel::counting();
        assert!(render(&cancel).is_ok());
        for check in 1..=cancel.checks() {
            let cancelled = render(&Cancel::at_check(check));
            assert_eq!(cancelled.err().unwrap().code, hashline_base::error::Code::Aborted);
        }
    }
}
