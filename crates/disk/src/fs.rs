//! Every touch of the file system. What a patch and a recovery do to files, directories and
//! locks is behind one trait, so that tests can let the n-th operation fail or cut the power
//! there; where paths lead, and what searches list, is in `place` and `tree`. The production
//! implementation is [`OsFileSystem`]; everything that differs between systems is in it, in `stamp`
//! and in `unix` and `windows`, which have the same functions.

mod named;
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
pub use place::{
    Base, Directory, Lookup, Place, differ_in_case_only, not_a_file, plain, plain_path,
    unicode_path,
};
pub use stamp::{FileKind, Stamp};
pub use tree::{FoundPath, Listed};
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Who may use a file or a directory that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewAccess {
    /// Its owner alone.
    OwnerOnly,
    /// Whomever the system admits to new ones.
    Usual,
}

/// The operations the engine needs. Those that change something are each on a name in an open
/// directory, so that a directory that is moved or replaced by a link during a call cannot
/// redirect a later step.
pub trait FileSystem: Send + Sync {
    /// Opens for reading without following a link in the last component and without blocking
    /// on a FIFO.
    fn open(&self, place: &Place) -> io::Result<File>;
    /// As `open`, a file of the state directory. Another call may be removing it just now: on
    /// Windows it can keep its name until all have closed it, and then it is waited for.
    fn open_state(&self, place: &Place) -> io::Result<File>;
    /// Opens for writing in place; keeps the content.
    fn open_for_rewrite(&self, place: &Place) -> io::Result<File>;
    /// Creates a file that must not exist yet.
    fn create_new(&self, place: &Place, access: NewAccess) -> io::Result<File>;
    /// The stamp of what the name stands for; of the link itself when it is one.
    fn stamp(&self, place: &Place) -> io::Result<Stamp>;
    /// The stamp of an open file.
    fn stamp_of(&self, file: &File) -> io::Result<Stamp>;
    /// Appends what is left of `file` to `out`, stopping after `limit_bytes`.
    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()>;
    /// Writes all of `bytes` at the file's position.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Writes all of some pieces, one after the other.
    fn write_pieces(&self, file: &mut File, pieces: &[&[u8]]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| self.write(file, piece))
    }
    /// Moves the position, counted from the start.
    fn seek(&self, file: &mut File, offset_bytes: u64) -> io::Result<()>;
    /// Cuts or extends the file.
    fn set_len(&self, file: &File, len_bytes: u64) -> io::Result<()>;
    /// Gives `file` the mode, owner and extended attributes of `model`, as far as the user may.
    fn copy_attributes(&self, file: &File, model: &File, stamp: &Stamp) -> io::Result<()>;
    /// Forces the file's content and attributes to the disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Forces the entries of the place's directory to the disk.
    fn sync_dir(&self, place: &Place) -> io::Result<()>;
    /// Renames over whatever is at `to`.
    fn rename(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Renames; fails with `AlreadyExists` when `to` exists.
    fn rename_new(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Exchanges two names atomically; fails with `Unsupported` where the system cannot.
    fn exchange(&self, one: &Place, other: &Place) -> io::Result<()>;
    /// Gives the file a second name.
    fn link(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Makes a symbolic link that leads where the one at `from` does.
    fn copy_link(&self, from: &Place, to: &Place) -> io::Result<()>;
    /// Where a symbolic link leads, as it says.
    fn read_link(&self, place: &Place) -> io::Result<PathBuf>;
    /// Removes a name of a file.
    fn unlink(&self, place: &Place) -> io::Result<()>;
    /// Makes a directory.
    fn make_dir(&self, place: &Place, access: NewAccess) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, place: &Place) -> io::Result<()>;
    /// Whether the user may write the file's content.
    fn may_write(&self, place: &Place) -> io::Result<bool>;
    /// The path without links and dots.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;
    /// Opens a directory by its path, links followed.
    fn open_dir_at(&self, path: &Path) -> io::Result<Directory>;
    /// Opens the directory that has the name, which may not be a link.
    fn open_dir(&self, place: &Place) -> io::Result<Directory>;
    /// The stamp of an open directory.
    fn stamp_of_dir(&self, directory: &Directory) -> io::Result<Stamp>;
    /// The names in an open directory, in no particular order.
    fn list(&self, directory: &Directory) -> io::Result<Vec<OsString>>;
    /// Opens a file for a lock; makes it when there is none.
    fn open_lock(&self, place: &Place) -> io::Result<File>;
    /// Takes the system's lock of the file, which ends with the last handle to it; waits while
    /// somebody else has it.
    fn lock(&self, file: &File) -> io::Result<()>;
    /// Takes the system's lock of the file if nobody else has it; false otherwise.
    fn try_lock(&self, file: &File) -> io::Result<bool>;
    /// Another handle to an open file, with the same position and the same lock.
    fn duplicate(&self, file: &File) -> io::Result<File>;
    /// Which mount the name lies on, where the system tells; a rename does not lead from one to
    /// another, even on one device.
    fn mount(&self, place: &Place) -> io::Result<Option<u64>>;
    /// Whether the user may give the name, which `stamp` is the file of, to another file, and that
    /// to the same owner.
    fn may_replace(&self, place: &Place, stamp: &Stamp) -> io::Result<bool>;
}

/// The operating system's file system.
#[derive(Debug, Default)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn open(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        not_following(&mut options);
        system::open(place, &options)
    }

    fn open_state(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        not_following(&mut options);
        system::open_leaving(place, &options)
    }

    fn open_for_rewrite(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        options.write(true);
        not_following(&mut options);
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

    /// In one call of the system, as a rule. What is mapped is not copied here: where the file
    /// has shrunk, the system says so.
    fn write_pieces(&self, file: &mut File, pieces: &[&[u8]]) -> io::Result<()> {
        let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut left = slices.as_mut_slice();
        // Pieces without a byte in front would look like a file that takes none.
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
        place.dir().read_link_contents(place.name())
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
        place.dir().create_dir_with(place.name(), &builder)
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
        let dir = cap_fs_ext::DirExt::open_dir_nofollow(place.dir(), place.name())?;
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
        not_following(&mut options);
        system::open_leaving(place, &options)
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

fn not_following(options: &mut OpenOptions) {
    cap_fs_ext::OpenOptionsFollowExt::follow(options, cap_fs_ext::FollowSymlinks::No);
}

/// What Windows says of a link that is not followed.
#[cfg(windows)]
const ERROR_STOPPED_ON_SYMLINK: i32 = 681;

/// Whether an open failed because the name is a symbolic link, which is not followed: it was
/// not one when it was looked up.
pub fn is_refused_link(cause: &io::Error) -> bool {
    #[cfg(unix)]
    return cause.raw_os_error() == Some(libc::ELOOP);
    #[cfg(windows)]
    return cause.raw_os_error() == Some(ERROR_STOPPED_ON_SYMLINK);
}

/// Whether a file may be one that was removed while somebody had it open: on Windows it can keep
/// its name until that is closed, and nobody can look at it.
pub fn is_unseen(cause: &io::Error) -> bool {
    cfg!(windows) && cause.kind() == io::ErrorKind::PermissionDenied
}

/// On Windows a directory is opened only with this flag; without it, it looks like a file that
/// the user may not read.
#[cfg(windows)]
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Options for reading that return at once on a FIFO or a device.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut options, true);
    #[cfg(windows)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, FILE_FLAG_BACKUP_SEMANTICS);
    options
}

/// Opens `path` as the process would, for reading, without blocking on a FIFO.
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
