//! The functions for Windows: renames that are flushed to the disk, files that are open in other
//! processes or read-only, and locks that do not prevent reading.
//!
//! Names are changed by path. An open directory can be neither renamed nor removed on Windows, nor
//! can its parents, so the path of a place leads to its directory as long as that is open.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_FUNCTION, ERROR_INVALID_HANDLE,
    ERROR_INVALID_PARAMETER, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED,
    ERROR_SHARING_VIOLATION, GENERIC_READ, GENERIC_WRITE, HANDLE,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, SetKernelObjectSecurity,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_SYSTEM,
    FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES, FileBasicInfo, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH,
    MoveFileExW, SetFileInformationByHandle, WRITE_DAC,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::{NewAccess, Place, Rights, Stamp};

/// How often an operation is tried if another process interferes: antivirus scanners and indexers
/// open new files for a short time.
const ATTEMPTS: u32 = 9;
/// The pause before the second attempt. Each later pause is twice as long; the total is a quarter
/// of a second.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// The errors for a file that another process has open without sharing.
const IN_USE: [u32; 2] = [ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION];
/// The errors of changing names. Access is also denied to a file whose deletion is pending, and to
/// the name of a file that another process has open.
const TRANSIENT: [u32; 3] = [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION];

/// The byte that is locked, beyond the end of any file. Windows prevents reading of locked bytes,
/// but a journal is read by processes that wait for its files.
const LOCKED_BYTE: u64 = i64::MAX as u64 - 1;

/// Opens a file. Access denied is not retried: a user without access does not get it by waiting,
/// and a call may name many such files.
pub(super) fn open(place: &Place, options: &cap_std::fs::OpenOptions) -> io::Result<File> {
    retrying(&IN_USE, || Ok(place.dir()?.open_with(place.name(), options)?.into_std()))
}

/// Opens a file that another call may be removing. Access is denied until all handles are closed;
/// then the file is gone.
pub(super) fn open_retrying(place: &Place, options: &cap_std::fs::OpenOptions) -> io::Result<File> {
    retrying(&TRANSIENT, || Ok(place.dir()?.open_with(place.name(), options)?.into_std()))
}

/// Creates a file that must not exist, with the right to set its access list if the user may have
/// it: on a share, it can be missing.
pub(super) fn create_new(place: &Place, _: NewAccess) -> io::Result<File> {
    let create = |more: u32| {
        let mut options = cap_std::fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let access = GENERIC_READ | GENERIC_WRITE | more;
        cap_std::fs::OpenOptionsExt::access_mode(&mut options, access);
        place.dir()?.open_with(place.name(), &options).map(cap_std::fs::File::into_std)
    };
    match create(WRITE_DAC) {
        Err(cause) if is(&cause, &[ERROR_ACCESS_DENIED]) => create(0),
        other => other,
    }
}

/// Files have access lists instead of modes.
pub(super) fn rights(_: &File, _: Rights) -> io::Result<Option<Rights>> {
    Ok(None)
}

/// New files inherit the access list of their directory.
pub(super) fn set_rights(_: &File, _: Rights) -> io::Result<()> {
    Ok(())
}

/// Copies the access list, the attributes and the creation time of `model` to `file`.
pub(super) fn copy_attributes(file: &File, model: &File, _: &Stamp) -> io::Result<()> {
    const KEPT: u32 = FILE_ATTRIBUTE_ARCHIVE
        | FILE_ATTRIBUTE_HIDDEN
        | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED
        | FILE_ATTRIBUTE_READONLY
        | FILE_ATTRIBUTE_SYSTEM;
    let wanted = access_list(model)?;
    // Most files inherit the access list of their directory.
    if wanted != access_list(file)? {
        set_access_list(file, &wanted)?;
    }
    let metadata = model.metadata()?;
    let attributes = match metadata.file_attributes() & KEPT {
        0 => FILE_ATTRIBUTE_NORMAL,
        some => some,
    };
    let info = FILE_BASIC_INFO {
        CreationTime: metadata.creation_time() as i64,
        FileAttributes: attributes,
        // Zero leaves a time unchanged.
        ..FILE_BASIC_INFO::default()
    };
    let (handle, bytes) = (file.as_raw_handle() as HANDLE, size_of::<FILE_BASIC_INFO>() as u32);
    // SAFETY: The handle is that of an open file, and the structure is the one that goes with
    // `FileBasicInfo`.
    done(unsafe {
        SetFileInformationByHandle(handle, FileBasicInfo, (&raw const info).cast(), bytes)
    })
}

/// The security descriptor with the access list of a file; empty if the file system has none. In
/// units of four bytes, for alignment.
fn access_list(file: &File) -> io::Result<Vec<u32>> {
    let (handle, mut needed) = (file.as_raw_handle() as HANDLE, 0);
    let mut list: Vec<u32> = Vec::new();
    loop {
        let bytes = size_of_val(list.as_slice()) as u32;
        // SAFETY: The handle is that of an open file, and the system writes at most `bytes` bytes
        // to the list, and the number that it needs.
        let got = done(unsafe {
            GetKernelObjectSecurity(
                handle,
                DACL_SECURITY_INFORMATION,
                list.as_mut_ptr().cast(),
                bytes,
                &raw mut needed,
            )
        });
        match got {
            Ok(()) => return Ok(list),
            Err(cause) if is(&cause, &[ERROR_INSUFFICIENT_BUFFER]) && needed > bytes => {
                list = vec![0; (needed as usize).div_ceil(size_of::<u32>())];
            }
            Err(cause) if is(&cause, &NO_LISTS) => return Ok(Vec::new()),
            Err(cause) => return Err(cause),
        }
    }
}

/// The errors of file systems without access lists.
const NO_LISTS: [u32; 2] = [ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED];

fn set_access_list(file: &File, list: &[u32]) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let (handle, list) = (file.as_raw_handle() as HANDLE, list.as_ptr().cast_mut().cast());
    // SAFETY: The handle is that of an open file, and the list was returned by the system; it is
    // only read.
    done(unsafe { SetKernelObjectSecurity(handle, DACL_SECURITY_INFORMATION, list) })
}

/// Renames a file, replacing any file at `to`, and flushes the change to the disk. `ReplaceFileW`
/// would do so in two steps, without a file at `to` in between.
pub(super) fn rename(from: &Place, to: &Place) -> io::Result<()> {
    let (from, to) = (from.canonical(), to.canonical());
    let is_through =
        retrying(&TRANSIENT, || match move_file(from, to, MOVEFILE_REPLACE_EXISTING) {
            // Another process may have the replaced file open, with sharing of deletions: the
            // standard library can rename over such a file.
            Err(cause) if is(&cause, &[ERROR_ACCESS_DENIED]) => {
                std::fs::rename(from, to).map(|()| false)
            }
            other => other.map(|()| true),
        })?;
    if is_through { Ok(()) } else { flush(to) }
}

/// Renames a file and flushes the change; fails with `AlreadyExists` if `to` exists.
pub(super) fn rename_new(from: &Place, to: &Place) -> io::Result<()> {
    retrying(&TRANSIENT, || move_file(from.canonical(), to.canonical(), 0))
}

fn move_file(from: &Path, to: &Path, flags: u32) -> io::Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: Both are strings that end in NUL and live until the call returns.
    let moved = unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), flags | MOVEFILE_WRITE_THROUGH) };
    done(moved)
}

/// Windows cannot exchange two names.
pub(super) fn exchange(_: &Place, _: &Place) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a hard link.
pub(super) fn link(from: &Place, to: &Place) -> io::Result<()> {
    retrying(&TRANSIENT, || std::fs::hard_link(from.canonical(), to.canonical()))
}

/// Few users have the right to create symbolic links.
pub(super) fn copy_link(_: &Place, _: &Place) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a name of a file. Like on other systems, the file may be read-only.
pub(super) fn unlink(place: &Place) -> io::Result<()> {
    let path = place.canonical();
    retrying(&TRANSIENT, || match std::fs::remove_file(path) {
        Err(cause) if is(&cause, &[ERROR_ACCESS_DENIED]) => unlink_read_only(path, cause),
        other => other,
    })
}

/// The attribute belongs to the file, which may have other names, so it is restored.
fn unlink_read_only(path: &Path, cause: io::Error) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.access_mode(FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES);
    let file = options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path);
    let Ok(file) = file else { return Err(cause) };
    let before = file.metadata()?.permissions();
    if !before.readonly() {
        return Err(cause);
    }
    file.set_permissions(writable(before.clone()))?;
    let removed = std::fs::remove_file(path);
    // Fails if the file is gone; then nothing needs to be restored.
    let _ = file.set_permissions(before);
    removed
}

#[allow(clippy::permissions_set_readonly_false, reason = "there are no other bits here")]
fn writable(mut permissions: Permissions) -> Permissions {
    permissions.set_readonly(false);
    permissions
}

/// Removes an empty directory.
pub(super) fn remove_dir(place: &Place) -> io::Result<()> {
    retrying(&TRANSIENT, || std::fs::remove_dir(place.canonical()))
}

/// Flushes the entries of the directory of the place to the disk, if the file system supports it.
/// Other file systems have a log that the next flush of any file writes in sequence.
pub(super) fn sync_dir(place: &Place) -> io::Result<()> {
    const CANNOT: [u32; 5] = [
        ERROR_ACCESS_DENIED,
        ERROR_INVALID_FUNCTION,
        ERROR_INVALID_HANDLE,
        ERROR_INVALID_PARAMETER,
        ERROR_NOT_SUPPORTED,
    ];
    let Some(directory) = place.canonical().parent() else { return Ok(()) };
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    match options.open(directory).and_then(|directory| directory.sync_all()) {
        Err(cause) if is(&cause, &CANNOT) => Ok(()),
        other => other,
    }
}

/// Flushes a file and its name to the disk, unless this user may not write it.
fn flush(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path).and_then(|file| file.sync_all()) {
        Err(cause) if is(&cause, &[ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION]) => Ok(()),
        other => other,
    }
}

/// Takes the file lock; waits while another process holds it.
pub(super) fn lock(file: &File) -> io::Result<()> {
    lock_byte(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// Takes the file lock; returns false if another process holds it.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    match lock_byte(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY) {
        Err(cause) if is(&cause, &[ERROR_LOCK_VIOLATION, ERROR_IO_PENDING]) => Ok(false),
        other => other.map(|()| true),
    }
}

fn lock_byte(file: &File, flags: u32) -> io::Result<()> {
    let (low, high) = (LOCKED_BYTE as u32, (LOCKED_BYTE >> 32) as u32);
    let offset = OVERLAPPED_0 { Anonymous: OVERLAPPED_0_0 { Offset: low, OffsetHigh: high } };
    let mut at = OVERLAPPED { Anonymous: offset, ..OVERLAPPED::default() };
    let handle = file.as_raw_handle() as HANDLE;
    // SAFETY: The handle is that of an open file, which was not opened for overlapped I/O: the
    // operation has ended when the call returns, and `at` lives as long.
    done(unsafe { LockFileEx(handle, flags, 0, 1, 0, &raw mut at) })
}

/// Does nothing: the standard library manages the buffer. Returns the rest of the limit.
pub(super) fn fill(_: &File, limit_bytes: u64, _: &mut Vec<u8>) -> io::Result<u64> {
    Ok(limit_bytes)
}

/// Whether the file may be written, according to its attributes.
pub(super) fn may_write(place: &Place) -> io::Result<bool> {
    Ok(!place.dir()?.symlink_metadata(place.name())?.permissions().readonly())
}

/// Whether the file may be replaced, according to its attributes. The directory has no attributes
/// that restrict this.
pub(super) fn may_replace(place: &Place, _: &Stamp) -> io::Result<bool> {
    may_write(place)
}

/// Not needed: on Windows, mounts have their own device number.
pub(super) fn mount(_: &Place) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Retries the operation while it fails with one of the `transient` errors.
fn retrying<T>(passing: &[u32], work: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let mut length = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match work() {
            Err(cause) if is(&cause, passing) => pause(length),
            other => return other,
        }
        length *= 2;
    }
    work()
}

fn pause(length: Duration) {
    #[cfg(test)]
    tests::PAUSES.set(tests::PAUSES.get() + 1);
    std::thread::sleep(length);
}

fn is(cause: &io::Error, codes: &[u32]) -> bool {
    cause.raw_os_error().is_some_and(|code| codes.contains(&(code as u32)))
}

fn done(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A path as a NUL-terminated UTF-16 string.
fn wide(path: &Path) -> io::Result<Vec<u16>> {
    let mut units: Vec<u16> = path.as_os_str().encode_wide().collect();
    if units.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    units.push(0);
    Ok(units)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::fs::{FileSystem, OsFileSystem};

    thread_local! {
        /// How often this thread has paused.
        pub(super) static PAUSES: Cell<u32> = const { Cell::new(0) };
    }

    /// Creates files with the given names; each contains its name.
    fn files(names: &[&str]) -> (tempfile::TempDir, Vec<Place>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let open = OsFileSystem.open_dir_at(&path).unwrap();
        let make = |name: &&str| {
            std::fs::write(path.join(name), name).unwrap();
            open.place(*name, name)
        };
        (dir, names.iter().map(make).collect())
    }

    fn read(place: &Place) -> String {
        std::fs::read_to_string(place.canonical()).unwrap()
    }

    fn set_read_only(place: &Place, is_read_only: bool) {
        let mut permissions = std::fs::metadata(place.canonical()).unwrap().permissions();
        permissions.set_readonly(is_read_only);
        std::fs::set_permissions(place.canonical(), permissions).unwrap();
    }

    #[test]
    fn an_existing_name_is_replaced_or_refused_as_requested() {
        let (_dir, places) = files(&["one", "two", "three"]);
        let cause = rename_new(&places[0], &places[1]).unwrap_err();
        assert_eq!(cause.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((read(&places[0]), read(&places[1])), ("one".into(), "two".into()));
        rename(&places[0], &places[1]).unwrap();
        assert_eq!(read(&places[1]), "one");
        rename_new(&places[1], &places[0]).unwrap();
        assert_eq!(read(&places[0]), "one");
        let cause = rename(&places[1], &places[2]).unwrap_err();
        assert_eq!(cause.kind(), io::ErrorKind::NotFound);
        assert_eq!(read(&places[2]), "three");
    }

    /// The standard library locks the whole file, which would prevent other processes from reading
    /// it: a journal is read by processes that wait for its files.
    #[test]
    fn regression_a_locked_file_can_be_read() {
        let (_dir, places) = files(&["journal"]);
        let open = || OsFileSystem.open(&places[0]).unwrap();
        let (holder, other) = (open(), open());
        assert!(try_lock(&holder).unwrap());
        assert!(!try_lock(&other).unwrap());
        assert_eq!(read(&places[0]), "journal");
        drop(holder);
        assert!(try_lock(&other).unwrap());
    }

    /// Otherwise, a patch that deletes one would never remove its journal.
    #[test]
    fn regression_a_read_only_file_can_be_removed() {
        let (_dir, places) = files(&["one", "two"]);
        let other = places[0].sibling("other");
        link(&places[0], &other).unwrap();
        for place in &places {
            set_read_only(place, true);
            unlink(place).unwrap();
            assert!(!place.canonical().exists());
        }
        let left = std::fs::metadata(other.canonical()).unwrap();
        assert!(left.permissions().readonly(), "the attribute of the other name has changed");
        set_read_only(&other, false);
    }

    #[test]
    fn a_new_version_has_the_attributes_of_the_old_one() {
        let (_dir, places) = files(&["old"]);
        let path = places[0].canonical();
        let model = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let info = FILE_BASIC_INFO {
            CreationTime: 116_444_736_000_000_000 + 10_000_000,
            FileAttributes: FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_READONLY,
            ..FILE_BASIC_INFO::default()
        };
        let bytes = size_of::<FILE_BASIC_INFO>() as u32;
        let handle = model.as_raw_handle() as HANDLE;
        // SAFETY: As in `copy_attributes`.
        done(unsafe {
            SetFileInformationByHandle(handle, FileBasicInfo, (&raw const info).cast(), bytes)
        })
        .unwrap();
        let fresh = places[0].sibling("fresh");
        let file = create_new(&fresh, NewAccess::Usual).unwrap();
        copy_attributes(&file, &model, &Stamp::of_file(&model).unwrap()).unwrap();
        let (old, new) = (model.metadata().unwrap(), file.metadata().unwrap());
        assert_eq!(new.file_attributes(), old.file_attributes());
        assert!(new.permissions().readonly());
        // Wine does not store creation times; it returns the time of the last change.
        if std::env::var_os("HASHLINE_EMULATOR").is_none() {
            assert_eq!(new.creation_time(), old.creation_time());
        }
        assert_eq!(access_list(&file).unwrap(), access_list(&model).unwrap());
        drop((model, file));
        for place in [&fresh, &places[0]] {
            unlink(place).unwrap();
        }
    }

    #[test]
    fn only_errors_caused_by_other_processes_are_retried() {
        let times = Cell::new(0);
        let fail = |passing: &[u32], code: u32, until: u32| {
            times.set(0);
            retrying(passing, || {
                times.set(times.get() + 1);
                let cause = io::Error::from_raw_os_error(code as i32);
                if times.get() < until { Err(cause) } else { Ok(()) }
            })
        };
        for passing in [&IN_USE[..], &TRANSIENT] {
            fail(passing, ERROR_SHARING_VIOLATION, 3).unwrap();
            assert_eq!(times.get(), 3);
            fail(passing, ERROR_SHARING_VIOLATION, u32::MAX).unwrap_err();
            assert_eq!(times.get(), ATTEMPTS);
            fail(passing, ERROR_INVALID_FUNCTION, u32::MAX).unwrap_err();
            assert_eq!(times.get(), 1);
        }
        fail(&TRANSIENT, ERROR_ACCESS_DENIED, 3).unwrap();
        assert_eq!(times.get(), 3);
    }

    /// Each file of a patch that the user could not open took a quarter of a second.
    #[test]
    fn regression_denied_access_is_retried_only_for_files_of_the_state_directory() {
        let (dir, places) = files(&["file"]);
        std::fs::create_dir(dir.path().join("denied")).unwrap();
        let place = places[0].sibling("denied");
        // A directory causes the same error as a file that the user may not open.
        let mut options = cap_std::fs::OpenOptions::new();
        options.read(true).write(true);
        let waited = |opened: &dyn Fn() -> io::Result<File>| {
            let before = PAUSES.get();
            let cause = opened().unwrap_err();
            assert_eq!(cause.raw_os_error(), Some(ERROR_ACCESS_DENIED as i32));
            PAUSES.get() - before
        };
        assert_eq!(waited(&|| open(&place, &options)), 0);
        assert_eq!(waited(&|| open_retrying(&place, &options)), ATTEMPTS - 1);
        assert_eq!(waited(&|| OsFileSystem.open_lock(&place)), ATTEMPTS - 1);
    }
}
