//! The files that a walk listed, sorted and without duplicates, and the paths of directories on the
//! way.
//!
//! There may be hundreds of thousands of files. So common parts of paths are stored once, all names
//! are in one string, and a file takes 8 bytes plus its name.

use std::cmp::Ordering;
use std::path::{Path, PathBuf, is_separator};

use super::display::push_joined;

/// The files that a walk listed.
#[derive(Debug, Default)]
pub(super) struct FileList {
    origins: Vec<Origin>,
    groups: Vec<FileGroup>,
    files: Vec<ListedFile>,
    /// For each group, its path below its origin and the names of its files, each terminated.
    texts: String,
}

/// A file of [`FileList`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedFile {
    /// The offset of its name in its group; [`NO_NAME`] for a file that the query names.
    start: u32,
    group: u32,
}

/// Not the offset of a name; limits the size of a group.
const NO_NAME: u32 = u32::MAX;

/// Terminates a text; no file system allows it in a name.
const END_OF_TEXT: char = '\0';

/// A path of the query.
#[derive(Debug)]
struct Origin {
    /// Its absolute path, by which files are sorted and compared.
    path: Box<Path>,
    /// Its path as given in the query.
    shown: Box<str>,
}

impl Origin {
    fn path_bytes(&self) -> &[u8] {
        self.path.as_os_str().as_encoded_bytes()
    }
}

/// The start of a path that is compared: of the absolute one, or of the one in results.
type Start = fn(&Origin) -> &[u8];

/// The paths of a directory.
pub(super) struct DirectoryPaths {
    /// The absolute path; below a followed link, the path through the link.
    pub(super) path: PathBuf,
    /// The path relative to how the query names it.
    pub(super) shown: String,
}

/// A directory with files, or a file that the query names.
#[derive(Debug)]
struct FileGroup {
    /// The offset of its texts.
    start: usize,
    /// The size of the first text, its path below its origin. No system has paths of 4 GiB.
    below_bytes: u32,
    origin: u32,
}

/// The sorted names of the files in a directory, each terminated.
#[derive(Debug, Default)]
pub(super) struct FileNames(String);

impl FileNames {
    /// No name may be empty.
    pub(super) fn new(mut names: Vec<&str>) -> FileNames {
        names.sort_unstable();
        let bytes = names.iter().map(|name| name.len() + 1).sum();
        let mut joined = String::with_capacity(bytes);
        for name in names {
            push_text(&mut joined, name);
        }
        FileNames(joined)
    }
}

fn push_text(texts: &mut String, text: &str) {
    texts.push_str(text);
    texts.push(END_OF_TEXT);
}

impl FileList {
    /// Adds the next path of the query. Takes its absolute path and its form
    /// in the query; returns its index.
    pub(super) fn push_origin(&mut self, path: PathBuf, shown: String) -> u32 {
        let (path, shown) = (path.into_boxed_path(), shown.into_boxed_str());
        self.origins.push(Origin { path, shown });
        (self.origins.len() - 1) as u32
    }

    /// Adds a file that the query names.
    pub(super) fn push_named(&mut self, path: PathBuf, shown: String) {
        let origin = self.push_origin(path, shown);
        let group = self.push_group(origin, "");
        self.files.push(ListedFile { start: NO_NAME, group });
    }

    /// Adds files of a directory below an origin. `below` has `/` between the names of directories.
    pub(super) fn extend(&mut self, origin: u32, below: &str, names: FileNames) {
        let FileNames(mut names) = names;
        let limit_bytes = (NO_NAME as usize).saturating_sub(below.len() + 1);
        while let Some(rest) = split_names(&mut names, limit_bytes) {
            self.extend_group(origin, below, &names);
            names = rest;
        }
        if !names.is_empty() {
            self.extend_group(origin, below, &names);
        }
    }

    /// Adds files whose names fit into one group.
    fn extend_group(&mut self, origin: u32, below: &str, names: &str) {
        let group = self.push_group(origin, below);
        let mut start = below.len() as u32 + 1;
        self.files.extend(names.split_terminator(END_OF_TEXT).map(|name| {
            let file = ListedFile { start, group };
            start += name.len() as u32 + 1;
            file
        }));
        self.texts.push_str(names);
    }

    /// Adds a group and returns its index. 4 Gi groups would take 64 GiB, so the index fits.
    fn push_group(&mut self, origin: u32, below: &str) -> u32 {
        let (start, below_bytes) = (self.texts.len(), below.len() as u32);
        push_text(&mut self.texts, below);
        self.groups.push(FileGroup { start, below_bytes, origin });
        (self.groups.len() - 1) as u32
    }

    /// Sorts files by the path that results show. If several paths lead to one file, keeps the one
    /// that the query names first.
    pub(super) fn sort(&mut self) {
        let mut files = std::mem::take(&mut self.files);
        // The files of one depth are sorted already; this stable sort takes them as one run.
        files.sort_by(|&one, &other| {
            self.compare_paths(one, other)
                .then_with(|| self.group(one).origin.cmp(&self.group(other).origin))
        });
        files.dedup_by(|later, first| self.compare_paths(*later, *first).is_eq());
        // Below one origin, both orders are the same.
        if self.origins.len() > 1 {
            files.sort_by(|&one, &other| self.compare_shown(one, other));
        }
        files.shrink_to_fit();
        self.files = files;
    }

    pub(super) fn files(&self) -> &[ListedFile] {
        &self.files
    }

    /// The path of a file as results show it.
    pub(super) fn shown(&self, file: ListedFile) -> String {
        let (group, name) = (self.group(file), self.name(file));
        let mut shown = self.shown_below(group.origin, self.below(group), name.len() + 1);
        push_joined(&mut shown, name);
        shown
    }

    /// The path of the directory of a file below its origin, and its name.
    pub(super) fn parts(&self, file: ListedFile) -> (&str, &str) {
        (self.below(self.group(file)), self.name(file))
    }

    /// The absolute path of a file; below a followed link, the path through the link.
    pub(super) fn path(&self, file: ListedFile) -> PathBuf {
        let group = self.group(file);
        let mut path = self.origins[group.origin as usize].path.to_path_buf();
        path.extend(self.below(group).split_terminator('/'));
        if !file.is_named() {
            path.push(self.name(file));
        }
        path
    }

    /// The paths of a directory.
    pub(super) fn directory(&self, origin: u32, below: &str) -> DirectoryPaths {
        let mut path = self.origins[origin as usize].path.to_path_buf();
        path.extend(below.split_terminator('/'));
        DirectoryPaths { path, shown: self.shown_below(origin, below, 0) }
    }

    /// The path of a directory as results show it, with capacity for `more_bytes`.
    fn shown_below(&self, origin: u32, below: &str, more_bytes: usize) -> String {
        let origin = &self.origins[origin as usize].shown;
        let mut shown = String::with_capacity(origin.len() + 1 + below.len() + more_bytes);
        shown.push_str(origin);
        below.split_terminator('/').for_each(|name| push_joined(&mut shown, name));
        shown
    }

    /// Compares directories by their absolute paths; for the same path, the origin that the query
    /// names first is less.
    pub(super) fn compare_directories(&self, one: (u32, &str), other: (u32, &str)) -> Ordering {
        let (below, other_below) = ((one.0, [one.1, ""]), (other.0, [other.1, ""]));
        self.compare_parts(below, other_below, Origin::path_bytes).then(one.0.cmp(&other.0))
    }

    fn group(&self, file: ListedFile) -> &FileGroup {
        &self.groups[file.group as usize]
    }

    fn below(&self, group: &FileGroup) -> &str {
        &self.texts[group.start..group.start + group.below_bytes as usize]
    }

    /// The name of a file; empty for a file that the query names.
    fn name(&self, file: ListedFile) -> &str {
        if file.is_named() {
            return "";
        }
        let rest = &self.texts[self.group(file).start + file.start as usize..];
        let end = memchr::memchr(END_OF_TEXT as u8, rest.as_bytes());
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Compares files by their absolute paths.
    fn compare_paths(&self, one: ListedFile, other: ListedFile) -> Ordering {
        self.compare_files(one, other, Origin::path_bytes)
    }

    /// Compares files by their paths as results show them.
    fn compare_shown(&self, one: ListedFile, other: ListedFile) -> Ordering {
        self.compare_files(one, other, |origin| origin.shown.as_bytes())
    }

    fn compare_files(&self, one: ListedFile, other: ListedFile, start: Start) -> Ordering {
        let (name, other_name) = (self.name(one), self.name(other));
        if one.group == other.group {
            return name.cmp(other_name);
        }
        let (group, other_group) = (self.group(one), self.group(other));
        let parts = |group, name| [self.below(group), name];
        self.compare_parts(
            (group.origin, parts(group, name)),
            (other_group.origin, parts(other_group, other_name)),
            start,
        )
    }

    /// Compares paths, each given as an origin and two parts below it.
    fn compare_parts(
        &self,
        one: (u32, [&str; 2]),
        other: (u32, [&str; 2]),
        start: Start,
    ) -> Ordering {
        let (parts, other_parts) = (one.1.map(str::as_bytes), other.1.map(str::as_bytes));
        if one.0 == other.0 {
            return compare_components(parts, other_parts);
        }
        let whole = |origin: u32, [below, name]: [_; 2]| {
            [start(&self.origins[origin as usize]), below, name]
        };
        compare_components(whole(one.0, parts), whole(other.0, other_parts))
    }
}

impl ListedFile {
    /// Whether the query names the file itself.
    pub(super) fn is_named(self) -> bool {
        self.start == NO_NAME
    }
}

/// Truncates `names` to the names that fit into `limit_bytes`; returns the others, or `None` if all
/// fit. No name is that long.
fn split_names(names: &mut String, limit_bytes: usize) -> Option<String> {
    let whole = names.as_bytes().get(..limit_bytes).filter(|whole| whole.len() < names.len())?;
    let end = memchr::memrchr(END_OF_TEXT as u8, whole)?;
    Some(names.split_off(end + 1))
}

/// Compares paths component by component, as bytes: a separator sorts before any other byte, so
/// `a/b` comes before `a.txt`. A path is the concatenation of its parts, of which any may be empty.
/// Both are absolute, or relative to the same directory.
fn compare_components<const PARTS: usize>(one: [&[u8]; PARTS], other: [&[u8]; PARTS]) -> Ordering {
    let (dir, other_dir) = (one[0], other[0]);
    // Most pairs differ here, and comparing slices is faster.
    let differs = dir.iter().zip(other_dir).position(|(one, other)| one != other);
    let by_byte = differs.map_or(Ordering::Equal, |at| rank(dir[at]).cmp(&rank(other_dir[at])));
    by_byte.then_with(|| {
        // Two different separators can be equal, so paths that differ there may still be the same.
        let alike = differs.unwrap_or(dir.len().min(other_dir.len()));
        joined_ranks(one).skip(alike).cmp(joined_ranks(other).skip(alike))
    })
}

fn rank(byte: u8) -> u8 {
    if is_separator(byte as char) { 0 } else { byte }
}

fn joined_ranks<const PARTS: usize>(parts: [&[u8]; PARTS]) -> impl Iterator<Item = u8> {
    let mut needs_separator = false;
    parts.into_iter().filter(|part| !part.is_empty()).flat_map(move |part| {
        let between = needs_separator.then_some(0);
        needs_separator = part.last().is_some_and(|&last| !is_separator(last as char));
        between.into_iter().chain(part.iter().map(|&byte| rank(byte)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_ordered_by_component() {
        let ordered = ["/a", "/a/b", "/a/b/c", "/a/b.c", "/a b", "/a-", "/a.txt", "/ab"];
        for (at, one) in ordered.iter().enumerate() {
            for (other_at, other) in ordered.iter().enumerate() {
                assert_for_all_splits(one, other, at.cmp(&other_at));
                assert_eq!(Path::new(one).cmp(Path::new(other)), at.cmp(&other_at));
            }
        }
    }

    /// Files whose paths compare equal are searched once.
    #[test]
    #[cfg(windows)]
    fn different_separators_compare_equal() {
        for (one, other, order) in [
            (r"C:\a\b", r"C:\a/b", Ordering::Equal),
            (r"C:\a\b", r"C:\a/c", Ordering::Less),
            (r"C:\a/b\d", r"C:\a\b/c", Ordering::Greater),
        ] {
            assert_for_all_splits(one, other, order);
        }
    }

    fn assert_for_all_splits(one: &str, other: &str, order: Ordering) {
        for way in splits(one) {
            for other_way in splits(other) {
                let found =
                    compare_components(way.map(str::as_bytes), other_way.map(str::as_bytes));
                assert_eq!(found, order, "{way:?} {other_way:?}");
            }
        }
    }

    /// A path as a whole, and split at each separator.
    fn splits(path: &str) -> Vec<[&str; 3]> {
        let mut ways = vec![[path, "", ""], ["", "", path]];
        for (at, separator) in path.match_indices(is_separator) {
            let (dir, rest) = (&path[..at.max(separator.len())], &path[at + separator.len()..]);
            ways.extend([[dir, rest, ""], ["", dir, rest]]);
            let parts = rest.split_once(is_separator).filter(|(below, _)| !below.is_empty());
            ways.extend(parts.map(|(below, name)| [dir, below, name]));
        }
        ways
    }

    #[test]
    fn names_are_split_after_the_last_one_that_fits() {
        let names = FileNames::new(vec!["b", "a", "cc"]).0;
        for (limit_bytes, first, rest) in [
            (7, "a\0b\0cc\0", None),
            (6, "a\0b\0", Some("cc\0")),
            (4, "a\0b\0", Some("cc\0")),
            (3, "a\0", Some("b\0cc\0")),
        ] {
            let mut names = names.clone();
            let behind = split_names(&mut names, limit_bytes);
            assert_eq!((&*names, behind.as_deref()), (first, rest), "{limit_bytes}");
        }
    }

    #[test]
    fn a_file_reached_by_several_paths_is_listed_once() {
        let mut found = FileList::default();
        let names = |names: &[&str]| FileNames::new(names.to_vec());
        let below = found.push_origin("/r/b".into(), "below".into());
        let whole = found.push_origin("/r".into(), "".into());
        found.push_named("/r/b/x".into(), "named".into());
        found.push_named("/r/z".into(), "../z".into());
        let root = found.push_origin("/".into(), "/".into());
        found.extend(below, "c/e", names(&["d"]));
        found.extend(below, "", names(&["y"]));
        found.extend(whole, "b", names(&["y", "x"]));
        found.extend(whole, "", names(&["b.txt", "a", "z"]));
        found.extend(whole, "empty", FileNames::default());
        found.extend(root, "r", names(&["0", "a"]));
        found.sort();
        let shown: Vec<String> = found.files().iter().map(|&file| found.shown(file)).collect();
        assert_eq!(shown, ["/r/0", "a", "b/x", "b.txt", "below/c/e/d", "below/y", "z"]);
        assert!(found.files().iter().all(|file| !file.is_named()));
        let DirectoryPaths { path, shown } = found.directory(root, "r/b");
        assert_eq!((path.to_str(), shown.as_str()), (Some("/r/b"), "/r/b"));
        let DirectoryPaths { path, shown } = found.directory(whole, "");
        assert_eq!((path.to_str(), shown.as_str()), (Some("/r"), ""));
    }
}
