//! The files that a walk found, in order, each once.
//!
//! There may be hundreds of thousands of them. So what files of a directory have in common is
//! kept once, and a file is where its name stands among theirs: 8 bytes and the name.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf, is_separator};

use super::shown::join;

/// The files that a walk found.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    places: Vec<FoundPlace>,
    files: Vec<FoundFile>,
}

/// One of [`FoundFiles`].
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundFile {
    /// Where its name starts among those of its place; [`NAMED`] for a file that the query names.
    start: u32,
    place: u32,
}

/// No name starts here: as many bytes a place has for names, at most.
const NAMED: u32 = u32::MAX;

/// Ends a name: no file system has it in one.
const END_OF_NAME: char = '\0';

/// A directory with files, or a file that the query names.
#[derive(Debug)]
struct FoundPlace {
    /// Its absolute path, by which files are ordered and told apart.
    path: Box<Path>,
    /// Its path, as the query leads to it.
    shown: Box<str>,
    /// Which of the query's paths led here.
    origin: usize,
    /// The names of its files, each with its end.
    names: Box<str>,
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
            joined.push_str(name);
            joined.push(END_OF_NAME);
        }
        FileNames(joined)
    }
}

impl FoundFiles {
    /// Adds a file that the query names: its absolute path, and the path that leads there.
    pub(super) fn push_named(&mut self, path: PathBuf, shown: String, origin: usize) {
        let place = self.push_place(path, shown, origin, String::new());
        self.files.push(FoundFile { start: NAMED, place });
    }

    /// Adds files of a directory: its absolute path, and the path that leads there.
    pub(super) fn extend(&mut self, path: PathBuf, shown: String, origin: usize, names: FileNames) {
        let FileNames(mut names) = names;
        while let Some(rest) = split_behind_names(&mut names, NAMED as usize) {
            self.extend_place(path.clone(), shown.clone(), origin, names);
            names = rest;
        }
        if !names.is_empty() {
            self.extend_place(path, shown, origin, names);
        }
    }

    /// Adds files whose names fit into one place.
    fn extend_place(&mut self, path: PathBuf, shown: String, origin: usize, names: String) {
        let place = self.push_place(path, shown, origin, names);
        let names = &self.places[place as usize].names;
        let mut start = 0;
        self.files.extend(names.split_terminator(END_OF_NAME).map(|name| {
            let file = FoundFile { start, place };
            start += name.len() as u32 + 1;
            file
        }));
    }

    /// The number of the new place; each takes hundreds of bytes, so there are no 4 Gi of them.
    fn push_place(&mut self, path: PathBuf, shown: String, origin: usize, names: String) -> u32 {
        let (path, shown) = (path.into_boxed_path(), shown.into_boxed_str());
        self.places.push(FoundPlace { path, shown, origin, names: names.into_boxed_str() });
        (self.places.len() - 1) as u32
    }

    /// Puts the files in the order of their paths; of several ways to one file the one stays that
    /// the query names first.
    pub(super) fn sort(&mut self) {
        let FoundFiles { places, files } = self;
        // What a walk finds at one depth is in order already: this sort takes it as a whole.
        files.sort_by(|one, other| {
            let (place, other_place) = (one.place(places), other.place(places));
            by_path(*one, *other, places)
                .then_with(|| place.origin.cmp(&other_place.origin))
                .then_with(|| one.shown_in(places).cmp(&other.shown_in(places)))
        });
        files.dedup_by(|later, first| by_path(*later, *first, places).is_eq());
        files.shrink_to_fit();
    }

    /// All files.
    pub(super) fn files(&self) -> &[FoundFile] {
        &self.files
    }

    /// The path of a file, as the query leads to it.
    pub(super) fn shown(&self, file: FoundFile) -> String {
        file.shown_in(&self.places)
    }
}

impl FoundFile {
    /// Whether the query names the file itself.
    pub(super) fn is_named(self) -> bool {
        self.start == NAMED
    }

    fn place(self, places: &[FoundPlace]) -> &FoundPlace {
        &places[self.place as usize]
    }

    fn name(self, places: &[FoundPlace]) -> &str {
        let names = &*self.place(places).names;
        let Some(rest) = names.get(self.start as usize..) else { return "" };
        let end = memchr::memchr(END_OF_NAME as u8, rest.as_bytes());
        &rest[..end.unwrap_or(rest.len())]
    }

    fn shown_in(self, places: &[FoundPlace]) -> String {
        let shown = &self.place(places).shown;
        if self.is_named() {
            return shown.to_string();
        }
        join(shown, OsStr::new(self.name(places)))
    }
}

/// Cuts names after as many as fit into so many bytes, and returns the others; `None` if all fit.
/// No name is that long.
fn split_behind_names(names: &mut String, limit_bytes: usize) -> Option<String> {
    let whole = names.as_bytes().get(..limit_bytes).filter(|whole| whole.len() < names.len())?;
    let end = memchr::memrchr(END_OF_NAME as u8, whole)?;
    Some(names.split_off(end + 1))
}

/// Orders files by their absolute paths.
fn by_path(one: FoundFile, other: FoundFile, places: &[FoundPlace]) -> Ordering {
    let (name, other_name) = (one.name(places), other.name(places));
    if one.place == other.place {
        return name.cmp(other_name);
    }
    let (dir, other_dir) = (&*one.place(places).path, &*other.place(places).path);
    by_components([dir, Path::new(name)], [other_dir, Path::new(other_name)])
}

/// Compares absolute paths component by component, as bytes: a separator comes before any
/// other byte, so that what lies in `a` stands before `a.txt`. A path is what its two parts make
/// when joined; the second one may be empty.
pub(super) fn by_components(one: [&Path; 2], other: [&Path; 2]) -> Ordering {
    let (dir, other_dir) = (bytes_of(one[0]), bytes_of(other[0]));
    // Most differ here, and slices are quicker than what follows.
    let differs = dir.iter().zip(other_dir).position(|(one, other)| one != other);
    let by_byte = differs.map_or(Ordering::Equal, |at| rank(dir[at]).cmp(&rank(other_dir[at])));
    by_byte.then_with(|| {
        // Two separators may be different bytes, so paths that differ there can still be one.
        let alike = differs.unwrap_or(dir.len().min(other_dir.len()));
        joined_ranks(one).skip(alike).cmp(joined_ranks(other).skip(alike))
    })
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

fn rank(byte: u8) -> u8 {
    if is_separator(byte as char) { 0 } else { byte }
}

fn joined_ranks([dir, name]: [&Path; 2]) -> impl Iterator<Item = u8> {
    let (dir, name) = (bytes_of(dir), bytes_of(name));
    let ends_with_separator = dir.last().is_some_and(|&byte| is_separator(byte as char));
    let between = (!name.is_empty() && !ends_with_separator).then_some(0);
    dir.iter().map(|&byte| rank(byte)).chain(between).chain(name.iter().map(|&byte| rank(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_ordered_by_component() {
        let ordered = ["/a", "/a/b", "/a/b/c", "/a/b.c", "/a b", "/a-", "/a.txt", "/ab"];
        for (at, one) in ordered.iter().enumerate() {
            for (other_at, other) in ordered.iter().enumerate() {
                let (one, other) = (Path::new(one), Path::new(other));
                for (one, other) in
                    ways(one).into_iter().flat_map(|it| ways(other).map(|other| (it, other)))
                {
                    assert_eq!(by_components(one, other), at.cmp(&other_at), "{one:?} {other:?}");
                }
                assert_eq!(one.cmp(other), at.cmp(&other_at), "{one:?} {other:?}");
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
            let (one, other) = (Path::new(one), Path::new(other));
            for (one, other) in
                ways(one).into_iter().flat_map(|it| ways(other).map(|other| (it, other)))
            {
                assert_eq!(by_components(one, other), order, "{one:?} {other:?}");
            }
        }
    }

    /// A path whole, and as a directory and a name.
    fn ways(path: &Path) -> [[&Path; 2]; 2] {
        let name = Path::new(path.file_name().expect("a name"));
        [[path, Path::new("")], [path.parent().expect("a directory"), name]]
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
        found.push_named("/r/b/x".into(), "named".into(), 2);
        found.extend("/r/b".into(), "second".into(), 1, names(&["y", "x"]));
        found.extend("/r".into(), "first".into(), 0, names(&["b.txt", "a"]));
        found.extend("/r/b".into(), "link".into(), 1, names(&["x"]));
        found.extend("/empty".into(), "empty".into(), 0, FileNames::default());
        found.sort();
        let shown: Vec<String> = found.files().iter().map(|&file| found.shown(file)).collect();
        assert_eq!(shown, ["first/a", "link/x", "second/y", "first/b.txt"]);
        assert!(found.files().iter().all(|file| !file.is_named()));
    }
}
