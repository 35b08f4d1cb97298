//! The usage log, which is written only if the user names a file for it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hashline_core::Code;
use serde_json::{Value as Json, json};

use crate::exit::{Exit, say};

/// The environment variable that names the file.
const VARIABLE: &str = "HASHLINE_USAGE_LOG";

/// The log entry of one command, or of one tool call of `hashline mcp`.
pub struct Record {
    file: Option<OsString>,
    start: Instant,
}

impl Record {
    /// The entry of a command that starts now.
    pub fn begin() -> Record {
        let file = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
        Record { file, start: Instant::now() }
    }

    /// Appends the line of a command.
    pub fn write(self, command: &str, exit: Exit) {
        self.append(json!({"command": command, "exitCode": exit.code()}));
    }

    /// Appends the line of a tool call, with the code of its failure. `tool` is `None` if there is no
    /// such tool.
    pub fn write_call(self, tool: Option<&str>, code: Option<Code>) {
        let code = code.map_or("OK", Code::as_str);
        self.append(json!({"command": "mcp", "tool": tool, "code": code}));
    }

    /// Appends one line with a single write, so that commands that end at the same time do not mix
    /// their lines. The line has no file names and no texts.
    fn append(self, mut line: Json) {
        let Some(file) = self.file else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        line["timeMs"] = (now.as_millis() as u64).into();
        line["durationMicroseconds"] = (self.start.elapsed().as_micros() as u64).into();
        let written = open(&file).and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
        if let Err(cause) = written {
            say(&format!("{VARIABLE}: {}: {cause}", file.display()));
        }
    }
}

/// Opens or creates the file. For a FIFO it does not wait for a reader.
fn open(path: &OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}
