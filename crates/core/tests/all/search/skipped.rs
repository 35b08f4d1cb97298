//! What a search skips is counted by reason; what the query names is searched.

use hashline_core::{Skipped, SkippedDirectories};

use super::*;

fn tree() -> Tree {
    Tree::new(&[
        (".git/config", "needle"),
        (".gitignore", "node_modules/\ntarget/\n/scripts/*\n*.log\ndata/*\n!data/.gitkeep\n"),
        (".github/ci.yml", "needle"),
        (".env", "needle"),
        ("a.txt", "hay"),
        ("a.log", "needle"),
        ("b.log", "needle"),
        ("b.bin", "needle\0"),
        ("data/.gitkeep", ""),
        ("data/big.csv", "needle"),
        ("logs/c.log", "needle"),
        ("node_modules/x/index.js", "needle"),
        ("packages/one/node_modules/y.js", "needle"),
        ("packages/one/target/z.o", "needle"),
        ("scripts/run.sh", "needle"),
        ("scripts/deep/walk.sh", "needle"),
        ("target/debug.log", "needle"),
        ("target/out/a.txt", "needle"),
        ("venv/.gitignore", "*\n"),
        ("venv/lib/site.py", "needle"),
        ("venv/nested/.gitignore", "skip.py\n"),
        ("venv/nested/skip.py", "needle"),
    ])
}

fn in_paths(search: &str, paths: &[&str]) -> SearchQuery {
    SearchQuery { paths: paths.iter().map(PathBuf::from).collect(), ..text(search) }
}

fn directories(count: u64, names: &[&str]) -> SkippedDirectories {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    SkippedDirectories { count, names, has_more: false }
}

#[test]
fn a_hidden_entry_that_rules_admit_is_found_in_a_named_directory() {
    let tree = Tree::new(&[
        ("c/.ignore", "/*\n!/.github\n"),
        ("c/.github/w.yml", "needle\n"),
        ("c/README", "needle\n"),
        ("d/.ignore", "*\n!.gitkeep\n"),
        ("d/.gitkeep", ""),
        ("d/a.txt", "needle\n"),
    ]);
    let named = |path: &str| SearchQuery { paths: vec![path.into()], ..text("needle") };
    assert_eq!(paths(&tree.search(&named("c"))), ["c/.github/w.yml", "c/README"]);
    assert_eq!(paths(&tree.search(&named("d"))), ["d/a.txt"]);
}

#[test]
fn what_is_skipped_is_counted_by_reason() {
    let found = tree().search(&text("needle"));
    assert_eq!(paths(&found), Vec::<String>::new());
    let expected = Skipped {
        unknown_structure: 0,
        ignored_directories: SkippedDirectories {
            has_more: true,
            ..directories(7, &["node_modules", "target", "scripts/deep", "venv/lib", "venv/nested"])
        },
        hidden_directories: directories(1, &[".github"]),
        ignored_files: 6,
        hidden_files: 2,
        links: 0,
        binary: 1,
        too_large: 0,
        lossy: 0,
    };
    assert_eq!(found.skipped, expected);
    assert_eq!(
        found.skipped_note().unwrap(),
        "skipped: 7 ignored directories (node_modules, target, scripts/deep, venv/lib, \
         venv/nested, …), 1 hidden directory (.github), 6 ignored files, 2 hidden files, 1 binary; \
         name a path to search it"
    );
}

#[test]
fn an_answer_with_matches_has_a_brief_note() {
    let tree = Tree::new(&[("a.txt", "needle"), (".ignore", "dist\n"), ("dist/b.txt", "needle")]);
    let note = tree.search(&text("needle")).skipped_note().unwrap();
    assert_eq!(note, "skipped: 1 ignored directory, 1 hidden file");
    let nothing = Tree::new(&[("a.txt", "hay"), (".git/HEAD", "needle")]);
    let found = nothing.search(&text("needle"));
    assert_eq!((found.skipped_note(), found.skipped), (None, Skipped::default()));
}

#[test]
fn many_directories_are_named_in_part() {
    let files: Vec<String> = (0..9).map(|number| format!("d{number}/a.txt")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "needle")).collect();
    let tree = Tree::new(&[&files[..], &[(".ignore", "d*/\n")]].concat());
    let note = tree.search(&text("needle")).skipped_note().unwrap();
    assert!(note.starts_with("skipped: 9 ignored directories (d0, d1, d2, d3, d4, …), "), "{note}");
    let skipped = serde_json::to_value(tree.search(&text("needle")).skipped).unwrap();
    assert_eq!(skipped["ignoredDirectories"]["hasMore"], true);
    assert_eq!(skipped["hiddenDirectories"]["hasMore"], false);
}

#[test]
fn files_over_the_limit_are_counted() {
    let tree = Tree::new(&[("a.txt", "hay"), ("b.txt", &"needle\n".repeat(500))]);
    let options = WorkspaceOptions { max_file_bytes: 2048, ..tree.options() };
    let found = tree.search_as(&text("needle"), &options);
    assert_eq!(found.skipped_note().unwrap(), "skipped: 1 over 2 KiB");
    let found = tree.search_as(&in_paths("needle", &["b.txt"]), &options);
    assert_eq!((found.skipped.too_large, found.errors.len()), (0, 1));
}

#[test]
fn files_with_invalid_bytes_are_counted() {
    let tree = Tree::new(&[("a.txt", "hay\n")]);
    let mut mixed = "日本語のテキスト\n".repeat(4).into_bytes();
    mixed.extend(b"\x93\xfa\x96\x7b needle\n");
    tree.write("mixed.txt", &mixed);
    tree.write("cut.txt", b"needle \xe6\x97\n");
    for (query, found) in [(text("needle"), 2), (text("nothing"), 0)] {
        let result = tree.search(&query);
        assert_eq!((result.match_count, result.skipped.lossy), (found, 2));
        assert_eq!(result.skipped_note().unwrap(), "skipped: invalid bytes in 2 files");
    }
    // A limit ends the search before the second file.
    let result = tree.search(&SearchQuery { max_matches: 1, ..text("needle") });
    assert_eq!((result.match_count, result.truncated), (1, true));
}

#[test]
fn a_session_counts_invalid_bytes_only_if_it_finds_no_encoding() {
    let tree = Tree::new(&[]);
    let shift_jis = hashline_disk::bytes::Charset::by_label("shift_jis").unwrap();
    let japanese = shift_jis.encode("これは日本語の文章です。検索できます。\n").unwrap();
    tree.write("japanese.txt", &japanese);
    tree.write("both.txt", [&*japanese, "日本語です。これも日本語です。\n".as_bytes()].concat());
    let session = hashline_core::Session::in_dir(&tree.path).unwrap();
    let result = session.search(text("検索")).unwrap();
    assert_eq!(paths(&result), ["japanese.txt"]);
    assert_eq!(result.skipped.lossy, 1);
    assert_eq!(result.skipped_note().unwrap(), "skipped: invalid bytes in 1 file");
}

#[test]
fn what_the_query_excludes_is_not_skipped() {
    let globs = vec!["*.txt".to_owned(), "!dist".to_owned(), "!.cache".to_owned()];
    let tree = Tree::new(&[
        (".ignore", "dist\n"),
        ("a.txt", "hay"),
        ("b.md", "needle"),
        (".cache/c.txt", "needle"),
        ("dist/d.txt", "needle"),
    ]);
    let found = tree.search(&SearchQuery { globs, ..text("needle") });
    assert_eq!(found.skipped, Skipped::default());
}

#[test]
fn paths_that_the_query_names_are_searched_although_ignored() {
    let tree = tree();
    for (path, expected) in [
        (".github", &[".github/ci.yml"][..]),
        ("node_modules", &["node_modules/x/index.js"]),
        ("node_modules/x", &["node_modules/x/index.js"]),
        // The directory is excluded, so a rule for its files says nothing.
        ("target", &["target/debug.log", "target/out/a.txt"]),
        ("target/out", &["target/out/a.txt"]),
        // All its entries are.
        ("scripts", &["scripts/deep/walk.sh", "scripts/run.sh"]),
        ("scripts/deep", &["scripts/deep/walk.sh"]),
        ("logs", &["logs/c.log"]),
        ("data", &["data/big.csv"]),
        // By its own ignore file; those below still apply.
        ("venv", &["venv/lib/site.py"]),
        ("a.log", &["a.log"]),
        // The directories in it are not named.
        ("packages", &[]),
        (".", &[]),
    ] {
        assert_eq!(paths(&tree.search(&in_paths("needle", &[path]))), expected, "{path}");
    }
}

#[test]
#[cfg(unix)]
fn links_that_are_not_followed_are_counted() {
    let tree = Tree::new(&[("real/a.txt", "hay"), (".ignore", "hidden-link\n")]);
    for link in ["link", "hidden-link", ".link"] {
        std::os::unix::fs::symlink("real", tree.path.join(link)).unwrap();
    }
    let skipped = tree.search(&text("needle")).skipped;
    assert_eq!((skipped.links, skipped.hidden_files), (1, 1));
}

#[test]
fn regression_a_glob_that_names_a_directory_searches_what_is_ignored_in_it() {
    let tree = Tree::new(&[
        (".git/HEAD", ""),
        ("a.py", "hay"),
        ("venv/.gitignore", "*\n"),
        ("venv/lib/site.py", "def needle():\n"),
        (".venv/.gitignore", "*\n"),
        (".venv/lib/site.py", "needle"),
        ("coverage/.gitignore", "*\n"),
        ("coverage/x.py", "needle"),
    ]);
    for (glob, expected) in [
        ("venv/**/*.py", &["venv/lib/site.py"][..]),
        (".venv/**/*.py", &[".venv/lib/site.py"]),
        ("coverage/**/*.py", &["coverage/x.py"]),
        ("{venv,coverage}/**/*.py", &["coverage/x.py", "venv/lib/site.py"]),
        ("venv", &["venv/lib/site.py"]),
        ("venv/", &["venv/lib/site.py"]),
        // It names no directory, but files.
        ("**/*.py", &["coverage/x.py"]),
    ] {
        let found = tree.search(&SearchQuery { globs: vec![glob.into()], ..text("needle") });
        assert_eq!(paths(&found), expected, "{glob}");
        assert!(found.unmatched_globs.is_empty(), "{glob}");
    }
}

#[test]
fn regression_directories_with_one_name_are_all_named() {
    let files = ["a", "b", "c", "d"].map(|name| format!("packages/{name}/dist/x.js"));
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "needle")).collect();
    let tree = Tree::new(&[&files[..], &[(".ignore", "dist\n")]].concat());
    let note = tree.search(&text("needle")).skipped_note().unwrap();
    let names = "(packages/a/dist, packages/b/dist, packages/c/dist, packages/d/dist)";
    assert!(note.starts_with(&format!("skipped: 4 ignored directories {names}")), "{note}");
}

#[test]
fn regression_globs_in_the_spellings_of_lists_and_shells() {
    let tree = Tree::new(&[("src/a.ts", "needle"), ("src/b.tsx", "needle"), ("c.md", "needle")]);
    for (glob, expected) in [
        ("*.ts;*.tsx", &["src/a.ts", "src/b.tsx"][..]),
        ("[\"*.ts\", \"*.tsx\"]", &["src/a.ts", "src/b.tsx"]),
        ("\"*.ts\"", &["src/a.ts"]),
        ("'src/*.ts'", &["src/a.ts"]),
        (" *.ts ", &["src/a.ts"]),
        ("src//a.ts", &["src/a.ts"]),
    ] {
        let found = tree.search(&SearchQuery { globs: vec![glob.into()], ..text("needle") });
        assert_eq!(paths(&found), expected, "{glob}");
    }
}
