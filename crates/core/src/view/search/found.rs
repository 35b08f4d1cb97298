//! The files that a walk found, in order, each once, and the paths of the directories on the way.
//!
//! There may be hundreds of thousands of files. So what their paths have in common is kept once, all
//! their names stand in one text, and a file is where its name stands: 8 bytes and the name.

use std::cmp::Ordering;
use std::path::{Path, PathBuf, is_separator};

use super::shown::push_joined;

/// The files that a walk found.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    origins: Vec<FoundOrigin>,
    places: Vec<FoundPlace>,
    files: Vec<FoundFile>,
    /// Of each place its path below its origin and the names of its files, each with its end.
    texts: String,
}

/// One of [`FoundFiles`].
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundFile {
    /// Where its name starts, counted from where its place does; [`NAMED`] for a file that the
    /// query names.
    start: u32,
    place: u32,
}

/// No name starts here: as many bytes a place has, at most.
const NAMED: u32 = u32::MAX;

/// Ends a text: no file system has it in a name.
const END_OF_TEXT: char = '\0';

/// What a path of the query leads to.
#[derive(Debug)]
struct FoundOrigin {
    /// Its absolute path, by which files are ordered and told apart.
    path: Box<Path>,
    /// Its path, as the query says it.
    shown: Box<str>,
}

/// The paths of a directory.
pub(super) struct FoundDirectory {
    /// The absolute one; below a followed link, through that link.
    pub(super) path: PathBuf,
    /// As the query leads to it.
    pub(super) shown: String,
}

/// A directory with files, or a file that the query names.
#[derive(Debug)]
struct FoundPlace {
    /// Where its texts start.
    start: usize,
    /// The size of the first of them, its path below its origin. No system has paths of 4 GiB.
    below_bytes: u32,
    origin: u32,
}

/// The names of files of a directory, in order, each with its end.
#[derive(Debug, Default)]
pub(super) struct FileNames(String);

impl FileNames {
    /// None of the names is empty.
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

impl FoundFiles {
    /// Adds what a path of the query leads to, the paths in order: its absolute path, and how the
    /// query says it. Returns its number.
    pub(super) fn push_origin(&mut self, path: PathBuf, shown: String) -> u32 {
        let (path, shown) = (path.into_boxed_path(), shown.into_boxed_str());
        self.origins.push(FoundOrigin { path, shown });
        (self.origins.len() - 1) as u32
    }

    /// Adds a file that the query names.
    pub(super) fn push_named(&mut self, path: PathBuf, shown: String) {
        let origin = self.push_origin(path, shown);
        let place = self.push_place(origin, "");
        self.files.push(FoundFile { start: NAMED, place });
    }

    /// Adds files of a directory below what a path of the query leads to. The names of directories
    /// on the way there have `/` between them.
    pub(super) fn extend(&mut self, origin: u32, below: &str, names: FileNames) {
        let FileNames(mut names) = names;
        let limit_bytes = (NAMED as usize).saturating_sub(below.len() + 1);
        while let Some(rest) = split_behind_names(&mut names, limit_bytes) {
            self.extend_place(origin, below, &names);
            names = rest;
        }
        if !names.is_empty() {
            self.extend_place(origin, below, &names);
        }
    }

    /// Adds files whose names fit into one place.
    fn extend_place(&mut self, origin: u32, below: &str, names: &str) {
        let place = self.push_place(origin, below);
        let mut start = below.len() as u32 + 1;
        self.files.extend(names.split_terminator(END_OF_TEXT).map(|name| {
            let file = FoundFile { start, place };
            start += name.len() as u32 + 1;
            file
        }));
        self.texts.push_str(names);
    }

    /// The number of the new place. Of 4 Gi of them the list alone would take 64 GiB.
    fn push_place(&mut self, origin: u32, below: &str) -> u32 {
        let (start, below_bytes) = (self.texts.len(), below.len() as u32);
        push_text(&mut self.texts, below);
        self.places.push(FoundPlace { start, below_bytes, origin });
        (self.places.len() - 1) as u32
    }

    /// Puts the files in the order of their paths; of several ways to one file the one stays that
    /// the query names first.
    pub(super) fn sort(&mut self) {
        let mut files = std::mem::take(&mut self.files);
        // What a walk finds at one depth is in order already: this sort takes it as a whole.
        files.sort_by(|&one, &other| {
            self.by_path(one, other)
                .then_with(|| self.place(one).origin.cmp(&self.place(other).origin))
        });
        files.dedup_by(|later, first| self.by_path(*later, *first).is_eq());
        files.shrink_to_fit();
        self.files = files;
    }

    /// All files.
    pub(super) fn files(&self) -> &[FoundFile] {
        &self.files
    }

    /// The path of a file, as the query leads to it.
    pub(super) fn shown(&self, file: FoundFile) -> String {
        let (place, name) = (self.place(file), self.name(file));
        let mut shown = self.shown_below(place.origin, self.below(place), name.len() + 1);
        push_joined(&mut shown, name);
        shown
    }

    /// The absolute path of a directory, and its path as the query leads to it.
    pub(super) fn directory(&self, origin: u32, below: &str) -> FoundDirectory {
        let mut path = self.origins[origin as usize].path.to_path_buf();
        path.extend(below.split_terminator('/'));
        FoundDirectory { path, shown: self.shown_below(origin, below, 0) }
    }

    /// The path of a directory as the query leads to it, with room for more.
    fn shown_below(&self, origin: u32, below: &str, more_bytes: usize) -> String {
        let origin = &self.origins[origin as usize].shown;
        let mut shown = String::with_capacity(origin.len() + 1 + below.len() + more_bytes);
        shown.push_str(origin);
        below.split_terminator('/').for_each(|name| push_joined(&mut shown, name));
        shown
    }

    /// Orders directories by their absolute paths; of several ways to one the one comes first that
    /// the query names first.
    pub(super) fn by_way(&self, one: (u32, &str), other: (u32, &str)) -> Ordering {
        self.by_parts((one.0, [one.1, ""]), (other.0, [other.1, ""])).then(one.0.cmp(&other.0))
    }

    fn place(&self, file: FoundFile) -> &FoundPlace {
        &self.places[file.place as usize]
    }

    fn below(&self, place: &FoundPlace) -> &str {
        &self.texts[place.start..place.start + place.below_bytes as usize]
    }

    /// The name of a file; none of one that the query names.
    fn name(&self, file: FoundFile) -> &str {
        if file.is_named() {
            return "";
        }
        let rest = &self.texts[self.place(file).start + file.start as usize..];
        let end = memchr::memchr(END_OF_TEXT as u8, rest.as_bytes());
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Orders files by their absolute paths.
    fn by_path(&self, one: FoundFile, other: FoundFile) -> Ordering {
        let (name, other_name) = (self.name(one), self.name(other));
        if one.place == other.place {
            return name.cmp(other_name);
        }
        let (place, other_place) = (self.place(one), self.place(other));
        let parts = |place, name| [self.below(place), name];
        self.by_parts(
            (place.origin, parts(place, name)),
            (other_place.origin, parts(other_place, other_name)),
        )
    }

    /// Orders paths that are each cut in two below what a path of the query leads to.
    fn by_parts(&self, one: (u32, [&str; 2]), other: (u32, [&str; 2])) -> Ordering {
        let (parts, other_parts) = (one.1.map(str::as_bytes), other.1.map(str::as_bytes));
        if one.0 == other.0 {
            return by_components(parts, other_parts);
        }
        let whole = |origin: u32, [below, name]: [_; 2]| {
            [self.origins[origin as usize].path.as_os_str().as_encoded_bytes(), below, name]
        };
        by_components(whole(one.0, parts), whole(other.0, other_parts))
    }
}

impl FoundFile {
    /// Whether the query names the file itself.
    pub(super) fn is_named(self) -> bool {
        self.start == NAMED
    }
}

/// Cuts names after as many as fit into so many bytes, and returns the others; `None` if all fit.
/// No name is that long.
fn split_behind_names(names: &mut String, limit_bytes: usize) -> Option<String> {
    let whole = names.as_bytes().get(..limit_bytes).filter(|whole| whole.len() < names.len())?;
    let end = memchr::memrchr(END_OF_TEXT as u8, whole)?;
    Some(names.split_off(end + 1))
}

/// Compares paths component by component, as bytes: a separator comes before any other byte, so
/// that what lies in `a` stands before `a.txt`. A path is what its parts make when joined; any of
/// them may be empty. Both are absolute, or start at the same directory.
fn by_components<const PARTS: usize>(one: [&[u8]; PARTS], other: [&[u8]; PARTS]) -> Ordering {
    let (dir, other_dir) = (one[0], other[0]);
    // Most differ here, and slices are quicker than what follows.
    let differs = dir.iter().zip(other_dir).position(|(one, other)| one != other);
    let by_byte = differs.map_or(Ordering::Equal, |at| rank(dir[at]).cmp(&rank(other_dir[at])));
    by_byte.then_with(|| {
        // Two separators may be different bytes, so paths that differ there can still be one.
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
                assert_each_way(one, other, at.cmp(&other_at));
                assert_eq!(Path::new(one).cmp(Path::new(other)), at.cmp(&other_at));
            }
        }
    }

    /// Files whose paths are told to be one are searched once.
    #[test]
    #[cfg(windows)]
    fn paths_go_on_behind_separators_that_differ() {
        for (one, other, order) in [
            (r"C:\a\b", r"C:\a/b", Ordering::Equal),
            (r"C:\a\b", r"C:\a/c", Ordering::Less),
            (r"C:\a/b\d", r"C:\a\b/c", Ordering::Greater),
        ] {
            assert_each_way(one, other, order);
        }
    }

    fn assert_each_way(one: &str, other: &str, order: Ordering) {
        for way in ways(one) {
            for other_way in ways(other) {
                let found = by_components(way.map(str::as_bytes), other_way.map(str::as_bytes));
                assert_eq!(found, order, "{way:?} {other_way:?}");
            }
        }
    }

    /// A path whole, and cut at its separators.
    fn ways(path: &str) -> Vec<[&str; 3]> {
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
    fn names_that_do_not_fit_are_cut_behind_one_that_does() {
        let names = FileNames::new(vec!["b", "a", "cc"]).0;
        for (limit_bytes, first, rest) in [
            (7, "a\0b\0cc\0", None),
            (6, "a\0b\0", Some("cc\0")),
            (4, "a\0b\0", Some("cc\0")),
            (3, "a\0", Some("b\0cc\0")),
        ] {
            let mut names = names.clone();
            let behind = split_behind_names(&mut names, limit_bytes);
            assert_eq!((&*names, behind.as_deref()), (first, rest), "{limit_bytes}");
        }
    }

    #[test]
    fn of_several_ways_to_a_file_one_stays() {
        let mut found = FoundFiles::default();
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
        assert_eq!(shown, ["/r/0", "a", "below/c/e/d", "b/x", "below/y", "b.txt", "z"]);
        assert!(found.files().iter().all(|file| !file.is_named()));
        let FoundDirectory { path, shown } = found.directory(root, "r/b");
        assert_eq!((path.to_str(), shown.as_str()), (Some("/r/b"), "/r/b"));
        let FoundDirectory { path, shown } = found.directory(whole, "");
        assert_eq!((path.to_str(), shown.as_str()), (Some("/r"), ""));
    }
}
