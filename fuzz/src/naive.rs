//! A naive reference implementation of edits: lines by `split_inclusive`, operations one by one from
//! the bottom up. It is slow, but short and simple to verify.

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, invalid sequences included.
    Utf8,
    /// UTF-16, little endian.
    Utf16Le,
    /// UTF-16, big endian.
    Utf16Be,
}

/// A file, split into its byte order mark and its lines.
pub struct File {
    /// The encoding that the byte order mark indicates.
    pub encoding: Encoding,
    /// The byte order mark.
    pub bom: Vec<u8>,
    /// The bytes of each line, terminator included.
    pub lines: Vec<Vec<u8>>,
}

impl File {
    /// Splits a file.
    pub fn new(bytes: &[u8]) -> File {
        let (encoding, bom_bytes) = match bytes {
            [0xEF, 0xBB, 0xBF, ..] => (Encoding::Utf8, 3),
            [0xFF, 0xFE, ..] => (Encoding::Utf16Le, 2),
            [0xFE, 0xFF, ..] => (Encoding::Utf16Be, 2),
            _ => (Encoding::Utf8, 0),
        };
        File::with_encoding(bytes, encoding, bom_bytes)
    }

    /// Splits the file after an edit, in the same encoding, even if the edit inserted bytes at the
    /// start that look like a byte order mark.
    pub fn edited(&self, bytes: &[u8]) -> File {
        assert!(bytes.starts_with(&self.bom), "the byte order mark survives");
        File::with_encoding(bytes, self.encoding, self.bom.len())
    }

    fn with_encoding(bytes: &[u8], encoding: Encoding, bom_bytes: usize) -> File {
        let (bom, body) = bytes.split_at(bom_bytes);
        let lines = match encoding {
            Encoding::Utf8 => {
                body.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
            }
            _ => {
                let mut lines = vec![Vec::new()];
                for unit in body.chunks(2) {
                    lines.last_mut().expect("never empty").extend(unit);
                    if unit == encoding.ascii(b'\n') {
                        lines.push(Vec::new());
                    }
                }
                lines.retain(|line| !line.is_empty());
                lines
            }
        };
        File { encoding, bom: bom.to_vec(), lines }
    }

    /// The text of each line.
    pub fn texts(&self) -> Vec<String> {
        self.lines.iter().map(|line| self.encoding.text(line)).collect()
    }
}

impl Encoding {
    fn ascii(self, byte: u8) -> Vec<u8> {
        match self {
            Encoding::Utf8 => vec![byte],
            Encoding::Utf16Le => vec![byte, 0],
            Encoding::Utf16Be => vec![0, byte],
        }
    }

    /// A line without its terminator, and the terminator.
    pub fn split(self, line: &[u8]) -> (&[u8], &'static str) {
        let is_whole = self == Encoding::Utf8 || line.len().is_multiple_of(2);
        let strip = |line: &[u8], byte| {
            if is_whole && line.ends_with(&self.ascii(byte)) {
                Some(line.len() - self.ascii(byte).len())
            } else {
                None
            }
        };
        match strip(line, b'\n') {
            None => (line, ""),
            Some(end) => match strip(&line[..end], b'\r') {
                None => (&line[..end], "\n"),
                Some(end) => (&line[..end], "\r\n"),
            },
        }
    }

    /// The decoded text of a line.
    pub fn text(self, line: &[u8]) -> String {
        let (text, _) = self.split(line);
        match self {
            Encoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
            _ => {
                let unit = |pair: &[u8]| match self {
                    Encoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
                    _ => u16::from_le_bytes([pair[0], pair[1]]),
                };
                let units: Vec<u16> = text.chunks_exact(2).map(unit).collect();
                let mut decoded = String::from_utf16_lossy(&units);
                // An incomplete code unit at the end is one error, together with a high surrogate
                // before it.
                let ends_in_surrogate =
                    units.last().is_some_and(|last| (0xD800..0xDC00).contains(last));
                if text.len() % 2 == 1 && !ends_in_surrogate {
                    decoded.push('\u{FFFD}');
                }
                decoded
            }
        }
    }
}

/// One operation, by line numbers from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Lines `first` to `last` become `lines`.
    Replace {
        /// The first line.
        first: usize,
        /// The last line.
        last: usize,
        /// The new lines; empty for a deletion.
        lines: Vec<String>,
    },
    /// New lines after line `gap`; 0 is the start.
    Insert {
        /// The line before.
        gap: usize,
        /// The new lines, at least one.
        lines: Vec<String>,
    },
}

/// A line of the result.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Line `number` of the old file, byte for byte.
    Old(usize),
    /// A line with this text.
    New(String),
}

/// Whether operations conflict: the rules of the protocol, applied to all pairs.
pub fn have_conflict(ops: &[Op]) -> bool {
    let pair = |one: &Op, other: &Op| match (one, other) {
        (Op::Replace { first, last, .. }, Op::Replace { first: start, last: end, .. }) => {
            first <= end && start <= last
        }
        (Op::Replace { first, last, .. }, Op::Insert { gap, .. }) => first <= gap && gap < last,
        _ => false,
    };
    let indexed = || ops.iter().enumerate();
    indexed().any(|(at, one)| indexed().any(|(to, other)| at != to && pair(one, other)))
}

/// The byte order mark.
pub const MARK: char = '\u{feff}';

/// The operations, with byte order marks removed from the text that becomes the start of the file.
pub fn without_mark(mut ops: Vec<Op>) -> Vec<Op> {
    let mut front = 0;
    loop {
        let inserts = |op: &&mut Op| matches!(op, Op::Insert { gap, .. } if *gap == front);
        let replaces =
            |op: &&mut Op| matches!(op, Op::Replace { first, .. } if *first == front + 1);
        let at_front = match ops.iter_mut().find(inserts) {
            Some(insert) => Some(insert),
            None => ops.iter_mut().find(replaces),
        };
        match at_front {
            Some(Op::Replace { last, lines, .. }) if lines.is_empty() => front = *last,
            Some(Op::Replace { lines, .. } | Op::Insert { lines, .. }) => {
                if let Some(line) = lines.first_mut() {
                    *line = line.trim_start_matches(MARK).to_owned();
                }
                return ops;
            }
            None => return ops,
        }
    }
}

/// The lines after the operations, which must not conflict, applied one by one from the bottom up.
pub fn apply(line_count: usize, ops: &[Op]) -> Vec<Expected> {
    let mut lines: Vec<Expected> = (1..=line_count).map(Expected::Old).collect();
    let new =
        |lines: &[String]| -> Vec<Expected> { lines.iter().cloned().map(Expected::New).collect() };
    for line in (0..=line_count).rev() {
        // Order from the bottom up: insertions after the replaced lines are done already; then the
        // lines that replace `line + 1` and following; then insertions after `line`.
        for op in ops {
            if let Op::Replace { first, last, lines: text } = op
                && *first == line + 1
            {
                lines.splice(line..*last, new(text));
            }
        }
        for op in ops.iter().rev() {
            if let Op::Insert { gap, lines: text } = op
                && *gap == line
            {
                lines.splice(line..line, new(text));
            }
        }
    }
    lines
}
