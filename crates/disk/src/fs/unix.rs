//! The functions for Unix systems. Names are changed relative to an open directory, wherever its
//! path leads, and become durable when that directory is flushed.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;

use cap_std::fs::OpenOptions;

use super::{NewAccess, Place, Rights, Stamp};

/// Reads while `out` has spare capacity, with as few system calls as possible. Returns the rest of
/// the limit; 0 at the end of the file. The standard library starts with a small buffer and doubles
/// it.
pub(super) fn fill(file: &File, mut limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<u64> {
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

/// A reader for a file that was opened without blocking; its reads block. A FIFO must have a
/// writer.
pub(super) fn piped(mut file: File) -> io::Result<Box<dyn Read>> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    let mut start = Vec::new();
    if file.metadata()?.file_type().is_fifo() {
        let mut byte = [0];
        match file.read(&mut byte) {
            Ok(0) => return Err(io::Error::other("it is a FIFO to which no program writes")),
            Ok(_) => start.extend(byte),
            // There is a writer that has not written anything yet.
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
            Err(cause) => return Err(cause),
        }
    }
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(Box::new(io::Cursor::new(start).chain(file)))
}

/// Opens a file. Unlike on Windows, handles of other processes do not interfere.
pub(super) fn open(place: &Place, options: &OpenOptions) -> io::Result<File> {
    Ok(place.dir()?.open_with(place.name(), options)?.into_std())
}

/// Opens a file that another process may be removing. Unlike on Windows, its name disappears at
/// once.
pub(super) fn open_retrying(place: &Place, options: &OpenOptions) -> io::Result<File> {
    open(place, options)
}

/// Creates a file that must not exist.
pub(super) fn create_new(place: &Place, access: NewAccess) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let mode = match access {
        NewAccess::OwnerOnly => 0o600,
        NewAccess::Usual => 0o666,
    };
    cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
    Ok(place.dir()?.open_with(place.name(), &options)?.into_std())
}

/// The extended attribute in which Linux stores the access control list of a file.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// Copies the mode, owner and extended attributes of `model` to `file`, as far as the user may.
pub(super) fn copy_attributes(file: &File, model: &File, stamp: &Stamp) -> io::Result<()> {
    use xattr::FileExt;

    // Ownership first: changing it clears the set-id bits.
    let mode = give(file, Rights::of(stamp), || group_rights(model))?;
    copy_access_list(file, model)?;
    // Security labels and the like are extended attributes. They are skipped if the file system has
    // none, or this user may not set one. Attributes that the new file inherited from its directory
    // are removed.
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
    rustix::fs::fchmod(file, mode_bits(mode))?;
    Ok(())
}

/// The mode and owner of a file. With an access control list, the group bits of its mode are the mask
/// of the list, which may be more than the rights of the group.
pub(super) fn rights(file: &File, rights: Rights) -> io::Result<Option<Rights>> {
    let group = group_rights(file)?.unwrap_or(0o7);
    Ok(Some(Rights { mode: rights.mode & (0o7707 | group << 3), ..rights }))
}

/// Sets the mode and owner of a file, as far as the user may, without an access control list.
pub(super) fn set_rights(file: &File, rights: Rights) -> io::Result<()> {
    let mode = give(file, rights, || Ok(None))?;
    // The mode would be the mask of a list that the file inherited from its directory.
    remove_access_list(file)?;
    rustix::fs::fchmod(file, mode_bits(mode))?;
    Ok(())
}

/// Gives a file to an owner and group, as far as the user may. Returns the mode for the owner that
/// it has then. `group_rights` are those of the group in an access list.
fn give(
    file: &File,
    Rights { mut mode, owner: (uid, gid) }: Rights,
    group_rights: impl FnOnce() -> io::Result<Option<u32>>,
) -> io::Result<u32> {
    use rustix::fs::{Gid, Uid, fchown};

    // A user who may not change the owner may still set the group to one of their own.
    if fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).is_err() {
        // Set-id bits are not given to a file of another owner.
        mode &= 0o1777;
        if uid != rustix::process::geteuid().as_raw() {
            // The old owner is now among the group or the others.
            mode &= 0o1700 | for_group_and_others(mode >> 6 & 0o7);
        }
        // Likewise, a group does not inherit rights of another group, except for those that
        // everyone has; and members of the old group are now among the others.
        if fchown(file, None, Some(Gid::from_raw(gid))).is_err() {
            let group = mode >> 3 & group_rights()?.unwrap_or(0o7);
            mode = mode & 0o1700 | for_group_and_others(mode & group & 0o7);
        }
    }
    Ok(mode)
}

/// The mode bits that give the same rights to the group and to all others.
fn for_group_and_others(rights: u32) -> u32 {
    rights << 3 | rights
}

/// The errors of file systems without access control lists.
const NO_LISTS: [i32; 3] = [libc::ENOTSUP, libc::EOPNOTSUPP, libc::ENOSYS];

fn access_list(file: &File) -> io::Result<Option<Vec<u8>>> {
    match xattr::FileExt::get_xattr(file, ACCESS_LIST) {
        Err(cause) if cause.raw_os_error().is_some_and(|code| NO_LISTS.contains(&code)) => Ok(None),
        other => other,
    }
}

/// The rights of the group in the access control list of a file, before the mask, which is stored
/// in the mode. `None` if it has no list.
fn group_rights(file: &File) -> io::Result<Option<u32>> {
    const GROUP: u16 = 0x04;
    // A version, then for each entry a tag, rights and an id.
    const HEAD_BYTES: usize = 4;
    const ENTRY_BYTES: usize = 8;
    let list = access_list(file)?.unwrap_or_default();
    let entries = list.get(HEAD_BYTES..).unwrap_or_default().chunks_exact(ENTRY_BYTES);
    let number = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    let mut group = entries.filter(|entry| number(entry) == GROUP);
    Ok(group.next().map(|entry| u32::from(number(&entry[2..]))))
}

/// Copies the access control list of `model` to `file`, or removes it. With a list, the group bits
/// of the mode are its mask, so without the list they could admit others. So could a list that the
/// new file inherited from its directory.
fn copy_access_list(file: &File, model: &File) -> io::Result<()> {
    match access_list(model)? {
        Some(wanted) => xattr::FileExt::set_xattr(file, ACCESS_LIST, &wanted),
        None => remove_access_list(file),
    }
}

/// Removes the access control list of a file, if it has one.
fn remove_access_list(file: &File) -> io::Result<()> {
    match access_list(file)? {
        Some(_) => xattr::FileExt::remove_xattr(file, ACCESS_LIST),
        None => Ok(()),
    }
}

#[allow(trivial_numeric_casts, reason = "mode_t has 16 bits on macOS")]
fn mode_bits(mode: u32) -> rustix::fs::Mode {
    rustix::fs::Mode::from_raw_mode(mode as rustix::fs::RawMode)
}

/// Renames a file, replacing any file at `to`.
pub(super) fn rename(from: &Place, to: &Place) -> io::Result<()> {
    from.dir()?.rename(from.name(), to.dir()?, to.name())
}

/// Linux and macOS can rename without replacing. On other systems, and on file systems that cannot,
/// a hard link fails if the name exists, which gives the same guarantee.
pub(super) fn rename_new(from: &Place, to: &Place) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(from.dir()?, from.name(), to.dir()?, to.name(), flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    link(from, to)?;
    unlink(from)
}

/// Exchanges two names atomically; fails with `Unsupported` where the system cannot.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn exchange(one: &Place, other: &Place) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(one.dir()?, one.name(), other.dir()?, other.name(), RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        result => Ok(result?),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn exchange(_: &Place, _: &Place) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a hard link.
pub(super) fn link(from: &Place, to: &Place) -> io::Result<()> {
    from.dir()?.hard_link(from.name(), to.dir()?, to.name())
}

/// Creates a symbolic link with the target of the one at `from`.
pub(super) fn copy_link(from: &Place, to: &Place) -> io::Result<()> {
    let target = rustix::fs::readlinkat(from.dir()?, from.name(), Vec::new())?;
    Ok(rustix::fs::symlinkat(target, to.dir()?, to.name())?)
}

/// Removes a name.
pub(super) fn unlink(place: &Place) -> io::Result<()> {
    place.dir()?.remove_file(place.name())
}

/// Removes an empty directory.
pub(super) fn remove_dir(place: &Place) -> io::Result<()> {
    place.dir()?.remove_dir(place.name())
}

/// Directories are opened without read access where the system supports that. Such a descriptor
/// cannot be flushed, so a second one is opened through it.
pub(super) fn sync_dir(place: &Place) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The standard library uses the call that flushes the disk cache on macOS.
    File::from(openat(place.dir()?, ".", flags, Mode::empty())?).sync_all()
}

/// Takes the file lock; waits while another process holds it.
pub(super) fn lock(file: &File) -> io::Result<()> {
    file.lock()
}

/// Takes the file lock; returns false if another process holds it.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(cause)) => Err(cause),
    }
}

/// Whether the user may write the content of the file.
pub(super) fn may_write(place: &Place) -> io::Result<bool> {
    use rustix::fs::{Access, AtFlags, accessat};
    match accessat(place.dir()?, place.name(), Access::WRITE_OK, AtFlags::EACCESS) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS) => {
            Ok(false)
        }
        Err(other) => Err(other.into()),
    }
}

/// Whether the user may replace the file with this name, whose stamp is `stamp`, by another file.
pub(super) fn may_replace(place: &Place, stamp: &Stamp) -> io::Result<bool> {
    let directory = place.directory();
    Ok(may_write(&directory)?
        && may_give_to_owner(stamp)
        && !is_protected_by_sticky_bit(&Stamp::of_place(&directory)?, stamp)
        // A mount point cannot be renamed.
        && mount(place)? == mount(&directory)?)
}

/// Whether a new file can belong to the owner of this one. Only root gives files away.
pub(super) fn may_give_to_owner(file: &Stamp) -> bool {
    let user = rustix::process::geteuid();
    user.is_root() || file.owner.0 == user.as_raw()
}

/// The mount of the place, if the system reports it.
#[cfg(target_os = "linux")]
pub(super) fn mount(place: &Place) -> io::Result<Option<u64>> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    match statx(place.dir()?, place.name(), flags, StatxFlags::MNT_ID) {
        // An emulator of another processor may set the mask bit, but leave 0 in the field.
        Ok(found) if found.stx_mask & StatxFlags::MNT_ID.bits() != 0 && found.stx_mnt_id != 0 => {
            Ok(Some(found.stx_mnt_id))
        }
        // Kernels before 5.8 do not have the field, and a sandbox may not allow the call.
        Ok(_) | Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => mount_of_opened(place),
        Err(other) => Err(other.into()),
    }
}

/// The mount of the place, from the kernel's data about an open descriptor.
#[cfg(target_os = "linux")]
fn mount_of_opened(place: &Place) -> io::Result<Option<u64>> {
    use rustix::fs::{Mode, OFlags, openat};
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(place.dir()?, place.name(), flags, Mode::empty())?;
    // Not available if /proc is not mounted.
    let fdinfo = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", opened.as_raw_fd()));
    let fdinfo = fdinfo.unwrap_or_default();
    Ok(fdinfo.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn mount(_: &Place) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Whether the sticky bit reserves renaming the file to its owner, the owner of the directory and
/// root.
fn is_protected_by_sticky_bit(directory: &Stamp, file: &Stamp) -> bool {
    const STICKY: u32 = 0o1000;
    let user = rustix::process::geteuid();
    let is_among_owners = [file.owner.0, directory.owner.0].contains(&user.as_raw());
    directory.mode & STICKY != 0 && !user.is_root() && !is_among_owners
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::fs::{FileSystem, OsFileSystem};

    #[test]
    fn both_ways_to_query_a_mount_agree() {
        let place = |dir: &str, name: &str| {
            OsFileSystem.open_dir_at(dir.as_ref()).unwrap().place(name, name)
        };
        // The last component is a link, whose own mount is queried; /proc is a mount of its own.
        for (dir, name) in [("/", "."), ("/", "proc"), ("/proc", "self"), ("/proc/self", "exe")] {
            let place = place(dir, name);
            assert_eq!(mount_of_opened(&place).unwrap(), mount(&place).unwrap(), "{dir}/{name}");
        }
        let [root, proc] = [place("/", "."), place("/", "proc")].map(|at| mount_of_opened(&at));
        assert_ne!(root.unwrap(), proc.unwrap());
    }
}
