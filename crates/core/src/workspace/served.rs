//! Which files the tools of an agent can serve, for a guard that sends a model to them: by where a
//! path leads, links followed, and by what is there.

use super::{Workspace, WorkspaceOptions};
use hashline_base::cancel::Cancel;
use hashline_base::error::Code;
use hashline_disk::bytes::is_shown;

/// Whether one of these directories, which tools serve, has what is at an absolute path: as a
/// directory, as a file that can be shown, or as one that could be made. What cannot be looked up
/// counts as there: the tools say best what is wrong with it.
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
