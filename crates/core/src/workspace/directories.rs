//! The directories of a session: where its paths start, and what bounds them. They are made
//! absolute when the session is made, and so keep their meaning when the process changes its
//! working directory.

use std::path::{Path, absolute};

use super::session::SessionOptions;
use crate::error::{Error, Result};

/// What bounds the files of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionRoot {
    /// The directory where relative paths start.
    #[default]
    Cwd,
    /// Nothing.
    Unbounded,
    /// A directory.
    At(String),
}

impl SessionOptions {
    /// These options with directories: where relative paths start (the working directory
    /// of the process when `None`), what bounds reading and writing, and directories that may be
    /// read beside that. A refusal begins with the option's name.
    pub fn in_directories(
        mut self,
        cwd: Option<&str>,
        root: SessionRoot,
        read_roots: &[String],
    ) -> Result<SessionOptions> {
        let cwd = absolute_path("cwd", cwd.unwrap_or("."))?;
        self.read_roots = read_roots
            .iter()
            .map(|root| Path::new(&cwd).join(root).to_string_lossy().into_owned())
            .collect();
        self.workspace.root = match root {
            SessionRoot::Cwd => Some(cwd.clone()),
            SessionRoot::Unbounded => None,
            SessionRoot::At(root) => Some(absolute_path("root", &root)?),
        };
        self.workspace.cwd = Some(cwd);
        Ok(self)
    }
}

fn absolute_path(name: &str, path: &str) -> Result<String> {
    let absolute =
        absolute(path).map_err(|cause| Error::argument(format!("{name} {path:?}: {cause}")))?;
    absolute.into_os_string().into_string().map_err(|path| {
        Error::argument(format!("{name} is {path:?}: expected a path that is valid Unicode"))
    })
}
