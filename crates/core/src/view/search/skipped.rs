//! What a search did not cover, by reason.

use serde::Serialize;

/// How many directories are named for each reason.
const NAMES_LIMIT: usize = 5;

/// Directories that hold the data of version control. No one expects a search in them.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// What a search did not cover. Files below a skipped directory are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Directories that ignore files exclude.
    pub ignored_directories: SkippedDirectories,
    /// Hidden directories, without those of version control such as `.git`.
    pub hidden_directories: SkippedDirectories,
    /// Files that ignore files exclude.
    pub ignored_files: u64,
    /// Hidden files.
    pub hidden_files: u64,
    /// Symbolic links that were not followed.
    pub links: u64,
    /// Files that are not text.
    pub binary: u64,
    /// Files over the size limit; `errors` names them.
    pub too_large: u64,
    /// Files that contain the name of the symbol, but whose structure is not known.
    pub unknown_structure: u64,
    /// Files with bytes that are invalid in their encoding: only the other bytes were searched.
    pub lossy: u64,
}

/// The directories that were skipped for a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedDirectories {
    /// How many.
    pub count: u64,
    /// The paths of at most five; those near the start of the search first.
    pub names: Vec<String>,
    /// Whether there are more.
    pub has_more: bool,
}

/// Why an entry is skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Skip {
    IgnoredDirectory,
    HiddenDirectory,
    IgnoredFile,
    HiddenFile,
    Link,
}

impl Skipped {
    /// Counts an entry, with its path as results show it.
    pub(super) fn count(&mut self, skip: Skip, shown: String) {
        match skip {
            Skip::IgnoredDirectory => self.ignored_directories.push(shown),
            Skip::HiddenDirectory => self.hidden_directories.push(shown),
            Skip::IgnoredFile => self.ignored_files += 1,
            Skip::HiddenFile => self.hidden_files += 1,
            Skip::Link => self.links += 1,
        }
    }

    /// Chooses the directories to name, after the last entry of a directory.
    pub(super) fn name_directories(&mut self) {
        for directories in [&mut self.ignored_directories, &mut self.hidden_directories] {
            let mut paths = std::mem::take(&mut directories.names);
            // Entries are listed in any order.
            paths.sort_unstable();
            directories.name(paths);
        }
    }

    /// Adds what another part of the search skipped.
    pub(crate) fn add(&mut self, more: Skipped) {
        self.ignored_directories.add(more.ignored_directories);
        self.hidden_directories.add(more.hidden_directories);
        self.ignored_files += more.ignored_files;
        self.hidden_files += more.hidden_files;
        self.links += more.links;
        self.binary += more.binary;
        self.too_large += more.too_large;
        self.unknown_structure += more.unknown_structure;
        self.lossy += more.lossy;
    }
}

impl SkippedDirectories {
    fn push(&mut self, path: String) {
        if !VERSION_CONTROL.contains(&last_name(&path)) {
            self.count += 1;
            self.names.push(path);
        }
    }

    fn name(&mut self, paths: Vec<String>) {
        for path in paths {
            if self.names.len() == NAMES_LIMIT {
                self.has_more = true;
                return;
            }
            self.names.push(path);
        }
    }

    fn add(&mut self, more: SkippedDirectories) {
        self.count += more.count;
        self.has_more |= more.has_more;
        self.name(more.names);
    }
}

fn last_name(path: &str) -> &str {
    path.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(path)
}
