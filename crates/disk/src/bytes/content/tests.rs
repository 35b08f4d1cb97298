use std::io::Write;

use super::*;
use crate::fs::OsFileSystem;

/// How much of a mapping this process has in memory.
fn resident_bytes(bytes: &[u8]) -> u64 {
    let address = format!("{:x}-", bytes.as_ptr() as usize);
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let ours = maps.lines().skip_while(|line| !line.starts_with(&address));
    let rss = ours.into_iter().find_map(|line| line.strip_prefix("Rss:")).unwrap();
    rss.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn load(path: &std::path::Path, gives_back: bool) -> Content {
    let opened = File::open(path).unwrap();
    let stamp = OsFileSystem.stamp_of(&opened).unwrap();
    let options = LoadOptions { gives_back, ..LoadOptions::default() };
    let content = Content::load(&OsFileSystem, opened, stamp, &options, Use::View);
    content.ok().flatten().unwrap()
}

#[test]
fn smaller_files_are_mapped_where_pages_are_given_back() {
    for (size_bytes, is_mapped) in [
        (MAP_GIVEN_BACK_MIN_BYTES - 1, [false, false]),
        (MAP_GIVEN_BACK_MIN_BYTES, [false, true]),
        (MAP_MIN_BYTES, [true, true]),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(size_bytes).unwrap();
        let found = [false, true].map(|gives_back| load(file.path(), gives_back).is_mapped());
        assert_eq!(found, is_mapped, "{size_bytes}");
    }
}

#[test]
fn regression_a_large_file_that_is_looked_through_does_not_stay_in_memory() {
    let size_bytes = 4 * GIVE_BACK_BYTES;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![b'x'; size_bytes]).unwrap();
    for gives_back in [true, false] {
        let content = load(file.path(), gives_back);
        let mut most_bytes = 0;
        for piece in content.bytes().chunks(PIECE_BYTES) {
            assert!(piece.iter().all(|&byte| byte == b'x'));
            most_bytes = most_bytes.max(resident_bytes(content.bytes()));
            content.passed(piece.len());
        }
        // Around a page that is looked at, others are mapped as well.
        let bound_bytes = (GIVE_BACK_BYTES + PIECE_BYTES) as u64;
        assert_eq!(most_bytes <= bound_bytes, gives_back, "{most_bytes}");
        assert_eq!(resident_bytes(content.bytes()) < PIECE_BYTES as u64, gives_back);
    }
}
