//! Paths as models write them.

use std::path::{Path, is_separator};

use hashline_core::host::{Value, path_of_url};
use serde_json::Value as Json;

use crate::arguments::{CallError, Repairs, Rule, malformed, noun};
use crate::text::parse_json;
use crate::tool::Call;

/// The lines that a path names: `src/a.ts:10-20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathLines {
    /// The first one.
    pub first: u64,
    /// The last one, if the path names it.
    pub last: Option<u64>,
}

/// Converts a path to the form that the session takes: a `file:` URL becomes its path. The `@` of a
/// mention, blanks at the ends, lines after the name, and backslashes are removed or replaced, unless
/// a file of that name exists.
pub fn plain_path(
    call: &Call<'_>,
    path: String,
    field: &str,
    repairs: &mut Repairs,
) -> Result<String, CallError> {
    path_and_lines(call, path, field, repairs).map(|(path, _)| path)
}

/// Like [`plain_path`], with the lines that the path names.
pub fn path_and_lines(
    call: &Call<'_>,
    path: String,
    field: &str,
    repairs: &mut Repairs,
) -> Result<(String, Option<PathLines>), CallError> {
    let path = unmentioned(call, path, field, repairs)?;
    // Only a suspicious path costs system calls.
    let is_suspicious =
        path.trim() != path || has_foreign_separator(&path) || lines_of(&path).is_some();
    if !is_suspicious {
        return Ok((path, None));
    }
    call.cancel.check()?;
    if call.session.has(&path) {
        return Ok((path, None));
    }
    let path = trimmed(path, field, repairs);
    let path = with_slashes(call, path, field, repairs);
    Ok(without_lines(call, path, field, repairs))
}

/// Refuses the name of a new file that has lines after it: it is rather a mistake.
pub fn check_new_path(call: &Call<'_>, path: &str, field: &str) -> Result<(), CallError> {
    let Some((name, _)) = lines_of(path) else { return Ok(()) };
    // `photo(1)` is a name.
    let is_name = path.ends_with(')') && Path::new(name).extension().is_none();
    if is_name || call.session.has(path) {
        return Ok(());
    }
    let (shown, name) = (Json::from(path), Json::from(name));
    Err(malformed(format!(
        "{field} is {shown}, a name with lines: for a new file give only its name, {name}"
    )))
}

/// The paths in a JSON list of strings, unless a file has that name.
pub fn listed_paths(call: &Call<'_>, path: &str) -> Option<Vec<String>> {
    // A path can look like the start of JSON: `[id]/page.tsx`.
    if !path.trim_start().starts_with('[') || call.session.has(path) {
        return None;
    }
    let Ok(Value::Array(items)) = parse_json(path) else { return None };
    let path = |item| match item {
        Value::String(path) if !path.is_empty() => Some(path),
        _ => None,
    };
    let paths: Option<Vec<String>> = items.into_iter().map(path).collect();
    paths.filter(|paths| !paths.is_empty())
}

fn taken_as(path: &str) -> String {
    format!("taken as {}", Json::from(path))
}

/// A path without blanks and line ends around it. A path of only blanks stays as it is.
fn trimmed(path: String, field: &str, repairs: &mut Repairs) -> String {
    let plain = path.trim();
    if plain.len() == path.len() || plain.is_empty() {
        return path;
    }
    repairs.add(Rule::PathBlanks, field, taken_as(plain));
    plain.to_owned()
}

fn has_foreign_separator(path: &str) -> bool {
    !is_separator('\\') && path.contains('\\')
}

/// A path of Windows with the separators of this system, if then the file exists, or at least its
/// directory: elsewhere a backslash can be a part of a name, or escape a blank.
fn with_slashes(call: &Call<'_>, path: String, field: &str, repairs: &mut Repairs) -> String {
    if !has_foreign_separator(&path) {
        return path;
    }
    let plain = path.replace('\\', "/");
    let (name, _) = lines_of(&plain).unwrap_or((&plain, PathLines { first: 1, last: None }));
    let exists = |path: &str| call.session.has(path);
    let directory = name.rsplit_once('/').map(|(directory, _)| directory);
    if call.session.has(&path) || !(exists(name) || directory.is_some_and(exists)) {
        return path;
    }
    repairs.add(Rule::PathSeparator, field, taken_as(&plain));
    plain
}

/// A path without the lines after it, if then the file exists.
fn without_lines(
    call: &Call<'_>,
    path: String,
    field: &str,
    repairs: &mut Repairs,
) -> (String, Option<PathLines>) {
    let Some((name, lines)) = lines_of(&path) else { return (path, None) };
    if call.session.has(&path) || !call.session.has(name) {
        return (path, None);
    }
    repairs.add(Rule::PathLines, field, taken_as(name));
    (name.to_owned(), Some(lines))
}

/// A path and the lines after it, in the forms of compilers, of `grep -n` and of links to GitHub:
/// `a.ts:10`, `a.ts:10:5`, `a.ts:10-20`, `a.ts(10,5)`, `a.ts#L10-L20`.
fn lines_of(path: &str) -> Option<(&str, PathLines)> {
    let (name, lines) = match path.rsplit_once("#L") {
        Some((name, lines)) => (name, range_of(lines)?),
        None if path.ends_with(')') => {
            let (name, lines) = path.strip_suffix(')')?.rsplit_once('(')?;
            // `copy (2)` is a name.
            (name.strip_suffix(' ').is_none().then_some(name)?, range_of(lines.split(',').next()?)?)
        }
        None => {
            let (rest, last) = path.trim_end_matches(':').rsplit_once(':')?;
            let last = range_of(last)?;
            // Of two numbers, the second one is a column.
            let line = rest.rsplit_once(':').and_then(|(name, line)| Some((name, range_of(line)?)));
            match line {
                Some((name, line)) if line.last.is_none() && last.last.is_none() => (name, line),
                _ => (rest, last),
            }
        }
    };
    (!name.is_empty()).then_some((name, lines))
}

/// `10`, `10-`, `10-20`, `10-L20` or `L10-L20`.
fn range_of(text: &str) -> Option<PathLines> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten().filter(|line| *line > 0)
    };
    let text = text.strip_prefix('L').unwrap_or(text);
    match text.split_once('-') {
        Some((first, "")) => Some(PathLines { first: number(first)?, last: None }),
        None => Some(PathLines { first: number(text)?, last: None }),
        Some((first, last)) => {
            let first = number(first)?;
            let last = number(last.strip_prefix('L').unwrap_or(last))?;
            (first <= last).then_some(PathLines { first, last: Some(last) })
        }
    }
}

/// A path without the `@` of a mention, and not as a `file:` URL.
fn unmentioned(
    call: &Call<'_>,
    path: String,
    field: &str,
    repairs: &mut Repairs,
) -> Result<String, CallError> {
    if let Some(url) = path.strip_prefix('@').filter(|rest| is_file_url(rest)) {
        repairs.add(Rule::AtPath, field, taken_as(url));
        return unmentioned(call, url.to_owned(), field, repairs);
    }
    if is_file_url(&path) {
        let Some(local) = path_of_url(&path) else {
            let noun = noun(&Value::String(path));
            return Err(malformed(format!("{field} is {noun}: expected a path")));
        };
        repairs.add(Rule::FileUrl, field, taken_as(&local));
        return Ok(local);
    }
    let Some(plain) = path.strip_prefix('@').filter(|rest| !rest.is_empty()) else {
        return Ok(path);
    };
    // A call can have many paths, and each costs a system call.
    call.cancel.check()?;
    let first_part = path.split(['/', '\\']).next().unwrap_or_default();
    if call.session.has(&path) || call.session.has(first_part) {
        return Ok(path);
    }
    repairs.add(Rule::AtPath, field, taken_as(plain));
    Ok(plain.to_owned())
}

fn is_file_url(path: &str) -> bool {
    path.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"))
}

#[cfg(test)]
mod tests {
    use super::{PathLines, lines_of, path_of_url};

    #[test]
    fn lines_after_a_path_are_those_of_compilers_and_links() {
        let lines = |first, last| PathLines { first, last };
        let cases = [
            ("src/x.ts:10-20", Some(("src/x.ts", lines(10, Some(20))))),
            ("src/x.ts:10", Some(("src/x.ts", lines(10, None)))),
            ("src/x.ts:10:", Some(("src/x.ts", lines(10, None)))),
            ("src/x.ts:10:5", Some(("src/x.ts", lines(10, None)))),
            ("src/x.ts#L10-L20", Some(("src/x.ts", lines(10, Some(20))))),
            ("src/x.ts#L10-20", Some(("src/x.ts", lines(10, Some(20))))),
            ("src/x.ts#L10", Some(("src/x.ts", lines(10, None)))),
            ("C:\\x.ts:7", Some(("C:\\x.ts", lines(7, None)))),
            ("src/x.ts:10-", Some(("src/x.ts", lines(10, None)))),
            ("src/x.ts:L10-12", Some(("src/x.ts", lines(10, Some(12))))),
            ("src/x.ts(10,3)", Some(("src/x.ts", lines(10, None)))),
            ("src/x.ts(10)", Some(("src/x.ts", lines(10, None)))),
            ("src/x (copy)", None),
            ("src/x.ts:20-10", None),
            ("src/x.ts:0", None),
            ("src/x.ts:a", None),
            ("src/x.ts#10", None),
            ("C:\\x.ts", None),
            (":10", None),
            ("#L10", None),
            ("x.ts:99999999999999999999", None),
        ];
        for (path, expected) in cases {
            assert_eq!(lines_of(path), expected, "{path}");
        }
    }

    #[test]
    fn only_local_file_urls_have_a_path() {
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(path_of_url("file:///a/b"), some("/a/b"));
        assert_eq!(path_of_url("FILE://localhost/a%20b/%C3%BC"), some("/a b/ü"));
        for other in ["file://host/a", "file:///a%2Fb", "file:///%00", "file:///%FF", "/a", "a://"]
        {
            assert_eq!(path_of_url(other), None, "{other}");
        }
    }
}
