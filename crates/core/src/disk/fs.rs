//! Every touch of the file system. What a patch and a recovery do to files, directories and
//! locks is behind one trait, so that tests can let the n-th operation fail or cut the power
//! there; where paths lead, and what searches list, is in `place` and `tree`. The production
//! implementation is [`OsFileSystem`]; everything that differs between systems is in it and in
//! `stamp`.

mod place;
mod stamp;
mod tree;

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, OpenOptions};

pub use place::{Base, Directory, Lookup, Place, differ_in_case_only, not_a_file, plain};
pub use stamp::{FileKind, Stamp};
pub use tree::{FoundPath, Listed};

/// The operations the engine needs. Those that change something are each on a name in an open
/// directory, so that a directory that is moved or replaced by a link during a call cannot
/// redirect a later step.
pub trait FileSystem: Send + Sync {
    /// Opens for reading without following a link in the last component and without blocking
    /// on a FIFO.
    fn open(&self, place: &Place) -> io::Result<File>;
    /// Opens for writing in place; keeps the content.
    fn open_for_rewrite(&self, place: &Place) -> io::Result<File>;
    /// Creates a file that must not exist yet: `private` for the owner alone, else with the
    /// mode that the system gives new files.
    fn create_new(&self, place: &Place, private: bool) -> io::Result<File>;
    /// The stamp of what the name stands for; of the link itself when it is one.
    fn stamp(&self, place: &Place) -> io::Result<Stamp>;
    /// The stamp of an open file.
    fn stamp_of(&self, file: &File) -> io::Result<Stamp>;
    /// Appends what is left of `file` to `out`, stopping after `limit_bytes`.
    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()>;
    /// Writes all of `bytes` at the file's position.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
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
    /// Makes a directory: `private` one that only its owner may look into.
    fn make_dir(&self, place: &Place, private: bool) -> io::Result<()>;
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
    /// Whether the user may give the name, which `stamp` is the file of, to another file.
    fn may_replace(&self, place: &Place, stamp: &Stamp) -> io::Result<bool>;
}

/// The operating system's file system.
#[derive(Debug, Default)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn open(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        cap_fs_ext::OpenOptionsFollowExt::follow(&mut options, cap_fs_ext::FollowSymlinks::No);
        Ok(place.dir().open_with(place.name(), &options)?.into_std())
    }

    fn open_for_rewrite(&self, place: &Place) -> io::Result<File> {
        let mut options = reading();
        options.write(true);
        cap_fs_ext::OpenOptionsFollowExt::follow(&mut options, cap_fs_ext::FollowSymlinks::No);
        Ok(place.dir().open_with(place.name(), &options)?.into_std())
    }

    fn create_new(&self, place: &Place, private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o666 });
        #[cfg(not(unix))]
        let _ = private;
        Ok(place.dir().open_with(place.name(), &options)?.into_std())
    }

    fn stamp(&self, place: &Place) -> io::Result<Stamp> {
        Stamp::of_place(place)
    }

    fn stamp_of(&self, file: &File) -> io::Result<Stamp> {
        Stamp::of_file(file)
    }

    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let limit_bytes = fill(file, limit_bytes, out)?;
        file.take(limit_bytes).read_to_end(out).map(drop)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn seek(&self, file: &mut File, offset_bytes: u64) -> io::Result<()> {
        file.seek(io::SeekFrom::Start(offset_bytes)).map(drop)
    }

    fn set_len(&self, file: &File, len_bytes: u64) -> io::Result<()> {
        file.set_len(len_bytes)
    }

    fn copy_attributes(&self, file: &File, model: &File, stamp: &Stamp) -> io::Result<()> {
        stamp::copy_attributes(file, model, stamp)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_dir(&self, place: &Place) -> io::Result<()> {
        sync_dir(place.dir())
    }

    fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
        from.dir().rename(from.name(), to.dir(), to.name())
    }

    fn rename_new(&self, from: &Place, to: &Place) -> io::Result<()> {
        rename_new(from, to)
    }

    fn exchange(&self, one: &Place, other: &Place) -> io::Result<()> {
        exchange(one, other)
    }

    fn link(&self, from: &Place, to: &Place) -> io::Result<()> {
        from.dir().hard_link(from.name(), to.dir(), to.name())
    }

    fn copy_link(&self, from: &Place, to: &Place) -> io::Result<()> {
        copy_link(from, to)
    }

    fn read_link(&self, place: &Place) -> io::Result<PathBuf> {
        place.dir().read_link_contents(place.name())
    }

    fn unlink(&self, place: &Place) -> io::Result<()> {
        place.dir().remove_file(place.name())
    }

    fn make_dir(&self, place: &Place, private: bool) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(false);
        #[cfg(unix)]
        cap_std::fs::DirBuilderExt::mode(&mut builder, if private { 0o700 } else { 0o777 });
        #[cfg(not(unix))]
        let _ = private;
        place.dir().create_dir_with(place.name(), &builder)
    }

    fn remove_dir(&self, place: &Place) -> io::Result<()> {
        place.dir().remove_dir(place.name())
    }

    fn may_write(&self, place: &Place) -> io::Result<bool> {
        may_write(place)
    }

    fn may_replace(&self, place: &Place, stamp: &Stamp) -> io::Result<bool> {
        let directory = place.directory();
        Ok(may_write(&directory)?
            && !is_kept_by_sticky_bit(&self.stamp(&directory)?, stamp)
            // A file can be a mount point itself; its name then stays.
            && mount(place)? == mount(&directory)?)
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
        cap_fs_ext::OpenOptionsFollowExt::follow(&mut options, cap_fs_ext::FollowSymlinks::No);
        Ok(place.dir().open_with(place.name(), &options)?.into_std())
    }

    fn lock(&self, file: &File) -> io::Result<()> {
        file.lock()
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(cause)) => Err(cause),
        }
    }

    fn duplicate(&self, file: &File) -> io::Result<File> {
        file.try_clone()
    }

    fn mount(&self, place: &Place) -> io::Result<Option<u64>> {
        mount(place)
    }
}

/// Reads as long as `out` has room, in as few calls as the system allows, and says how much
/// of the limit is left; 0 at the end of the file. The standard library starts with little
/// room and doubles it.
#[cfg(unix)]
fn fill(file: &File, mut limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<u64> {
    loop {
        let room = out.capacity() - out.len();
        if room == 0 || room as u64 > limit_bytes {
            return Ok(limit_bytes);
        }
        let spare = rustix::buffer::spare_capacity(out);
        match rustix::io::read(file, spare) {
            Ok(0) => return Ok(0),
            Ok(read) => limit_bytes -= read as u64,
            Err(rustix::io::Errno::INTR) => {}
            Err(other) => return Err(other.into()),
        }
    }
}

#[cfg(not(unix))]
fn fill(_: &File, limit_bytes: u64, _: &mut Vec<u8>) -> io::Result<u64> {
    Ok(limit_bytes)
}

/// Whether an open failed because the name is a symbolic link, which is not followed: it was
/// not one when it was looked up.
pub fn is_refused_link(cause: &io::Error) -> bool {
    #[cfg(unix)]
    return cause.raw_os_error() == Some(libc::ELOOP);
    #[cfg(not(unix))]
    {
        let _ = cause;
        false
    }
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

/// Directories are opened without the right to read them where the system has that; such a
/// descriptor cannot be flushed, so another one is opened through it.
#[cfg(unix)]
fn sync_dir(dir: &Dir) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The standard library knows how to reach the disk itself on macOS.
    File::from(openat(dir, ".", flags, Mode::empty())?).sync_all()
}

/// Windows has no way to flush a directory; its renames are journaled by NTFS.
#[cfg(not(unix))]
fn sync_dir(_: &Dir) -> io::Result<()> {
    Ok(())
}

/// Linux and macOS rename without replacing in one step. Elsewhere, and on file systems that
/// cannot, a hard link fails when the name is taken, which gives the same guarantee.
fn rename_new(from: &Place, to: &Place) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(from.dir(), from.name(), to.dir(), to.name(), flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    from.dir().hard_link(from.name(), to.dir(), to.name())?;
    from.dir().remove_file(from.name())
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Place, other: &Place) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(one.dir(), one.name(), other.dir(), other.name(), RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        result => Ok(result?),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Place, _: &Place) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn copy_link(from: &Place, to: &Place) -> io::Result<()> {
    let target = rustix::fs::readlinkat(from.dir(), from.name(), Vec::new())?;
    Ok(rustix::fs::symlinkat(target, to.dir(), to.name())?)
}

#[cfg(not(unix))]
fn copy_link(_: &Place, _: &Place) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn may_write(place: &Place) -> io::Result<bool> {
    use rustix::fs::{Access, AtFlags, accessat};
    match accessat(place.dir(), place.name(), Access::WRITE_OK, AtFlags::EACCESS) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS) => {
            Ok(false)
        }
        Err(other) => Err(other.into()),
    }
}

#[cfg(target_os = "linux")]
fn mount(place: &Place) -> io::Result<Option<u64>> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    match statx(place.dir(), place.name(), flags, StatxFlags::MNT_ID) {
        // An emulator of another processor says that it tells, and leaves 0 there.
        Ok(found) if found.stx_mask & StatxFlags::MNT_ID.bits() != 0 && found.stx_mnt_id != 0 => {
            Ok(Some(found.stx_mnt_id))
        }
        // A kernel before 5.8 does not know the question, and a sandbox may not know the call.
        Ok(_) | Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => mount_of_opened(place),
        Err(other) => Err(other.into()),
    }
}

/// The mount that a place is on, by what the kernel tells about an open file.
#[cfg(target_os = "linux")]
fn mount_of_opened(place: &Place) -> io::Result<Option<u64>> {
    use rustix::fs::{Mode, OFlags, openat};
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(place.dir(), place.name(), flags, Mode::empty())?;
    // Where nothing is mounted at /proc, nobody tells.
    let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", opened.as_raw_fd()));
    let told = told.unwrap_or_default();
    Ok(told.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok()))
}

#[cfg(not(target_os = "linux"))]
fn mount(_: &Place) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Whether the directory lets only the file's owner, its own owner and root rename the file.
#[cfg(unix)]
fn is_kept_by_sticky_bit(directory: &Stamp, file: &Stamp) -> bool {
    const STICKY: u32 = 0o1000;
    let user = rustix::process::geteuid();
    let is_among_owners = [file.owner.0, directory.owner.0].contains(&user.as_raw());
    directory.mode & STICKY != 0 && !user.is_root() && !is_among_owners
}

#[cfg(not(unix))]
fn is_kept_by_sticky_bit(_: &Stamp, _: &Stamp) -> bool {
    false
}

#[cfg(not(unix))]
fn may_write(place: &Place) -> io::Result<bool> {
    Ok(!place.dir().symlink_metadata(place.name())?.permissions().readonly())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_ask_for_a_mount_give_the_same() {
        let place = |dir: &str, name: &str| {
            OsFileSystem.open_dir_at(dir.as_ref()).unwrap().place(name, name)
        };
        // The last component is a link, whose own mount is asked for; /proc is one of its own.
        for (dir, name) in [("/", "."), ("/", "proc"), ("/proc", "self"), ("/proc/self", "exe")] {
            let place = place(dir, name);
            assert_eq!(mount_of_opened(&place).unwrap(), mount(&place).unwrap(), "{dir}/{name}");
        }
        let [root, proc] = [place("/", "."), place("/", "proc")].map(|at| mount_of_opened(&at));
        assert_ne!(root.unwrap(), proc.unwrap());
    }
}
