//! Standard output: buffered, plain in a pipe, coloured on a terminal that supports it.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use hashline_core::host::Pattern;
use hashline_core::{Cancel, Dialect, Query};
use serde::Serialize;

use crate::paint::{self, Painter};

/// The size of the buffer.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output.
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
    painter: Painter,
    /// The text that is highlighted in rows.
    pattern: Option<Pattern>,
    /// Whether standard output is a terminal.
    is_terminal: bool,
}

impl Output {
    /// Locks standard output. Rows have anchors of the dialect.
    pub fn new(dialect: &'static Dialect) -> Output {
        let stdout = io::stdout();
        let has_color = AutoStream::choice(&stdout) != ColorChoice::Never;
        let is_terminal = stdout.is_terminal();
        if has_color {
            // Old consoles of Windows need a request.
            let _ = anstyle_query::windows::enable_ansi_colors();
        }
        Output {
            out: BufWriter::with_capacity(BUFFER_BYTES, stdout.lock()),
            painter: Painter { dialect, has_color, is_terminal },
            pattern: None,
            is_terminal,
        }
    }

    /// Highlights the matches of a search in rows, if colours are shown. A search that cannot be
    /// compiled is reported by the search itself.
    pub fn highlight(&mut self, search: &Query) {
        if self.painter.has_color && !search.search.is_empty() {
            self.pattern = Pattern::new(search, &Cancel::default()).ok();
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// How texts are coloured.
    pub fn painter(&self) -> Painter {
        self.painter
    }

    /// Prints rows with anchors, headers and gaps, with a newline after the last; prints nothing
    /// for an empty text.
    pub fn rows(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.piece_of_rows(text.as_bytes())?;
        if !text.ends_with('\n') {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Prints some rows: whole lines.
    pub fn piece_of_rows(&mut self, piece: &[u8]) -> io::Result<()> {
        if !self.painter.changes_anything() {
            return self.out.write_all(piece);
        }
        let text = String::from_utf8_lossy(piece);
        self.out.write_all(self.painter.rows(&text, self.pattern.as_ref()).as_bytes())
    }

    /// Prints a unified diff.
    pub fn unified_diff(&mut self, text: &str) -> io::Result<()> {
        if !self.painter.changes_anything() {
            return self.out.write_all(text.as_bytes());
        }
        self.out.write_all(self.painter.unified_diff(text).as_bytes())
    }

    /// Prints one line that is not a row.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        let text = if self.is_terminal { paint::visible(text) } else { text.into() };
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Prints a result as JSON, on one line.
    pub fn json(&mut self, result: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, result)?;
        self.out.write_all(b"\n")
    }

    /// Prints bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Writes the buffer, before a message on standard error, which may be the same terminal or
    /// file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_mut().flush()
    }

    /// Writes the rest of the buffer, and returns a late error.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()
    }
}
