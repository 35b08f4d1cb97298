//! Paths as results show them: in the form given by the query, with forward slashes.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, Path};

use hashline_disk::fs::plain;

/// The path of an entry below `dir`, with forward slashes.
pub(super) fn join(dir: &str, name: &OsStr) -> String {
    let name = name.to_str().map_or_else(|| escaped(name).into(), Cow::Borrowed);
    let mut joined = String::with_capacity(dir.len() + name.len() + 1);
    joined.push_str(dir);
    push_joined(&mut joined, &name);
    joined
}

/// Appends to a path, unless `more` is empty.
pub(super) fn push_joined(path: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    let separator = separator(path);
    if !path.is_empty() && !path.ends_with(separator) {
        path.push(separator);
    }
    path.push_str(more);
}

/// A name that is not UTF-8, with invalid bytes as escapes: `b\xFF.txt`.
fn escaped(name: &OsStr) -> String {
    let quoted = format!("{name:?}");
    quoted[1..quoted.len() - 1].to_owned()
}

/// The separator of a path. After `\\?\`, Windows treats a forward slash as part of a name.
fn separator(path: &str) -> char {
    if cfg!(windows) && path.starts_with(r"\\?\") { '\\' } else { '/' }
}

/// Removes `.` components and doubled or trailing slashes from a path of the query; empty for the
/// base of relative paths.
pub(super) fn tidy(path: &str) -> String {
    let mut tidy = String::with_capacity(path.len());
    let mut is_prefix = false;
    for component in Path::new(&*plain(path)).components() {
        match component {
            Component::CurDir => {}
            Component::RootDir => tidy.push(separator(&tidy)),
            Component::Prefix(prefix) => tidy.push_str(&prefix.as_os_str().to_string_lossy()),
            // `C:name` has no slash: the path is relative to the current directory of drive C.
            Component::ParentDir | Component::Normal(_) if is_prefix => {
                tidy.push_str(&component.as_os_str().to_string_lossy());
            }
            Component::ParentDir | Component::Normal(_) => {
                tidy = join(&tidy, component.as_os_str());
            }
        }
        is_prefix = matches!(component, Component::Prefix(_));
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_tidied() {
        for (path, expected) in [
            (".", ""),
            ("./", ""),
            ("a", "a"),
            ("./a//b/", "a/b"),
            ("a/./b", "a/b"),
            ("../a", "../a"),
            ("a/../b", "a/../b"),
        ] {
            assert_eq!(tidy(path), expected, "{path}");
        }
        #[cfg(unix)]
        for (path, expected) in [("/", "/"), ("/a/", "/a"), ("//a", "/a"), ("a\\b", "a\\b")] {
            assert_eq!(tidy(path), expected, "{path}");
        }
        #[cfg(windows)]
        for (path, expected) in [
            (r"C:\a\b", "C:/a/b"),
            (r"c:/a\.\b\", "c:/a/b"),
            ("C:a/b", "C:a/b"),
            (r"\\?\C:\a\b", "C:/a/b"),
            (r"\\?\C:\", "C:/"),
            (r"\\?\UNC\server\share\a", r"\\server\share/a"),
            (r"\\?\Volume{0}\a\b", r"\\?\Volume{0}\a\b"),
            (r".git\info\exclude", ".git/info/exclude"),
        ] {
            assert_eq!(tidy(path), expected, "{path}");
        }
    }
}
