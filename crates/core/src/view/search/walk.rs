//! The paths of a query → the files to search, sorted and without duplicates.
//!
//! The walk goes level by level. The directories of a level are listed in parallel, in the order of
//! their paths, and the result is sorted. So timing does not affect it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::display::{join, tidy};
use super::files::{DirectoryPaths, FileList, FileNames};
use super::globs::{Globs, reason_of_no_match, start_of_path};
use super::rules::{Admission, Filter, IgnoreRules, IgnoreTexts};
use super::skipped::{Skip, Skipped};
use super::{SearchQuery, SearchWarning};
use crate::view::near::{MISSING_LIMIT, with_near_names};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_base::parallel;
use hashline_disk::fs::{Base, FileKind, FileSystem, FoundPath, Listed, not_a_file, unicode_path};

/// The result of a walk.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: FileList,
    /// Entries that could not be read, unsorted.
    pub(super) errors: Vec<Error>,
    /// Ignore files that were not applied in full, sorted by path.
    pub(super) warnings: Vec<SearchWarning>,
    /// What was not searched.
    pub(super) skipped: Skipped,
    /// Globs that match no file.
    pub(super) unmatched_globs: Vec<String>,
}

/// Directories per batch; the contents of their ignore files are in memory at the same time.
const BATCH_DIRECTORIES: usize = 256;

/// Entries read between two checks of the cancellation flag.
const ENTRIES_PER_CANCEL_CHECK: usize = 1024;

/// Lists the files of a query; fails only for invalid arguments and cancellation. If a glob matches
/// nothing and has another reading, lists again.
pub(super) fn walk(
    fs: &dyn FileSystem,
    base: &Base,
    query: &SearchQuery,
    cancel: &Cancel,
) -> Result<Walked> {
    let (walked, filter) = walk_with(Filter::new(fs, base, query)?, base, query, None, cancel)?;
    let reread = filter.globs().reread(&walked.files, &|dir| filter.target(dir));
    let Some(globs) = reread else { return Ok(walked) };
    let filter = Filter::new(fs, base, query)?.with_globs(globs);
    Ok(walk_with(filter, base, query, None, cancel)?.0)
}

/// Lists the directory that a query names; also returns the directories below it. Ends once there
/// are this many entries.
pub(super) fn walk_directory(
    fs: &dyn FileSystem,
    base: &Base,
    query: &SearchQuery,
    max_entries: usize,
    cancel: &Cancel,
) -> Result<(Walked, Directories)> {
    let mut directories = Directories { max_entries, ..Directories::default() };
    let filter = Filter::new(fs, base, query)?;
    let (walked, _) = walk_with(filter, base, query, Some(&mut directories), cancel)?;
    Ok((walked, directories))
}

/// The directories that a walk met, by their paths below its start.
#[derive(Debug, Default)]
pub(super) struct Directories {
    pub(super) listed: Vec<Box<str>>,
    /// Those that were not listed, because there were enough entries.
    pub(super) unlisted: Vec<Box<str>>,
    max_entries: usize,
}

impl Directories {
    /// Notes the directories that are listed next. Returns false if there are enough entries.
    fn note(&mut self, batch: &[QueuedDirectory], files: usize) -> bool {
        let has_room = self.listed.len() + files < self.max_entries;
        let noted = if has_room { &mut self.listed } else { &mut self.unlisted };
        noted.extend(batch.iter().map(|directory| directory.below.clone()));
        has_room
    }
}

/// Lists the files that a filter admits; also returns the filter, which knows what it used.
fn walk_with<'a>(
    mut filter: Filter<'a>,
    base: &'a Base,
    query: &SearchQuery,
    mut directories: Option<&mut Directories>,
    cancel: &Cancel,
) -> Result<(Walked, Filter<'a>)> {
    let mut walked = Walked::default();
    let here = [PathBuf::from(".")];
    let paths = if query.paths.is_empty() { &here[..] } else { &query.paths };
    let mut level = Vec::new();
    for path in paths {
        cancel.check()?;
        level.extend(start(base, &mut filter, query, path, &mut walked));
    }
    let paths: Vec<_> = level.iter().filter_map(|start| start.matcher.clone()).collect();
    while !level.is_empty() {
        let mut below = Vec::new();
        let mut rest = level.into_iter();
        while rest.len() > 0 {
            let batch: Vec<_> = rest.by_ref().take(BATCH_DIRECTORIES).collect();
            let files = walked.files.files().len();
            if directories.as_deref_mut().is_some_and(|noted| !noted.note(&batch, files)) {
                continue;
            }
            Walk { base, query, cancel }.batch(batch, &mut filter, &mut walked, &mut below)?;
        }
        below.sort_unstable_by(|one, other| {
            walked.files.compare_directories(one.sort_key(), other.sort_key())
        });
        level = below;
    }
    walked.files.sort();
    walked.unmatched_globs = filter.globs().unmatched(&walked.files);
    walked.unmatched_globs.extend(paths.iter().flat_map(|path| path.unmatched(&walked.files)));
    filter.warn(walked.unmatched_globs.iter().filter_map(|glob| reason(glob)).collect());
    walked.warnings = filter.take_warnings();
    Ok((walked, filter))
}

/// Resolves a path of the query; returns the directory to list, if it is one.
fn start(
    base: &Base,
    filter: &mut Filter<'_>,
    query: &SearchQuery,
    path: &Path,
    walked: &mut Walked,
) -> Option<QueuedDirectory> {
    let found = unicode_path("path", path).and_then(|name| found(base, filter, name));
    let Found { place, name, matcher } = match found {
        Ok(found) => found,
        Err(error) => {
            let has_room = walked.errors.len() < MISSING_LIMIT;
            let name = path.to_str().filter(|_| has_room);
            walked.errors.push(match name {
                Some(name) => with_near_names(base, name, error),
                None => error,
            });
            return None;
        }
    };
    let shown = tidy(name);
    if matches!(place.kind, FileKind::Special | FileKind::Link) {
        walked.errors.push(not_a_file(&shown, place.kind.noun()));
        return None;
    }
    if place.kind != FileKind::Directory {
        walked.files.push_named(place.canonical, shown);
        return None;
    }
    let trail =
        query.follow_links.then(|| Trail { canonical: place.canonical.clone(), above: None });
    let is_named = filter.names_a_part(&place.canonical);
    Some(QueuedDirectory {
        rules: filter.above(&place.canonical, is_named),
        is_named,
        origin: walked.files.push_origin(place.canonical, shown),
        below: "".into(),
        depth: 0,
        trail: trail.map(Arc::new),
        matcher,
    })
}

/// A path of the query.
struct Found<'p> {
    place: FoundPath,
    name: &'p str,
    /// Which files below are searched, if the path has wildcards; the place is then where it starts.
    matcher: Option<Arc<Globs>>,
}

fn found<'p>(base: &Base, filter: &Filter<'_>, name: &'p str) -> Result<Found<'p>> {
    let error = match base.find(Path::new(name), name) {
        Ok(place) => return Ok(Found { place, name, matcher: None }),
        Err(error) => error,
    };
    let Some(dir) = start_of_path(name) else { return Err(error) };
    let place = base.find(Path::new(dir), dir)?;
    if place.kind != FileKind::Directory {
        return Err(error);
    }
    let matcher = Some(Arc::new(filter.matcher_of_path(name)?));
    Ok(Found { place, name: dir, matcher })
}

/// A warning that says why a glob matches no file.
fn reason(glob: &str) -> Option<SearchWarning> {
    Some(SearchWarning { path: glob.to_owned(), message: reason_of_no_match(glob)? })
}

/// The rules for the entries of a directory.
struct EntryRules {
    rules: Arc<IgnoreRules>,
    /// The rules for those that `rules` ignore, if the query names the directory and they ignore all
    /// visible ones. What they admit although it is hidden stays admitted.
    of_ignored: Option<Arc<IgnoreRules>>,
}

struct Walk<'a> {
    base: &'a Base,
    query: &'a SearchQuery,
    cancel: &'a Cancel,
}

/// A directory to list. There may be tens of thousands, so full paths are built only when needed.
struct QueuedDirectory {
    /// The path of the query that led here.
    origin: u32,
    /// The names of the directories below it, with `/` between them.
    below: Box<str>,
    /// 0 for a directory that the query names.
    depth: u32,
    /// The query or one of its globs names it.
    is_named: bool,
    /// The rules that apply because of its parents.
    rules: Arc<IgnoreRules>,
    /// Its ancestors, if links are followed.
    trail: Option<Arc<Trail>>,
    /// Which files below are searched, if the path of the query has wildcards.
    matcher: Option<Arc<Globs>>,
}

impl QueuedDirectory {
    fn sort_key(&self) -> (u32, &str) {
        (self.origin, &self.below)
    }

    fn paths(&self, files: &FileList) -> DirectoryPaths {
        files.directory(self.origin, &self.below)
    }
}

/// The ancestors of an entry, to detect links that lead back to one of them.
struct Trail {
    canonical: PathBuf,
    above: Option<Arc<Trail>>,
}

/// The entries of a directory, and its ignore files.
type Contents = (Vec<Listed>, IgnoreTexts);

impl Walk<'_> {
    /// Lists directories and filters their entries. In between, ignore files are admitted
    /// sequentially, because timing must not affect which of them are truncated.
    fn batch(
        &self,
        batch: Vec<QueuedDirectory>,
        filter: &mut Filter<'_>,
        walked: &mut Walked,
        below: &mut Vec<QueuedDirectory>,
    ) -> Result<()> {
        let (shared, files) = (&*filter, &walked.files);
        let list =
            |directory: &QueuedDirectory| self.list(directory, &directory.paths(files), shared);
        let listed = parallel::map(&batch, list);
        let mut contents = Vec::with_capacity(batch.len());
        for (directory, listed) in batch.into_iter().zip(listed) {
            let (entries, mut texts) = listed.unwrap_or_else(|error| {
                walked.errors.extend(error);
                Contents::default()
            });
            filter.admit(&mut texts);
            contents.push((directory, entries, texts));
        }
        let (shared, files) = (&*filter, &walked.files);
        let filter_one = |contents: &(QueuedDirectory, _, _)| {
            self.filter_entries(contents, &contents.0.paths(files), shared)
        };
        let listing = parallel::map(&contents, filter_one);
        for ((directory, ..), listing) in contents.into_iter().zip(listing) {
            let Listing { files, directories, errors, warnings, skipped } = listing?;
            walked.files.extend(directory.origin, &directory.below, files);
            walked.errors.extend(errors);
            filter.warn(warnings);
            walked.skipped.add(skipped);
            below.extend(directories);
        }
        Ok(())
    }

    /// Lists a directory; `Err(None)` if there is nothing to report.
    fn list(
        &self,
        directory: &QueuedDirectory,
        DirectoryPaths { path, shown }: &DirectoryPaths,
        filter: &Filter<'_>,
    ) -> std::result::Result<Contents, Option<Error>> {
        let depth = directory.depth as usize;
        let at_bottom = self.query.max_depth.is_some_and(|max| depth >= max);
        if at_bottom || self.cancel.is_cancelled() {
            return Err(None);
        }
        match self.base.list(path) {
            Ok(listed) => {
                let texts = filter.texts(path, &listed);
                Ok((listed, texts))
            }
            // Removed after it was listed.
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Err(None),
            Err(cause) => {
                let shown = match shown.as_str() {
                    "" => ".",
                    shown => shown,
                };
                Err(Some(self.base.fault("list", shown, &cause)))
            }
        }
    }

    fn filter_entries(
        &self,
        (directory, entries, texts): &(QueuedDirectory, Vec<Listed>, IgnoreTexts),
        paths: &DirectoryPaths,
        filter: &Filter<'_>,
    ) -> Result<Listing> {
        self.cancel.check()?;
        let (mut listing, mut names) = (Listing::default(), Vec::new());
        let rules = filter.enter(&directory.rules, &paths.path, texts, &mut listing.warnings);
        let is_emptied = directory.is_named && filter.exclude_all(&rules, &paths.path, entries);
        let of_ignored = is_emptied.then(|| rules.without_files());
        let rules = EntryRules { rules, of_ignored };
        for (index, entry) in entries.iter().enumerate() {
            if index % ENTRIES_PER_CANCEL_CHECK == ENTRIES_PER_CANCEL_CHECK - 1 {
                self.cancel.check()?;
            }
            match self.classify(directory, paths, filter, &rules, entry) {
                Ok(Some(WalkEntry::File(name))) => names.push(name),
                Ok(Some(WalkEntry::Directory(below))) => listing.directories.push(below),
                Ok(Some(WalkEntry::Unnameable(shown))) => listing.warnings.push(unnameable(shown)),
                Ok(Some(WalkEntry::Skipped(skip, shown))) => listing.skipped.count(skip, shown),
                Ok(None) => {}
                Err(error) => listing.errors.push(error),
            }
        }
        listing.files = FileNames::new(names);
        listing.skipped.name_directories();
        Ok(listing)
    }

    /// How to handle an entry of a directory; `None` to skip it.
    fn classify<'e>(
        &self,
        directory: &QueuedDirectory,
        paths: &DirectoryPaths,
        filter: &Filter<'_>,
        rules: &EntryRules,
        entry: &'e Listed,
    ) -> Result<Option<WalkEntry<'e>>> {
        let kind = match entry.kind {
            FileKind::Special => return Ok(None),
            kind => kind,
        };
        let path = paths.path.join(&entry.name);
        let shown = join(&paths.shown, &entry.name);
        let is_unwanted = |is_dir: bool| {
            !is_dir && directory.matcher.as_ref().is_some_and(|matcher| !matcher.include(&shown))
        };
        let admitted = |is_dir| {
            if is_unwanted(is_dir) {
                return (Admission::Unwanted, &rules.rules);
            }
            let admission = filter.admits(&rules.rules, entry, is_dir, &path, &shown);
            match &rules.of_ignored {
                Some(others) if admission == Admission::Ignored => {
                    (filter.admits(others, entry, is_dir, &path, &shown), others)
                }
                _ => (admission, &rules.rules),
            }
        };
        let admission = |is_dir| admitted(is_dir).0;
        let (kind, canonical) = match kind {
            FileKind::Link if !self.query.follow_links => {
                let is_link = admission(false) == Admission::Admitted;
                return Ok(is_link.then_some(WalkEntry::Skipped(Skip::Link, shown)));
            }
            FileKind::Link => match self.base.find(&path, &shown) {
                Ok(found) => (found.kind, Some(found.canonical)),
                Err(_) if admission(false) != Admission::Admitted => return Ok(None),
                Err(error) => return Err(error),
            },
            kind => (kind, None),
        };
        let is_dir = kind == FileKind::Directory;
        let (admission, rules) = admitted(is_dir);
        let skip = match (admission, is_dir) {
            (Admission::Admitted, _) => None,
            (Admission::Unwanted, _) => return Ok(None),
            (Admission::Ignored, true) => Some(Skip::IgnoredDirectory),
            (Admission::Ignored, false) => Some(Skip::IgnoredFile),
            (Admission::Hidden, true) => Some(Skip::HiddenDirectory),
            (Admission::Hidden, false) => Some(Skip::HiddenFile),
        };
        if let Some(skip) = skip {
            return Ok(Some(WalkEntry::Skipped(skip, shown)));
        }
        let Some(name) = entry.name.to_str() else {
            return Ok(Some(WalkEntry::Unnameable(shown)));
        };
        Ok(match kind {
            FileKind::File => Some(WalkEntry::File(name)),
            FileKind::Directory => Some(WalkEntry::Directory(QueuedDirectory {
                trail: extend(directory.trail.as_ref(), canonical, entry, &shown)?,
                origin: directory.origin,
                below: join(&directory.below, &entry.name).into_boxed_str(),
                depth: directory.depth + 1,
                is_named: filter.globs().names(&shown),
                rules: Arc::clone(rules),
                matcher: directory.matcher.clone(),
            })),
            FileKind::Link | FileKind::Special => None,
        })
    }
}

/// The entries of a directory that the walk continues with.
#[derive(Default)]
struct Listing {
    files: FileNames,
    directories: Vec<QueuedDirectory>,
    errors: Vec<Error>,
    warnings: Vec<SearchWarning>,
    skipped: Skipped,
}

/// An entry that the walk continues with.
enum WalkEntry<'e> {
    File(&'e str),
    Directory(QueuedDirectory),
    /// An entry whose path no request can name, as results show it.
    Unnameable(String),
    /// An entry that is not searched, as results show it.
    Skipped(Skip, String),
}

/// Extends a trail; `canonical` is the target of the link, if the entry is one.
fn extend(
    trail: Option<&Arc<Trail>>,
    canonical: Option<PathBuf>,
    entry: &Listed,
    shown: &str,
) -> Result<Option<Arc<Trail>>> {
    let Some(trail) = trail else { return Ok(None) };
    if let Some(canonical) = &canonical {
        let mut above = Some(trail);
        while let Some(trail) = above {
            if trail.canonical == *canonical {
                return Err(link_cycle(shown));
            }
            above = trail.above.as_ref();
        }
    }
    Ok(Some(Arc::new(Trail {
        canonical: canonical.unwrap_or_else(|| trail.canonical.join(&entry.name)),
        above: Some(Arc::clone(trail)),
    })))
}

fn unnameable(shown: String) -> SearchWarning {
    let message =
        format!("{shown}: was not searched: its name is not UTF-8, so no path can name it");
    SearchWarning { path: shown, message }
}

fn link_cycle(shown: &str) -> Error {
    Error::at(
        Code::Io,
        shown,
        format!("{shown}: is a link to a directory that contains the link, and is not followed"),
    )
}
