//! Instructions of Dockerfiles whose commands are not those of a POSIX shell: each is one text.

use super::Scanner;
use crate::lexical::token::Kind;

/// Programs that read commands in another language.
const FOREIGN: &[&str] = &["powershell", "pwsh", "cmd"];

/// Parts of the names of images whose shell is `cmd`.
const WINDOWS: &[&str] = &["servercore", "nanoserver", "microsoft.com/windows"];

/// Instructions with a command.
const COMMANDS: &[&str] = &["RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK", "ONBUILD"];

/// What the instructions so far show of those that follow.
pub(super) struct Instructions {
    /// What continues a line: `\`, or a backtick for paths of Windows.
    escape: u8,
    is_foreign: bool,
}

impl Instructions {
    pub fn of(text: &[u8]) -> Self {
        let lines = text.split(|&byte| byte == b'\n').map_while(directive);
        let mut escapes = lines.filter(|(name, _)| name.eq_ignore_ascii_case(b"escape"));
        let is_backtick = escapes.next().is_some_and(|(_, value)| value == b"`");
        Instructions { escape: if is_backtick { b'`' } else { b'\\' }, is_foreign: false }
    }
}

/// The name and value of `# name=value`.
fn directive(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    let own = line.strip_prefix(b"#")?;
    let at = memchr::memchr(b'=', own)?;
    Some((own[..at].trim_ascii(), own[at + 1..].trim_ascii()))
}

impl Scanner<'_> {
    pub(super) fn instruction(&mut self) {
        let rest = self.rest();
        if !self.is_line_start || self.depth > 0 || !rest[0].is_ascii_alphabetic() {
            return;
        }
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = &rest[..length];
        let is_name = |one: &str| name.eq_ignore_ascii_case(one.as_bytes());
        let row = &self.text[self.at + length..self.line_end(self.at)];
        let is_command = || COMMANDS.iter().any(|one| is_name(one));
        if is_name("FROM") {
            self.instructions.is_foreign |= is_windows(row);
        } else if is_name("SHELL") {
            self.instructions.is_foreign = is_foreign(row);
        }
        let is_text = self.instructions.escape == b'`'
            || is_command() && (self.instructions.is_foreign || is_foreign(row));
        if is_text {
            self.push(Kind::Word, self.at + length);
            self.arguments();
        }
    }

    /// The rest of an instruction, but heredocs are read after it.
    fn arguments(&mut self) {
        let blanks = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.at += blanks;
        let end = self.end_of_instruction();
        let is_mark = |at: &usize| {
            self.text[*at..].starts_with(b"<<") && self.text[at - 1].is_ascii_whitespace()
        };
        let mark = (self.at..end).find(is_mark);
        if let Some(mark) = mark {
            let is_indented = self.text.get(mark + 2) == Some(&b'-');
            let from = mark - self.at + 2 + usize::from(is_indented);
            self.heredoc(from, is_indented, false);
        }
        let length = self.text[self.at.min(end)..end].trim_ascii_end().len();
        if length > 0 {
            self.push(Kind::Text, self.at + length);
        }
    }

    /// The end of the last line that continues the instruction. Comments and empty lines do not end
    /// one.
    fn end_of_instruction(&self) -> usize {
        let (mut start, mut end) = (self.at, self.line_end(self.at));
        let mut last = end;
        let mut continues = false;
        loop {
            let line = self.text[start..end].trim_ascii();
            let is_skipped = continues && (line.is_empty() || line.starts_with(b"#"));
            if !is_skipped {
                last = end;
                continues = line.last() == Some(&self.instructions.escape);
            }
            if !continues || end == self.text.len() {
                return last;
            }
            start = end + 1;
            end = self.line_end(start);
        }
    }
}

/// Whether the first program in the arguments of an instruction reads another language: `powershell
/// -Command`, `["C:\\Windows\\System32\\cmd.exe", "/S"]`.
fn is_foreign(row: &[u8]) -> bool {
    let mut words = row.split(|byte| byte.is_ascii_whitespace() || b"[\",@".contains(byte));
    // `HEALTHCHECK --interval=5m CMD a`, `ONBUILD RUN a`.
    let is_program = |word: &&[u8]| {
        !word.is_empty() && !word.starts_with(b"--") && !matches!(*word, b"CMD" | b"RUN")
    };
    let program = words.find(is_program).unwrap_or_default().to_ascii_lowercase();
    let name = program.rsplit(|byte| b"\\/".contains(byte)).next().unwrap_or_default();
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    FOREIGN.iter().any(|one| one.as_bytes() == name)
}

/// Whether an image has the commands of Windows.
fn is_windows(row: &[u8]) -> bool {
    let mut words = row.split(u8::is_ascii_whitespace);
    let image = words.find(|word| !word.is_empty() && !word.starts_with(b"--"));
    let image = image.unwrap_or_default().to_ascii_lowercase();
    WINDOWS.iter().any(|part| memchr::memmem::find(&image, part.as_bytes()).is_some())
}
