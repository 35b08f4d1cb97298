//! Where a path leads: to a file that the tools serve, or elsewhere. By its text, and by what the
//! caller knows of the files.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::policy::Policy;
use super::{FindingKind, Serves};

/// What is known of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A file that the tools serve.
    Inside,
    /// What is known at run time alone.
    Unknown,
    /// Any other: outside the roots, a device, a temporary file, a log.
    Outside,
}

/// Directories whose files the tools do not serve, unless a root lies there.
const TEMPORARY: [&str; 5] =
    ["/tmp", "/var/tmp", "/var/folders", "/private/tmp", "/private/var/folders"];

/// Directories of what is no file.
const DEVICES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// How many paths of a line are looked up.
const LOOKUPS_LIMIT: usize = 256;

/// What the caller and the line itself know of the files.
pub struct Files<'p> {
    serves: &'p Serves<'p>,
    /// Files into which the line has put the output of programs.
    captured: RefCell<HashSet<String>>,
    /// What was asked already.
    known: RefCell<HashMap<String, bool>>,
    is_asked: bool,
}

impl<'p> Files<'p> {
    pub fn new(policy: &Policy, serves: &'p Serves<'p>) -> Rc<Files<'p>> {
        let is_asked = policy.check_files && !policy.roots.is_empty();
        Rc::new(Files { serves, captured: RefCell::default(), known: RefCell::default(), is_asked })
    }

    /// Whether the tools serve what is at a path, as far as that is looked up.
    fn has(&self, path: &str) -> bool {
        let mut known = self.known.borrow_mut();
        match known.get(path) {
            Some(known) => *known,
            None if !self.is_asked || known.len() == LOOKUPS_LIMIT => true,
            None => *known.entry(path.to_owned()).or_insert((self.serves)(path)),
        }
    }
}

/// The directories of a command line.
#[derive(Clone)]
pub struct Places<'p> {
    policy: &'p Policy,
    files: Rc<Files<'p>>,
    roots: Vec<String>,
    /// What `~` stands for, as far as the roots say it.
    home: String,
    /// Where the command line starts.
    start: String,
    /// Where relative paths start; none where that is known at run time alone.
    cwd: Option<String>,
}

impl<'p> Places<'p> {
    pub fn new(policy: &'p Policy, files: Rc<Files<'p>>) -> Places<'p> {
        let roots: Vec<_> = policy.roots.iter().map(|root| normal("", &slashed(root))).collect();
        let cwd = policy.cwd.as_deref().map(|cwd| normal("", &slashed(cwd)));
        let start = cwd.or_else(|| roots.first().cloned()).unwrap_or_default();
        let home = roots.iter().chain([&start]).find_map(|path| home_of(path));
        let home = home.unwrap_or("/~").to_owned();
        Places { policy, files, roots, home, cwd: Some(start.clone()), start }
    }

    /// Goes to a directory, as `cd` does.
    pub fn enter(&mut self, path: &str, is_static: bool) {
        self.cwd = self.absolute(path, is_static);
    }

    /// Where a path leads; `path` may begin with what is known, and go on with what is not.
    pub fn of(&self, path: &str, is_static: bool) -> Place {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_log = name.ends_with(".log") || name.ends_with(".tmp") || name == "nohup.out";
        if is_log || (!is_static && matches!(path.get(..2), Some("<(" | ">("))) {
            return Place::Outside;
        }
        let Some(path) = self.absolute(path, is_static) else { return Place::Unknown };
        let is_in = |places: &[&str]| places.iter().any(|place| below(&path, place).is_some());
        let is_served = match self.roots.iter().find_map(|root| below(&path, root)) {
            _ if is_in(&DEVICES) => false,
            Some(rest) => !self.is_ignored(rest) && self.files.has(without_pattern(&path)),
            None => self.roots.is_empty() && !is_in(&TEMPORARY) && !self.is_ignored(&path),
        };
        if is_served { Place::Inside } else { Place::Outside }
    }

    /// Where a path leads that is read or written: what the policy permits is as good as elsewhere.
    /// So is reading what the line itself has put there from a program: it is output, and no source.
    pub fn used(&self, kind: FindingKind, path: &str, is_static: bool) -> Place {
        let is_output = || {
            kind == FindingKind::Read
                && !self.files.captured.borrow().is_empty()
                && self.is_captured(self.identity(path, is_static).as_deref())
        };
        if self.permits(kind, path) || is_output() {
            return Place::Outside;
        }
        self.of(path, is_static)
    }

    /// Notes whether a file now holds the output of programs and nothing else.
    pub fn capture(&self, identity: Option<&str>, is_output: bool) {
        let Some(file) = identity else { return };
        let mut captured = self.files.captured.borrow_mut();
        if is_output {
            captured.insert(file.to_owned());
        } else {
            captured.remove(file);
        }
    }

    /// Whether the line has put the output of programs into a file.
    pub fn is_captured(&self, identity: Option<&str>) -> bool {
        identity.is_some_and(|file| self.files.captured.borrow().contains(file))
    }

    /// Whether a path may be read or written.
    pub fn permits(&self, kind: FindingKind, path: &str) -> bool {
        let permitted = match kind {
            FindingKind::Read => &self.policy.readable_paths,
            FindingKind::Write => &self.policy.writable_paths,
        };
        let is_in = |listed: &String| below(path, listed.trim_end_matches('/')).is_some();
        // Upwards nothing is in a directory any more.
        let leaves = path.split('/').any(|name| name == "..");
        !leaves && permitted.iter().any(is_in)
    }

    /// A path as the tools take it: from where the line starts on, whatever directory it goes to.
    pub fn seen_from_start(&self, path: &str) -> Option<String> {
        let path = self.absolute(path, true)?;
        let rest = below(&path, &self.start).filter(|rest| !rest.is_empty());
        Some(rest.map_or_else(|| path.clone(), str::to_owned))
    }

    /// What tells a file from all others, however it is written; none for a device, which keeps
    /// nothing.
    pub fn identity(&self, path: &str, is_static: bool) -> Option<String> {
        let known = if is_static { self.absolute(path, true) } else { None };
        let path = known.unwrap_or_else(|| path.to_owned());
        let is_device = DEVICES.iter().any(|device| below(&path, device).is_some());
        (!is_device).then_some(path)
    }

    /// A path from the root of the file system on, as far as that is known.
    fn absolute(&self, path: &str, is_static: bool) -> Option<String> {
        let mut path = path;
        if !is_static && let Some(unknown) = path.find(['$', '`']) {
            // The directory in front of what is not known.
            path = match path[..unknown].rfind('/') {
                Some(end) => &path[..=end],
                None if unknown > 0 => ".",
                None => return None,
            };
        }
        let path = if path.as_bytes().get(1) == Some(&b':') { slashed(path) } else { path.into() };
        if let Some(rest) = path.strip_prefix('~') {
            // `~name` is the home of someone else.
            let home = if rest.is_empty() || rest.starts_with('/') { &self.home } else { "/~" };
            return Some(normal(home, rest.trim_start_matches('/')));
        }
        if path.starts_with('/') || path.as_bytes().get(1) == Some(&b':') {
            return Some(normal("", &path));
        }
        self.cwd.as_deref().map(|cwd| normal(cwd, &path))
    }

    /// Whether the last line of the ignored paths that fits says so.
    fn is_ignored(&self, path: &str) -> bool {
        let lines = self.policy.ignored.iter().map(|line| line.trim_end());
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pattern = |line: &'p str| line.strip_prefix('!').unwrap_or(line).trim_end_matches('/');
        lines.rfind(|line| fits(pattern(line), path)).is_some_and(|line| !line.starts_with('!'))
    }
}

/// Whether a pattern of a `.gitignore` names a path, or a directory that it is in.
fn fits(pattern: &str, path: &str) -> bool {
    let anchored = pattern.strip_prefix('/').unwrap_or(pattern);
    if anchored.contains('/') || anchored.len() < pattern.len() {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        return ends.take(64).any(|end| fast_glob::glob_match(anchored, &path[..end]));
    }
    path.split('/').any(|name| fast_glob::glob_match(pattern, name))
}

/// A path, or of a pattern the directory that all it fits is in.
fn without_pattern(path: &str) -> &str {
    let Some(pattern) = path.find(['*', '?', '[', '{']) else { return path };
    path[..pattern].rfind('/').map_or("", |end| &path[..end.max(1)])
}

/// What follows a directory in a path; none when it is not in it.
fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?;
    if directory.ends_with('/') || rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// The home directory that a path is in, by the places where systems have them.
fn home_of(path: &str) -> Option<&str> {
    if below(path, "/root").is_some() {
        return Some("/root");
    }
    let base =
        ["/home/", "/Users/", "c:/Users/"].into_iter().find(|base| path.starts_with(base))?;
    let end = path[base.len()..].find('/').map_or(path.len(), |end| base.len() + end);
    Some(&path[..end])
}

/// With slashes, and drives as `c:/`: also those that shells of Windows write `/c/`.
fn slashed(path: &str) -> Cow<'_, str> {
    match path.as_bytes() {
        [drive, b':', ..] if drive.is_ascii_alphabetic() => {
            let rest = path[2..].replace('\\', "/");
            format!("{}:{rest}", drive.to_ascii_lowercase() as char).into()
        }
        _ => path.into(),
    }
}

/// A path below a directory without `.` and `..`. What leads up from an unknown start stays.
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
    use super::Place::{Inside, Outside, Unknown};
    use super::*;

    fn policy(roots: &[&str], ignored: &[&str]) -> Policy {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        Policy { roots: owned(roots), ignored: owned(ignored), ..Policy::default() }
    }

    fn here(policy: &Policy) -> Places<'_> {
        Places::new(policy, Files::new(policy, &|path| !path.ends_with("link")))
    }

    #[test]
    fn files_are_asked_for_only_if_the_policy_says_so() {
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
    fn roots_decide_where_a_path_leads() {
        let policy = policy(&["/home/u/app", "/opt/lib/"], &[]);
        let places = here(&policy);
        for (path, place) in [
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
            assert_eq!(places.of(path, true), place, "{path}");
        }
        assert_eq!(places.of("$f", false), Unknown);
        assert_eq!(places.of("src/$f", false), Inside);
        assert_eq!(places.of("/tmp/$f", false), Outside);
        let mut places = places;
        places.enter("/tmp/x", true);
        assert_eq!(places.of("a", true), Outside);
        places.enter("$x", false);
        assert_eq!(places.of("a", true), Unknown);
    }

    #[test]
    fn without_roots_all_but_temporary_files_is_inside() {
        let policy = Policy::default();
        let mut places = here(&policy);
        for (path, place) in [
            ("a", Inside),
            ("../a", Inside),
            ("/etc/hosts", Inside),
            ("~/a", Inside),
            ("/tmp/a", Outside),
        ] {
            assert_eq!(places.of(path, true), place, "{path}");
        }
        places.enter("/tmp", true);
        assert_eq!(places.of("a", true), Outside);
        let rooted = self::policy(&["/tmp/work"], &[]);
        assert_eq!(here(&rooted).of("a", true), Inside);
    }

    #[test]
    fn drives_have_one_spelling() {
        let policy = policy(&["C:\\Users\\u\\app"], &[]);
        let places = here(&policy);
        for path in ["c:/Users/u/app/a", "C:\\Users\\u\\app\\a", "~/app/a", "a"] {
            assert_eq!(places.of(path, true), Inside, "{path}");
        }
        assert_eq!(places.of("D:/a", true), Outside);
    }

    #[test]
    fn ignored_paths_read_as_in_a_gitignore() {
        let policy = policy(&["/r"], &["dist/", "*.snap", "/out", "docs/*.txt", "!keep.snap"]);
        let places = here(&policy);
        for path in ["dist/a.js", "web/dist/b/c.js", "a.snap", "/r/out/x", "docs/a.txt"] {
            assert_eq!(places.of(path, true), Outside, "{path}");
        }
        for path in ["a.js", "web/out/x", "docs/b/a.txt", "keep.snap"] {
            assert_eq!(places.of(path, true), Inside, "{path}");
        }
    }
}
