//! Globs as other tools take them, and globs that match no file.

use super::*;

fn tree() -> Tree {
    Tree::new(&[
        (".git/", ""),
        (".gitignore", "dist/\n*.log\n"),
        ("a.ts", "needle"),
        ("src/b.ts", "needle"),
        ("src/c.tsx", "needle"),
        ("src/debug.log", "needle"),
        ("src/.cache/x.ts", "needle"),
        ("src/deep/d.ts", "needle"),
        ("lib/e.md", "needle"),
        ("dist/f.js", "needle"),
        ("dist/deep/g.js", "needle"),
        (".github/workflows/ci.yml", "needle"),
        ("packages/one/src/h.ts", "needle"),
        ("packages/one/dist/i.ts", "needle"),
    ])
}

fn with(globs: &[&str], paths: &[&str]) -> SearchQuery {
    SearchQuery {
        globs: globs.iter().map(|&glob| glob.to_owned()).collect(),
        paths: paths.iter().map(PathBuf::from).collect(),
        ..text("needle")
    }
}

#[track_caller]
fn assert_found(tree: &Tree, globs: &[&str], in_paths: &[&str], expected: &[&str]) {
    let found = tree.search(&with(globs, in_paths));
    assert_eq!(paths(&found), expected, "{globs:?} in {in_paths:?}");
    let includes = globs.iter().filter(|glob| !glob.starts_with('!'));
    let unmatched: Vec<_> =
        includes.filter(|_| expected.is_empty()).map(|&glob| glob.to_owned()).collect();
    assert_eq!(found.unmatched_globs, unmatched, "{globs:?} in {in_paths:?}");
}

#[test]
fn regression_a_glob_of_wildcards_opens_no_hidden_or_ignored_directory() {
    let tree = tree();
    tree.write(".git/config", "needle");
    tree.write("src/.env", "needle");
    let all =
        ["a.ts", "lib/e.md", "packages/one/src/h.ts", "src/b.ts", "src/c.tsx", "src/deep/d.ts"];
    for glob in ["**", "**/*", "*", "./**", "./*", "*.*", "**/*.*", "?*", "[a-z]*", "{*,**/*}"] {
        let expected: Vec<&str> =
            all.into_iter().filter(|path| glob != "./*" || *path == "a.ts").collect();
        assert_found(&tree, &[glob], &[], &expected);
    }
    assert_found(&tree, &[&tree.full("**")], &[], &all);
    assert_found(&tree, &["*/*"], &["src"], &all[3..5]);
    // What a path or another glob names is searched.
    assert_found(&tree, &["**"], &["dist"], &["dist/deep/g.js", "dist/f.js"]);
    for globs in [["**", ".github/**"], [".github/**", "**"]] {
        assert_found(&tree, &globs, &[], &[&[".github/workflows/ci.yml"], &all[..]].concat());
    }
    assert_found(&tree, &["dist/*.js"], &[], &["dist/f.js"]);
    assert_found(&tree, &["**/.*"], &[], &["src/.env"]);
    let found = tree.search(&SearchQuery { hidden: true, ..with(&["**"], &[]) });
    assert!(paths(&found).contains(&"src/.env".to_owned()));
}

#[test]
fn a_glob_that_matches_a_named_file_is_not_unmatched() {
    let tree = Tree::new(&[("src/a.ts", "needle\n"), ("src/b.ts", "needle\n")]);
    let query = SearchQuery {
        paths: vec!["src/a.ts".into()],
        globs: vec!["*.ts".to_owned()],
        ..text("needle")
    };
    let found = tree.search(&query);
    assert_eq!((paths(&found), found.unmatched_globs.len()), (vec!["src/a.ts".to_owned()], 0));
}

#[test]
fn globs_are_limited_with_the_paths_to_which_they_are_relative() {
    let tree = Tree::new(&[("a/b/c.ts", "needle\n")]);
    let query = SearchQuery {
        paths: (0..1_000).map(|at| format!("a/{at}").into()).collect(),
        globs: vec!["a/b".to_owned(); 1_000],
        ..text("needle")
    };
    let workspace = Workspace::new(tree.options());
    assert_eq!(workspace.search(query).unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn globs_with_a_dot_are_relative_to_the_base() {
    let tree = tree();
    assert_found(&tree, &["./src/*.ts"], &[], &["src/b.ts"]);
    assert_found(&tree, &["././src/*.ts"], &[], &["src/b.ts"]);
    assert_found(&tree, &["./*.ts"], &[], &["a.ts"]);
    assert_found(&tree, &["!./src/**", "!packages"], &[], &["a.ts", "lib/e.md"]);
}

#[test]
fn absolute_globs_in_the_root_are_understood() {
    let tree = tree();
    assert_found(&tree, &[&tree.full("src/*.ts")], &[], &["src/b.ts"]);
    assert_found(&tree, &[&tree.full("src/*.ts")], &["src"], &["src/b.ts"]);
    assert_found(&tree, &[&tree.full("src/deep/")], &[], &["src/deep/d.ts"]);
    assert_found(&tree, &["/src/*.ts"], &[], &["src/b.ts"]);
    let all = ["a.ts", "lib/e.md", "packages/one/src/h.ts"];
    assert_found(&tree, &[&format!("!{}", tree.full("src"))], &[], &all);
    assert_found(&tree, &["/nowhere/src/*.ts"], &[], &[]);
}

#[test]
fn a_directory_as_a_glob_means_the_files_below_it_by_the_usual_rules() {
    let tree = tree();
    let src = ["src/b.ts", "src/c.tsx", "src/deep/d.ts"];
    let anywhere = [&["packages/one/src/h.ts"][..], &src].concat();
    for glob in ["src/", "src"] {
        assert_found(&tree, &[glob], &[], &anywhere);
    }
    for glob in ["./src/", "/src/", "/src"] {
        assert_found(&tree, &[glob], &[], &src);
    }
    assert_found(&tree, &["{lib,deep}"], &[], &["lib/e.md", "src/deep/d.ts"]);
    assert_found(&tree, &["packages/*/src"], &[], &["packages/one/src/h.ts"]);
    assert_found(&tree, &["packages/"], &[], &["packages/one/src/h.ts"]);
    assert_found(&tree, &["./", "!packages"], &["src"], &src);
}

#[test]
fn a_list_in_one_glob_is_split_if_it_matches_no_file() {
    let tree = tree();
    for glob in ["*.tsx,*.md", "*.tsx, *.md", "*.tsx *.md", "*.tsx|*.md", "{*.tsx,*.md}"] {
        assert_found(&tree, &[glob], &[], &["lib/e.md", "src/c.tsx"]);
    }
    assert_found(&tree, &["!*.ts,*.tsx"], &[], &["lib/e.md"]);
    assert_found(&tree, &["*.ts,!packages/**", "!src"], &[], &["a.ts"]);
    let named = Tree::new(&[("a,b.ts", "needle"), ("b.ts", "needle")]);
    assert_found(&named, &["a,b.ts"], &[], &["a,b.ts"]);
}

#[test]
fn globs_may_be_relative_to_paths() {
    let tree = tree();
    assert_found(&tree, &["deep/*.ts"], &["src"], &["src/deep/d.ts"]);
    assert_found(&tree, &["./deep/*.ts"], &["./src/"], &["src/deep/d.ts"]);
    assert_found(&tree, &["deep/*.ts"], &[&tree.full("src")], &[&tree.full("src/deep/d.ts")]);
    assert_found(&tree, &["one/src/*.ts"], &["src", "packages"], &["packages/one/src/h.ts"]);
    assert_found(&tree, &["*/src/*.ts"], &["packages"], &["packages/one/src/h.ts"]);
    assert_found(&tree, &["src/*.ts"], &["packages/one"], &["packages/one/src/h.ts"]);
    assert_found(&tree, &["!deep/**"], &["src"], &["src/b.ts", "src/c.tsx"]);
    // Relative to the base, as before.
    assert_found(&tree, &["src/*.ts"], &["src"], &["src/b.ts"]);
    let twice = Tree::new(&[("src/a.ts", "needle"), ("src/src/b.ts", "needle")]);
    assert_found(&twice, &["src/*.ts"], &["src"], &["src/a.ts"]);
}

#[test]
fn directories_that_a_glob_names_are_searched_although_ignored_or_hidden() {
    let tree = tree();
    let ci = &[".github/workflows/ci.yml"];
    for glob in [".github/**", ".github/workflows/*.yml", "**/.github/**", ".github/*/ci.yml"] {
        assert_found(&tree, &[glob], &[], ci);
    }
    assert_found(&tree, &[".github/"], &[], ci);
    assert_found(&tree, &[".github"], &[], ci);
    assert_found(&tree, &["{.github,lib}/**"], &[], &[ci, &["lib/e.md"][..]].concat());
    assert_found(&tree, &["dist/*.js"], &[], &["dist/f.js"]);
    assert_found(&tree, &["packages/*/dist/*.ts"], &[], &["packages/one/dist/i.ts"]);
    // A wildcard names no directory.
    assert_found(&tree, &["*/f.js"], &[], &[]);
    assert_found(&tree, &[".github/**", "!.github"], &[], &[]);
}

#[test]
fn globs_that_match_no_file_are_reported() {
    let tree = tree();
    let unmatched = |globs: &[&str]| tree.search(&with(globs, &[])).unmatched_globs;
    assert_eq!(unmatched(&["*.ts", "*.zig"]), ["*.zig"]);
    assert_eq!(unmatched(&["*.zig", "*.odin,*.nim"]), ["*.zig", "*.odin,*.nim"]);
    // The last glob decides, but both match.
    assert_eq!(unmatched(&["src/*.ts", "*.ts"]), Vec::<String>::new());
    assert_eq!(unmatched(&["!*.zig"]), Vec::<String>::new());
    let found = tree.search(&with(&["*.zig"], &[]));
    assert_eq!(found.unmatched_globs_note().unwrap(), "no file matches the glob \"*.zig\"");
    let many: Vec<String> = (0..7).map(|number| format!("*.{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let note = tree.search(&with(&many, &[])).unmatched_globs_note().unwrap();
    assert!(note.ends_with("\"*.3\", \"*.4\", …"), "{note}");
}

#[test]
fn regression_alternatives_with_blanks_are_understood() {
    let tree = tree();
    assert_found(&tree, &["src/*.{ts, tsx}"], &[], &["src/b.ts", "src/c.tsx"]);
    assert_found(&tree, &["{ lib/*.md , src/*.tsx }"], &[], &["lib/e.md", "src/c.tsx"]);
    assert_found(&tree, &["*.ts", "!{src , packages}/**"], &[], &["a.ts"]);
}

#[test]
fn regression_paths_with_wildcards_are_understood() {
    let tree = tree();
    assert_found(&tree, &[], &["src/*.ts"], &["src/b.ts"]);
    assert_found(&tree, &[], &["src/**/*.{ts, tsx}"], &["src/b.ts", "src/c.tsx", "src/deep/d.ts"]);
    assert_found(&tree, &[], &["packages/*/src"], &["packages/one/src/h.ts"]);
    assert_found(&tree, &[], &["{lib,src/deep}/"], &["lib/e.md", "src/deep/d.ts"]);
    assert_found(&tree, &[], &["./src/?.ts", "lib"], &["lib/e.md", "src/b.ts"]);
    assert_found(&tree, &[], &["src/*", "src"], &["src/b.ts", "src/c.tsx", "src/deep/d.ts"]);
    // The globs of the query select among them.
    assert_found(&tree, &["*.tsx"], &["src/*"], &["src/c.tsx"]);
    assert_found(&tree, &["!*.tsx"], &["src/*.*"], &["src/b.ts"]);
    // What the path names is searched although it is ignored or hidden.
    assert_found(&tree, &[], &["dist/*.js"], &["dist/f.js"]);
    assert_found(&tree, &[], &[".github/**/*.yml"], &[".github/workflows/ci.yml"]);
    assert_found(&tree, &[], &["src/../lib/*.md"], &["src/../lib/e.md"]);
    let found = tree.search(&with(&[], &["lib/*.ts", "src/*.ts"]));
    assert_eq!(
        (paths(&found), found.unmatched_globs),
        (vec!["src/b.ts".into()], vec!["lib/*.ts".into()])
    );
    // A file whose name has wildcards is meant literally, and a directory must exist.
    let found = tree.search(&with(&[], &["scr/*.ts"]));
    assert_eq!(found.errors[0].code, Code::FileNotFound);
    assert!(found.errors[0].message.to_string().contains("Did you mean src/"));
    #[cfg(unix)]
    {
        tree.write("src/*.ts", "needle");
        assert_found(&tree, &[], &["src/*.ts"], &["src/*.ts"]);
    }
    let found = tree.search(&with(&[], &["src/{*,.ts"]));
    assert_eq!(found.errors[0].code, Code::InvalidArgument);
}

#[test]
fn regression_globs_with_dots_are_understood_as_far_as_they_stay_inside() {
    let tree = tree();
    assert_found(&tree, &["src/../lib/*.md"], &[], &["lib/e.md"]);
    assert_found(&tree, &["../top/src/*.ts"], &[], &["src/b.ts"]);
    assert_found(&tree, &["../lib/*.md"], &["src", "lib"], &["lib/e.md"]);
    let found = tree.search(&with(&["../other/*.ts"], &[]));
    assert_eq!(found.unmatched_globs, ["../other/*.ts"]);
    assert_eq!(
        found.warnings[0].message,
        "the glob \"../other/*.ts\" leads out of the directory where it starts: name a directory in paths"
    );
}

#[test]
#[cfg(unix)]
fn regression_globs_lead_through_links() {
    let tree = tree();
    std::os::unix::fs::symlink("lib", tree.full("link")).unwrap();
    std::os::unix::fs::symlink("../src/deep", tree.full("lib/inner")).unwrap();
    std::os::unix::fs::symlink("..", tree.full("outside")).unwrap();
    assert_found(&tree, &["link/*.md"], &[], &["lib/e.md"]);
    assert_found(&tree, &["./link/**/*.md"], &[], &["lib/e.md"]);
    assert_found(&tree, &["link/inner/*.ts"], &[], &["src/deep/d.ts"]);
    assert_found(&tree, &["link"], &[], &["lib/e.md"]);
    assert_found(&tree, &["link/*.rs"], &[], &[]);
    assert_found(&tree, &["outside/*.rs"], &[], &[]);
    assert_found(&tree, &[], &["link/*.md"], &["link/e.md"]);
}
