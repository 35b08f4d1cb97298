//! Which entries of a directory a search passes over: globs, ignore files, hidden names.
//!
//! The rules are ripgrep's, in its order: a glob of the query decides; else `.ignore`,
//! `.gitignore`, `.git/info/exclude` and git's global file, each from the entry's directory
//! upwards; else whether the name is hidden. Why not the walker of the crate `ignore`, whose
//! matchers these are: it reads the ignore files of all directories up to `/`, and through
//! links, where a search with a root must read nothing outside. That both agree where there
//! is no root is tested on generated trees.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};

use super::SearchQuery;
use crate::disk::fs::{Base, Listed};
use crate::error::{Error, Result};
use crate::text::lines::{Lines, Unit};

/// Longer ignore files are read up to here.
const IGNORE_FILE_LIMIT_BYTES: u64 = 16 << 20;

/// Files in which git writes the path of a directory are read up to here.
const GIT_POINTER_LIMIT_BYTES: u64 = 64 << 10;

/// What a query passes over.
pub(super) struct Filter<'a> {
    base: &'a Base,
    globs: Override,
    /// git's ignore file of the user.
    global: Option<Gitignore>,
    hidden: bool,
    gitignore: bool,
    ignore_files: bool,
    parent_ignore_files: bool,
}

/// The ignore files of a directory, linked to those of the directories above it. A directory
/// without any shares the rules of the one above.
#[derive(Default)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Option<Gitignore>,
    git_ignore: Option<Gitignore>,
    git_exclude: Option<Gitignore>,
    /// The directory is the top of a repository: git's rules from above do not hold in it.
    is_repository: bool,
    /// It lies in a repository: git's rules hold.
    in_repository: bool,
}

/// What in a directory is worth a look.
#[derive(Clone, Copy, Default)]
struct Sources {
    ignore: bool,
    git_ignore: bool,
    git_exclude: bool,
    repository: bool,
}

impl<'a> Filter<'a> {
    /// The filter of a query; fails on a bad glob.
    pub(super) fn new(base: &'a Base, query: &SearchQuery) -> Result<Filter<'a>> {
        let start_dir = base.start_dir()?;
        // The user's file lies outside of any root.
        let global = (query.gitignore && base.root_path().is_none())
            .then(|| GitignoreBuilder::new(&start_dir).build_global().0);
        Ok(Filter {
            base,
            globs: globs(&start_dir, &query.globs)?,
            global,
            hidden: query.hidden,
            gitignore: query.gitignore,
            ignore_files: query.ignore_files,
            parent_ignore_files: query.parent_ignore_files,
        })
    }

    /// The rules that hold in the directory `dir` because of those above it.
    pub(super) fn above(&self, dir: &Path) -> Arc<Rules> {
        let mut rules = Arc::default();
        let above: Vec<&Path> = dir.ancestors().skip(1).collect();
        for dir in above.into_iter().rev() {
            let root = self.base.root_path();
            let wanted = self.parent_ignore_files && root.is_none_or(|root| dir.starts_with(root));
            let sources = Sources {
                ignore: wanted,
                git_ignore: wanted,
                git_exclude: wanted,
                // Asked even of the directories above a root: the `.gitignore` in a root that
                // is part of a repository counts.
                repository: true,
            };
            rules = self.extend(&rules, dir, sources);
        }
        rules
    }

    /// The rules that hold in the directory `dir`, in which `listed` lies.
    pub(super) fn enter(&self, above: &Arc<Rules>, dir: &Path, listed: &[Listed]) -> Arc<Rules> {
        let mut sources = Sources::default();
        for entry in listed {
            match entry.name.as_encoded_bytes() {
                b".ignore" => sources.ignore = true,
                b".gitignore" => sources.git_ignore = true,
                b".git" => (sources.git_exclude, sources.repository) = (true, true),
                b".jj" => sources.repository = true,
                _ => {}
            }
        }
        self.extend(above, dir, sources)
    }

    fn extend(&self, above: &Arc<Rules>, dir: &Path, sources: Sources) -> Arc<Rules> {
        let git = self.gitignore;
        let is_repository =
            git && sources.repository && [".git", ".jj"].iter().any(|name| dir.join(name).exists());
        let rules = Rules {
            above: Some(Arc::clone(above)),
            ignore: self.read(self.ignore_files && sources.ignore, dir, || dir.join(".ignore")),
            git_ignore: self.read(git && sources.git_ignore, dir, || dir.join(".gitignore")),
            git_exclude: match git && is_repository && sources.git_exclude {
                true => self.git_dir(dir).and_then(|git_dir| {
                    self.read(true, dir, || git_dir.join("info").join("exclude"))
                }),
                false => None,
            },
            is_repository,
            in_repository: is_repository || above.in_repository,
        };
        let brings_nothing = rules.ignore.is_none()
            && rules.git_ignore.is_none()
            && rules.git_exclude.is_none()
            && !is_repository;
        match brings_nothing {
            true => Arc::clone(above),
            false => Arc::new(rules),
        }
    }

    /// The rules in the file at `path` for the entries of `dir`. As git and ripgrep do, what
    /// cannot be read or understood is left out.
    fn read(&self, wanted: bool, dir: &Path, path: impl FnOnce() -> PathBuf) -> Option<Gitignore> {
        if !wanted {
            return None;
        }
        let content = self.base.read_start(&path(), IGNORE_FILE_LIMIT_BYTES).ok()?;
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&content);
        let mut builder = GitignoreBuilder::new(dir);
        for line in Lines::new(content, Unit::Byte) {
            if let Ok(line) = std::str::from_utf8(line.text(content)) {
                let _ = builder.add_line(None, line);
            }
        }
        builder.build().ok().filter(|rules| !rules.is_empty())
    }

    /// The directory of git's own files for the repository whose top is `dir`. In a linked
    /// work tree `.git` is a file that says where.
    fn git_dir(&self, dir: &Path) -> Option<PathBuf> {
        let dot_git = dir.join(".git");
        let Ok(pointer) = self.base.read_start(&dot_git, GIT_POINTER_LIMIT_BYTES) else {
            return Some(dot_git);
        };
        let git_dir = dir.join(first_line(&pointer)?.strip_prefix("gitdir: ")?);
        let common = git_dir.join("commondir");
        let common = self.base.read_start(&common, GIT_POINTER_LIMIT_BYTES).ok()?;
        Some(git_dir.join(first_line(&common)?))
    }

    /// Whether the search looks at an entry of a directory in which `rules` hold. `path` is
    /// its absolute path, `shown` its path as the query names it.
    pub(super) fn admits(
        &self,
        rules: &Rules,
        entry: &Listed,
        is_dir: bool,
        path: &Path,
        shown: &str,
    ) -> bool {
        let by_glob = self.globs.matched(shown, is_dir);
        if !by_glob.is_none() {
            return by_glob.is_whitelist();
        }
        match self.by_ignore_files(rules, path, is_dir) {
            Verdict::Ignore => false,
            Verdict::Keep => true,
            Verdict::Silent => self.hidden || !entry.hidden,
        }
    }

    /// The nearest file of each kind that says something about the entry; then the kinds in
    /// the order of their precedence.
    fn by_ignore_files(&self, rules: &Rules, path: &Path, is_dir: bool) -> Verdict {
        let [mut ignore, mut git_ignore, mut git_exclude] = [Verdict::Silent; 3];
        let mut git_holds = rules.in_repository;
        let mut next = Some(rules);
        while let Some(rules) = next {
            ignore = ignore.or(&rules.ignore, path, is_dir);
            if git_holds {
                git_ignore = git_ignore.or(&rules.git_ignore, path, is_dir);
                git_exclude = git_exclude.or(&rules.git_exclude, path, is_dir);
                git_holds = !rules.is_repository;
            }
            next = rules.above.as_deref();
        }
        let by_files = [ignore, git_ignore, git_exclude]
            .into_iter()
            .find(|&verdict| verdict != Verdict::Silent);
        match by_files {
            Some(verdict) => verdict,
            None if rules.in_repository => Verdict::Silent.or(&self.global, path, is_dir),
            None => Verdict::Silent,
        }
    }
}

/// What ignore files say about an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Silent,
    Ignore,
    Keep,
}

impl Verdict {
    /// This verdict, or where it is silent that of `rules`.
    fn or(self, rules: &Option<Gitignore>, path: &Path, is_dir: bool) -> Verdict {
        let (Verdict::Silent, Some(rules)) = (self, rules) else {
            return self;
        };
        match rules.matched(path, is_dir) {
            Match::None => Verdict::Silent,
            Match::Ignore(_) => Verdict::Ignore,
            Match::Whitelist(_) => Verdict::Keep,
        }
    }
}

fn globs(start_dir: &Path, globs: &[String]) -> Result<Override> {
    let mut builder = OverrideBuilder::new(start_dir);
    let invalid = |glob: &str, cause: &ignore::Error| {
        Error::argument(format!("invalid glob {glob:?}: {cause}"))
    };
    for glob in globs {
        builder.add(glob).map_err(|cause| invalid(glob, &cause))?;
    }
    builder.build().map_err(|cause| invalid(&globs.join(", "), &cause))
}

fn first_line(content: &[u8]) -> Option<&str> {
    let line = Lines::new(content, Unit::Byte).next()?;
    std::str::from_utf8(line.text(content)).ok()
}
