//! Which directory entries a search skips, by globs, ignore files and hidden names.
//!
//! The rules are ripgrep's, in its order of precedence: globs of the query; then `.ignore`,
//! `.gitignore`, `.git/info/exclude` and git's global file, each from the directory of the entry
//! upwards; then whether the name is hidden. Unlike there, ignore files do not exclude what the query
//! names: see [`Filter::above`] and [`Filter::exclude_all`]. The matchers are those of the crate
//! `ignore`, but not its walker: that reads the ignore files of all directories up to `/`, and
//! through links, whereas a search with a root must not read outside of it. A test compares both on
//! generated trees, without a root.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use super::display::tidy;
use super::globs::{GlobVerdict, Globs};
use super::{SearchQuery, SearchWarning};
use hashline_base::error::Result;
use hashline_disk::fs::{Base, FileKind, FileSystem, Listed, may_wait};
use hashline_lines::anchor::quote;
use hashline_lines::lines::{Lines, Unit};

/// A longer ignore file is truncated after the last complete line before this size. Compiled
/// matchers can be hundreds of times larger than the file.
pub(super) const IGNORE_FILE_LIMIT_BYTES: usize = 128 << 10;

/// The total size limit of ignore files in one search; there can be one in every directory.
pub(super) const IGNORE_TOTAL_LIMIT_BYTES: usize = 1 << 20;

/// A rule with more opening braces is refused before it is parsed, because the glob parser recurses
/// for each nested brace, without a limit. All braces are counted, because only the parser knows
/// which ones nest.
pub(super) const GLOB_BRACES_LIMIT: usize = 64;

/// The maximum number of warnings.
const WARNINGS_LIMIT: usize = 100;

/// The size limit of a file in which git stores the path of a directory.
const GIT_POINTER_LIMIT_BYTES: u64 = 64 << 10;

/// The filter of a query.
pub(super) struct Filter<'a> {
    base: &'a Base,
    globs: Globs,
    /// The user's global git ignore file.
    global: Option<Gitignore>,
    hidden: bool,
    follow_links: bool,
    gitignore: bool,
    ignore_files: bool,
    parent_ignore_files: bool,
    /// The base of relative paths, with links resolved, as in the paths of entries.
    start_dir: PathBuf,
    /// The remaining total size of ignore files.
    remaining_bytes: usize,
    warnings: Vec<SearchWarning>,
}

/// The ignore rules of a directory, linked to those of its parents. A directory without ignore
/// files shares the rules of its parent.
#[derive(Default)]
pub(super) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    ignore: Option<Gitignore>,
    git_ignore: Option<Gitignore>,
    git_exclude: Option<Gitignore>,
    /// The directory is the top of a repository: git's rules from above do not apply in it.
    is_repository: bool,
    /// The directory is in a repository: git's rules apply.
    in_repository: bool,
}

/// The ignore files of a directory that may exist.
#[derive(Clone, Copy, Default)]
struct Sources {
    ignore: bool,
    git_ignore: bool,
    git_exclude: bool,
    repository: bool,
}

/// The contents of the ignore files of a directory.
#[derive(Default)]
pub(super) struct IgnoreTexts {
    ignore: Option<IgnoreText>,
    git_ignore: Option<IgnoreText>,
    git_exclude: Option<IgnoreText>,
    is_repository: bool,
}

/// The content of an ignore file, read up to one byte over the limit.
struct IgnoreText {
    path: PathBuf,
    content: Vec<u8>,
}

impl IgnoreRules {
    /// Rules that exclude nothing. Those of directories below still apply.
    pub(super) fn without_files(&self) -> Arc<IgnoreRules> {
        Arc::new(IgnoreRules { in_repository: self.in_repository, ..IgnoreRules::default() })
    }
}

impl<'a> Filter<'a> {
    /// The filter of a query; fails if a glob is invalid.
    pub(super) fn new(
        fs: &dyn FileSystem,
        base: &'a Base,
        query: &SearchQuery,
    ) -> Result<Filter<'a>> {
        let given_dir = base.start_dir()?;
        let start_dir = match base.has_disk() {
            true => fs.canonicalize(&given_dir).unwrap_or_else(|_| given_dir.clone()),
            false => given_dir.clone(),
        };
        let paths: Vec<&str> = query.paths.iter().filter_map(|path| path.to_str()).collect();
        let mut filter = Filter {
            base,
            globs: Globs::new([&given_dir, &start_dir], &paths, &query.globs)?,
            global: None,
            hidden: query.hidden,
            follow_links: query.follow_links,
            gitignore: query.gitignore,
            ignore_files: query.ignore_files,
            parent_ignore_files: query.parent_ignore_files,
            start_dir,
            remaining_bytes: IGNORE_TOTAL_LIMIT_BYTES,
            warnings: Vec::new(),
        };
        filter.global = filter.global_rules(query);
        Ok(filter)
    }

    /// The rules of the user's global git ignore file, which is outside of any root.
    fn global_rules(&mut self, query: &SearchQuery) -> Option<Gitignore> {
        if !query.gitignore || self.base.root_path().is_some() || !self.base.has_disk() {
            return None;
        }
        // The library opens git's configuration files, which would block.
        if git_configurations().any(|path| may_wait(&path)) {
            return None;
        }
        let mut text = self.read(gitconfig_excludes_path()?);
        self.admit_text(&mut text);
        let mut warnings = Vec::new();
        let rules = self.rules(&self.start_dir, text.as_ref(), &mut warnings);
        self.warn(warnings);
        rules
    }

    /// The globs of the query.
    pub(super) fn globs(&self) -> &Globs {
        &self.globs
    }

    /// The same filter with other globs, before a walk.
    pub(super) fn with_globs(self, globs: Globs) -> Filter<'a> {
        Filter { globs, ..self }
    }

    /// The matcher of a path of the query that has wildcards.
    pub(super) fn matcher_of_path(&self, path: &str) -> Result<Globs> {
        Globs::of_path([&self.base.start_dir()?, &self.start_dir], path)
    }

    /// The path of a directory without links, if its path has any, relative to the base.
    pub(super) fn target(&self, dir: &str) -> Option<String> {
        let canonical = self.base.find(Path::new(dir), dir).ok()?.canonical;
        let below = canonical.strip_prefix(&self.start_dir).ok()?.to_str()?;
        Some(below.replace(MAIN_SEPARATOR, "/")).filter(|below| below != dir)
    }

    /// The warnings, sorted by path.
    pub(super) fn take_warnings(&mut self) -> Vec<SearchWarning> {
        self.warnings.sort();
        self.warnings.dedup();
        std::mem::take(&mut self.warnings)
    }

    /// Adds warnings.
    pub(super) fn warn(&mut self, mut warnings: Vec<SearchWarning>) {
        self.warnings.append(&mut warnings);
        self.warnings.truncate(WARNINGS_LIMIT);
    }

    /// The rules that apply in `dir` because of its parents. If the query names `dir` although they
    /// exclude it or a directory above it, they do not apply.
    pub(super) fn above(&mut self, dir: &Path, is_named: bool) -> Arc<IgnoreRules> {
        let mut rules = Arc::default();
        let mut is_excluded = false;
        let above: Vec<&Path> = dir.ancestors().collect();
        for pair in above.windows(2).rev() {
            let &[below, dir] = pair else { continue };
            let root = self.base.root_path();
            let wanted = self.parent_ignore_files && root.is_none_or(|root| dir.starts_with(root));
            let sources = Sources {
                ignore: wanted,
                git_ignore: wanted,
                git_exclude: wanted,
                // Checked even for the parents of a root, because the `.gitignore` in a root that
                // is part of a repository applies.
                repository: true,
            };
            let mut texts = self.read_sources(dir, sources);
            self.admit(&mut texts);
            let mut warnings = Vec::new();
            rules = self.enter(&rules, dir, &texts, &mut warnings);
            self.warn(warnings);
            is_excluded |=
                is_named && self.by_ignore_files(&rules, below, true) == IgnoreVerdict::Ignore;
        }
        if is_excluded { rules.without_files() } else { rules }
    }

    /// Whether a path of the query is more than the place where searches start anyway.
    pub(super) fn names_a_part(&self, path: &Path) -> bool {
        !self.start_dir.starts_with(path)
    }

    /// Reads the ignore files of `dir`, whose entries are `listed`.
    pub(super) fn texts(&self, dir: &Path, listed: &[Listed]) -> IgnoreTexts {
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
        self.read_sources(dir, sources)
    }

    fn read_sources(&self, dir: &Path, sources: Sources) -> IgnoreTexts {
        let git = self.gitignore;
        let exists = |name: &&str| self.base.exists(&dir.join(name));
        let is_repository = git && sources.repository && [".git", ".jj"].iter().any(exists);
        let read = |wanted, name| if wanted { self.read(dir.join(name)) } else { None };
        let exclude = |git_dir: PathBuf| self.read(git_dir.join("info").join("exclude"));
        IgnoreTexts {
            ignore: read(self.ignore_files && sources.ignore, ".ignore"),
            git_ignore: read(git && sources.git_ignore, ".gitignore"),
            git_exclude: if git && is_repository && sources.git_exclude {
                self.git_dir(dir).and_then(exclude)
            } else {
                None
            },
            is_repository,
        }
    }

    /// Truncates the ignore files of a directory to the remaining total size, in their order.
    pub(super) fn admit(&mut self, texts: &mut IgnoreTexts) {
        for text in [&mut texts.ignore, &mut texts.git_ignore, &mut texts.git_exclude] {
            self.admit_text(text);
        }
    }

    fn admit_text(&mut self, text: &mut Option<IgnoreText>) {
        let Some(IgnoreText { path, content }) = text else { return };
        if content.len() > IGNORE_FILE_LIMIT_BYTES {
            content.truncate(IGNORE_FILE_LIMIT_BYTES);
            content.truncate(memchr::memrchr(b'\n', content).map_or(0, |newline| newline + 1));
            let what = format!(
                "truncated after {} bytes: only complete lines in its first {IGNORE_FILE_LIMIT_BYTES} bytes are read",
                content.len()
            );
            let warning = self.warning(path, &what);
            self.warn(vec![warning]);
        }
        if content.len() > self.remaining_bytes {
            let what = format!(
                "not read: all ignore files together would be over {IGNORE_TOTAL_LIMIT_BYTES} bytes"
            );
            let warning = self.warning(path, &what);
            self.warn(vec![warning]);
            *text = None;
        } else {
            self.remaining_bytes -= content.len();
        }
    }

    fn warning(&self, path: &Path, what: &str) -> SearchWarning {
        let shown = path.strip_prefix(&self.start_dir).unwrap_or(path);
        let path = tidy(&shown.to_string_lossy());
        SearchWarning { message: format!("{path}: {what}"), path }
    }

    /// The rules that apply in `dir`, whose ignore files are `texts`.
    pub(super) fn enter(
        &self,
        above: &Arc<IgnoreRules>,
        dir: &Path,
        texts: &IgnoreTexts,
        warnings: &mut Vec<SearchWarning>,
    ) -> Arc<IgnoreRules> {
        let is_repository = texts.is_repository;
        let mut rules = |text: &Option<IgnoreText>| self.rules(dir, text.as_ref(), &mut *warnings);
        let rules = IgnoreRules {
            above: Some(Arc::clone(above)),
            ignore: rules(&texts.ignore),
            git_ignore: rules(&texts.git_ignore),
            git_exclude: rules(&texts.git_exclude),
            is_repository,
            in_repository: is_repository || above.in_repository,
        };
        let is_empty = rules.ignore.is_none()
            && rules.git_ignore.is_none()
            && rules.git_exclude.is_none()
            && !is_repository;
        if is_empty { Arc::clone(above) } else { Arc::new(rules) }
    }

    /// Unreadable files are ignored, as in git and ripgrep.
    fn read(&self, path: PathBuf) -> Option<IgnoreText> {
        let content = self.base.read_start(&path, IGNORE_FILE_LIMIT_BYTES as u64 + 1).ok()?;
        Some(IgnoreText { path, content })
    }

    /// Compiles an ignore file for the entries of `dir`. Invalid rules are skipped, as in git and
    /// ripgrep; rules that are too large cause a warning.
    fn rules(
        &self,
        dir: &Path,
        text: Option<&IgnoreText>,
        warnings: &mut Vec<SearchWarning>,
    ) -> Option<Gitignore> {
        let IgnoreText { path, content } = text?;
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        let mut builder = GitignoreBuilder::new(dir);
        for (number, line) in (1..).zip(Lines::new(content, Unit::Byte)) {
            let line = line.text(content);
            if !line.starts_with(b"#") && has_too_many_braces(line) {
                let what = format!(
                    "line {number} is ignored: it has more than {GLOB_BRACES_LIMIT} opening braces"
                );
                warnings.push(self.warning(path, &what));
            } else if let Ok(line) = std::str::from_utf8(line) {
                let _ = builder.add_line(None, line);
            }
        }
        match builder.build() {
            Ok(rules) => Some(rules).filter(|rules| !rules.is_empty()),
            Err(cause) => {
                let what = format!("does not count: {}", quote(&cause.to_string()));
                warnings.push(self.warning(path, &what));
                None
            }
        }
    }

    /// The git directory of the repository whose top is `dir`. In a linked worktree, `.git` is a
    /// file with its path.
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

    /// Whether the search includes an entry of a directory with these `rules`. `path` is its
    /// absolute path, `shown` its path as results show it.
    pub(super) fn admits(
        &self,
        rules: &IgnoreRules,
        entry: &Listed,
        is_dir: bool,
        path: &Path,
        shown: &str,
    ) -> Admission {
        // A link that is not followed does not count as a match.
        let is_listed = entry.kind != FileKind::Link || self.follow_links;
        match self.globs.verdict(shown, is_dir, is_listed) {
            GlobVerdict::Silent => {}
            GlobVerdict::Include => return Admission::Admitted,
            GlobVerdict::Exclude => return Admission::Unwanted,
        }
        match self.by_ignore_files(rules, path, is_dir) {
            IgnoreVerdict::Ignore => Admission::Ignored,
            IgnoreVerdict::Silent if entry.hidden && !self.hidden => Admission::Hidden,
            IgnoreVerdict::Keep | IgnoreVerdict::Silent => Admission::Admitted,
        }
    }

    /// Whether the ignore files exclude all entries of a directory. Hidden ones do not count: a
    /// directory whose contents git ignores often keeps a `.gitkeep`.
    pub(super) fn exclude_all(&self, rules: &IgnoreRules, dir: &Path, entries: &[Listed]) -> bool {
        let mut visible = entries.iter().filter(|entry| !entry.hidden).peekable();
        visible.peek().is_some()
            && visible.all(|entry| {
                let is_dir = entry.kind == FileKind::Directory;
                let path = dir.join(&entry.name);
                self.by_ignore_files(rules, &path, is_dir) == IgnoreVerdict::Ignore
            })
    }

    /// For each kind of ignore file the closest one with a matching rule decides; kinds are tried
    /// by precedence.
    fn by_ignore_files(&self, rules: &IgnoreRules, path: &Path, is_dir: bool) -> IgnoreVerdict {
        let [mut ignore, mut git_ignore, mut git_exclude] = [IgnoreVerdict::Silent; 3];
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
            .find(|&verdict| verdict != IgnoreVerdict::Silent);
        match by_files {
            Some(verdict) => verdict,
            None if rules.in_repository => IgnoreVerdict::Silent.or(&self.global, path, is_dir),
            None => IgnoreVerdict::Silent,
        }
    }
}

/// Whether a search includes an entry, and why not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    /// The query excludes it.
    Unwanted,
    Ignored,
    Hidden,
}

/// The verdict of ignore files on an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IgnoreVerdict {
    Silent,
    Ignore,
    Keep,
}

impl IgnoreVerdict {
    /// This verdict or, if there is none, that of `rules`.
    fn or(self, rules: &Option<Gitignore>, path: &Path, is_dir: bool) -> IgnoreVerdict {
        let (IgnoreVerdict::Silent, Some(rules)) = (self, rules) else {
            return self;
        };
        match rules.matched(path, is_dir) {
            Match::None => IgnoreVerdict::Silent,
            Match::Ignore(_) => IgnoreVerdict::Ignore,
            Match::Whitelist(_) => IgnoreVerdict::Keep,
        }
    }
}

/// The possible paths of the user's and the system's git configuration.
fn git_configurations() -> impl Iterator<Item = PathBuf> {
    let named = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = std::env::home_dir();
    let of_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let folder = named("XDG_CONFIG_HOME").or_else(|| of_home(".config"));
    let system = named("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
    [
        named("GIT_CONFIG_GLOBAL"),
        of_home(".gitconfig"),
        folder.map(|folder| folder.join("git/config")),
        Some(system),
    ]
    .into_iter()
    .flatten()
}

pub(super) fn has_too_many_braces(glob: &[u8]) -> bool {
    memchr::memchr_iter(b'{', glob).count() > GLOB_BRACES_LIMIT
}

fn first_line(content: &[u8]) -> Option<&str> {
    let line = Lines::new(content, Unit::Byte).next()?;
    std::str::from_utf8(line.text(content)).ok()
}
