//! All access to the file system. The operations of patches and recoveries on files, directories
//! and locks are methods of one trait, so that tests can make the n-th operation fail or simulate a
//! power cut. `place` resolves paths, and `tree` lists directories for searches. [`OsFileSystem`]
//! is the production implementation. Differences between operating systems are confined to it, to
//! `stamp`, and to `unix` and `windows`, which have the same functions.

mod named;
mod neighbours;
mod off_disk;
mod place;
mod stamp;
mod tree;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, OpenOptions};

pub use named::{may_wait, open_input, read_start};
pub use neighbours::{NEIGHBOURS_LIMIT, Neighbours};
pub use off_disk::Opened;
pub use place::{
    Base, Directory, Lookup, Place, differ_in_case_only, not_a_file, plain, plain_path,
    unicode_path,
};
pub(crate) use stamp::DOCUMENT_DEVICE;
pub use stamp::{FileKind, Stamp};
pub use tree::{FoundPath, Listed};
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Access rights of a new file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewAccess {
    /// Only for its owner.
    OwnerOnly,
    /// The default of the operating system.
    Usual,
}

/// Who may do what with a file, on systems that have modes and owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rights {
    /// Permission bits.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
}

impl Rights {
    fn of(stamp: &Stamp) -> Rights {
        Rights { mode: stamp.mode, owner: stamp.owner }
    }
}

/// The operations that the engine needs. Operations that change something take a name in an open
/// directory, so that a directory that is moved or replaced by a link during a call cannot redirect
/// a later operation.
pub trait FileSystem: Send + Sync {
    /// Opens a file for reading. Does not follow a link in the last component and does not block on
    /// a FIFO.
    fn open(&self, place: &Place) -> io::Result<File>;
    /// Like `open`, for a file of the state directory that another call may be removing. On
    /// Windows, such a file keeps its name until all handles are closed; this waits for that.
    fn open_state(&self, place: &Place) -> io::Result<File>;
    /// Opens a file for writing in place; keeps its content.
    fn open_for_rewrite(&self, place: &Place) -> io::Result<File>;
    /// Creates a file that must not exist.
    fn create_new(&self, place: &Place, access: NewAccess) -> io::Result<File>;
    /// The stamp of the file with this name; of the link itself if it is one.
    fn stamp(&self, place: &Place) -> io::Result<Stamp>;
    /// The stamp of an open file.
    fn stamp_of(&self, file: &File) -> io::Result<Stamp>;
    /// Appends the rest of `file` to `out`, up to `limit_bytes`.
    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()>;
    /// Writes all bytes at the current position.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Writes all pieces, one after the other.
    fn write_pieces(&self, file: &mut File, pieces: &[&[u8]]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| self.write(file, piece))
    }
    /// Sets the position, from the start.
    fn seek(&self, file: &mut File, offset_bytes: u64) -> io::Result<()>;
    /// Truncates or extends the file.
    fn set_len(&self, file: &File, len_bytes: u64) -> io::Result<()>;
    /// Copies the mode, owner and extended attributes of `model` to `file`, as far as the user may.
    fn copy_attributes(&self, file: &File, model: &File, stamp: &Stamp) -> io::Result<()>;
    /// The mode and owner of a file; `None` if the system has none. With an access control list, the
    /// mode gives the group only what the list gives it.
    fn rights(&self, file: &File) -> io::Result<Option<Rights>>;
    /// Sets the mode and owner of a file, as far as the user may, so that no one gets access whom
    /// they exclude. An access control list that it inherited is removed.
    fn set_rights(&self, file: &File, rights: Rights) -> io::Result<()>;
    /// Flushes the content and attributes of the file to the disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Flushes the entries of the directory of the place to the disk.
    fn sync_dir(&self, place: &Place) -> io::Result<()>;
    /// Renames a file, replacing any file at `to`.
    fn rename(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Renames a file; fails with `AlreadyExists` if `to` exists.
    fn rename_new(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Exchanges two names atomically; fails with `Unsupported` where the system cannot.
    fn exchange(&self, one: &Place, other: &Place) -> io::Result<()>;
    /// Creates a hard link.
    fn link(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Creates a symbolic link with the target of the one at `from`.
    fn copy_link(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// The target of a symbolic link, as it is stored.
    fn read_link(&self, place: &Place) -> io::Result<PathBuf>;
    /// Removes a name.
    fn unlink(&self, place: &Place) -> io::Result<()>;
    /// Creates a directory.
    fn make_dir(&self, place: &Place, access: NewAccess) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, place: &Place) -> io::Result<()>;
    /// Whether the user may write the content of the file.
    fn may_write(&self, place: &Place) -> io::Result<bool>;
    /// The absolute path without links and dots.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;
    /// Opens a directory by its path, following links.
    fn open_dir_at(&self, path: &Path) -> io::Result<Directory>;
    /// Opens the directory with this name, which must not be a link.
    fn open_dir(&self, place: &Place) -> io::Result<Directory>;
    /// The stamp of an open directory.
    fn stamp_of_dir(&self, directory: &Directory) -> io::Result<Stamp>;
    /// The names in an open directory, unsorted.
    fn list(&self, directory: &Directory) -> io::Result<Vec<OsString>>;
    /// Opens a lock file, and creates it if necessary.
    fn open_lock(&self, place: &Place) -> io::Result<File>;
    /// Takes the file lock, which is held until the last handle is closed. Waits while another
    /// process holds it.
    fn lock(&self, file: &File) -> io::Result<()>;
    /// Takes the file lock; returns false if another process holds it.
    fn try_lock(&self, file: &File) -> io::Result<bool>;
    /// Another handle to an open file, with the same position and the same lock.
    fn duplicate(&self, file: &File) -> io::Result<File>;
    /// The mount of the place, if the system reports it. A rename cannot cross mounts, even on one
    /// device.
    fn mount(&self, place: &Place) -> io::Result<Option<u64>>;
    /// Whether the user may replace the file with this name, whose stamp is `stamp`, by another
    /// file of the same owner.
    fn may_replace(&self, place: &Place, stamp: &Stamp) -> io::Result<bool>;
}

/// The operating system's file system.
#[derive(Debug, Default)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn open(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        set_nofollow(&mut options);
        system::open(place, &options)
    }

    fn open_state(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        set_nofollow(&mut options);
        system::open_retrying(place, &options)
    }

    fn open_for_rewrite(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        options.write(true);
        set_nofollow(&mut options);
        system::open(place, &options)
    }

    fn create_new(&self, place: &Place, access: NewAccess) -> io::Result<File> {
        system::create_new(place, access)
    }

    fn stamp(&self, place: &Place) -> io::Result<Stamp> {
        Stamp::of_place(place)
    }

    fn stamp_of(&self, file: &File) -> io::Result<Stamp> {
        Stamp::of_file(file)
    }

    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let limit_bytes = system::fill(file, limit_bytes, out)?;
        file.take(limit_bytes).read_to_end(out).map(drop)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Usually a single system call. Mapped bytes are not copied first; if the mapped file has
    /// shrunk, the call fails.
    fn write_pieces(&self, file: &mut File, pieces: &[&[u8]]) -> io::Result<()> {
        let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut left = slices.as_mut_slice();
        // If leading pieces are empty, a write would return 0, as if the file accepted no bytes.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match file.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }

    fn seek(&self, file: &mut File, offset_bytes: u64) -> io::Result<()> {
        file.seek(io::SeekFrom::Start(offset_bytes)).map(drop)
    }

    fn set_len(&self, file: &File, len_bytes: u64) -> io::Result<()> {
        file.set_len(len_bytes)
    }

    fn copy_attributes(&self, file: &File, model: &File, stamp: &Stamp) -> io::Result<()> {
        system::copy_attributes(file, model, stamp)
    }

    fn rights(&self, file: &File) -> io::Result<Option<Rights>> {
        system::rights(file, Rights::of(&Stamp::of_file(file)?))
    }

    fn set_rights(&self, file: &File, rights: Rights) -> io::Result<()> {
        system::set_rights(file, rights)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_dir(&self, place: &Place) -> io::Result<()> {
        system::sync_dir(place)
    }

    fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
        system::rename(from, to)
    }

    fn rename_new(&self, from: &Place, to: &Place) -> io::Result<()> {
        system::rename_new(from, to)
    }

    fn exchange(&self, one: &Place, other: &Place) -> io::Result<()> {
        system::exchange(one, other)
    }

    fn link(&self, from: &Place, to: &Place) -> io::Result<()> {
        system::link(from, to)
    }

    fn copy_link(&self, from: &Place, to: &Place) -> io::Result<()> {
        system::copy_link(from, to)
    }

    fn read_link(&self, place: &Place) -> io::Result<PathBuf> {
        place.dir()?.read_link_contents(place.name())
    }

    fn unlink(&self, place: &Place) -> io::Result<()> {
        system::unlink(place)
    }

    fn make_dir(&self, place: &Place, access: NewAccess) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(false);
        #[cfg(unix)]
        {
            let mode = match access {
                NewAccess::OwnerOnly => 0o700,
                NewAccess::Usual => 0o777,
            };
            cap_std::fs::DirBuilderExt::mode(&mut builder, mode);
        }
        #[cfg(not(unix))]
        let _ = access;
        place.dir()?.create_dir_with(place.name(), &builder)
    }

    fn remove_dir(&self, place: &Place) -> io::Result<()> {
        system::remove_dir(place)
    }

    fn may_write(&self, place: &Place) -> io::Result<bool> {
        system::may_write(place)
    }

    fn may_replace(&self, place: &Place, stamp: &Stamp) -> io::Result<bool> {
        system::may_replace(place, stamp)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn open_dir_at(&self, path: &Path) -> io::Result<Directory> {
        Ok(Directory::new(Dir::open_ambient_dir(path, ambient_authority())?, path))
    }

    fn open_dir(&self, place: &Place) -> io::Result<Directory> {
        let dir = cap_fs_ext::DirExt::open_dir_nofollow(place.dir()?, place.name())?;
        Ok(Directory::new(dir, place.canonical()))
    }

    fn stamp_of_dir(&self, directory: &Directory) -> io::Result<Stamp> {
        Stamp::of_dir(directory.dir())
    }

    fn list(&self, directory: &Directory) -> io::Result<Vec<OsString>> {
        directory.dir().entries()?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn open_lock(&self, place: &Place) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        set_nofollow(&mut options);
        system::open_retrying(place, &options)
    }

    fn lock(&self, file: &File) -> io::Result<()> {
        system::lock(file)
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        system::try_lock(file)
    }

    fn duplicate(&self, file: &File) -> io::Result<File> {
        file.try_clone()
    }

    fn mount(&self, place: &Place) -> io::Result<Option<u64>> {
        system::mount(place)
    }
}

fn set_nofollow(options: &mut OpenOptions) {
    cap_fs_ext::OpenOptionsFollowExt::follow(options, cap_fs_ext::FollowSymlinks::No);
}

/// The Windows error for a link that is not followed.
#[cfg(windows)]
const ERROR_STOPPED_ON_SYMLINK: i32 = 681;

/// Whether opening failed because the name is a symbolic link, which is not followed. It was not a
/// link when it was looked up.
pub fn is_refused_link(cause: &io::Error) -> bool {
    #[cfg(unix)]
    return cause.raw_os_error() == Some(libc::ELOOP);
    #[cfg(windows)]
    return cause.raw_os_error() == Some(ERROR_STOPPED_ON_SYMLINK);
}

/// Whether the deletion of a file may be pending: on Windows, a removed file can keep its name
/// until all handles are closed, and its stamp cannot be read.
pub fn is_delete_pending(cause: &io::Error) -> bool {
    cfg!(windows) && cause.kind() == io::ErrorKind::PermissionDenied
}

/// Windows opens directories only with this flag. Without it, opening one fails as if access were
/// denied.
#[cfg(windows)]
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Options for reading without blocking on a FIFO or device.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut options, true);
    #[cfg(windows)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, FILE_FLAG_BACKUP_SEMANTICS);
    options
}

/// Opens `path` for reading, with the rights of the process, without blocking on a FIFO.
fn open_ambient(path: &Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, FILE_FLAG_BACKUP_SEMANTICS);
    options.open(path)
}
