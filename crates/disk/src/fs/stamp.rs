//! Stamps: the identity and version of a file.

use std::fs::File;
use std::io;
use std::path::Path;

use cap_fs_ext::MetadataExt;
use cap_std::fs::{Dir, Metadata};

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

/// Both libraries have the same methods for these kinds.
macro_rules! from_kinds {
    ($($system:ty),*) => {$(
        impl From<$system> for FileKind {
            fn from(kind: $system) -> FileKind {
                match kind {
                    kind if kind.is_file() => FileKind::File,
                    kind if kind.is_dir() => FileKind::Directory,
                    kind if kind.is_symlink() => FileKind::Link,
                    _ => FileKind::Special,
                }
            }
        }
    )*};
}

from_kinds!(std::fs::FileType, cap_std::fs::FileType);

impl FileKind {
    /// The noun for messages.
    pub fn noun(self) -> &'static str {
        match self {
            FileKind::File => "a file",
            FileKind::Directory => "a directory",
            FileKind::Link => "a symbolic link",
            FileKind::Special => "a FIFO, socket or device",
        }
    }
}

/// The device of the stamps of documents, which no file has.
pub(crate) const DOCUMENT_DEVICE: u64 = u64::MAX;

/// The identity and version of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The kind.
    pub kind: FileKind,
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// The size.
    pub size_bytes: u64,
    /// Time of the last change of the content in nanoseconds after the epoch (mtime).
    pub modified_ns: i128,
    /// Time of the last change of content or attributes (ctime); 0 if the system has none.
    pub changed_ns: i128,
    /// The number of hard links.
    pub links: u64,
    /// Permission bits; 0 if the system has none.
    pub mode: u32,
    /// Owner and group; 0 if the system has none.
    pub owner: (u32, u32),
}

impl Stamp {
    /// The stamp of an open file.
    pub(super) fn of_file(file: &File) -> io::Result<Stamp> {
        Ok(Stamp::from_metadata(&Metadata::from_file(file)?))
    }

    /// The stamp of an open directory.
    pub(super) fn of_dir(dir: &Dir) -> io::Result<Stamp> {
        Ok(Stamp::from_metadata(&dir.dir_metadata()?))
    }

    /// The stamp of the file with a name; of the link itself if it is one.
    pub(super) fn of_place(place: &super::Place) -> io::Result<Stamp> {
        match place.stamp_off_disk() {
            Some(stamp) => stamp,
            None => Ok(Stamp::from_metadata(&place.dir()?.symlink_metadata(place.name())?)),
        }
    }

    /// The stamp of the file at a path, without a root; of the link itself if it is one.
    pub fn of_path(path: &Path) -> io::Result<Stamp> {
        // A single system call, because a session does this for each file that it watches.
        #[cfg(unix)]
        return Ok(Stamp::from_metadata(&Metadata::from_just_metadata(path.symlink_metadata()?)));
        // Other systems identify only open files.
        #[cfg(not(unix))]
        {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            let parent = Dir::open_ambient_dir(parent, cap_std::ambient_authority())?;
            Ok(Stamp::from_metadata(&parent.symlink_metadata(name)?))
        }
    }

    pub(super) fn from_metadata(metadata: &Metadata) -> Stamp {
        let system = SystemPart::new(metadata);
        Stamp {
            kind: metadata.file_type().into(),
            device: metadata.dev(),
            inode: metadata.ino(),
            size_bytes: metadata.len(),
            modified_ns: system.modified_ns,
            changed_ns: system.changed_ns,
            links: metadata.nlink(),
            mode: system.mode,
            owner: system.owner,
        }
    }

    /// Whether the file belongs to this user, and only this user may write it.
    pub fn is_private(&self) -> bool {
        #[cfg(unix)]
        return self.owner.0 == rustix::process::geteuid().as_raw() && self.mode & 0o022 == 0;
        // The directory is within the user's profile and inherits its access list.
        #[cfg(not(unix))]
        return true;
    }

    /// Whether it is that of a document of the host.
    pub fn is_document(&self) -> bool {
        self.device == DOCUMENT_DEVICE
    }

    /// Whether both are the same file, in any version.
    pub fn is_same_file(&self, other: &Stamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether both are the same file with the same content, according to their stamps. Ignores the
    /// ctime, which a rename changes.
    pub fn is_same_content(&self, other: &Stamp) -> bool {
        self.is_same_file(other)
            && (self.size_bytes, self.modified_ns) == (other.size_bytes, other.modified_ns)
    }

    /// Whether both are the same version of the same file, according to their stamps.
    pub fn is_same_version(&self, other: &Stamp) -> bool {
        self.is_same_file(other)
            && self.size_bytes == other.size_bytes
            && self.modified_ns == other.modified_ns
            && self.changed_ns == other.changed_ns
    }
}

/// The fields that only some systems have.
struct SystemPart {
    modified_ns: i128,
    changed_ns: i128,
    mode: u32,
    owner: (u32, u32),
}

impl SystemPart {
    #[cfg(unix)]
    fn new(metadata: &Metadata) -> Self {
        use cap_std::fs::MetadataExt as Unix;
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        SystemPart {
            modified_ns: nanoseconds(Unix::mtime(metadata), Unix::mtime_nsec(metadata)),
            changed_ns: nanoseconds(Unix::ctime(metadata), Unix::ctime_nsec(metadata)),
            mode: Unix::mode(metadata) & 0o7777,
            owner: (Unix::uid(metadata), Unix::gid(metadata)),
        }
    }

    #[cfg(not(unix))]
    fn new(metadata: &Metadata) -> Self {
        let since_epoch = |time: cap_std::time::SystemTime| {
            time.into_std()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |age| age.as_nanos() as i128)
        };
        SystemPart {
            modified_ns: metadata.modified().map_or(0, since_epoch),
            changed_ns: 0,
            mode: 0,
            owner: (0, 0),
        }
    }
}
