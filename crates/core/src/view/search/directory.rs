//! The view of a directory: a tree of its files by the rules of a search, folded to a number of
//! rows.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::is_separator;

use serde::Serialize;

use super::display::tidy;
use super::files::FileList;
use super::skipped::Skipped;
use super::walk::{Directories, Walked, walk_directory};
use super::{SearchQuery, SearchWarning, sorted_errors};
use crate::view::fold::{FOLD_LINES, Folding};
use crate::view::read::{FileView, ReadRequest, ViewKind};
use crate::view::scope::Scope;
use hashline_base::error::{Error, Message, Result, Term};
use hashline_disk::fs::FileKind;
use hashline_lines::rows::one_line;

/// Directories and files that are listed. Beyond, counts are minimums.
const ENTRIES_LIMIT: usize = 100_000;

/// What is before the names in an open directory.
const INDENT: &str = "  ";

/// What the view of a directory shows.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryView {
    /// The files below the directory that a search would search.
    pub file_count: u64,
    /// Whether there are too many files to count: then all counts are minimums.
    pub partial: bool,
    /// Whether any of the files are not shown.
    pub truncated: bool,
    /// What was not listed, by reason.
    pub skipped: Skipped,
    /// Directories that could not be listed, sorted by path.
    pub errors: Vec<Error>,
    /// Paths that no request can name, and ignore files that were not applied in full, sorted by
    /// path.
    pub warnings: Vec<SearchWarning>,
}

/// The view of the directory that a request names; `None` if it names none, or asks for lines of a
/// file. The request limits the rows by `fold` and `max_lines`, and the bytes.
pub fn directory_view(scope: &Scope<'_>, request: &ReadRequest) -> Result<Option<FileView>> {
    let Some(path) = request.path.to_str() else { return Ok(None) };
    let asks_for_lines =
        request.search.is_some() || !request.lines.is_empty() || !request.open.is_empty();
    let found = scope.base.find(&request.path, path);
    if asks_for_lines || !found.is_ok_and(|found| found.kind == FileKind::Directory) {
        return Ok(None);
    }
    check(request)?;
    let query = SearchQuery { paths: vec![request.path.clone()], ..SearchQuery::list() };
    let (walked, directories) =
        walk_directory(scope.fs, scope.base, &query, ENTRIES_LIMIT, scope.cancel)?;
    let Walked { files, mut errors, warnings, skipped, .. } = walked;
    let shown = tidy(path);
    let shown = if shown.is_empty() { "." } else { &shown };
    let of_itself = |error: &Error| error.path.as_deref().is_some_and(|path| tidy(path) == *shown);
    let at = errors.iter().position(of_itself);
    // It can be replaced by a file meanwhile.
    let is_gone = directories.listed.is_empty() && directories.unlisted.is_empty();
    if is_gone && errors.is_empty() {
        return Ok(None);
    }
    if let Some(at) = at.or(is_gone.then_some(0)) {
        // The directory itself cannot be listed.
        let error = errors.swap_remove(at).spelled(scope.host.spelling);
        return Ok(Some(FileView::bare(request, ViewKind::Error { error })));
    }
    let budget = match request.fold {
        Some(Folding::To(rows)) => rows,
        _ => FOLD_LINES,
    };
    let budget = budget.min(request.limits.max_lines.unwrap_or(u64::MAX));
    let max_bytes = request.limits.max_bytes.unwrap_or(usize::MAX).min(scope.host.text_limit_units);
    let mut tree = Tree::new(&files, &directories);
    tree.mark_unreadable(shown, &errors);
    tree.open(budget);
    let mut rows =
        Rows { text: String::new(), left: budget, max_bytes, truncated: tree.has_closed() };
    tree.print(ROOT, "", &mut rows);
    let kind = ViewKind::Directory(DirectoryView {
        file_count: tree.nodes[ROOT].file_count,
        partial: tree.nodes[ROOT].is_partial,
        truncated: rows.truncated,
        skipped,
        errors: sorted_errors(scope, errors),
        warnings,
    });
    Ok(Some(FileView { text: rows.text, ..FileView::bare(request, kind) }))
}

/// Refuses options that choose parts of a file.
fn check(request: &ReadRequest) -> Result<()> {
    let option = match request {
        ReadRequest { symbol: Some(_), .. } => Message::from("symbol"),
        ReadRequest { start_line: Some(_), .. } => Term::StartLine.into(),
        ReadRequest { columns: Some(_), .. } => "columns".into(),
        _ => return Ok(()),
    };
    let path = request.name();
    Err(Error::argument(Message::from(format!("{path} is a directory, which has no ")) + option))
}

/// The index of the directory itself.
const ROOT: usize = 0;

/// The directories below one, each after the one that contains it.
struct Tree<'a> {
    nodes: Vec<Node<'a>>,
}

/// A directory.
#[derive(Default)]
struct Node<'a> {
    name: &'a str,
    depth: usize,
    /// Sorted by name.
    directories: Vec<usize>,
    /// Sorted.
    files: Vec<&'a str>,
    /// The files at any depth.
    file_count: u64,
    /// Whether a directory in it was not listed.
    is_partial: bool,
    /// Whether it could not be listed.
    is_unreadable: bool,
    is_open: bool,
}

impl Node<'_> {
    fn rows(&self) -> u64 {
        (self.directories.len() + self.files.len()) as u64
    }
}

impl<'a> Tree<'a> {
    fn new(files: &'a FileList, directories: &'a Directories) -> Tree<'a> {
        let mut paths: Vec<(&str, bool)> = Vec::new();
        paths.extend(directories.listed.iter().map(|path| (&**path, false)));
        paths.extend(directories.unlisted.iter().map(|path| (&**path, true)));
        paths.sort_unstable();
        let mut tree = Tree { nodes: Vec::with_capacity(paths.len()) };
        let mut indices = HashMap::with_capacity(paths.len());
        let mut parents = Vec::with_capacity(paths.len());
        for (at, (path, is_partial)) in paths.into_iter().enumerate() {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            // A prefix is sorted first, so the parent is known.
            let parent =
                if at == ROOT { ROOT } else { indices.get(parent).copied().unwrap_or(ROOT) };
            indices.insert(path, at);
            parents.push(parent);
            let depth = if at == ROOT { 0 } else { tree.nodes[parent].depth + 1 };
            tree.nodes.push(Node { name, depth, is_partial, ..Node::default() });
            if at != ROOT {
                tree.nodes[parent].directories.push(at);
            }
        }
        for file in files.files() {
            let (below, name) = files.parts(*file);
            if let Some(&at) = indices.get(below) {
                tree.nodes[at].files.push(name);
            }
        }
        tree.count(&parents);
        tree
    }

    /// Marks the directories that errors are about, once they are sorted. `shown` is the path of the tree.
    fn mark_unreadable(&mut self, shown: &str, errors: &[Error]) {
        let start = if shown == "." { "" } else { shown };
        for path in errors.iter().filter_map(|error| error.path.as_deref()) {
            let below = path.strip_prefix(start).unwrap_or_default();
            let mut names = below.split(is_separator).filter(|name| !name.is_empty());
            let node = names.try_fold(ROOT, |node, name| {
                let directories = &self.nodes[node].directories;
                let at = directories.binary_search_by_key(&name, |&at| self.nodes[at].name);
                at.ok().map(|at| directories[at])
            });
            if let Some(at) = node {
                self.nodes[at].is_unreadable = true;
            }
        }
    }

    /// Counts the files of each directory, and sorts what is in it.
    fn count(&mut self, parents: &[usize]) {
        for at in (0..self.nodes.len()).rev() {
            let mut directories = std::mem::take(&mut self.nodes[at].directories);
            directories.sort_unstable_by_key(|&below| self.nodes[below].name);
            let node = &mut self.nodes[at];
            node.directories = directories;
            node.file_count += node.files.len() as u64;
            let (file_count, is_partial) = (node.file_count, node.is_partial);
            if at != ROOT {
                self.nodes[parents[at]].file_count += file_count;
                self.nodes[parents[at]].is_partial |= is_partial;
            }
        }
    }

    /// Opens directories as long as all rows fit: those with the fewest names above first, and of
    /// these the ones with the fewest rows.
    fn open(&mut self, budget: u64) {
        let mut left = budget.saturating_sub(self.nodes[ROOT].rows());
        let mut queue = BinaryHeap::from([(Reverse((0, 0)), Reverse(ROOT))]);
        while let Some((_, Reverse(at))) = queue.pop() {
            let node = &mut self.nodes[at];
            let rows = if at == ROOT { 0 } else { node.rows() };
            if rows > left || (at != ROOT && rows == 0) {
                continue;
            }
            left -= rows;
            node.is_open = true;
            for &below in &self.nodes[at].directories {
                let node = &self.nodes[below];
                queue.push((Reverse((node.depth, node.rows())), Reverse(below)));
            }
        }
    }

    /// Whether a directory with files is closed.
    fn has_closed(&self) -> bool {
        self.nodes.iter().any(|node| !node.is_open && (node.file_count > 0 || node.is_partial))
    }

    /// Prints what is in an open directory: directories first. Returns whether all rows fit.
    fn print(&self, at: usize, indent: &str, rows: &mut Rows) -> bool {
        let node = &self.nodes[at];
        for &below in &node.directories {
            let directory = &self.nodes[below];
            let (name, mut note) = (one_line(directory.name), String::new());
            if !directory.is_open {
                let (count, more) =
                    (directory.file_count, if directory.is_partial { "+" } else { "" });
                let noun = if count == 1 && !directory.is_partial { "file" } else { "files" };
                note = match directory.is_unreadable {
                    true => " (cannot be read)".to_owned(),
                    false => format!(" ({count}{more} {noun})"),
                };
            }
            if !rows.push(&format!("{indent}{name}/{note}")) {
                return false;
            }
            if directory.is_open && !self.print(below, &format!("{indent}{INDENT}"), rows) {
                return false;
            }
        }
        node.files.iter().all(|name| rows.push(&format!("{indent}{}", one_line(name))))
    }
}

/// The rows of a view.
struct Rows {
    text: String,
    left: u64,
    max_bytes: usize,
    truncated: bool,
}

impl Rows {
    /// Adds a row. Returns whether it fits.
    fn push(&mut self, row: &str) -> bool {
        let newline = if self.text.is_empty() { "" } else { "\n" };
        if self.left == 0 || self.text.len() + newline.len() + row.len() > self.max_bytes {
            self.truncated = true;
            return false;
        }
        self.left -= 1;
        self.text.extend([newline, row]);
        true
    }
}
