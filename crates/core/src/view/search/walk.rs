//! The paths of a query → the files to search, in order, each once.
//!
//! Directories are listed in parallel; what comes out is sorted, so that timing never shows.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf, is_separator};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::Scope;
use rayon::slice::ParallelSliceMut;

use super::SearchQuery;
use super::rules::{Filter, Rules};
use crate::cancel::Cancel;
use crate::disk::fs::{Base, FileKind, Listed};
use crate::error::{Code, Error, Result};

/// A file to search.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Its path, as the query leads to it.
    pub(super) shown: String,
    /// Whether the query names the file itself.
    pub(super) named: bool,
    /// Its absolute path, by which candidates are ordered and told apart.
    path: PathBuf,
    /// Which of the query's paths led here.
    origin: usize,
}

/// What the paths of a query lead to.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The files, by path.
    pub(super) files: Vec<Candidate>,
    /// What could not be looked at, in no particular order.
    pub(super) errors: Vec<Error>,
}

/// Finds the files of a query; fails only for misuse and cancellation.
pub(super) fn walk(base: &Base, query: &SearchQuery, cancel: &Cancel) -> Result<Walked> {
    let filter = Filter::new(base, query)?;
    let walk = Walk { base, filter: &filter, query, cancel, walked: Mutex::default() };
    let here = [".".to_owned()];
    let paths = match query.paths.is_empty() {
        true => &here[..],
        false => &query.paths,
    };
    rayon::scope(|scope| {
        for (origin, path) in paths.iter().enumerate() {
            walk.start(scope, origin, path);
        }
    });
    cancel.check()?;
    let mut walked = walk.walked.into_inner().unwrap_or_else(PoisonError::into_inner);
    walked.files.par_sort_unstable_by(Candidate::order);
    walked.files.dedup_by(|later, first| later.path == first.path);
    Ok(walked)
}

impl Candidate {
    /// By path; of several ways to one file the one that the query names first comes first.
    fn order(&self, other: &Candidate) -> Ordering {
        by_components(&self.path, &other.path)
            .then_with(|| self.origin.cmp(&other.origin))
            .then_with(|| self.shown.cmp(&other.shown))
    }
}

/// Compares absolute paths component by component, as bytes: a separator comes before any
/// other byte, so that what lies in `a` stands before `a.txt`.
fn by_components(one: &Path, other: &Path) -> Ordering {
    let one = one.as_os_str().as_encoded_bytes();
    let other = other.as_os_str().as_encoded_bytes();
    let rank = |byte: u8| match is_separator(byte as char) {
        true => 0,
        false => byte,
    };
    let differs = one.iter().zip(other).position(|(one, other)| one != other);
    match differs {
        Some(at) => rank(one[at]).cmp(&rank(other[at])),
        None => one.len().cmp(&other.len()),
    }
}

struct Walk<'a> {
    base: &'a Base,
    filter: &'a Filter<'a>,
    query: &'a SearchQuery,
    cancel: &'a Cancel,
    walked: Mutex<Walked>,
}

/// A directory to list.
struct Directory {
    /// Its absolute path; below a followed link, through that link.
    path: PathBuf,
    shown: String,
    /// 0 for one that the query names.
    depth: usize,
    origin: usize,
    /// The rules that hold in it because of the directories above it.
    rules: Arc<Rules>,
    /// The way to it, where links are followed.
    trail: Option<Arc<Trail>>,
}

/// The directories on the way to an entry, by which a link back to one of them is told.
struct Trail {
    canonical: PathBuf,
    above: Option<Arc<Trail>>,
}

impl<'a> Walk<'a> {
    fn start<'s>(&'s self, scope: &Scope<'s>, origin: usize, path: &str) {
        let found = match self.base.find(Path::new(path), path) {
            Ok(found) => found,
            Err(error) => return self.lock(|walked| walked.errors.push(error)),
        };
        let shown = tidy(path);
        if found.kind != FileKind::Directory {
            return self.lock(|walked| {
                walked.files.push(Candidate { shown, named: true, path: found.canonical, origin });
            });
        }
        let trail = self
            .query
            .follow_links
            .then(|| Arc::new(Trail { canonical: found.canonical.clone(), above: None }));
        let directory = Directory {
            rules: self.filter.above(&found.canonical),
            path: found.canonical,
            shown,
            depth: 0,
            origin,
            trail,
        };
        scope.spawn(move |scope| self.list(scope, directory));
    }

    fn list<'s>(&'s self, scope: &Scope<'s>, directory: Directory) {
        let at_bottom = self.query.max_depth.is_some_and(|max| directory.depth >= max);
        if at_bottom || self.cancel.is_cancelled() {
            return;
        }
        let mut walked = Walked::default();
        match self.base.list(&directory.path) {
            Ok(listed) => {
                let rules = self.filter.enter(&directory.rules, &directory.path, &listed);
                for entry in listed {
                    match self.look_at(&directory, &rules, &entry) {
                        Ok(Some(Entry::File(file))) => walked.files.push(file),
                        Ok(Some(Entry::Directory(below))) => {
                            scope.spawn(move |scope| self.list(scope, below));
                        }
                        Ok(None) => {}
                        Err(error) => walked.errors.push(error),
                    }
                }
            }
            // It was removed since it was found.
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
            Err(cause) => {
                let shown = match directory.shown.as_str() {
                    "" => ".",
                    shown => shown,
                };
                walked.errors.push(self.base.fault("list", shown, &cause));
            }
        }
        self.lock(|all| {
            all.files.append(&mut walked.files);
            all.errors.append(&mut walked.errors);
        });
    }

    /// What to do with an entry of a directory, `None` for nothing.
    fn look_at(
        &self,
        directory: &Directory,
        rules: &Arc<Rules>,
        entry: &Listed,
    ) -> Result<Option<Entry>> {
        let kind = match entry.kind {
            FileKind::Special => return Ok(None),
            FileKind::Link if !self.query.follow_links => return Ok(None),
            kind => kind,
        };
        let path = directory.path.join(&entry.name);
        let shown = join(&directory.shown, &entry.name);
        let (kind, canonical) = match kind {
            FileKind::Link => match self.base.find(&path, &shown) {
                Ok(found) => (found.kind, Some(found.canonical)),
                Err(_) if !self.filter.admits(rules, entry, false, &path, &shown) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            },
            kind => (kind, None),
        };
        let is_dir = kind == FileKind::Directory;
        if !self.filter.admits(rules, entry, is_dir, &path, &shown) {
            return Ok(None);
        }
        if entry.name.to_str().is_none() {
            return Err(unnameable(&shown));
        }
        let origin = directory.origin;
        Ok(match kind {
            FileKind::File => Some(Entry::File(Candidate { shown, named: false, path, origin })),
            FileKind::Directory => Some(Entry::Directory(Directory {
                trail: extend(directory.trail.as_ref(), canonical, entry, &shown)?,
                path,
                shown,
                depth: directory.depth + 1,
                origin,
                rules: Arc::clone(rules),
            })),
            FileKind::Link | FileKind::Special => None,
        })
    }

    fn lock(&self, change: impl FnOnce(&mut Walked)) {
        change(&mut self.walked.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What a walk goes on with.
enum Entry {
    File(Candidate),
    Directory(Directory),
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

/// The path of an entry as the query leads to it, with forward slashes.
fn join(dir: &str, name: &OsStr) -> String {
    let name = name.to_string_lossy();
    match dir.is_empty() || dir.ends_with('/') {
        true => format!("{dir}{name}"),
        false => format!("{dir}/{name}"),
    }
}

/// A path of the query without `.` components and doubled or final slashes; empty for the
/// directory where relative paths start.
fn tidy(path: &str) -> String {
    let mut tidy = String::with_capacity(path.len());
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::RootDir => tidy.push('/'),
            Component::Prefix(prefix) => tidy.push_str(&prefix.as_os_str().to_string_lossy()),
            Component::ParentDir | Component::Normal(_) => {
                tidy = join(&tidy, component.as_os_str());
            }
        }
    }
    tidy
}

fn unnameable(shown: &str) -> Error {
    Error::at(
        Code::Io,
        shown,
        format!("{shown}: its name is not valid UTF-8, so that no path can name it"),
    )
}

fn leads_back(shown: &str) -> Error {
    Error::at(
        Code::Io,
        shown,
        format!("{shown}: is a link to a directory that it lies in; it is not searched again"),
    )
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
                assert_eq!(by_components(one, other), at.cmp(&other_at), "{one:?} {other:?}");
                assert_eq!(by_components(one, other), one.cmp(other), "{one:?} {other:?}");
            }
        }
    }

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
    }
}
