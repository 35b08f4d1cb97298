//! Where a path leads: to a file that the tools serve, or elsewhere. This is decided by its text,
//! and by what the caller knows of the files.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::policy::Policy;
use super::{FindingKind, Serves};

/// The relation of a path to the files that the tools serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// A file that the tools serve.
    Inside,
    /// Only known at run time.
    Unknown,
    /// Any other path: outside the roots, a device, a temporary file, a log.
    Outside,
}

/// Directories whose files the tools do not serve, unless they contain a root.
const TEMPORARY: [&str; 5] =
    ["/tmp", "/var/tmp", "/var/folders", "/private/tmp", "/private/var/folders"];

/// Directories of devices and the like.
const DEVICES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The limit on paths of a line that the caller is asked about.
const LOOKUPS_LIMIT: usize = 256;

/// Knowledge of files, from the caller and from the line itself.
pub struct Files<'p> {
    serves: &'p Serves<'p>,
    /// Files that contain only the output of programs, written by the line.
    captured: RefCell<HashSet<String>>,
    /// The answers of the caller so far.
    known: RefCell<HashMap<String, bool>>,
    is_asked: bool,
}

impl<'p> Files<'p> {
    pub fn new(policy: &Policy, serves: &'p Serves<'p>) -> Rc<Files<'p>> {
        let is_asked = policy.check_files && !policy.roots.is_empty();
        Rc::new(Files { serves, captured: RefCell::default(), known: RefCell::default(), is_asked })
    }

    /// Whether the tools serve a path, according to the caller.
    fn has(&self, path: &str) -> bool {
        let mut known = self.known.borrow_mut();
        match known.get(path) {
            Some(known) => *known,
            None if !self.is_asked || known.len() == LOOKUPS_LIMIT => true,
            None => *known.entry(path.to_owned()).or_insert((self.serves)(path)),
        }
    }
}

/// Resolves the paths of a command line.
#[derive(Clone)]
pub struct Paths<'p> {
    policy: &'p Policy,
    files: Rc<Files<'p>>,
    roots: Vec<String>,
    /// The home directory, derived from the roots.
    home: String,
    /// The directory in which the command line starts.
    start: String,
    /// The current directory; `None` if it is only known at run time.
    cwd: Option<String>,
    /// Whether `cwd` is the directory itself, and not one above it.
    is_exact: bool,
}

impl<'p> Paths<'p> {
    pub fn new(policy: &'p Policy, files: Rc<Files<'p>>) -> Paths<'p> {
        let roots: Vec<_> = policy.roots.iter().map(|root| normal("", &slashed(root))).collect();
        let cwd = policy.cwd.as_deref().map(|cwd| normal("", &slashed(cwd)));
        let start = cwd.or_else(|| roots.first().cloned()).unwrap_or_default();
        let home = roots.iter().chain([&start]).find_map(|path| home_of(path));
        let home = home.unwrap_or("/~").to_owned();
        Paths { policy, files, roots, home, cwd: Some(start.clone()), start, is_exact: true }
    }

    /// Changes the current directory, as `cd` does.
    pub fn enter(&mut self, path: &str, is_static: bool) {
        self.is_exact = self.place(path, is_static).is_some();
        self.cwd = self.absolute(path, is_static);
    }

    /// The directory at a path, if it is known before run time.
    pub fn place(&self, path: &str, is_static: bool) -> Option<String> {
        let is_plain = is_static && without_pattern(path).len() == path.len();
        let from_start = path.starts_with(['/', '~']) || path.as_bytes().get(1) == Some(&b':');
        if !is_plain || !(from_start || self.is_exact) {
            return None;
        }
        // The home directory is only known if a root or the start is in one.
        self.absolute(path, true).filter(|place| below(place, "/~").is_none())
    }

    /// The scope of a path. If it is not static, its beginning may still be known.
    pub fn of(&self, path: &str, is_static: bool) -> Scope {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_log = name.ends_with(".log") || name.ends_with(".tmp") || name == "nohup.out";
        if is_log || (!is_static && matches!(path.get(..2), Some("<(" | ">("))) {
            return Scope::Outside;
        }
        let Some(path) = self.absolute(path, is_static) else { return Scope::Unknown };
        let is_in =
            |prefixes: &[&str]| prefixes.iter().any(|prefix| below(&path, prefix).is_some());
        let is_served = match self.roots.iter().find_map(|root| below(&path, root)) {
            _ if is_in(&DEVICES) => false,
            Some(rest) => !self.is_ignored(rest) && self.files.has(without_pattern(&path)),
            None => self.roots.is_empty() && !is_in(&TEMPORARY) && !self.is_ignored(&path),
        };
        if is_served { Scope::Inside } else { Scope::Outside }
    }

    /// The scope of a path that is read or written. Paths that the policy permits count as outside.
    /// So does reading a file that the line itself has filled with the output of a program.
    pub fn used(&self, kind: FindingKind, path: &str, is_static: bool) -> Scope {
        let is_output = || {
            kind == FindingKind::Read
                && !self.files.captured.borrow().is_empty()
                && self.is_captured(self.identity(path, is_static).as_deref())
        };
        if self.permits(kind, path) || is_output() {
            return Scope::Outside;
        }
        self.of(path, is_static)
    }

    /// Records whether a file now contains only the output of programs.
    pub fn capture(&self, identity: Option<&str>, is_output: bool) {
        let Some(file) = identity else { return };
        let mut captured = self.files.captured.borrow_mut();
        if is_output {
            captured.insert(file.to_owned());
        } else {
            captured.remove(file);
        }
    }

    /// Whether the line has filled a file with the output of programs.
    pub fn is_captured(&self, identity: Option<&str>) -> bool {
        identity.is_some_and(|file| self.files.captured.borrow().contains(file))
    }

    /// Whether the policy permits to read or write a path.
    pub fn permits(&self, kind: FindingKind, path: &str) -> bool {
        let permitted = match kind {
            FindingKind::Read => &self.policy.readable_paths,
            FindingKind::Write => &self.policy.writable_paths,
        };
        let is_in = |listed: &String| below(path, listed.trim_end_matches('/')).is_some();
        // A path with `..` may leave the directory.
        let leaves = path.split('/').any(|name| name == "..");
        !leaves && permitted.iter().any(is_in)
    }

    /// A path as the tools expect it: relative to the directory in which the line starts.
    pub fn seen_from_start(&self, path: &str) -> Option<String> {
        let path = self.absolute(path, true)?;
        let rest = below(&path, &self.start).filter(|rest| !rest.is_empty());
        Some(rest.map_or_else(|| path.clone(), str::to_owned))
    }

    /// A key that is the same for all spellings of a path; `None` for a device, which stores
    /// nothing.
    pub fn identity(&self, path: &str, is_static: bool) -> Option<String> {
        let known = if is_static { self.absolute(path, true) } else { None };
        let path = known.unwrap_or_else(|| path.to_owned());
        let is_device = DEVICES.iter().any(|device| below(&path, device).is_some());
        (!is_device).then_some(path)
    }

    /// The absolute path, as far as it is known.
    fn absolute(&self, path: &str, is_static: bool) -> Option<String> {
        let mut path = path;
        if !is_static && let Some(unknown) = path.find(['$', '`']) {
            // Use the directory before the unknown part.
            path = match path[..unknown].rfind('/') {
                Some(end) => &path[..=end],
                None if unknown > 0 => ".",
                None => return None,
            };
        }
        let path = if path.as_bytes().get(1) == Some(&b':') { slashed(path) } else { path.into() };
        if let Some(rest) = path.strip_prefix('~') {
            // `~name` is the home directory of another user.
            let home = if rest.is_empty() || rest.starts_with('/') { &self.home } else { "/~" };
            return Some(normal(home, rest.trim_start_matches('/')));
        }
        if path.starts_with('/') || path.as_bytes().get(1) == Some(&b':') {
            return Some(normal("", &path));
        }
        self.cwd.as_deref().map(|cwd| normal(cwd, &path))
    }

    /// Whether the last matching line of the ignored paths ignores the path.
    fn is_ignored(&self, path: &str) -> bool {
        let lines = self.policy.ignored.iter().map(|line| line.trim_end());
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pattern = |line: &'p str| line.strip_prefix('!').unwrap_or(line).trim_end_matches('/');
        lines.rfind(|line| fits(pattern(line), path)).is_some_and(|line| !line.starts_with('!'))
    }
}

/// Whether a pattern of a `.gitignore` matches a path, or a directory that contains it.
fn fits(pattern: &str, path: &str) -> bool {
    let anchored = pattern.strip_prefix('/').unwrap_or(pattern);
    if anchored.contains('/') || anchored.len() < pattern.len() {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        return ends.take(64).any(|end| fast_glob::glob_match(anchored, &path[..end]));
    }
    path.split('/').any(|name| fast_glob::glob_match(pattern, name))
}

/// The path, or for a pattern the directory that contains all matches.
fn without_pattern(path: &str) -> &str {
    let Some(pattern) = path.find(['*', '?', '[', '{']) else { return path };
    path[..pattern].rfind('/').map_or("", |end| &path[..end.max(1)])
}

/// The rest of a path after a directory; `None` if it is not in the directory.
fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?;
    if directory.ends_with('/') || rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// The home directory that contains a path, by the conventions of operating systems.
fn home_of(path: &str) -> Option<&str> {
    if below(path, "/root").is_some() {
        return Some("/root");
    }
    let base =
        ["/home/", "/Users/", "c:/Users/"].into_iter().find(|base| path.starts_with(base))?;
    let end = path[base.len()..].find('/').map_or(path.len(), |end| base.len() + end);
    Some(&path[..end])
}

/// The path with slashes, and drives as `c:/`.
fn slashed(path: &str) -> Cow<'_, str> {
    match path.as_bytes() {
        [drive, b':', ..] if drive.is_ascii_alphabetic() => {
            let rest = path[2..].replace('\\', "/");
            format!("{}:{rest}", drive.to_ascii_lowercase() as char).into()
        }
        _ => path.into(),
    }
}

/// A path below a directory, without `.` and `..`. Leading `..` remain if the start is unknown.
fn normal(start: &str, path: &str) -> String {
    let is_whole = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let mut out = if is_whole { String::new() } else { start.to_owned() };
    let is_absolute = path.starts_with('/') || out.starts_with('/');
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if out.is_empty() && is_absolute => {}
            ".." if !out.is_empty() && !out.ends_with("..") => {
                out.truncate(out.rfind('/').unwrap_or_default());
            }
            name => {
                if is_absolute || !out.is_empty() {
                    out.push('/');
                }
                out.push_str(name);
            }
        }
    }
    if out.is_empty() && is_absolute { "/".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::Scope::{Inside, Outside, Unknown};
    use super::*;

    fn policy(roots: &[&str], ignored: &[&str]) -> Policy {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        Policy { roots: owned(roots), ignored: owned(ignored), ..Policy::default() }
    }

    fn here(policy: &Policy) -> Paths<'_> {
        Paths::new(policy, Files::new(policy, &|path| !path.ends_with("link")))
    }

    #[test]
    fn files_are_checked_only_if_the_policy_says_so() {
        let mut policy = policy(&["/r"], &[]);
        assert_eq!(here(&policy).of("a/link", true), Inside);
        policy.check_files = true;
        assert_eq!(here(&policy).of("a/link", true), Outside);
        for path in ["a/b", "a/*link", "$f/link", "link*"] {
            assert_ne!(here(&policy).of(path, !path.contains('$')), Outside, "{path}");
        }
        for path in ["link/*", "link/$f", "a/../link/{a,b}"] {
            assert_eq!(here(&policy).of(path, !path.contains('$')), Outside, "{path}");
        }
        policy.roots.clear();
        assert_eq!(here(&policy).of("a/link", true), Inside);
    }

    #[test]
    fn roots_determine_the_scope_of_a_path() {
        let policy = policy(&["/home/u/app", "/opt/lib/"], &[]);
        let paths = here(&policy);
        for (path, scope) in [
            ("a", Inside),
            ("./a/../b", Inside),
            ("../other/a", Outside),
            ("/home/u/app", Inside),
            ("/home/u/application/a", Outside),
            ("/opt/lib/x", Inside),
            ("/etc/hosts", Outside),
            ("~/app/a", Inside),
            ("~/.npmrc", Outside),
            ("~other/app", Outside),
            ("/tmp/a", Outside),
            ("build.log", Outside),
            ("/dev/null", Outside),
        ] {
            assert_eq!(paths.of(path, true), scope, "{path}");
        }
        assert_eq!(paths.of("$f", false), Unknown);
        assert_eq!(paths.of("src/$f", false), Inside);
        assert_eq!(paths.of("/tmp/$f", false), Outside);
        let mut paths = paths;
        paths.enter("/tmp/x", true);
        assert_eq!(paths.of("a", true), Outside);
        paths.enter("$x", false);
        assert_eq!(paths.of("a", true), Unknown);
    }

    #[test]
    fn without_roots_all_but_temporary_files_are_inside() {
        let policy = Policy::default();
        let mut paths = here(&policy);
        for (path, scope) in [
            ("a", Inside),
            ("../a", Inside),
            ("/etc/hosts", Inside),
            ("~/a", Inside),
            ("/tmp/a", Outside),
        ] {
            assert_eq!(paths.of(path, true), scope, "{path}");
        }
        paths.enter("/tmp", true);
        assert_eq!(paths.of("a", true), Outside);
        let rooted = self::policy(&["/tmp/work"], &[]);
        assert_eq!(here(&rooted).of("a", true), Inside);
    }

    #[test]
    fn drives_have_one_spelling() {
        let policy = policy(&["C:\\Users\\u\\app"], &[]);
        let paths = here(&policy);
        for path in ["c:/Users/u/app/a", "C:\\Users\\u\\app\\a", "~/app/a", "a"] {
            assert_eq!(paths.of(path, true), Inside, "{path}");
        }
        assert_eq!(paths.of("D:/a", true), Outside);
    }

    #[test]
    fn ignored_paths_work_as_in_a_gitignore() {
        let policy = policy(&["/r"], &["dist/", "*.snap", "/out", "docs/*.txt", "!keep.snap"]);
        let paths = here(&policy);
        for path in ["dist/a.js", "web/dist/b/c.js", "a.snap", "/r/out/x", "docs/a.txt"] {
            assert_eq!(paths.of(path, true), Outside, "{path}");
        }
        for path in ["a.js", "web/out/x", "docs/b/a.txt", "keep.snap"] {
            assert_eq!(paths.of(path, true), Inside, "{path}");
        }
    }
}
