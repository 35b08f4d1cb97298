//! Where a connection works: the directories of the command line, else those that the client
//! names, else the working directory.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::exit::say;

/// How long to wait for a client that says that it has roots, and then does not tell them.
const PATIENCE: Duration = Duration::from_secs(10);

/// The directories that the client names. None, if it does not name any: in protocol revisions
/// without handshake there is no question for them.
#[expect(deprecated, reason = "roots are deprecated in 2026-07-28, and used by clients before it")]
pub async fn of_client(context: &RequestContext<RoleServer>) -> Vec<String> {
    if context.client_capabilities().is_none_or(|can| can.roots.is_none()) {
        return Vec::new();
    }
    let why = match tokio::time::timeout(PATIENCE, context.peer.list_roots()).await {
        Ok(Ok(answer)) => {
            return answer.roots.iter().filter_map(|root| path_of_url(&root.uri)).collect();
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    };
    say(&format!("the client does not tell its roots ({why}): the working directory is used"));
    Vec::new()
}

/// The path that a `file:` URL names, on this machine.
pub fn path_of_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !scheme.eq_ignore_ascii_case("file") || !is_local {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    // An escaped slash would be part of a name, which no system allows.
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
    fn urls_of_files() {
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(path_of_url("file:///a/b"), some("/a/b"));
        assert_eq!(path_of_url("FILE://localhost/a%20b/%C3%BC"), some("/a b/ü"));
        for other in ["file://host/a", "file:///a%2Fb", "file:///%00", "file:///%FF", "/a", "a://"]
        {
            assert_eq!(path_of_url(other), None, "{other}");
        }
    }
}
