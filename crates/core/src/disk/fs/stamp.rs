//! What identifies a file and its version, and what a new version takes over from the old one.

use std::fs::File;
use std::io;

use cap_fs_ext::MetadataExt;
use cap_std::fs::Metadata;

/// What a directory entry stands for.
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

impl FileKind {
    /// The word for messages.
    pub fn noun(self) -> &'static str {
        match self {
            FileKind::File => "a file",
            FileKind::Directory => "a directory",
            FileKind::Link => "a symbolic link",
            FileKind::Special => "a FIFO, socket or device",
        }
    }
}

/// The identity and version of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What it is.
    pub kind: FileKind,
    /// The device it lies on.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
    /// Its length.
    pub size_bytes: u64,
    /// Time of the last change of the content, since the epoch.
    pub modified_ns: i128,
    /// Time of the last change of content or attributes; 0 where the system keeps none.
    pub changed_ns: i128,
    /// The number of its names.
    pub links: u64,
    /// Permission bits; 0 where the system has none.
    pub mode: u32,
    /// Owner and group; 0 where the system has none.
    pub owner: (u32, u32),
}

impl Stamp {
    /// The stamp of an open file.
    pub(super) fn of_file(file: &File) -> io::Result<Stamp> {
        Ok(Stamp::from_metadata(&Metadata::from_file(file)?))
    }

    /// The stamp of an open directory.
    pub(super) fn of_dir(dir: &cap_std::fs::Dir) -> io::Result<Stamp> {
        Ok(Stamp::from_metadata(&dir.dir_metadata()?))
    }

    /// The stamp of what has a name; of the link itself when it is one.
    pub(super) fn of_place(place: &super::Place) -> io::Result<Stamp> {
        Ok(Stamp::from_metadata(&place.dir().symlink_metadata(place.name())?))
    }

    pub(super) fn from_metadata(metadata: &Metadata) -> Stamp {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_symlink() => FileKind::Link,
            _ => FileKind::Special,
        };
        let system = SystemPart::new(metadata);
        Stamp {
            kind,
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

    /// Whether the file is this user's, and only this user may write it.
    pub fn is_private(&self) -> bool {
        #[cfg(unix)]
        return self.owner.0 == rustix::process::geteuid().as_raw() && self.mode & 0o022 == 0;
        // Its directory is below the user's own, and takes its access list from there.
        #[cfg(not(unix))]
        return true;
    }

    /// Whether both are the same file, of whatever version.
    pub fn is_same_file(&self, other: &Stamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether both are the same file with the same content, as far as stamps can tell; a
    /// rename, which changes nothing but ctime, makes no difference.
    pub fn is_same_content(&self, other: &Stamp) -> bool {
        self.is_same_file(other)
            && (self.size_bytes, self.modified_ns) == (other.size_bytes, other.modified_ns)
    }

    /// Whether both are the same version of the same file, as far as stamps can tell.
    pub fn is_same_version(&self, other: &Stamp) -> bool {
        self.is_same_file(other)
            && self.size_bytes == other.size_bytes
            && self.modified_ns == other.modified_ns
            && self.changed_ns == other.changed_ns
    }
}

/// The fields that not every system has.
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

/// Under this name Linux keeps the access control list of a file.
#[cfg(unix)]
const ACCESS_LIST: &str = "system.posix_acl_access";

#[cfg(unix)]
pub(super) fn copy_attributes(file: &File, model: &File, stamp: &Stamp) -> io::Result<()> {
    use rustix::fs::{Gid, Uid, fchmod, fchown};
    use xattr::FileExt;

    let (uid, gid) = stamp.owner;
    // Ownership first: changing it clears the set-id bits. A user who may not give a file
    // away keeps it, and may still set the group to one of their own.
    let mut mode = stamp.mode;
    if fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).is_err() {
        // Bits that run a program as its owner are not passed on to another owner.
        mode &= 0o1777;
        // Nor are the rights of a group to another group, but for those that everybody has.
        if fchown(file, None, Some(Gid::from_raw(gid))).is_err() {
            mode &= 0o1707 | (mode & 0o007) << 3;
        }
    }
    copy_access_list(file, model)?;
    // Labels and notes travel as extended attributes. Where the file system has none, or this
    // user may not set one, the file does without. What the new file has from its directory goes.
    let names: Vec<_> = model.list_xattr().into_iter().flatten().collect();
    for name in file.list_xattr().into_iter().flatten().filter(|name| !names.contains(name)) {
        if name != ACCESS_LIST {
            let _ = file.remove_xattr(&name);
        }
    }
    for name in names.into_iter().filter(|name| name != ACCESS_LIST) {
        if let Ok(Some(value)) = model.get_xattr(&name) {
            let _ = file.set_xattr(&name, &value);
        }
    }
    fchmod(file, mode_bits(mode))?;
    Ok(())
}

/// Gives `file` the access control list of `model`, or none. Where there is one, the mode's bits
/// for the group are those of its mask, so that without it they would let others in whom it kept
/// out; and so would a list that the new file has from its directory.
#[cfg(unix)]
fn copy_access_list(file: &File, model: &File) -> io::Result<()> {
    use xattr::FileExt;
    const NO_LISTS: [i32; 3] = [libc::ENOTSUP, libc::EOPNOTSUPP, libc::ENOSYS];
    let list = |file: &File| match file.get_xattr(ACCESS_LIST) {
        Err(cause) if cause.raw_os_error().is_some_and(|code| NO_LISTS.contains(&code)) => Ok(None),
        other => other,
    };
    match list(model)? {
        Some(wanted) => file.set_xattr(ACCESS_LIST, &wanted),
        None if list(file)?.is_some() => file.remove_xattr(ACCESS_LIST),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn copy_attributes(file: &File, model: &File, _: &Stamp) -> io::Result<()> {
    file.set_permissions(model.metadata()?.permissions())
}

#[cfg(unix)]
#[allow(trivial_numeric_casts, reason = "mode_t has 16 bits on macOS")]
fn mode_bits(mode: u32) -> rustix::fs::Mode {
    rustix::fs::Mode::from_raw_mode(mode as rustix::fs::RawMode)
}
