//! Whether a file that is rewritten in place is one that a crash interrupted: torn between the
//! old and the new content, and written by nobody else.

/// What a disk writes as one.
const SECTOR_BYTES: usize = 512;

/// Whether `now` is what an interrupted write of `new` over `old` can leave: every sector is
/// that of the old or the new content, or still unwritten, and the length lies between theirs,
/// since the file is cut only once all of it is written. Somebody else's truncation to such a length
/// looks the same as a long old version that was being written back over a short new one.
pub(super) fn is_torn(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    if now == old || now == new {
        return true;
    }
    let lengths = old.len().min(new.len())..=old.len().max(new.len());
    if !lengths.contains(&now.len()) {
        return false;
    }
    // A kill can stop a write at any byte.
    let written = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    let is_prefix = now.len() >= written && now.get(written..) == old.get(written..);
    let sector = |bytes: &[u8], at: usize| -> Vec<u8> {
        let start = at.min(bytes.len());
        bytes[start..(at + SECTOR_BYTES).min(bytes.len())].to_vec()
    };
    // Until the file is cut to its new length, the end of a shorter version stands before the
    // rest of the longer one.
    let (shorter, longer) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let joint = [shorter, &longer[shorter.len()..]].concat();
    let is_mix = (0..now.len()).step_by(SECTOR_BYTES).all(|at| {
        let here = sector(now, at);
        // Of a sector that was cut at the end of the file, zeros follow when the file grows again.
        let matches = |version: &[u8]| is_beginning(&here, &sector(version, at));
        matches(old) || matches(new) || matches(&joint)
    });
    is_prefix || is_mix
}

/// Whether `copy` is what a crash leaves of a copy of `whole`: a beginning of it, in which sectors
/// that a power cut has taken are zeros. Then it has nothing that `whole` lacks.
pub(super) fn is_unfinished_copy(copy: &[u8], whole: &[u8]) -> bool {
    let mut sectors = copy.chunks(SECTOR_BYTES).zip(whole.chunks(SECTOR_BYTES));
    copy.len() <= whole.len() && sectors.all(|(here, there)| is_beginning(here, there))
}

/// Whether a sector begins as another one does, and has zeros after that.
fn is_beginning(here: &[u8], there: &[u8]) -> bool {
    let same = here.iter().zip(there).take_while(|(here, there)| here == there).count();
    here[same..].iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_contents_are_told_from_foreign_ones() {
        let old = vec![b'o'; 2000];
        let new = vec![b'n'; 3000];
        for written in [0, 1, 511, 1024, 2000, 2999, 3000] {
            let mut now = new[..written].to_vec();
            now.extend_from_slice(old.get(written..).unwrap_or_default());
            assert!(is_torn(&now, &old, &new), "{written}");
        }
        let mut sectors = old.clone();
        sectors[512..1024].fill(b'n');
        assert!(is_torn(&sectors, &old, &new));
        let mut foreign = old.clone();
        foreign[700] = b'x';
        assert!(!is_torn(&foreign, &old, &new));
        assert!(!is_torn(&[b'n'; 3001], &old, &new));
        // Somebody else's truncation.
        assert!(!is_torn(&[], &old, &new));
        assert!(!is_torn(&old[..1999], &old, &new));
        assert!(is_torn(&[], &[], &new));
    }

    #[test]
    fn a_copy_that_was_not_finished_has_nothing_of_its_own() {
        let whole: Vec<u8> = (0..3000).map(|at| b'a' + (at % 20) as u8).collect();
        for length in [0, 1, 511, 512, 700, 2999, 3000] {
            assert!(is_unfinished_copy(&whole[..length], &whole), "{length}");
        }
        let mut copy = whole[..2000].to_vec();
        copy[512..1100].fill(0);
        assert!(!is_unfinished_copy(&copy, &whole), "zeros end with their sector");
        copy[1024..1100].copy_from_slice(&whole[1024..1100]);
        assert!(is_unfinished_copy(&copy, &whole));
        copy[1999] = b'x';
        assert!(!is_unfinished_copy(&copy, &whole));
        assert!(!is_unfinished_copy(&whole, &whole[..2999]));
    }

    /// Two cuts: the first leaves new sectors and the old length, the second the new length.
    #[test]
    fn a_sector_that_was_cut_at_the_old_length_and_grew_again_is_torn() {
        let (old, new) = (vec![b'o'; 2000], vec![b'n'; 3000]);
        let mut now = new[..2000].to_vec();
        now.resize(3000, 0);
        assert!(is_torn(&now, &old, &new));
        now[2900] = b'x';
        assert!(!is_torn(&now, &old, &new));
    }

    /// A shrinking file whose last sector reached the disk before its first one and before its
    /// new length.
    #[test]
    fn a_sector_with_the_end_of_the_shorter_version_is_torn_not_foreign() {
        let long = vec![b'l'; 3000];
        let short = vec![b's'; 1700];
        let mut now = long.clone();
        now[1536..1700].fill(b's');
        for (old, new) in [(&long, &short), (&short, &long)] {
            assert!(is_torn(&now, old, new));
            let mut foreign = now.clone();
            foreign[1650] = b'x';
            assert!(!is_torn(&foreign, old, new));
        }
    }
}
