//! Which paths are in the roots of an agent's tools, with links followed. The guard uses it to
//! decide which files the tools can handle.

use super::{Workspace, WorkspaceOptions};
use hashline_base::cancel::Cancel;
use hashline_base::error::Code;
use hashline_disk::bytes::is_shown;

/// Whether a path is in one of the roots, as a directory, as a file that can be shown, or as a file
/// that could be created. A path that cannot be checked counts as inside: the tools report its
/// error best.
pub fn serves(roots: &[String]) -> impl Fn(&str) -> bool + Sync {
    move |path| roots.iter().any(|root| has(root, path))
}

fn has(root: &str, path: &str) -> bool {
    let workspace = Workspace::new(WorkspaceOptions::in_dir(root));
    let found = workspace.scoped(&Cancel::default(), |scope| {
        let file = scope.base.open_file(path)?;
        is_shown(scope.fs, file, path, &scope.load_options())
    });
    found.unwrap_or_else(|error| error.code != Code::OutsideRoot)
}
