//! Paths as models write them.

use hashline_core::host::Value;
use percent_encoding::percent_decode_str;
use serde_json::Value as Json;

use crate::arguments::{CallError, Repairs, Rule, malformed, noun};
use crate::tool::Call;

/// Converts a path to the form that the session takes: a `file:` URL becomes its path, and the `@`
/// of a mention is removed unless a file of that name exists.
pub fn plain_path(
    call: &Call<'_>,
    path: String,
    field: &str,
    repairs: &mut Repairs,
) -> Result<String, CallError> {
    let taken_as = |path: &str| format!("taken as {}", Json::from(path));
    if let Some(url) = path.strip_prefix('@').filter(|rest| is_file_url(rest)) {
        repairs.add(Rule::AtPath, field, taken_as(url));
        return plain_path(call, url.to_owned(), field, repairs);
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

/// The path of a `file:` URL of this machine.
pub fn path_of_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !scheme.eq_ignore_ascii_case("file") || !is_local {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    // An escaped slash would be part of a file name, where no system allows one.
    if path.to_ascii_lowercase().contains("%2f") {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    if path.contains('\0') {
        return None;
    }
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Some(path[usize::from(is_drive)..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::path_of_url;

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
