//! Standard output, written in large pieces.

use std::io::{self, BufWriter, StdoutLock, Write};

/// How much is collected before it is written.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output.
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Takes standard output for itself.
    pub fn new() -> Output {
        Output { out: BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()) }
    }

    /// Prints a text, with a line feed behind it where it has none; nothing for an empty one.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Prints one line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes what is still collected: what fails only now has failed, too.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_mut().flush()
    }
}
