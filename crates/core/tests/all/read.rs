//! Views of real files.

use std::fs;

use hashline_base::parallel;
use hashline_core::Cancel;
use hashline_core::Query;
use hashline_core::host::Host;
use hashline_core::host::recycle;
use hashline_core::{Code, Error};
use hashline_core::{Context, Limits};
use hashline_core::{FileView, LineEnding, ReadRequest, TextView, ViewKind};
use hashline_core::{Workspace, WorkspaceOptions};
use hashline_disk::fs::OsFileSystem;
use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::verify;

use crate::support::{Interrupted, facts};

/// A view of one file with `content`. Checks that every row is an anchor of its line.
fn view(content: &[u8], request: ReadRequest) -> FileView {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, content).unwrap();
    let request = ReadRequest { path: path.clone(), ..request };
    let mut views = Workspace::on(&OsFileSystem, &WorkspaceOptions::unbounded())
        .read_with(&[request], &Cancel::default())
        .unwrap();
    let view = views.remove(0);
    let dialect = Dialect::default_dialect();
    for row in view.text.split('\n').filter(|row| !row.is_empty() && *row != "...") {
        assert!(Anchor::parse(dialect, row).is_ok(), "{row:?} in {:?}", view.text);
        let (number, rest) = row.split_once(':').unwrap();
        let (hash, text) = rest.split_once('|').unwrap();
        let is_cut = text.ends_with(" bytes]");
        assert!(is_cut || verify(dialect, number.parse().unwrap(), text, hash), "{row:?}");
    }
    view
}

fn window(start_line: u64, max_lines: Option<u64>, max_bytes: Option<usize>) -> ReadRequest {
    ReadRequest {
        start_line: Some(start_line),
        limits: Limits { max_lines, max_bytes },
        ..ReadRequest::default()
    }
}

fn search(text: &str, before: u64, after: u64, max_matches: Option<u64>) -> ReadRequest {
    ReadRequest {
        search: Some(Query {
            search: text.to_owned(),
            regex: true,
            case_sensitive: true,
            ..Query::default()
        }),
        context: Context { before, after },
        max_matches,
        ..ReadRequest::default()
    }
}

fn numbers(view: &FileView) -> Vec<String> {
    view.text.lines().map(|row| row.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn windows() {
    let content = b"one\ntwo\nthree\nfour\nfive\n";
    let check = |request, rows: &[&str], start, end, next, truncated| {
        let view = view(content, request);
        assert_eq!(numbers(&view), rows);
        let shown = facts(&view);
        assert_eq!((shown.start_line, shown.end_line, shown.next_line), (start, end, next));
        assert_eq!((shown.truncated, shown.line_count), (truncated, 5));
    };
    check(ReadRequest::default(), &["1", "2", "3", "4", "5"], 1, 5, None, false);
    check(window(2, Some(2), None), &["2", "3"], 2, 3, Some(4), true);
    check(window(4, Some(2), None), &["4", "5"], 4, 5, None, false);
    check(window(1, None, Some(17)), &["1", "2"], 1, 2, Some(3), true);
    check(window(1, Some(0), None), &[], 1, 0, Some(1), true);
    let refused = |line| view(content, window(line, None, None)).error().unwrap().clone();
    let past = refused(6);
    assert_eq!(past.code, Code::LineOutOfRange);
    assert!(past.message.contains("has 5 lines"), "{}", past.message);
    assert_eq!(refused(0).code, Code::InvalidArgument);
}

#[test]
fn regression_tiny_limits_truncate_the_first_line_and_continue() {
    let long = format!("{}\nshort\n{}\nend", "x".repeat(5000), "é".repeat(50));
    for max_bytes in [0, 1, 5, 10, 20, 40, 60] {
        let mut line = 1;
        let mut seen = Vec::new();
        loop {
            let view = view(long.as_bytes(), window(line, None, Some(max_bytes)));
            let shown = facts(&view);
            seen.extend(numbers(&view));
            if view.text.ends_with(" bytes]") {
                assert!(shown.truncated, "{max_bytes}: {view:?}");
            }
            match shown.next_line {
                Some(next) => line = next,
                None => break,
            }
        }
        assert_eq!(seen, ["1", "2", "3", "4"], "{max_bytes}");
    }
}

#[test]
fn matches_with_context() {
    let content: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let found = |request| view(content.as_bytes(), request);
    let one = found(search("line (5|7|15)$", 1, 1, None));
    assert_eq!(numbers(&one), ["4", "5", "6", "7", "8", "...", "14", "15", "16"]);
    let matches = |view: &TextView| (view.match_lines.clone().unwrap(), view.match_count.unwrap());
    assert_eq!(matches(facts(&one)), (vec![5, 7, 15], 3));
    let capped = found(search("line", 0, 0, Some(3)));
    let capped = facts(&capped);
    assert_eq!(matches(capped), (vec![1, 2, 3], 20));
    assert_eq!((capped.truncated, capped.next_line), (true, Some(4)));
    let nothing = found(search("absent", 2, 2, None));
    assert_eq!((nothing.text.as_str(), facts(&nothing).match_count), ("", Some(0)));
    assert_eq!(found(search("(", 0, 0, None)).error().unwrap().code, Code::InvalidPattern);
}

#[test]
fn kinds_of_files() {
    let kind = |content: &[u8]| view(content, ReadRequest::default()).kind;
    let text = |content: &[u8]| match kind(content) {
        ViewKind::Text(shown) => shown,
        other => panic!("{other:?}"),
    };
    let empty = text(b"");
    assert_eq!(
        (empty.line_count, empty.final_newline, empty.line_ending),
        (0, false, LineEnding::None)
    );
    let crlf = text(b"a\r\nb\r\n");
    assert_eq!(
        (crlf.line_count, crlf.final_newline, crlf.line_ending),
        (2, true, LineEnding::CrLf)
    );
    assert_eq!(text(b"a\r\nb\n").line_ending, LineEnding::Mixed);
    let bom = text("\u{feff}a".as_bytes());
    assert_eq!((bom.bom, bom.final_newline, bom.lossy), (true, false, false));
    assert!(text(b"a\xFF\n").lossy);
    let wide: Vec<u8> = "\u{feff}ab\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!((text(&wide).encoding.as_str(), text(&wide).line_count), ("utf-16be", 1));
    assert!(matches!(kind(b"a\0b"), ViewKind::Binary { .. }));
    let gif = kind(b"GIF89a\0\0\0");
    assert!(matches!(gif, ViewKind::Image { mime_type: "image/gif", .. }), "{gif:?}");
}

/// The first view of a thread has no buffer to reuse and counts its lines first; later views do
/// not.
#[test]
fn whole_files_are_the_same_in_reused_and_new_buffers() {
    let short = "x\n".repeat(3000);
    for content in ["", "a", "a\n", "\n\n", "a\r\nb", "a\rb\n", &short, "é\n"] {
        let first = std::thread::scope(|scope| {
            let view = || view(content.as_bytes(), ReadRequest::default());
            scope.spawn(view).join().expect("no panic")
        });
        recycle(Vec::with_capacity(1 << 19));
        let later = view(content.as_bytes(), ReadRequest::default());
        let all = |view: &FileView| {
            let shown = facts(view);
            let lines = (shown.line_count, shown.start_line, shown.end_line);
            (view.text.clone(), lines, shown.line_ending, shown.final_newline, shown.truncated)
        };
        assert_eq!(all(&later), all(&first), "{content:?}");
        assert_eq!(facts(&later).line_count, content.split_inclusive('\n').count() as u64);
    }
}

#[test]
fn large_files_are_the_same_mapped_or_not() {
    let line = "a line of text, long enough to make a large file of many lines\n";
    let content = line.repeat(40_000);
    assert!(content.len() > 2 << 20);
    let whole = view(content.as_bytes(), ReadRequest::default());
    assert_eq!(facts(&whole).line_count, 40_000);
    let part = view(&content.as_bytes()[..line.len() * 100], ReadRequest::default());
    assert!(whole.text.starts_with(&part.text));
}

#[test]
fn a_large_text_is_rendered_equally_by_one_thread_and_by_many() {
    let words = ["", "}", "\u{e9}t\u{e9} \u{4e2d}", "    return first + second; // and so on"];
    let line = |at: usize| words[at * at % 7 % 4];
    for ending in ["\n", "\r\n"] {
        let mut content = String::new();
        for at in 0.. {
            if content.len() > 9 << 20 {
                break;
            }
            content.push_str(line(at));
            content.push_str(ending);
        }
        content.push_str("the end");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, &content).unwrap();
        let request = ReadRequest::new(&path);
        let workspace = Workspace::on(&OsFileSystem, &WorkspaceOptions::unbounded());
        let read = || {
            workspace
                .read_with(std::slice::from_ref(&request), &Cancel::default())
                .unwrap()
                .remove(0)
        };
        let (alone, shared) = (parallel::alone(read), read());
        assert!(alone.text == shared.text, "{ending:?}");
        let but_text = |view: FileView| FileView { text: String::new(), ..view };
        let (alone, shared) = (but_text(alone), but_text(shared));
        assert_eq!(format!("{alone:?}"), format!("{shared:?}"));
    }
}

#[test]
fn an_unreadable_file_does_not_affect_others() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("good"), "a\n").unwrap();
    let requests: Vec<_> =
        ["missing", "good", ".", "", "go\0od", "../good"].map(ReadRequest::new).to_vec();
    let options = WorkspaceOptions { root: dir.path().into(), ..WorkspaceOptions::default() };
    let views =
        Workspace::on(&OsFileSystem, &options).read_with(&requests, &Cancel::default()).unwrap();
    let codes: Vec<_> = views.iter().map(|view| view.error().map(|error| error.code)).collect();
    let expected = [
        Some(Code::FileNotFound),
        None,
        Some(Code::NotAFile),
        Some(Code::InvalidArgument),
        Some(Code::InvalidArgument),
        Some(Code::OutsideRoot),
    ];
    assert_eq!(codes, expected);
}

/// A log that is being written to can be read.
#[test]
fn regression_a_growing_file_can_be_read() {
    use std::io::Write;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let entry = "an entry of the log\n";
    // Short files are read, long ones mapped.
    for entries in [1, 100_000] {
        fs::write(&path, entry.repeat(entries)).unwrap();
        let log = fs::File::options().append(true).open(&path).unwrap();
        let grow = move || (&log).write_all(entry.as_bytes()).unwrap();
        let writer = std::sync::Arc::new(grow);
        let after_stamps = writer.clone();
        let system = Interrupted::new(|_| {
            writer();
            Ok(())
        })
        .and_after_stamps(move |_| after_stamps());
        let request = ReadRequest { path: path.clone(), ..window(1, Some(5), None) };
        let views = Workspace::on(&system, &WorkspaceOptions::unbounded())
            .read_with(std::slice::from_ref(&request), &Cancel::default());
        let view = views.unwrap().remove(0);
        assert!(view.error().is_none(), "{view:?}");
        assert!(view.text.starts_with("1:"), "{:?}", view.text);
    }
}

/// A view of a file that contains `before`, and the number of operations. `change` is called before
/// each operation, and `cut` after each stat.
fn view_while(
    before: &str,
    change: impl Fn(&fs::File, u64) + Send + Sync,
    cut: impl Fn(&fs::File, u64) + Send + Sync + 'static,
) -> (FileView, u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, before).unwrap();
    let [writer, cutter] = [0, 1].map(|_| fs::File::options().write(true).open(&path).unwrap());
    let system = Interrupted::new(|operation| {
        change(&writer, operation);
        Ok(())
    });
    let system = system.and_after_stamps(move |operation| cut(&cutter, operation));
    let request = ReadRequest { path: path.clone(), ..window(1, None, None) };
    let options = WorkspaceOptions::unbounded();
    let views = Workspace::on(&system, &options).read_with(&[request], &Cancel::default());
    (views.unwrap().remove(0), system.count())
}

fn overwrite(mut file: &fs::File, content: &str) {
    use std::io::{Seek, Write};
    file.rewind().unwrap();
    file.write_all(content.as_bytes()).unwrap();
}

/// Short files are read, long ones mapped.
const SIZES: [usize; 2] = [100, 80_000];

#[test]
fn regression_an_overwritten_file_that_grows_is_not_taken_for_a_log() {
    for lines in SIZES {
        let (old, new) = ("a line before\n".repeat(lines), "another line now\n".repeat(lines));
        let (_, count) = view_while(&old, |_, _| {}, |_, _| {});
        for place in 1..=count {
            let change = |file: &fs::File, operation| {
                if operation == place {
                    overwrite(file, &new);
                }
            };
            let (view, _) = view_while(&old, change, |_, _| {});
            let shown: Vec<_> = view.text.lines().collect();
            assert_eq!(shown.len() as u64, facts(&view).line_count);
            assert!(shown.iter().all(|row| row.ends_with("|another line now")), "{place}");
        }
    }
}

#[test]
fn regression_a_file_truncated_while_it_is_read_is_not_binary() {
    for lines in SIZES {
        let text = "a line of text\n".repeat(lines);
        let (_, count) = view_while(&text, |_, _| {}, |_, _| {});
        for place in 1..=count {
            let change = |file: &fs::File, operation| {
                if operation == place + 1 {
                    overwrite(file, &text);
                }
            };
            let cut = move |file: &fs::File, operation| {
                if operation == place {
                    file.set_len(0).unwrap();
                }
            };
            let (view, _) = view_while(&text, change, cut);
            let line_count = facts(&view).line_count;
            let is_whole = line_count == lines as u64;
            assert!(is_whole || view.text.is_empty(), "{place}: {line_count}");
        }
    }
}

/// Streams a file of 3 MiB and changes it after the first piece. Returns the rows streamed and the
/// result.
fn streamed_while(change: impl Fn(&std::path::Path)) -> (Vec<u8>, Result<FileView, Code>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "a line of text\n".repeat(3 << 16)).unwrap();
    let request = ReadRequest::new(&path);
    let mut rows = Vec::new();
    let workspace = Workspace::on(&OsFileSystem, &WorkspaceOptions::unbounded());
    let ended = workspace.stream(&request, &Cancel::default(), |piece| {
        if rows.is_empty() {
            change(&path);
        }
        rows.extend_from_slice(piece);
        Ok::<(), Error>(())
    });
    (rows, ended.map_err(|error| error.code))
}

#[test]
fn a_streamed_file_is_one_version_or_an_error() {
    let (whole, ended) = streamed_while(|_| {});
    assert_eq!(facts(&ended.unwrap()).end_line, 3 << 16);
    assert_eq!(whole.iter().filter(|&&byte| byte == b'\n').count(), 3 << 16);
    // A log that grows is streamed up to its old end.
    let (grown, ended) = streamed_while(|path| {
        let mut log = fs::OpenOptions::new().append(true).open(path).unwrap();
        std::io::Write::write_all(&mut log, b"one more\n").unwrap();
    });
    assert_eq!(facts(&ended.unwrap()).end_line, 3 << 16);
    assert!(grown == whole);
    // Other content, or none, is not streamed.
    for len_bytes in [0, 1 << 20, (3 << 20) - 1] {
        let (rows, ended) = streamed_while(|path| {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(len_bytes).unwrap();
        });
        // If the file is read at once, all of the old content was read before the change.
        let is_whole = ended.is_ok() && rows == whole;
        let is_refused = ended.err() == Some(Code::ConcurrentChange);
        assert!(is_whole || is_refused, "{len_bytes}");
        assert!(whole.starts_with(&rows), "{len_bytes}");
    }
}

#[test]
fn an_error_of_the_stream_callback_is_returned() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "one\n").unwrap();
    let request = ReadRequest::new(&path);
    let workspace = Workspace::on(&OsFileSystem, &WorkspaceOptions::unbounded());
    let full = |_: &[u8]| Err(Error::new(Code::NoSpace, "full"));
    let ended = workspace.stream(&request, &Cancel::default(), full);
    assert_eq!(ended.unwrap_err().code, Code::NoSpace);
}

/// File names are compared and printed as text.
#[cfg(unix)]
#[test]
fn paths_that_are_not_unicode_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use hashline_core::{Patch, PatchOperation, SearchQuery, Session};

    let dir = tempfile::tempdir().unwrap();
    let session = Session::in_dir(dir.path()).unwrap();
    let path = std::path::Path::new(OsStr::from_bytes(b"a\xFF"));
    let refusal = r#"path is "a\xFF": expected a path that is valid Unicode"#;
    let view = session.read(path).unwrap().views.remove(0);
    let error = view.error().unwrap();
    assert_eq!((error.code, error.message.as_str()), (Code::InvalidArgument, refusal));
    let query = SearchQuery { paths: vec![path.into()], ..SearchQuery::new("a") };
    assert_eq!(session.search(query).unwrap().errors[0].message, refusal);
    assert!(!session.has(path));
    let patch = Patch::from(PatchOperation::delete_file(path));
    assert!(matches!(session.apply(patch).unwrap(), hashline_core::Outcome::Rejected(_)));
    assert_eq!(session.forget(Some(path)).unwrap_err().message, refusal);
}

/// As for files: each binding spells options in its own way.
#[test]
fn regression_the_error_of_a_read_of_bytes_uses_the_spelling_of_the_binding() {
    let host = Host { spelling: |_| "--from", ..Host::default() };
    let workspace = Workspace::new(WorkspaceOptions { host, ..WorkspaceOptions::unbounded() });
    let request = ReadRequest { path: "a".into(), ..window(0, None, None) };
    let view = workspace.read_bytes(&request, b"one\n", &Cancel::default()).unwrap();
    let error = view.error().unwrap();
    assert_eq!(error.message, "--from is 0: lines are numbered from 1");
}
