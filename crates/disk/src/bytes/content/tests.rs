use std::io::Write;

use super::*;
use crate::fs::OsFileSystem;

/// The resident size of a mapping of this process.
fn resident_bytes(bytes: &[u8]) -> u64 {
    let address = format!("{:x}-", bytes.as_ptr() as usize);
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mapping = maps.lines().skip_while(|line| !line.starts_with(&address));
    let rss = mapping.into_iter().find_map(|line| line.strip_prefix("Rss:")).unwrap();
    rss.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn load(path: &std::path::Path, releases_pages: bool) -> Content {
    let opened = File::open(path).unwrap();
    let stamp = OsFileSystem.stamp_of(&opened).unwrap();
    let options = LoadOptions { releases_pages, ..LoadOptions::default() };
    let content = Content::load(&OsFileSystem, opened, stamp, &options, Purpose::View);
    content.ok().flatten().unwrap()
}

#[test]
fn smaller_files_are_mapped_if_pages_are_released() {
    for (size_bytes, is_mapped) in [
        (MAP_RELEASED_MIN_BYTES - 1, [false, false]),
        (MAP_RELEASED_MIN_BYTES, [false, true]),
        (MAP_MIN_BYTES, [true, true]),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(size_bytes).unwrap();
        let found =
            [false, true].map(|releases_pages| load(file.path(), releases_pages).is_mapped());
        assert_eq!(found, is_mapped, "{size_bytes}");
    }
}

#[test]
fn regression_a_scanned_large_file_does_not_stay_in_memory() {
    let size_bytes = 4 * RELEASE_BYTES;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![b'x'; size_bytes]).unwrap();
    for releases_pages in [true, false] {
        let content = load(file.path(), releases_pages);
        let mut most_bytes = 0;
        for piece in content.bytes().chunks(PIECE_BYTES) {
            assert!(piece.iter().all(|&byte| byte == b'x'));
            most_bytes = most_bytes.max(resident_bytes(content.bytes()));
            content.mark_scanned(piece.len());
        }
        // The kernel maps pages around the one that is read.
        let bound_bytes = (RELEASE_BYTES + PIECE_BYTES) as u64;
        assert_eq!(most_bytes <= bound_bytes, releases_pages, "{most_bytes}");
        assert_eq!(resident_bytes(content.bytes()) < PIECE_BYTES as u64, releases_pages);
    }
}
