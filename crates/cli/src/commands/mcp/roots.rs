//! Where a connection works: the directories of the command line, else those that the client
//! names, else the working directory.

use std::time::Duration;

use hashline_tools::path_of_url;
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
    say(&format!("the client did not name its roots ({why}): the working directory is used"));
    Vec::new()
}
