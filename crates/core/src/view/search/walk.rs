//! The paths of a query → the files to search, in order, each once.
//!
//! Directories are taken depth by depth, those of one depth in parallel and in the order of their
//! paths; what comes out is sorted. So timing never shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::found::{FileNames, FoundDirectory, FoundFiles};
use super::rules::{Filter, IgnoreRules, IgnoreTexts};
use super::shown::{join, tidy};
use super::{SearchQuery, SearchWarning};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_base::parallel;
use hashline_disk::fs::{Base, FileKind, FileSystem, Listed, unicode_path};

/// What the paths of a query lead to.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: FoundFiles,
    /// What could not be looked at, in no particular order.
    pub(super) errors: Vec<Error>,
    /// Ignore files that do not count as they stand, by path.
    pub(super) warnings: Vec<SearchWarning>,
}

/// How many directories are looked at before the next are: what their ignore files hold is in
/// memory at the same time.
const BATCH_DIRECTORIES: usize = 256;

/// How many entries of a directory are looked at between two looks at the flag.
const LOOK_ENTRIES: usize = 1024;

/// Finds the files of a query; fails only for misuse and cancellation.
pub(super) fn walk(
    fs: &dyn FileSystem,
    base: &Base,
    query: &SearchQuery,
    cancel: &Cancel,
) -> Result<Walked> {
    let mut filter = Filter::new(fs, base, query)?;
    let mut walked = Walked::default();
    let here = [PathBuf::from(".")];
    let paths = if query.paths.is_empty() { &here[..] } else { &query.paths };
    let mut level = Vec::new();
    for path in paths {
        cancel.check()?;
        level.extend(start(base, &mut filter, query, path, &mut walked));
    }
    while !level.is_empty() {
        let mut below = Vec::new();
        let mut rest = level.into_iter();
        while rest.len() > 0 {
            let batch = rest.by_ref().take(BATCH_DIRECTORIES).collect();
            Walk { base, query, cancel }.batch(batch, &mut filter, &mut walked, &mut below)?;
        }
        below.sort_unstable_by(|one, other| walked.files.by_way(one.way(), other.way()));
        level = below;
    }
    walked.files.sort();
    walked.warnings = filter.into_warnings();
    Ok(walked)
}

/// Takes up a path of the query; the directory to list, if it is one.
fn start(
    base: &Base,
    filter: &mut Filter<'_>,
    query: &SearchQuery,
    path: &Path,
    walked: &mut Walked,
) -> Option<QueuedDirectory> {
    let found = unicode_path("path", path).and_then(|name| Ok((base.find(path, name)?, name)));
    let (found, name) = match found {
        Ok(found) => found,
        Err(error) => {
            walked.errors.push(error);
            return None;
        }
    };
    let shown = tidy(name);
    if found.kind != FileKind::Directory {
        walked.files.push_named(found.canonical, shown);
        return None;
    }
    let trail =
        query.follow_links.then(|| Trail { canonical: found.canonical.clone(), above: None });
    Some(QueuedDirectory {
        rules: filter.above(&found.canonical),
        origin: walked.files.push_origin(found.canonical, shown),
        below: "".into(),
        depth: 0,
        trail: trail.map(Arc::new),
    })
}

struct Walk<'a> {
    base: &'a Base,
    query: &'a SearchQuery,
    cancel: &'a Cancel,
}

/// A directory to list. There may be tens of thousands of them, so their paths are made when they
/// are needed.
struct QueuedDirectory {
    /// The path of the query that led to it.
    origin: u32,
    /// The names on the way from there, with `/` between them.
    below: Box<str>,
    /// 0 for one that the query names.
    depth: u32,
    /// The rules that hold in it because of the directories above it.
    rules: Arc<IgnoreRules>,
    /// The way to it, where links are followed.
    trail: Option<Arc<Trail>>,
}

impl QueuedDirectory {
    fn way(&self) -> (u32, &str) {
        (self.origin, &self.below)
    }

    fn paths(&self, found: &FoundFiles) -> FoundDirectory {
        found.directory(self.origin, &self.below)
    }
}

/// The directories on the way to an entry, by which a link back to one of them is told.
struct Trail {
    canonical: PathBuf,
    above: Option<Arc<Trail>>,
}

/// What lies in a directory, and its ignore files.
type Contents = (Vec<Listed>, IgnoreTexts);

impl Walk<'_> {
    /// Lists directories and judges what is in them. Between the two, the ignore files are taken
    /// one after the other: how much of them counts must not depend on timing.
    fn batch(
        &self,
        batch: Vec<QueuedDirectory>,
        filter: &mut Filter<'_>,
        walked: &mut Walked,
        below: &mut Vec<QueuedDirectory>,
    ) -> Result<()> {
        let (shared, found) = (&*filter, &walked.files);
        let list =
            |directory: &QueuedDirectory| self.list(directory, &directory.paths(found), shared);
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
        let (shared, found) = (&*filter, &walked.files);
        let judge = |one: &(QueuedDirectory, _, _)| self.judge(one, &one.0.paths(found), shared);
        let judged = parallel::map(&contents, judge);
        for ((directory, ..), judged) in contents.into_iter().zip(judged) {
            let Listing { files, directories, errors, warnings } = judged?;
            walked.files.extend(directory.origin, &directory.below, files);
            walked.errors.extend(errors);
            filter.warn(warnings);
            below.extend(directories);
        }
        Ok(())
    }

    /// What lies in a directory; `Err(None)` where there is nothing to tell.
    fn list(
        &self,
        directory: &QueuedDirectory,
        FoundDirectory { path, shown }: &FoundDirectory,
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
            // It was removed since it was found.
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

    fn judge(
        &self,
        (directory, entries, texts): &(QueuedDirectory, Vec<Listed>, IgnoreTexts),
        paths: &FoundDirectory,
        filter: &Filter<'_>,
    ) -> Result<Listing> {
        self.cancel.check()?;
        let (mut judged, mut names) = (Listing::default(), Vec::new());
        let rules = filter.enter(&directory.rules, &paths.path, texts, &mut judged.warnings);
        for (index, entry) in entries.iter().enumerate() {
            if index % LOOK_ENTRIES == LOOK_ENTRIES - 1 {
                self.cancel.check()?;
            }
            match self.look_at(directory, paths, filter, &rules, entry) {
                Ok(Some(WalkEntry::File(name))) => names.push(name),
                Ok(Some(WalkEntry::Directory(below))) => judged.directories.push(below),
                Ok(Some(WalkEntry::Unnameable(shown))) => judged.warnings.push(unnameable(shown)),
                Ok(None) => {}
                Err(error) => judged.errors.push(error),
            }
        }
        judged.files = FileNames::new(names);
        Ok(judged)
    }

    /// What to do with an entry of a directory, `None` for nothing.
    fn look_at<'e>(
        &self,
        directory: &QueuedDirectory,
        paths: &FoundDirectory,
        filter: &Filter<'_>,
        rules: &Arc<IgnoreRules>,
        entry: &'e Listed,
    ) -> Result<Option<WalkEntry<'e>>> {
        let kind = match entry.kind {
            FileKind::Special => return Ok(None),
            FileKind::Link if !self.query.follow_links => return Ok(None),
            kind => kind,
        };
        let path = paths.path.join(&entry.name);
        let shown = join(&paths.shown, &entry.name);
        let (kind, canonical) = match kind {
            FileKind::Link => match self.base.find(&path, &shown) {
                Ok(found) => (found.kind, Some(found.canonical)),
                Err(_) if !filter.admits(rules, entry, false, &path, &shown) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            },
            kind => (kind, None),
        };
        let is_dir = kind == FileKind::Directory;
        if !filter.admits(rules, entry, is_dir, &path, &shown) {
            return Ok(None);
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
                rules: Arc::clone(rules),
            })),
            FileKind::Link | FileKind::Special => None,
        })
    }
}

/// What is in a directory.
#[derive(Default)]
struct Listing {
    files: FileNames,
    directories: Vec<QueuedDirectory>,
    errors: Vec<Error>,
    warnings: Vec<SearchWarning>,
}

/// What a walk goes on with.
enum WalkEntry<'e> {
    File(&'e str),
    Directory(QueuedDirectory),
    /// Something at a path that no request can say, as it is shown.
    Unnameable(String),
}

/// The trail to a directory: `canonical` is where the link leads, if it is one.
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
                return Err(leads_back(shown));
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

fn leads_back(shown: &str) -> Error {
    Error::at(
        Code::Io,
        shown,
        format!("{shown}: is a link to a directory that it lies in; it is not searched again"),
    )
}
