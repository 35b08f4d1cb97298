//! Documents: texts that the host holds in place of files, such as the buffers of an editor.
//!
//! A document hides the file with its path. It is read, searched and edited like a file, but never
//! written: the host gets the new text. Language servers have the same model, and call the whole an
//! *overlay*.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::commit::concurrent;
use crate::fs::{DOCUMENT_DEVICE, FileKind, Stamp, not_a_file};
use hashline_base::error::{Error, Result};

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenContent {
    /// The bytes, as they would be in the file.
    pub bytes: Arc<Vec<u8>>,
    /// Whether the host holds them as text: they are UTF-8 then, whatever the encoding of files.
    pub is_text: bool,
}

/// A document in one state.
#[derive(Clone, Debug)]
pub struct OpenDocument {
    /// The path, as the host gave it.
    pub name: String,
    /// The content.
    pub content: OpenContent,
    /// The version that the host gave the content.
    pub version: Option<i64>,
    /// Changes with the content; unique within the overlay.
    revision: u64,
    /// Stays the same for as long as the path has a document.
    id: u64,
}

impl OpenDocument {
    /// Its stamp. The revision takes the place of the times.
    pub fn stamp(&self) -> Stamp {
        Stamp {
            kind: FileKind::File,
            device: DOCUMENT_DEVICE,
            inode: self.id,
            size_bytes: self.content.bytes.len() as u64,
            modified_ns: self.revision.into(),
            changed_ns: self.revision.into(),
            links: 1,
            mode: 0,
            owner: (0, 0),
        }
    }

    /// The stamp of a directory that only the paths of documents imply.
    pub(crate) fn stamp_of_directory() -> Stamp {
        Stamp {
            kind: FileKind::Directory,
            device: DOCUMENT_DEVICE,
            inode: 0,
            size_bytes: 0,
            modified_ns: 0,
            changed_ns: 0,
            links: 1,
            mode: 0,
            owner: (0, 0),
        }
    }
}

/// All documents at one moment, by their paths without links and dots.
#[derive(Clone, Debug, Default)]
pub struct OpenDocuments(Arc<BTreeMap<PathBuf, Arc<OpenDocument>>>);

impl OpenDocuments {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The document with a path.
    pub fn get(&self, path: &Path) -> Option<&Arc<OpenDocument>> {
        self.0.get(path)
    }

    /// The documents, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Arc<OpenDocument>)> {
        self.0.iter().map(|(path, document)| (path.as_path(), document))
    }

    /// Refuses the path of a document that would be a directory, or would be below another document,
    /// apart from documents that are removed.
    fn check_tree(&self, path: &Path, name: &str, removed: &[&Path]) -> Result<()> {
        if self.below(path).any(|below| !removed.contains(&below)) {
            return Err(not_a_file(name, "a directory"));
        }
        let is_file = |above: &&Path| self.get(above).is_some() && !removed.contains(above);
        if path.ancestors().skip(1).any(|above| is_file(&above)) {
            return Err(Error::io("find", name, &io::ErrorKind::NotADirectory.into()));
        }
        Ok(())
    }

    /// Whether a document is below a directory.
    pub(crate) fn has_below(&self, dir: &Path) -> bool {
        self.below(dir).next().is_some()
    }

    /// The documents and directories directly in a directory.
    pub(crate) fn children(&self, dir: &Path) -> BTreeMap<OsString, FileKind> {
        let mut children = BTreeMap::new();
        for path in self.below(dir) {
            let mut names = path.strip_prefix(dir).into_iter().flat_map(Path::components);
            if let Some(name) = names.next() {
                let kind = names.next().map_or(FileKind::File, |_| FileKind::Directory);
                children.insert(name.as_os_str().to_owned(), kind);
            }
        }
        children
    }

    fn below(&self, dir: &Path) -> impl Iterator<Item = &Path> {
        // Paths are ordered by component, so those below a directory follow it.
        let from = self
            .0
            .range::<Path, _>((Bound::Excluded(dir), Bound::Unbounded))
            .map(|(path, _)| path.as_path());
        from.take_while(move |path| path.starts_with(dir))
    }
}

/// What a patch does to a document.
#[derive(Debug)]
pub enum DocumentUpdate {
    /// Gives it a content, and creates it if there is none.
    Set(OpenContent),
    /// Removes it.
    Remove,
}

/// The documents of a session.
#[derive(Debug, Default)]
pub struct Overlay(Mutex<Live>);

#[derive(Debug, Default)]
struct Live {
    documents: OpenDocuments,
    last: u64,
}

impl Live {
    fn set(&mut self, path: &Path, name: &str, content: OpenContent, version: Option<i64>) {
        self.last += 1;
        let last = self.last;
        match Arc::make_mut(&mut self.documents.0).entry(path.to_owned()) {
            Entry::Vacant(place) => {
                let (name, revision, id) = (name.to_owned(), last, last);
                place.insert(Arc::new(OpenDocument { name, content, version, revision, id }));
            }
            Entry::Occupied(mut place) => {
                let document = Arc::make_mut(place.get_mut());
                if document.content != content {
                    document.revision = last;
                    document.content = content;
                }
                name.clone_into(&mut document.name);
                document.version = version;
            }
        }
    }

    fn remove(&mut self, path: &Path) -> bool {
        self.documents.0.contains_key(path)
            && Arc::make_mut(&mut self.documents.0).remove(path).is_some()
    }
}

impl Overlay {
    /// The documents now.
    pub fn documents(&self) -> OpenDocuments {
        self.0.lock().documents.clone()
    }

    /// Sets the content and version of the document with a canonical path, whose name is for
    /// messages. Refuses a path above or below that of another document.
    pub fn set(
        &self,
        path: &Path,
        name: &str,
        content: OpenContent,
        version: Option<i64>,
    ) -> Result<()> {
        let mut live = self.0.lock();
        live.documents.check_tree(path, name, &[])?;
        live.set(path, name, content, version);
        Ok(())
    }

    /// Removes a document; returns whether there was one.
    pub fn remove(&self, path: &Path) -> bool {
        self.0.lock().remove(path)
    }

    /// Removes the document that the host gave a name, wherever it is; returns whether there was one.
    pub fn remove_named(&self, name: &str) -> bool {
        let mut live = self.0.lock();
        let named = live.documents.iter().find(|(_, document)| document.name == name);
        let path = named.map(|(path, _)| path.to_owned());
        path.is_some_and(|path| live.remove(&path))
    }

    /// Another overlay with the same documents.
    #[must_use]
    pub fn fork(&self) -> Overlay {
        let Live { documents, last } = &*self.0.lock();
        Overlay(Mutex::new(Live { documents: documents.clone(), last: *last }))
    }

    /// Updates documents together with files: calls `commit`, and if it succeeds makes the updates.
    /// Refuses to if one of the documents to update, or of those at `read`, is not as it was in
    /// `seen`. Meanwhile, no other thread can change the documents.
    pub fn commit<E: From<Error>>(
        &self,
        seen: &OpenDocuments,
        read: &[PathBuf],
        updates: Vec<(PathBuf, DocumentUpdate)>,
        commit: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut live = self.0.lock();
        for path in updates.iter().map(|(path, _)| path).chain(read) {
            check_same(path, seen.get(path), live.documents.get(path))?;
        }
        let removed = updates.iter().filter(|(_, update)| matches!(update, DocumentUpdate::Remove));
        let removed: Vec<&Path> = removed.map(|(path, _)| path.as_path()).collect();
        for (path, update) in &updates {
            if matches!(update, DocumentUpdate::Set(_)) {
                live.documents.check_tree(path, &path.to_string_lossy(), &removed)?;
            }
        }
        commit()?;
        for (path, update) in updates {
            match update {
                DocumentUpdate::Remove => {
                    live.remove(&path);
                }
                DocumentUpdate::Set(content) => {
                    let known = live.documents.get(&path);
                    let name = known.map_or_else(
                        || path.to_string_lossy().into_owned(),
                        |known| known.name.clone(),
                    );
                    let version = known.and_then(|known| known.version);
                    live.set(&path, &name, content, version);
                }
            }
        }
        Ok(())
    }
}

fn check_same(
    path: &Path,
    seen: Option<&Arc<OpenDocument>>,
    now: Option<&Arc<OpenDocument>>,
) -> Result<()> {
    let state = |document: &Arc<OpenDocument>| (document.id, document.revision);
    if seen.map(state) == now.map(state) {
        return Ok(());
    }
    let name = now.or(seen).map_or_else(|| path.to_string_lossy(), |known| (&*known.name).into());
    Err(concurrent(&name, "was changed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_base::error::Code;

    fn content(text: &str) -> OpenContent {
        OpenContent { bytes: Arc::new(text.into()), is_text: true }
    }

    fn text(overlay: &Overlay, path: &str) -> Option<String> {
        let documents = overlay.documents();
        let document = documents.get(Path::new(path))?;
        Some(String::from_utf8(document.content.bytes.to_vec()).unwrap())
    }

    fn set(overlay: &Overlay, path: &str, text: &str, version: Option<i64>) {
        overlay.set(Path::new(path), path, content(text), version).unwrap();
    }

    #[test]
    fn children_are_direct_ones() {
        let overlay = Overlay::default();
        for path in ["/r/a/b/c", "/r/a.txt", "/r/a/d", "/s", "/r/a/b/e"] {
            set(&overlay, path, "", None);
        }
        let documents = overlay.documents();
        let children = |dir: &str| {
            let of_dir = documents.children(Path::new(dir)).into_iter();
            of_dir.map(|(name, kind)| (name.into_string().unwrap(), kind)).collect::<Vec<_>>()
        };
        let (file, directory) = (FileKind::File, FileKind::Directory);
        assert_eq!(children("/r"), [("a".into(), directory), ("a.txt".into(), file)]);
        assert_eq!(children("/r/a"), [("b".into(), directory), ("d".into(), file)]);
        assert_eq!(children("/r/a.txt"), []);
        assert!(!documents.has_below(Path::new("/r/a.txt")));
        assert!(documents.has_below(Path::new("/r/a/b")));
    }

    #[test]
    fn updates_are_made_if_the_commit_succeeds_and_the_documents_are_as_they_were_seen() {
        let overlay = Overlay::default();
        set(&overlay, "/a", "one", Some(1));
        set(&overlay, "/b", "two", None);
        let updates = || {
            let set = |text: &str| DocumentUpdate::Set(content(text));
            vec![
                ("/a".into(), set("new")),
                ("/b".into(), DocumentUpdate::Remove),
                ("/c".into(), set("added")),
            ]
        };
        let seen = overlay.documents();
        let failed = Error::new(Code::Io, "full");
        overlay.commit(&seen, &[], updates(), || Err(failed.clone())).unwrap_err();
        // The version alone may change.
        set(&overlay, "/a", "one", Some(2));
        assert_eq!(text(&overlay, "/a").unwrap(), "one");
        overlay.commit::<Error>(&seen, &[], updates(), || Ok(())).unwrap();
        let now = ["/a", "/b", "/c"].map(|path| text(&overlay, path));
        assert_eq!(now, [Some("new".into()), None, Some("added".into())]);
        assert_eq!(overlay.documents().get(Path::new("/a")).unwrap().version, Some(2));
        let never = || panic!("a document changed");
        let refused = overlay.commit::<Error>(&seen, &[], updates(), never);
        assert_eq!(refused.unwrap_err().code, Code::ConcurrentChange);
        let read = ["/b".into()];
        let refused = overlay.commit::<Error>(&seen, &read, Vec::new(), never);
        assert_eq!(refused.unwrap_err().code, Code::ConcurrentChange);
    }

    #[test]
    fn forks_do_not_share_changes() {
        let overlay = Overlay::default();
        set(&overlay, "/a", "one", None);
        let fork = overlay.fork();
        set(&overlay, "/a", "two", None);
        assert!(fork.remove(Path::new("/a")) && !fork.remove(Path::new("/a")));
        assert_eq!((text(&overlay, "/a"), text(&fork, "/a")), (Some("two".into()), None));
    }
}
