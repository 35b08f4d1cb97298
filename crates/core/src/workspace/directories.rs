//! The base directory and the root of a workspace. A session resolves them to absolute paths when
//! it is created, so it is unaffected if the process changes its working directory.

use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use super::session::SessionOptions;
use super::{Workspace, WorkspaceOptions};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};
use hashline_disk::fs::{Base, unicode_path};
use hashline_disk::overlay::Overlay;

/// The boundary of a workspace or session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// The base of relative paths.
    #[default]
    Cwd,
    /// None: every file that the process can access.
    Unbounded,
    /// A directory, which is also the base of relative paths unless `cwd` is given.
    At(PathBuf),
}

impl<P: Into<PathBuf>> From<P> for Root {
    fn from(dir: P) -> Root {
        Root::At(dir.into())
    }
}

impl WorkspaceOptions {
    /// The defaults for a directory: it is the base of relative paths and the root.
    pub fn in_dir(dir: impl Into<PathBuf>) -> WorkspaceOptions {
        WorkspaceOptions { cwd: Some(dir.into()), ..WorkspaceOptions::default() }
    }

    /// The defaults without a root: every file that the process can access, with relative paths
    /// resolved by the system.
    pub fn unbounded() -> WorkspaceOptions {
        WorkspaceOptions { root: Root::Unbounded, ..WorkspaceOptions::default() }
    }

    pub(super) fn base(&self) -> Result<Base> {
        let (root, cwd) = self.root_and_cwd()?;
        Base::open_at(root, cwd)
    }

    /// The base of a session whose files are documents alone.
    pub(super) fn base_without_disk(&self, overlay: Arc<Overlay>) -> Result<Base> {
        let (root, cwd) = self.root_and_cwd()?;
        let start = Path::new(cwd.or(root).unwrap_or("/"));
        Ok(Base::without_disk(root.map(Path::new), start, overlay))
    }

    fn root_and_cwd(&self) -> Result<(Option<&str>, Option<&str>)> {
        let cwd = self.cwd.as_deref().map(|cwd| unicode_path("cwd", cwd)).transpose()?;
        let root = match &self.root {
            Root::Cwd => Some(cwd.unwrap_or(".")),
            Root::Unbounded => None,
            Root::At(root) => Some(unicode_path("root", root)?),
        };
        Ok((root, cwd))
    }

    fn resolved(mut self) -> Result<WorkspaceOptions> {
        if self.root == Root::Cwd && self.cwd.is_none() {
            self.cwd = Some(".".into());
        }
        self.cwd = self.cwd.map(|cwd| absolute_path("cwd", &cwd)).transpose()?;
        self.root = match (self.root, &self.cwd) {
            (Root::Cwd, Some(cwd)) => Root::At(cwd.clone()),
            (Root::At(root), _) => Root::At(absolute_path("root", &root)?),
            (root, _) => root,
        };
        Ok(self)
    }
}

impl SessionOptions {
    /// Makes the directories absolute. Refuses memory limits that are too small to remember
    /// anything. An error starts with the name of the option.
    pub fn resolved(self) -> Result<SessionOptions> {
        let spelling = self.workspace.host.spelling;
        self.memory.check().map_err(|error| error.spelled(spelling))?;
        let mut workspace = self.workspace;
        if !self.disk
            && let (Some(cwd), Root::At(root)) = (&workspace.cwd, &workspace.root)
        {
            // The directory of the process means nothing to files that are not on its disk.
            workspace.cwd = Some(root.join(cwd));
        }
        let workspace = workspace.resolved()?;
        let start = match (&workspace.cwd, &workspace.root) {
            (Some(start), _) | (None, Root::At(start)) => start.clone(),
            _ => PathBuf::new(),
        };
        let read_roots = self.read_roots.iter().map(|root| start.join(root)).collect();
        Ok(SessionOptions { workspace, read_roots, ..self })
    }

    /// Refuses directories that do not exist, because every call would fail.
    pub(super) fn check_directories(&self) -> Result<()> {
        if !self.disk {
            return Ok(());
        }
        let WorkspaceOptions { cwd, .. } = &self.workspace;
        let start = WorkspaceOptions { cwd: cwd.clone(), ..WorkspaceOptions::unbounded() };
        start.base().map_err(|error| error.within("cwd ", ""))?;
        Workspace::new(self.workspace.clone()).scoped(&Cancel::default(), |_| Ok(()))
    }
}

fn absolute_path(name: &str, path: &Path) -> Result<PathBuf> {
    let absolute =
        absolute(path).map_err(|cause| Error::argument(format!("{name} {path:?}: {cause}")))?;
    unicode_path(name, &absolute)?;
    Ok(absolute)
}
