//! The directories of a connection: those of the command line, otherwise those that the client
//! names, otherwise the working directory.

use std::path::Path;
use std::time::Duration;

use hashline_core::host::path_of_url;
use hashline_core::{Error, Result};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::exit::say;

/// How long to wait for a client that declares roots but does not return them.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The directories that the client names, if any: protocol revisions without handshake have no
/// request for them.
#[expect(deprecated, reason = "roots are deprecated in 2026-07-28, and used by clients before it")]
pub async fn of_client(context: &RequestContext<RoleServer>) -> Vec<String> {
    if context.client_capabilities().is_none_or(|can| can.roots.is_none()) {
        return Vec::new();
    }
    let why = match tokio::time::timeout(ANSWER_TIMEOUT, context.peer.list_roots()).await {
        Ok(Ok(answer)) => {
            return answer.roots.iter().filter_map(|root| path_of_url(&root.uri)).collect();
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    };
    say(&format!("the client did not return its roots ({why}), so the working directory is used"));
    Vec::new()
}

/// Refuses to work in the root of the file system, in the home directory or in that of all homes,
/// where clients start servers without a project: a patch could change any file of the user.
pub fn check_working_directory() -> Result<()> {
    let cwd = std::env::current_dir().map_err(|cause| Error::io("find", ".", &cause))?;
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (here, home) = (canonical(&cwd), std::env::home_dir().map(|home| canonical(&home)));
    let has_home = || home.as_deref().is_some_and(|home| home.starts_with(&here));
    let is_top = || here.parent().is_some_and(|parent| parent.parent().is_none());
    let what = match here.parent() {
        None => "the root of the file system",
        Some(_) if home.as_deref() == Some(&here) => "the home directory",
        Some(_) if is_top() && has_home() => "the directory of all homes",
        Some(_) => return Ok(()),
    };
    Err(Error::argument(format!(
        "no project is known: the server was started in {what} ({}), and the client names no roots. Start it in a project, or as `hashline mcp DIR`",
        cwd.display()
    )))
}
