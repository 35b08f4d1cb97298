//! The places that outputs of programs name, as lines with anchors.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use hashline_core::{
    AnnotateOptions, Cancel, Code, Outcome, PatchOperation, ReadReport, ReadRequest, RunsIn,
    Session, SessionOptions, ViewKind,
};
use serde_json::Value;

/// The lines of each file of a scene.
const LINES: u64 = 60;

struct Scene {
    dir: tempfile::TempDir,
    session: Session,
}

impl Scene {
    fn new(files: &[&str]) -> Scene {
        Scene::with(files, |options| options)
    }

    fn with(files: &[&str], change: impl FnOnce(SessionOptions) -> SessionOptions) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::new(change(SessionOptions::in_dir(dir.path()))).unwrap();
        let scene = Scene { dir, session };
        files.iter().for_each(|file| scene.write(file));
        scene
    }

    fn write(&self, file: &str) {
        let path = self.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, (1..=LINES).map(|line| format!("{file} {line}\n")).collect::<String>())
            .unwrap();
    }

    fn annotate(&self, output: &str) -> ReadReport {
        self.annotate_with(output, &AnnotateOptions::default())
    }

    fn annotate_with(&self, output: &str, options: &AnnotateOptions) -> ReadReport {
        let output = output.replace("<dir>", &self.dir.path().to_string_lossy());
        self.session.annotate(&output, options, &Cancel::default()).unwrap()
    }
}

fn shown(report: &ReadReport) -> Vec<(String, u64)> {
    let of_view = |view: &hashline_core::FileView| {
        let lines = view.as_text().unwrap().match_lines.clone().unwrap();
        let path = view.path.replace('\\', "/");
        lines.into_iter().map(|line| (path.clone(), line)).collect::<Vec<_>>()
    };
    report.views.iter().flat_map(of_view).collect()
}

fn lines(report: &ReadReport) -> Vec<u64> {
    shown(report).into_iter().map(|(_, line)| line).collect()
}

#[test]
fn outputs_of_tools_name_their_places() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/outputs.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let mut wrong = String::new();
    for row in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let place =
            |place: &Value| (place[0].as_str().unwrap().to_owned(), place[1].as_u64().unwrap());
        let expected: Vec<_> = row["places"].as_array().unwrap().iter().map(place).collect();
        let files: Vec<&str> = expected.iter().map(|(file, _)| file.as_str()).collect();
        let scene = Scene::new(&files);
        scene.write("node_modules/x/index.js");
        let report = scene.annotate(row["output"].as_str().unwrap());
        let found = shown(&report);
        if found != expected {
            writeln!(wrong, "{}: {found:?}, expected {expected:?}", row["tool"]).unwrap();
        }
        for (file, line) in found {
            assert!(report.text.contains(&format!("|{file} {line}")), "{}", report.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn rows_are_those_of_a_read_and_count_as_shown() {
    let scene = Scene::new(&["a.ts"]);
    let other = Session::in_dir(scene.dir.path()).unwrap();
    let read = other.read(ReadRequest { lines: vec![3], ..ReadRequest::from("a.ts") }).unwrap();
    let report = scene.annotate("a.ts:3:7: error\n");
    assert_eq!(report.text, format!("--- a.ts ---\n{}", read.text));
    assert_eq!(report.views[0].text, read.text);
    let edit =
        |line: &str| scene.session.apply(PatchOperation::set_line("a.ts", line, "x")).unwrap();
    assert!(matches!(edit(&read.text), Outcome::Applied(_)));
    let unseen = other.read("a.ts").unwrap().text.lines().nth(8).unwrap().to_owned();
    let Outcome::Rejected(rejected) = edit(unseen.split('|').next().unwrap()) else { panic!() };
    assert_eq!(rejected.failures[0].code, Code::NotShown);
}

#[test]
fn context_lines_are_shown_by_option() {
    let scene = Scene::new(&["a.ts"]);
    let options = AnnotateOptions { context: 1, ..AnnotateOptions::default() };
    let report = scene.annotate_with("a.ts:3: x\na.ts:4: x\na.ts:9: x\n", &options);
    let rows = report.text.lines().map(|row| row.split('|').next_back().unwrap());
    let expected = [
        "--- a.ts ---",
        "a.ts 2",
        "a.ts 3",
        "a.ts 4",
        "a.ts 5",
        "...",
        "a.ts 8",
        "a.ts 9",
        "a.ts 10",
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    assert_eq!(lines(&report), [3, 4, 9]);
}

#[test]
fn a_file_that_is_newer_than_the_command_is_named() {
    let scene = Scene::new(&["a.ts", "b.ts"]);
    let hour = std::time::Duration::from_secs(3_600);
    let now = std::time::SystemTime::now();
    let file = fs::File::options().write(true).open(scene.dir.path().join("a.ts")).unwrap();
    file.set_modified(now - hour).unwrap();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap() - hour / 2;
    let since_ms = Some(since.as_millis() as u64);
    let options = AnnotateOptions { since_ms, ..AnnotateOptions::default() };
    let report = scene.annotate_with("a.ts:3: x\nb.ts:3: x\n", &options);
    assert_eq!(report.changed, ["b.ts"]);
    let note = "(b.ts changed after the command started: its lines are shown as they are now.)";
    assert!(report.text.ends_with(note), "{}", report.text);
    assert!(scene.annotate("b.ts:3: x\n").changed.is_empty());
}

#[test]
fn relative_paths_start_where_the_command_ran() {
    let scene = Scene::new(&["a.ts", "sub/a.ts", "sub/b.ts"]);
    let options = AnnotateOptions { cwd: Some("sub".into()), ..AnnotateOptions::default() };
    let report = scene.annotate_with("a.ts:3: x\nb.ts:4: x\nsub/b.ts:5: x\n", &options);
    let expected = [("sub/a.ts", 3), ("sub/b.ts", 4), ("sub/b.ts", 5)];
    assert_eq!(shown(&report), expected.map(|(path, line)| (path.to_owned(), line)));
}

#[test]
fn only_existing_lines_of_readable_text_files_are_shown() {
    let scene = Scene::new(&["a.ts", ".env", ".env.local", "prod.env", "empty.ts"]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.ts"), "secret\n").unwrap();
    fs::write(scene.dir.path().join("empty.ts"), "").unwrap();
    fs::write(scene.dir.path().join("image.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    fs::write(scene.dir.path().join("binary.bin"), b"a\0b\n").unwrap();
    fs::create_dir(scene.dir.path().join("dir.ts")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(
            outside.path().join("secret.ts"),
            scene.dir.path().join("link.ts"),
        )
        .unwrap();
        let fifo = scene.dir.path().join("fifo.ts");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
    }
    let secret = outside.path().join("secret.ts").to_string_lossy().into_owned();
    let names = [
        "link.ts",
        "fifo.ts",
        "dir.ts",
        "image.png",
        "binary.bin",
        "empty.ts",
        ".env",
        ".env.local",
        "prod.env",
        "none.ts",
        "../secret.ts",
        ".",
        "/",
        &secret,
    ];
    let output: String = names.iter().map(|name| format!("{name}:1:1: x\n")).collect();
    let report = scene.annotate(&output);
    assert_eq!((report.text.as_str(), report.views.len(), report.images.len()), ("", 0, 0));
    let report = scene.annotate("a.ts:0: x\na.ts:999: x\na.ts:99999999999999999999: x\na.ts:60\n");
    assert_eq!(lines(&report), [60]);
    assert!(!report.text.contains("not shown"), "{}", report.text);
    // The end of the file, as compilers name it.
    assert_eq!(lines(&scene.annotate("a.ts:61:1: error: unexpected end of file\n")), [60]);
}

#[test]
fn read_roots_are_readable() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("lib.ts"), "one\ntwo\n").unwrap();
    let read_roots = vec![outside.path().to_owned()];
    let scene = Scene::with(&[], |options| SessionOptions { read_roots, ..options });
    let output = format!("    at f ({}:2:1)\n", outside.path().join("lib.ts").display());
    let report = scene.annotate(&output);
    assert_eq!(lines(&report), [2]);
    assert!(report.text.ends_with("|two"), "{}", report.text);
}

#[test]
fn documents_are_shown_in_place_of_files() {
    let scene = Scene::new(&["a.ts"]);
    scene.session.set_document("a.ts", "one\ntwo\n", None).unwrap();
    let options = AnnotateOptions { since_ms: Some(0), ..AnnotateOptions::default() };
    let report = scene.annotate_with("a.ts:2:1: x", &options);
    assert!(report.text.ends_with("|two"), "{}", report.text);
    assert!(report.changed.is_empty());
}

#[test]
fn limits_bound_files_lines_and_bytes() {
    let names: Vec<String> = (0..30).map(|file| format!("f{file}.ts")).collect();
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let scene = Scene::new(&files);
    let output: String = (1..=LINES)
        .flat_map(|line| files.iter().map(move |file| format!("{file}:{line}:1: x\n")))
        .collect();
    let default = AnnotateOptions::default;
    let all = scene.annotate(&output);
    assert_eq!((all.views.len(), shown(&all).len()), (20, 100));
    assert!(all.text.ends_with("(1700 more places of the output are not shown.)"), "{}", all.text);
    let few = scene.annotate_with(&output, &AnnotateOptions { max_lines: 5, ..default() });
    assert_eq!(shown(&few).len(), 5);
    let short = scene.annotate_with(&output, &AnnotateOptions { max_bytes: 60, ..default() });
    assert!(short.views.len() == 1 && short.text.len() < 120, "{}", short.text);
    let one = scene.annotate_with(&output, &AnnotateOptions { max_files: 1, ..default() });
    assert_eq!(one.views.len(), 1);
    let none = scene.annotate_with("f1.ts:1: x", &AnnotateOptions { max_files: 0, ..default() });
    assert_eq!(none.text, "(1 more place of the output is not shown.)");
}

#[test]
fn hostile_outputs_are_bounded() {
    let scene = Scene::new(&["a.ts"]);
    // Longer than what is read of an output.
    let mut names = String::new();
    for place in 0..250_000 {
        writeln!(names, "x{place}.ts:{place}:1: x").unwrap();
    }
    let digits = "1:".repeat(3 << 20);
    let one_line = "a.ts:1 ".repeat(10 << 17);
    let lines_of_a = (1..200_000).map(|line| format!("a.ts:{line}\n")).collect::<String>();
    let garbage: String = (0..300_000_u64).map(|at| char::from((at * 7919 % 256) as u8)).collect();
    let escapes = "\x1b[".repeat(1 << 20) + "\x1b]8;;";
    let returns = "\r".repeat(1 << 20);
    for output in [&names, &digits, &one_line, &lines_of_a, &garbage, &escapes, &returns] {
        let report = scene.annotate(output);
        assert!(report.text.len() < 16 << 10);
        assert!(shown(&report).iter().all(|(path, _)| path == "a.ts"));
    }
    // The start and the end are read.
    let long = format!("a.ts:3: x\n{}\na.ts:9: x\n", "filler\n".repeat(2 << 20));
    assert_eq!(lines(&scene.annotate(&long)), [3, 9]);
}

#[test]
fn no_line_makes_the_parser_panic() {
    let scene = Scene::new(&["a.ts"]);
    let pieces = [
        "a.ts", ":", "3", "(", ")", "é", "│", "\"", " ", "line ", "#L", "\x1b[0m", ",", "\\",
        "://", "[", "]: ", "\r", "\n",
    ];
    let mut state = 1_u64;
    let mut output = String::new();
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        output += pieces[(state >> 33) as usize % pieces.len()];
    }
    scene.annotate(&output);
}

#[test]
fn a_cancelled_call_shows_nothing() {
    let scene = Scene::new(&["a.ts"]);
    let cancel = Cancel::default();
    cancel.cancel();
    let error = scene.session.annotate("a.ts:3", &AnnotateOptions::default(), &cancel).unwrap_err();
    assert_eq!(error.code, Code::Aborted);
}

#[test]
fn a_read_of_single_lines_ignores_those_that_do_not_exist() {
    let scene = Scene::new(&["a.ts"]);
    let lines = vec![900, 7, 0, 7, 2];
    let request = ReadRequest { lines, ..ReadRequest::from(Path::new("a.ts")) };
    let report = scene.session.read(request).unwrap();
    let ViewKind::Text(view) = &report.views[0].kind else { panic!("{report:?}") };
    assert_eq!((view.match_lines.as_deref(), view.match_count), (Some(&[2, 7][..]), Some(2)));
}

#[test]
fn regression_of_a_long_line_the_part_around_the_column_is_shown() {
    let scene = Scene::new(&[]);
    let line = format!("{}boom(){}", "a;".repeat(20_000), "b;".repeat(20_000));
    fs::write(scene.dir.path().join("a.min.js"), format!("{line}\nlast\n")).unwrap();
    let report = scene.annotate("a.min.js:1:40001: error\na.min.js:2:1: x\n");
    assert!(report.text.contains("a;boom()b;"), "{}", report.text);
    assert!(report.text.len() < 16 << 10);
    assert_eq!(lines(&report), [1, 2]);
    // A limit of bytes cuts the line further.
    let options = AnnotateOptions { max_bytes: 300, ..AnnotateOptions::default() };
    let report = scene.annotate_with("  a.min.js\n    1:40001  error  x\n", &options);
    assert!(report.text.contains("a;boom()b;") && report.text.len() < 400, "{}", report.text);
    // Columns that do not exist, or are zero.
    for (column, expected) in [("0", "|a;a;"), ("99999999", "b;b;")] {
        let report = scene.annotate(&format!("a.min.js:1:{column}: error\n"));
        assert!(report.text.contains(expected), "{}", report.text);
    }
}

#[test]
fn regression_context_that_does_not_fit_is_shortened() {
    let scene = Scene::new(&["a.ts"]);
    let with = |context, max_lines, max_bytes| AnnotateOptions {
        context,
        max_lines,
        max_bytes,
        ..AnnotateOptions::default()
    };
    let rows = |report: &ReadReport| -> Vec<u64> {
        let numbers = report.text.lines().filter_map(|row| row.rsplit_once("a.ts "));
        numbers.filter_map(|(_, number)| number.parse().ok()).collect()
    };
    let report = scene.annotate_with("a.ts:30:1: x\n", &with(200, 7, 16 << 10));
    assert_eq!((lines(&report), rows(&report)), (vec![30], (27..=33).collect()));
    let report = scene.annotate_with("a.ts:10:1: x\na.ts:30:1: x\n", &with(u64::MAX, 8, 16 << 10));
    assert_eq!((lines(&report), rows(&report)), (vec![10, 30], vec![9, 10, 11, 29, 30, 31]));
    let report = scene.annotate_with("a.ts:30:1: x\n", &with(50, 100, 60));
    assert_eq!((lines(&report), rows(&report)), (vec![30], vec![29, 30, 31]));
    let report = scene.annotate_with("a.ts:30:1: x\n", &with(50, 1, 16 << 10));
    assert_eq!((lines(&report), rows(&report)), (vec![30], vec![30]));
}

#[test]
fn regression_context_leaves_room_for_the_places_of_other_files() {
    let names: Vec<String> = (0..10).map(|file| format!("f{file}.ts")).collect();
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let scene = Scene::new(&files);
    let output: String = files.iter().map(|file| format!("{file}:30:1: x\n")).collect();
    let rows = |report: &ReadReport, file: &str| {
        report.text.lines().filter(|row| row.contains(&format!("|{file} "))).count()
    };
    let with = |max_lines, max_bytes| {
        let options =
            AnnotateOptions { context: 1_000, max_lines, max_bytes, ..AnnotateOptions::default() };
        let report = scene.annotate_with(&output, &options);
        assert_eq!(shown(&report).len(), 10, "{}", report.text);
        assert!(!report.text.contains("not shown"), "{}", report.text);
        files.iter().map(|file| rows(&report, file)).collect::<Vec<_>>()
    };
    assert_eq!(with(100, 16 << 10), [9, 9, 9, 9, 9, 11, 11, 11, 11, 11]);
    assert_eq!(with(10, 16 << 10), [1; 10]);
    let whole = with(100, 16 << 10).iter().sum::<usize>();
    assert!((90..=100).contains(&whole));
    let small = with(1_000, 600);
    assert!(small.iter().all(|&rows| (1..=7).contains(&rows)), "{small:?}");
    assert!(small.iter().sum::<usize>() > 10, "{small:?}");
    // What a short file does not need, others get.
    fs::write(scene.dir.path().join("f0.ts"), "f0.ts 1\n".repeat(30)).unwrap();
    let options = AnnotateOptions { context: 1_000, max_lines: 100, ..AnnotateOptions::default() };
    let report = scene.annotate_with("f0.ts:30: x\nf1.ts:30: x\n", &options);
    assert_eq!((rows(&report, "f0.ts"), rows(&report, "f1.ts")), (30, 60));
}

#[test]
fn regression_lines_beyond_the_end_of_a_file_are_reported() {
    let scene = Scene::new(&["a.ts", "b.ts"]);
    fs::write(scene.dir.path().join("empty.ts"), "").unwrap();
    let note = |output: &str| {
        let text = scene.annotate(output).text;
        let note = text.lines().find(|line| line.starts_with("(The output names lines"));
        note.unwrap_or_default().to_owned()
    };
    let of = |named: &str| format!("(The output names lines that do not exist: {named}.)");
    let end = note("a.ts:61:1: error: unexpected end of file\n");
    assert_eq!(end, of("a.ts:61 (of 60 lines; the last one is shown)"));
    let beyond = note("a.ts:999:1: x\nb.ts:3: x\nb.ts:62: x\nempty.ts:7: x\n");
    assert_eq!(
        beyond,
        of("a.ts:999 (of 60 lines), b.ts:62 (of 60 lines), empty.ts:7 (of 0 lines)")
    );
    let many: String = (100..200).map(|line| format!("a.ts:{line}: x\n")).collect();
    let five: Vec<String> = (100..105).map(|line| format!("a.ts:{line} (of 60 lines)")).collect();
    assert_eq!(note(&many), of(&format!("{}, …", five.join(", "))));
    assert_eq!(note("a.ts:60: x\nempty.ts:1: x\n"), "");
}

const UNCERTAIN: &str = "(Not shown, because it is not certain which files the output means: ";

#[test]
fn regression_paths_start_in_the_directory_that_the_output_names() {
    let scene = Scene::new(&["a.c", "lib/a.c", "ui/a.ts", "a.ts", "out/a.c"]);
    let shown_in = |output: &str| shown(&scene.annotate(output));
    let place = |path: &str, line: u64| (path.to_owned(), line);
    let make = "a.c:2:1: x\nmake[1]: Entering directory '<dir>/lib'\na.c:3:1: x\n\
                make[1]: *** [Makefile:2: all] Error 1\n\
                make[1]: Leaving directory '<dir>/lib'\na.c:4:1: x\n";
    assert_eq!(shown_in(make), [place("a.c", 2), place("a.c", 4), place("lib/a.c", 3)]);
    // What is not in that directory is not one of the root.
    assert_eq!(shown_in("make[1]: Entering directory '<dir>/lib'\na.ts:3:1: x\n"), []);
    let npm = "> ui@1.0.0 build\n> tsc\n\na.ts(3,1): error TS1: x\nnpm error path <dir>/ui\n";
    assert_eq!(shown_in(npm), [place("ui/a.ts", 3)]);
    assert_eq!(shown_in("> ui@1.0.0 build <dir>/ui\na.ts(3,1): x\n"), [place("ui/a.ts", 3)]);
    let ninja = "ninja: Entering directory `out'\na.c:3:1: x\n";
    assert_eq!(shown_in(ninja), [place("out/a.c", 3)]);
    let runs_in = RunsIn::Directory(scene.dir.path().join("out"));
    let options = AnnotateOptions { runs_in, ..AnnotateOptions::default() };
    assert_eq!(shown(&scene.annotate_with(ninja, &options)), [place("out/a.c", 3)]);
}

#[test]
fn regression_uncertain_places_are_named_and_not_shown() {
    let scene = Scene::new(&["a.ts", "src/a.ts", "b/a.ts"]);
    let unknown = AnnotateOptions { runs_in: RunsIn::Unknown, ..AnnotateOptions::default() };
    let output = "a.ts:3:1: x\nsrc/a.ts:4:1: x\n<dir>/src/a.ts:5:1: x\nnode_modules/x/a.js:3:1\n";
    let report = scene.annotate_with(output, &unknown);
    assert_eq!(shown(&report), [("src/a.ts".to_owned(), 5)]);
    let note = format!("{UNCERTAIN}a.ts:3, src/a.ts:4.)");
    assert!(report.text.ends_with(&note), "{}", report.text);
    // Where nothing is shown, it is said, too. `make -j`.
    let output = "make[1]: Entering directory '<dir>/src'\n\
                  make[1]: Entering directory '<dir>/b'\na.ts:3:1: x\n";
    let report = scene.annotate(output);
    assert_eq!((report.views.len(), &*report.text), (0, &*format!("{UNCERTAIN}a.ts:3.)")));
    assert_eq!(scene.annotate_with("12:30:05 started 3:4\n", &unknown).text, "");
}

#[test]
fn regression_a_class_in_several_source_directories_is_uncertain() {
    let main = "core/src/main/java/com/x/A.java";
    let scene = Scene::new(&[main, "app/src/main/java/com/x/B.java", "src/main/java/com/x/C.java"]);
    let trace = "\tat com.x.A.f(A.java:3)\n\tat com.x.B.f(B.java:4)\n\tat com.x.C.f(C.java:5)\n";
    assert_eq!(lines(&scene.annotate(trace)), [3, 4, 5]);
    for other in ["core/src/test/java/com/x/A.java", "app/src/main/java/com/x/A.java"] {
        scene.write(other);
        let report = scene.annotate(trace);
        assert_eq!(lines(&report), [4, 5], "{other}");
        assert!(report.text.ends_with(&format!("{UNCERTAIN}A.java:3.)")), "{}", report.text);
        fs::remove_file(scene.dir.path().join(other)).unwrap();
    }
}

#[test]
fn regression_a_number_that_a_terminal_wrapped_is_not_shown_in_part() {
    let path = format!("{}.ts", "x".repeat(50));
    let scene = Scene::new(&[&path, "b.ts"]);
    let number = |output: &str| lines(&scene.annotate(output));
    // The width is not known.
    assert_eq!(number(&format!("{path}:1\n2:11: error\n")), [0u64; 0]);
    assert_eq!(number("b.ts:1\n2:11\n"), [0u64; 0]);
    assert_eq!(number("b.ts(1\n2,7): error\n"), [0u64; 0]);
    assert_eq!(number("\"b.ts\", line 1\n2\n"), [0u64; 0]);
    assert_eq!(number("b.ts:1\n2 errors\n"), [1]);
    assert_eq!(number("b.ts:1\n\n2:11\n"), [1]);
    // Another line was wrapped at the same column.
    let filler = "-".repeat(path.len() + 2);
    assert_eq!(number(&format!("{path}:1\n2:11: error\n{filler}\n")), [12]);
    let report = scene.annotate(&format!("{path}:9\n9:11: error\n{filler}\n"));
    assert_eq!(lines(&report), [0u64; 0]);
}

#[test]
fn regression_more_forms_of_places() {
    let scene = Scene::new(&["src/a.ts", "s.sh", "fe/a.mjs"]);
    for (output, line) in [
        ("s.sh: 3: nosuch_cmd: not found", 3),
        ("s.sh: 4: Syntax error: Unterminated quoted string", 4),
        ("fe/a.mjs (5:0)", 5),
        ("[!] RollupError: fe/a.mjs (6:0): Expected ','", 6),
        ("f@<dir>/src/a.ts:7:1", 7),
        ("webpack:///src/a.ts:8:1", 8),
        ("ERROR:src/a.ts:9", 9),
        ("\u{feff}src/a.ts:10:1", 10),
    ] {
        assert_eq!(lines(&scene.annotate(output)), [line], "{output}");
    }
    for output in ["sh: 3: src/a.ts: not found", "user@src/a.ts:3", "x:src/a.ts:3"] {
        assert_eq!(lines(&scene.annotate(output)), [0u64; 0], "{output}");
    }
}

#[test]
fn regression_limits_are_said_although_nothing_is_shown() {
    let scene = Scene::new(&[]);
    let output: String = (0..2_100).map(|at| format!("src/f{at}.ts:3: x\n")).collect();
    let report = scene.annotate(&output);
    assert_eq!(report.text, "(The output names too many paths: some were not checked.)");
}

#[test]
fn regression_a_file_in_another_unicode_normalization_is_found() {
    // `é` and `ü` in NFD.
    let scene = Scene::new(&["cafe\u{301}/u\u{308}.ts", "src/e\u{301}\u{323}.ts"]);
    let report = scene.annotate("caf\u{e9}/\u{fc}.ts:3:1: error\nsrc/\u{1eb9}\u{301}.ts:4: b\n");
    assert_eq!(lines(&report), [3, 4], "{}", report.text);
    // Only the normalization differs.
    let scene = Scene::new(&["CAFE\u{301}.ts", "e\u{301}.ts"]);
    let report = scene.annotate("caf\u{e9}.ts:3:1: error\n\u{e8}.ts:2: error\n");
    assert_eq!(shown(&report), []);
    // Two files have this name in other forms.
    let scene = Scene::new(&["e\u{301}\u{323}.ts", "e\u{323}\u{301}.ts"]);
    assert_eq!(shown(&scene.annotate("\u{1eb9}\u{301}.ts:4: error\n")), []);
    // A file with the name as it is written takes precedence.
    let scene = Scene::new(&["e\u{301}.ts", "\u{e9}.ts"]);
    assert_eq!(shown(&scene.annotate("\u{e9}.ts:4: error\n")), [("\u{e9}.ts".to_owned(), 4)]);
}
