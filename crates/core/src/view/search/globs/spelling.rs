//! A glob as written → lines of a `.gitignore`.
//!
//! Other tools take globs that can match nothing in a `.gitignore`: `./src/*.ts`, absolute ones,
//! `src/` for the files below it, globs relative to `paths`. These are always rewritten. A glob
//! that has a meaning in a `.gitignore` is read in another way only if it matched no file.

use super::super::display::tidy;

/// How many paths of a query are tried as the base of a glob that goes through a link.
const LINK_PATHS: usize = 16;

/// A line for the matcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GlobLine {
    pub(super) text: String,
    /// It names a directory, or nothing at all: files are searched by the usual rules. Other globs
    /// also include ignored and hidden files.
    pub(super) is_scope: bool,
}

/// Where the globs of a query start.
#[derive(Clone)]
pub(super) struct GlobBase {
    /// The spellings of the base of relative paths, with `/`.
    starts: Vec<String>,
    /// The paths of the query, relative to the base if they are below it.
    paths: Vec<String>,
}

/// The parts of a glob that the parser of the matcher does not need to see.
struct Glob<'g> {
    excludes: bool,
    body: &'g str,
}

impl GlobBase {
    pub(super) fn new(starts: Vec<String>, paths: &[&str]) -> GlobBase {
        let mut base = GlobBase { starts, paths: Vec::new() };
        base.paths = paths.iter().map(|path| base.relative_path(&tidy(path))).collect();
        base
    }

    fn relative_path(&self, path: &str) -> String {
        let below = self.starts.iter().find_map(|start| below(start, path));
        below.unwrap_or(path).to_owned()
    }

    /// The lines of a glob.
    pub(super) fn lines(&self, glob: &str) -> Vec<GlobLine> {
        let Glob { excludes, body } = Glob::parse(glob);
        let mut lines = self.lines_of(body, excludes);
        let tight = without_blanks(body).map(|body| self.lines_of(&body, excludes));
        lines.extend(tight.unwrap_or_default());
        lines
    }

    /// The lines of a path with wildcards: what it matches, and what is below that. Results show its
    /// dots.
    pub(super) fn path_lines(&self, path: &str) -> Vec<GlobLine> {
        let tight = without_blanks(path);
        let spellings = [Some(path), tight.as_deref()].into_iter().flatten();
        let bodies = spellings.map(|path| self.plain(path.trim_end_matches('/')));
        bodies
            .flat_map(|body| [line(&body, false, false), line(&below_dir(&body), false, true)])
            .collect()
    }

    fn lines_of(&self, body: &str, excludes: bool) -> Vec<GlobLine> {
        let body = self.relative(body);
        if excludes {
            return self.anchored(&body, true, false);
        }
        match body.strip_suffix('/') {
            Some(dir) if !dir.ends_with('\\') => self.anchored(&below_dir(dir), false, true),
            _ => self.anchored(&body, false, names_nothing(&body)),
        }
    }

    /// The lines of the other readings of a glob that matched nothing. `target` is the path of a
    /// directory without links, if it has one.
    pub(super) fn other_lines(
        &self,
        given: &str,
        target: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<GlobLine> {
        let glob = Glob::parse(given);
        let sign = if glob.excludes { "!" } else { "" };
        let mut lines = Vec::new();
        let json = serde_json::from_str::<Vec<String>>(glob.body).unwrap_or_default();
        let items = list_items(glob.body).into_iter().chain(json.iter().map(String::as_str));
        for part in items {
            // `!a,b` excludes both.
            let part =
                if part.starts_with('!') { part.to_owned() } else { format!("{sign}{part}") };
            lines.extend(self.lines(&part));
            lines.extend(self.other_readings(&part));
        }
        lines.extend(self.other_readings(given));
        if let Some(tidied) = tidied(given) {
            lines.extend(self.lines(&tidied));
            lines.extend(self.other_readings(&tidied));
        }
        lines.extend(self.through_link(given, target));
        lines
    }

    /// The line of a glob whose directory is reached by a link, for the target of the link.
    fn through_link(
        &self,
        given: &str,
        target: &dyn Fn(&str) -> Option<String>,
    ) -> Option<GlobLine> {
        let Glob { excludes, body } = Glob::parse(given);
        let body = self.relative(body);
        let parts = components(body.trim_matches('/'));
        let is_literal = |part: &&&str| !part.contains(WILDCARDS) && !part.contains(['{', '\\']);
        let literal = parts.iter().take_while(is_literal).count();
        let paths = std::iter::once("").chain(self.paths.iter().map(String::as_str));
        paths.take(LINK_PATHS).find_map(|path| {
            let dir = joined(path, &parts[..literal].join("/"));
            let target = target(&dir).filter(|_| literal > 0)?;
            let rest = match &parts[literal..] {
                [] => "**".to_owned(),
                rest => rest.join("/"),
            };
            Some(line(&below_path(&target, &rest), excludes, names_nothing(&rest)))
        })
    }

    fn other_readings(&self, glob: &str) -> Vec<GlobLine> {
        let Glob { excludes, body } = Glob::parse(glob);
        let mut lines = Vec::new();
        let body = self.relative(body);
        if body.contains('\\') {
            let sign = if excludes { "!" } else { "" };
            lines.extend(self.lines(&format!("{sign}{}", body.replace('\\', "/"))));
        }
        if excludes {
            return lines;
        }
        if body.rsplit('/').next().is_some_and(is_plain_name) {
            lines.extend(self.anchored(&below_dir(&body), false, true));
        }
        if has_inner_slash(&body) && !body.starts_with("**/") {
            let paths = self.paths.iter().filter(|path| !path.is_empty());
            let is_scope = names_nothing(&body);
            lines.extend(paths.map(|path| line(&below_path(path, &body), false, is_scope)));
        }
        lines
    }

    /// A body without the start of the base, and without dots.
    fn relative(&self, body: &str) -> String {
        self.without_dots(&self.plain(body))
    }

    /// A body without the start of the base, and without `./`.
    fn plain(&self, body: &str) -> String {
        let slashed = if cfg!(windows) && body.as_bytes().get(1) == Some(&b':') {
            body.replace('\\', "/")
        } else {
            body.to_owned()
        };
        if let Some(rest) = self.starts.iter().find_map(|start| below(start, &slashed)) {
            return format!("/{rest}");
        }
        let (mut rest, mut has_dot) = (body, body == ".");
        while let Some(after) = rest.strip_prefix("./") {
            (rest, has_dot) = (after.trim_start_matches('/'), true);
        }
        match rest {
            "." => "/".to_owned(),
            rest if has_dot => format!("/{rest}"),
            rest => rest.to_owned(),
        }
    }

    /// A body without `..`, unless that leads out of the base.
    fn without_dots(&self, body: &str) -> String {
        if !components(body).contains(&"..") {
            return body.to_owned();
        }
        let rest = body.trim_start_matches('/');
        let from_start = |start: &String| {
            below(start, &resolved(start, rest)?)
                .map(|rest| rest.trim_start_matches('/').to_owned())
        };
        let inside = resolved("", rest).or_else(|| self.starts.iter().find_map(from_start));
        inside.map_or_else(|| body.to_owned(), |inside| format!("/{inside}"))
    }

    /// The line of a body and, for each path below which it can match nothing, that of the same
    /// glob relative to the path.
    fn anchored(&self, body: &str, excludes: bool, is_scope: bool) -> Vec<GlobLine> {
        let mut lines = vec![line(body, excludes, is_scope)];
        if has_inner_slash(body) {
            let paths = self.paths.iter().filter(|path| !can_match_below(body, path));
            lines.extend(paths.map(|path| line(&below_path(path, body), excludes, is_scope)));
        }
        lines
    }
}

impl<'g> Glob<'g> {
    fn parse(glob: &'g str) -> Glob<'g> {
        match glob.strip_prefix('!') {
            Some(body) => Glob { excludes: true, body },
            None => Glob { excludes: false, body: glob },
        }
    }
}

fn line(body: &str, excludes: bool, is_scope: bool) -> GlobLine {
    let sign = if excludes { "!" } else { "" };
    GlobLine { text: format!("{sign}{body}"), is_scope }
}

/// The rest of `path` below `start`; empty for `start` itself.
fn below<'p>(start: &str, path: &'p str) -> Option<&'p str> {
    let start = start.trim_end_matches('/');
    let rest = path.strip_prefix(start).filter(|_| !start.is_empty())?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// The glob of the files below a directory.
fn below_dir(dir: &str) -> String {
    match dir {
        "" | "/" | "**" | "/**" => "**".to_owned(),
        dir if dir.contains('/') => format!("{dir}/**"),
        dir => format!("**/{dir}/**"),
    }
}

fn below_path(path: &str, body: &str) -> String {
    let (path, body) = (escaped(path), body.trim_start_matches('/'));
    format!("/{}", resolved(&path, body).unwrap_or_else(|| format!("{path}/{body}")))
}

/// A glob below a path, without dots; `None` if these lead out of everything, or go up from a
/// wildcard.
fn resolved(path: &str, body: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').chain(components(body)) {
        match part {
            ".." => {
                let above = parts.pop().filter(|above| !above.is_empty())?;
                if above.contains(WILDCARDS) {
                    return None;
                }
            }
            "." => {}
            "" if !parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    let is_absolute = parts.first() == Some(&"") && path.starts_with('/');
    Some(parts[usize::from(!is_absolute && parts.first() == Some(&""))..].join("/"))
}

fn joined(path: &str, below: &str) -> String {
    if path.is_empty() { below.to_owned() } else { format!("{path}/{below}") }
}

/// A glob without the blanks around the alternatives in braces: `*.{ts, tsx}`. `None` if there are
/// none.
fn without_blanks(glob: &str) -> Option<String> {
    let is_plain = !glob.contains('{') || !glob.contains(char::is_whitespace);
    if is_plain || glob.contains('\\') {
        return None;
    }
    let (mut tight, mut depth) = (String::with_capacity(glob.len()), 0_u32);
    for c in glob.chars() {
        match c {
            ',' | '}' if depth > 0 => tight.truncate(tight.trim_end().len()),
            c if c.is_whitespace() && depth > 0 && tight.ends_with(['{', ',']) => continue,
            _ => {}
        }
        depth = match c {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        tight.push(c);
    }
    (tight.len() < glob.len()).then_some(tight)
}

/// Whether a glob, after `./` and `!`, starts with `..`.
pub(super) fn leads_up(glob: &str) -> bool {
    let body = Glob::parse(glob).body;
    components(body).into_iter().find(|&part| part != ".") == Some("..")
}

/// The directory at the start of a path with wildcards; `None` if it has none. A name with only
/// brackets, as in `app/[id]/page.tsx`, is more often meant literally.
pub(super) fn literal_dir(path: &str) -> Option<&str> {
    let has_wildcard =
        |part: &str| part.contains(['*', '?']) || (part.contains('{') && part.contains(','));
    let mut end = 0;
    for part in components(path) {
        if has_wildcard(part) {
            return Some(match &path[..end] {
                "" => ".",
                "/" => "/",
                dir => dir.trim_end_matches('/'),
            });
        }
        end += part.len() + 1;
    }
    None
}

/// Whether a glob has a slash that ties it to the base.
fn has_inner_slash(body: &str) -> bool {
    body.strip_suffix('/').unwrap_or(body).contains('/')
}

/// Whether a glob, relative to the base, can match something below a path.
fn can_match_below(body: &str, path: &str) -> bool {
    let mut dirs = path.split('/').filter(|name| !name.is_empty());
    for part in components(body.trim_start_matches('/')) {
        let Some(dir) = dirs.next() else { return true };
        if !part.contains(WILDCARDS) && !part.contains(['{', '\\']) {
            if part != dir {
                return false;
            }
        } else if part.contains("**") || part.contains('{') {
            return true;
        }
    }
    dirs.next().is_none()
}

const WILDCARDS: [char; 3] = ['*', '?', '['];

/// Whether a component has no wildcard; it may have alternatives.
fn is_plain_name(part: &str) -> bool {
    !part.is_empty() && !part.contains(WILDCARDS)
}

/// Whether a glob has only wildcards, like `**/*` or `*.*`, so that any name matches. `.*` names
/// hidden files.
fn names_nothing(body: &str) -> bool {
    components(body).into_iter().all(|part| {
        let mut is_in_class = false;
        let is_wild = |c: char| {
            let is_content = is_in_class && c != ']';
            is_in_class = c == '[' || is_content;
            is_content || matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '.' | '/')
        };
        part.chars().all(is_wild) && !split_alternatives(part).any(|name| name.starts_with('.'))
    })
}

/// What can start a name in a component: the parts between braces and commas.
fn split_alternatives(part: &str) -> impl Iterator<Item = &str> {
    part.split(['{', '}', ',', '/'])
}

/// The components of a glob; a slash in braces does not separate.
fn components(glob: &str) -> Vec<&str> {
    split_outside(glob, |c| c == '/')
}

/// The directories that a line names without a wildcard, as lines: `/a` and `/a/b` of `a/b/*.c`.
pub(super) fn named_dirs(line: &str) -> Vec<String> {
    let body = line.trim_start_matches('/');
    let parts = components(body);
    let (_, dirs) = parts.split_last().unwrap_or((&"", &[]));
    let named = (0..dirs.len()).filter(|&at| is_plain_name(dirs[at]));
    named.map(|at| format!("/{}", dirs[..=at].join("/"))).collect()
}

/// A glob without blanks and quotes around it, and without doubled slashes; `None` if it has none.
fn tidied(glob: &str) -> Option<String> {
    let mut plain = glob.trim();
    for quote in ['"', '\'', '`'] {
        let inner = plain.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        plain = inner.unwrap_or(plain).trim();
    }
    let mut tidied = plain.to_owned();
    while tidied.contains("//") {
        tidied = tidied.replace("//", "/");
    }
    (tidied != glob && !tidied.is_empty()).then_some(tidied)
}

/// The items of a list that was written as one glob: `*.ts,*.tsx`, `*.ts;*.tsx`, or `*.ts *.tsx`.
fn list_items(body: &str) -> Vec<&str> {
    let items = |is_separator: fn(char) -> bool| -> Vec<&str> {
        let items = split_outside(body, is_separator).into_iter().map(str::trim);
        items.filter(|item| !item.is_empty()).collect()
    };
    let by_comma = items(|c| c == ',' || c == ';');
    if by_comma.len() > 1 {
        return by_comma;
    }
    // Names have blanks, too, but a list of globs has a wildcard in each.
    let by_blank = items(|c| c == '|' || c.is_whitespace());
    let is_list = by_blank.len() > 1 && by_blank.iter().all(|item| item.contains('*'));
    if is_list { by_blank } else { Vec::new() }
}

/// Splits a glob at separators that are not in braces, in a class or escaped.
fn split_outside(glob: &str, is_separator: impl Fn(char) -> bool) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut is_escaped) = (Vec::new(), 0, 0_u32, false);
    for (at, c) in glob.char_indices() {
        match c {
            _ if is_escaped => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 && is_separator(c) => {
                parts.push(&glob[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    parts.push(&glob[start..]);
    parts
}

/// A path as a glob that matches only it.
fn escaped(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: Vec<GlobLine>) -> Vec<String> {
        let shown = |line: GlobLine| line.text + if line.is_scope { " (scope)" } else { "" };
        lines.into_iter().map(shown).collect()
    }

    #[test]
    fn spellings_become_lines() {
        for (glob, paths, expected) in [
            ("*.ts", &["src"][..], &["*.ts"][..]),
            ("src/*.ts", &["src"], &["src/*.ts"]),
            ("./src/*.ts", &[], &["/src/*.ts"]),
            (".//./src/*.ts", &[], &["/src/*.ts"]),
            ("./*.ts", &[], &["/*.ts"]),
            (".env", &[], &[".env"]),
            ("!./src/*.ts", &[], &["!/src/*.ts"]),
            ("/r/src/*.ts", &[], &["/src/*.ts"]),
            ("!/r/src/**", &[], &["!/src/**"]),
            ("/rest/*.ts", &[], &["/rest/*.ts"]),
            ("/r", &[], &["** (scope)"]),
            ("/r/", &[], &["** (scope)"]),
            (".", &[], &["** (scope)"]),
            ("./", &[], &["** (scope)"]),
            ("src/", &[], &["**/src/** (scope)"]),
            ("./src/", &[], &["/src/** (scope)"]),
            ("!src/", &[], &["!src/"]),
            ("sub/*.ts", &["a/b", "/r/c", "sub"], &["sub/*.ts", "/a/b/sub/*.ts", "/c/sub/*.ts"]),
            ("!sub/*.ts", &["x[1]"], &["!sub/*.ts", "!/x\\[1\\]/sub/*.ts"]),
            ("**", &[], &["** (scope)"]),
            ("*", &["src"], &["* (scope)"]),
            ("./**/*", &["src"], &["/**/* (scope)"]),
            ("/r/*.*", &[], &["/*.* (scope)"]),
            ("*/*", &["a/b/c"], &["*/* (scope)", "/a/b/c/*/* (scope)"]),
            ("?[a-z]*", &[], &["?[a-z]* (scope)"]),
            ("{*,**/*}", &[], &["{*,**/*} (scope)"]),
            ("!**", &[], &["!**"]),
            (".*", &[], &[".*"]),
            ("{*,.*}", &[], &["{*,.*}"]),
            ("**/.*/*", &[], &["**/.*/*"]),
            ("*/a.ts", &["src"], &["*/a.ts"]),
            ("**/a.ts", &["src"], &["**/a.ts"]),
            ("src/*.ts", &[".", "/r", "src/deep"], &["src/*.ts"]),
            ("src/a/*.ts", &["src/b"], &["src/a/*.ts", "/src/b/src/a/*.ts"]),
        ] {
            let base = GlobBase::new(vec!["/r".to_owned()], paths);
            assert_eq!(texts(base.lines(glob)), expected, "{glob}");
        }
    }

    #[test]
    fn other_readings_are_for_globs_that_match_nothing() {
        for (glob, paths, expected) in [
            ("*.ts", &["src"][..], &[][..]),
            ("*.ts,*.tsx", &[], &["*.ts", "*.tsx"]),
            ("*.ts, !a.ts", &[], &["*.ts", "!a.ts"]),
            ("!*.ts,*.tsx", &[], &["!*.ts", "!*.tsx"]),
            ("*.{ts,tsx}", &[], &[]),
            ("*.ts *.tsx", &[], &["*.ts", "*.tsx"]),
            ("src", &[], &["**/src/** (scope)"]),
            ("{src,lib}", &[], &["**/{src,lib}/** (scope)"]),
            ("packages/*/src", &[], &["packages/*/src/** (scope)"]),
            ("*/a/*.ts", &["src"], &["/src/*/a/*.ts"]),
            (r"src\*.ts", &[], &["src/*.ts"]),
        ] {
            let base = GlobBase::new(vec!["/r".to_owned()], paths);
            assert_eq!(texts(base.other_lines(glob, &|_| None)), expected, "{glob}");
        }
    }

    #[test]
    fn regression_dots_and_links_are_resolved() {
        for (glob, paths, expected) in [
            ("src/../lib/*.ts", &[][..], &["/lib/*.ts"][..]),
            ("./src/./../*.ts", &[], &["/*.ts"]),
            ("../b/*.ts", &[], &["/*.ts"]),
            ("/a/b/src/../*.ts", &[], &["/*.ts"]),
            ("!../b/c/*.ts", &[], &["!/c/*.ts"]),
            ("../c/*.ts", &[], &["../c/*.ts"]),
            ("../../../*.ts", &[], &["../../../*.ts"]),
            ("*/../x", &[], &["*/../x"]),
            ("../lib/*.ts", &["src"], &["../lib/*.ts", "/lib/*.ts"]),
            ("*.{ts, tsx}", &[], &["*.{ts, tsx}", "*.{ts,tsx}"]),
            ("!{ a b , c }/x", &[], &["!{ a b , c }/x", "!{a b,c}/x"]),
            ("a b, c", &[], &["a b, c"]),
        ] {
            let base = GlobBase::new(vec!["/a/b".to_owned()], paths);
            assert_eq!(texts(base.lines(glob)), expected, "{glob}");
        }
        let target = |dir: &str| (dir == "link").then(|| "real/dir".to_owned());
        for (glob, paths, expected) in [
            ("link/*.ts", &[][..], &["/real/dir/*.ts"][..]),
            ("link/", &[], &["/real/dir/** (scope)"]),
            ("!link/*.ts", &[], &["!/real/dir/*.ts"]),
            ("other/*.ts", &[], &[]),
            ("*/link/*.ts", &[], &[]),
        ] {
            let base = GlobBase::new(vec!["/a/b".to_owned()], paths);
            assert_eq!(texts(base.other_lines(glob, &target)), expected, "{glob}");
        }
    }

    #[test]
    fn paths_with_wildcards_start_in_a_directory() {
        for (path, dir) in [
            ("src/*.ts", Some("src")),
            ("src/a/**/b?.ts", Some("src/a")),
            ("/r/{a,b}/c", Some("/r")),
            ("/*.ts", Some("/")),
            ("*.ts", Some(".")),
            ("app/[id]/page.tsx", None),
            ("app/[id]/*.tsx", Some("app/[id]")),
            ("a{b}.ts", None),
            ("src", None),
        ] {
            assert_eq!(literal_dir(path), dir, "{path}");
        }
    }

    #[test]
    fn directories_without_wildcards_are_named() {
        for (line, expected) in [
            ("*.ts", &[][..]),
            (".github/workflows/*.yml", &["/.github", "/.github/workflows"]),
            ("**/.h/**", &["/**/.h"]),
            ("{.a,b/c}/*/d/e", &["/{.a,b/c}", "/{.a,b/c}/*/d"]),
            ("a*/b/**", &["/a*/b"]),
        ] {
            assert_eq!(named_dirs(line), expected, "{line}");
        }
    }
}
