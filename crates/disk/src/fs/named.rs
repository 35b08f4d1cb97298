//! Files that a user or a program names, anywhere: configurations, ignore files, patches. Opening
//! them does not wait for other processes.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

use super::{FileKind, open_ambient};
use hashline_base::error::{Error, Result};

/// The start of a regular file, at most `limit_bytes`. Follows links.
pub fn read_start(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    start_of(open_ambient(path)?, limit_bytes)
}

/// The start of an open file, if it is a regular one: a device may be endless, and reading a FIFO
/// consumes data of other processes.
pub fn start_of(file: File, limit_bytes: u64) -> io::Result<Vec<u8>> {
    check(file.metadata()?.file_type())?;
    let mut content = Vec::new();
    file.take(limit_bytes).read_to_end(&mut content)?;
    Ok(content)
}

/// Whether reading a file may wait for another process, or be endless.
pub fn may_wait(path: &Path) -> bool {
    let is_other = |kind: FileType| !kind.is_dir() && check(kind).is_err();
    path != Path::new("/dev/null") && path.metadata().is_ok_and(|found| is_other(found.file_type()))
}

fn check(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let message = format!("it is {}, not a regular file", FileKind::from(kind).noun());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Opens a file that is read to its end once. It may be a pipe, except for one without a writer:
/// that would have to be waited for.
pub fn open_input(path: &str) -> Result<Box<dyn Read>> {
    let fault = |cause| Error::io("read", path, &cause);
    let file = open_ambient(Path::new(path)).map_err(fault)?;
    #[cfg(unix)]
    return super::unix::piped(file).map_err(fault);
    #[cfg(not(unix))]
    return Ok(Box::new(file));
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::AsRawFd;

    use super::*;

    fn read(mut input: Box<dyn Read>) -> String {
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_pipe_is_read_to_its_end_no_matter_when_its_writer_writes() {
        let (reader, mut writer) = pipe().unwrap();
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        // Open before anything is written; the read waits.
        let input = open_input(&path).unwrap();
        writer.write_all(b"one").unwrap();
        drop(writer);
        assert_eq!(read(input), "one");
        assert!(open_input(&path).is_err(), "the pipe has no writer");
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"two").unwrap();
        let input = open_input(&format!("/proc/self/fd/{}", reader.as_raw_fd())).unwrap();
        drop(writer);
        assert_eq!(read(input), "two");
    }

    #[test]
    fn files_that_may_be_endless_or_block_are_not_read() {
        for path in ["/dev/zero", "/dev/null", "/proc"] {
            assert!(read_start(Path::new(path), 10).is_err(), "{path}");
        }
        assert!(may_wait(Path::new("/dev/zero")));
        for path in ["/dev/null", "/proc", "/proc/self/stat", "/nowhere"] {
            assert!(!may_wait(Path::new(path)), "{path}");
        }
        assert_eq!(read_start(Path::new("/proc/self/stat"), 3).unwrap().len(), 3);
    }
}
