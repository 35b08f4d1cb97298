//! The globs of a query: which entries they include and exclude, and which of them match no file.

mod spelling;

use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::files::FileList;
use super::rules::{GLOB_BRACES_LIMIT, has_too_many_braces};
use hashline_base::error::{Error, Result};
use hashline_disk::fs::plain;
use hashline_lines::anchor::quote;
use spelling::{GlobBase, GlobLine, leads_up, literal_dir, named_dirs};

/// How many globs are checked one by one whether they match a file.
const CHECKED_GLOBS: usize = 64;

/// The total size limit of the lines of all globs: a glob has one for each path of the query.
const LINES_LIMIT_BYTES: usize = 1 << 20;

/// The total size limit of the globs of a query.
pub(super) const GLOBS_LIMIT_BYTES: usize = 64 << 10;

/// The compiled globs of a query.
pub(super) struct Globs {
    given: Vec<GivenGlob>,
    base: GlobBase,
    /// Globs match paths as results show them, relative to this directory.
    shown_dir: PathBuf,
    matcher: Gitignore,
    /// For each line of the matcher its glob, and whether the line is a scope.
    lines: Vec<(usize, bool)>,
    /// The directories that including globs name without a wildcard.
    named: Gitignore,
    has_includes: bool,
}

/// A glob as the query has it.
struct GivenGlob {
    text: String,
    lines: Vec<GlobLine>,
    /// Whether it decided about an entry: if it includes, about a file.
    is_used: AtomicBool,
}

/// What the globs say about an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GlobVerdict {
    /// The other rules decide.
    Silent,
    Include,
    Exclude,
}

impl Globs {
    /// Compiles globs. `start_dirs` are the spellings of the base of relative paths, `paths` the
    /// paths of the query.
    pub(super) fn new(start_dirs: [&Path; 2], paths: &[&str], globs: &[String]) -> Result<Globs> {
        check(globs)?;
        let (shown_dir, starts) = starts(start_dirs);
        let base = GlobBase::new(starts, paths);
        let given = |glob: &String| GivenGlob {
            text: glob.clone(),
            lines: base.lines(glob),
            is_used: AtomicBool::new(false),
        };
        let mut size_bytes = 0;
        let mut compiled = Vec::with_capacity(globs.len());
        for glob in globs.iter().map(given) {
            size_bytes += glob.lines.iter().map(|line| line.text.len()).sum::<usize>();
            if size_bytes > LINES_LIMIT_BYTES {
                return Err(Error::argument(format!(
                    "globs have more than {LINES_LIMIT_BYTES} bytes together, counted once for each of the paths: use fewer globs or paths"
                )));
            }
            compiled.push(glob);
        }
        Globs::compile(compiled, base, shown_dir)
    }

    /// Compiles a path of a query that has wildcards.
    pub(super) fn of_path(start_dirs: [&Path; 2], path: &str) -> Result<Globs> {
        check(&[path.to_owned()])?;
        let (shown_dir, starts) = starts(start_dirs);
        let base = GlobBase::new(starts, &[]);
        let (text, lines) = (path.to_owned(), base.path_lines(path));
        Globs::compile(vec![GivenGlob { text, lines, is_used: false.into() }], base, shown_dir)
    }

    fn compile(given: Vec<GivenGlob>, base: GlobBase, shown_dir: PathBuf) -> Result<Globs> {
        let (mut matcher, mut named) = (builder(&shown_dir), builder(&shown_dir));
        let mut lines = Vec::new();
        for (at, glob) in given.iter().enumerate() {
            for line in &glob.lines {
                // The matcher returns what a line came from: here its number.
                let from = PathBuf::from(lines.len().to_string());
                matcher
                    .add_line(Some(from), &line.text)
                    .map_err(|cause| invalid(&glob.text, &cause))?;
                lines.push((at, line.is_scope));
                if !line.text.starts_with('!') {
                    for dir in named_dirs(&line.text) {
                        // A part of a valid glob may be invalid alone; it then names nothing.
                        let _ = named.add_line(None, &dir);
                    }
                }
            }
        }
        let all = || given.iter().map(|glob| glob.text.as_str()).collect::<Vec<_>>().join(", ");
        let matcher = matcher.build().map_err(|cause| invalid(&all(), &cause))?;
        let named = named.build().map_err(|cause| invalid(&all(), &cause))?;
        let has_includes = matcher.num_ignores() > 0;
        Ok(Globs { given, base, shown_dir, matcher, lines, named, has_includes })
    }

    /// What the globs say about an entry, given its path as results show it. A glob that includes a
    /// file is used if the file `is_listed`.
    pub(super) fn verdict(&self, shown: &str, is_dir: bool, is_listed: bool) -> GlobVerdict {
        if self.matcher.is_empty() {
            return GlobVerdict::Silent;
        }
        match self.matcher.matched(shown, is_dir) {
            Match::None if self.has_includes && !is_dir => GlobVerdict::Exclude,
            Match::None => self.of_named_dir(shown, is_dir),
            Match::Whitelist(glob) => {
                self.line(glob.from(), true);
                GlobVerdict::Exclude
            }
            Match::Ignore(glob) => match self.line(glob.from(), !is_dir && is_listed) {
                true => self.of_named_dir(shown, is_dir),
                false => GlobVerdict::Include,
            },
        }
    }

    /// A directory that a glob names is entered even if it is ignored or hidden, as one that the
    /// query names.
    fn of_named_dir(&self, shown: &str, is_dir: bool) -> GlobVerdict {
        if is_dir && self.names(shown) { GlobVerdict::Include } else { GlobVerdict::Silent }
    }

    /// Whether a glob names a directory without a wildcard.
    pub(super) fn names(&self, shown: &str) -> bool {
        self.named.matched(shown, true).is_ignore()
    }

    /// Whether the line with this number is a scope; notes whether its glob is used.
    fn line(&self, number: Option<&Path>, is_used: bool) -> bool {
        let number = number.and_then(Path::to_str).and_then(|number| number.parse::<usize>().ok());
        let Some(&(glob, is_scope)) = number.and_then(|number| self.lines.get(number)) else {
            return false;
        };
        let known = &self.given[glob].is_used;
        if is_used && !known.load(Ordering::Relaxed) {
            known.store(true, Ordering::Relaxed);
        }
        is_scope
    }

    /// The same globs, with the other readings of those that matched nothing; `None` if there are
    /// no other readings.
    pub(super) fn reread(
        &self,
        files: &FileList,
        target: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Globs> {
        let mut is_reread = false;
        let given = self.given.iter().enumerate().map(|(at, glob)| {
            let mut lines = glob.lines.clone();
            if at < CHECKED_GLOBS && !self.is_matched(glob, files) {
                let other = self.base.other_lines(&glob.text, target);
                let valid = other.into_iter().filter(|line| is_valid(&line.text));
                lines.extend(valid.filter(|line| !glob.lines.contains(line)));
                is_reread |= lines.len() > glob.lines.len();
            }
            GivenGlob { text: glob.text.clone(), lines, is_used: AtomicBool::new(false) }
        });
        let given = given.collect();
        let base = self.base.clone();
        is_reread.then(|| Globs::compile(given, base, self.shown_dir.clone()).ok()).flatten()
    }

    /// The including globs that match none of the files.
    pub(super) fn unmatched(&self, files: &FileList) -> Vec<String> {
        let unmatched = self
            .given
            .iter()
            .take(CHECKED_GLOBS)
            .filter(|glob| !glob.text.starts_with('!') && !self.is_matched(glob, files));
        unmatched.map(|glob| glob.text.clone()).collect()
    }

    /// Whether the globs admit a file, given its path as results show it.
    pub(super) fn include(&self, shown: &str) -> bool {
        self.verdict(shown, false, true) != GlobVerdict::Exclude
    }

    /// A glob that decided about no entry may match files about which a later glob decided.
    fn is_matched(&self, glob: &GivenGlob, files: &FileList) -> bool {
        if glob.is_used.load(Ordering::Relaxed) {
            return true;
        }
        let has_named = || files.files().iter().any(|file| file.is_named());
        if glob.text.starts_with('!') || (self.given.len() == 1 && !has_named()) {
            return false;
        }
        let mut alone = builder(&self.shown_dir);
        for line in &glob.lines {
            let _ = alone.add_line(None, &line.text);
        }
        let Ok(alone) = alone.build() else { return true };
        files.files().iter().any(|&file| alone.matched(files.shown(file), false).is_ignore())
    }
}

/// The directory where a path with wildcards starts; `None` if it has none.
pub(super) fn start_of_path(path: &str) -> Option<&str> {
    literal_dir(path)
}

/// Why a glob matches no file, if that can be known from it.
pub(super) fn reason_of_no_match(glob: &str) -> Option<String> {
    leads_up(glob).then(|| {
        format!(
            "the glob {} leads out of the directory where it starts: name a directory in paths",
            quote(glob)
        )
    })
}

/// The first spelling of the base of relative paths, and all of them with `/`.
fn starts(start_dirs: [&Path; 2]) -> (PathBuf, Vec<String>) {
    let shown_dir = start_dirs[0].to_str().map(plain);
    let shown_dir = shown_dir.as_deref().map_or_else(|| start_dirs[0].to_owned(), PathBuf::from);
    let spelled = |dir: &&Path| dir.to_str().map(|dir| plain(dir).replace(MAIN_SEPARATOR, "/"));
    let mut starts: Vec<String> = start_dirs.iter().filter_map(spelled).collect();
    starts.dedup();
    (shown_dir, starts)
}

fn check(globs: &[String]) -> Result<()> {
    let size_bytes: usize = globs.iter().map(String::len).sum();
    if size_bytes > GLOBS_LIMIT_BYTES {
        return Err(Error::argument(format!(
            "globs have {size_bytes} bytes together: the limit is {GLOBS_LIMIT_BYTES}"
        )));
    }
    if let Some(glob) = globs.iter().find(|glob| has_too_many_braces(glob.as_bytes())) {
        return Err(Error::argument(format!(
            "the glob {} has more than {GLOB_BRACES_LIMIT} braces: write several globs",
            quote(glob)
        )));
    }
    Ok(())
}

fn builder(dir: &Path) -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(dir);
    builder.allow_unclosed_class(false);
    builder
}

fn is_valid(line: &str) -> bool {
    builder(Path::new("")).add_line(None, line).is_ok()
}

fn invalid(glob: &str, cause: &ignore::Error) -> Error {
    Error::argument(format!("invalid glob {glob:?}: {cause}"))
}
