//! Detects whether the content of a file that is rewritten in place comes from an interrupted
//! write: a mix of the old and the new content, without a write of another process.

/// The unit of atomic disk writes.
const SECTOR_BYTES: usize = 512;

/// Whether an interrupted write of `new` over `old` can have left `now`. Every sector must be from
/// the old or the new content, or unwritten. The length must be between both lengths, because the
/// file is truncated only after everything is written. If another process truncates the file to
/// such a length, that is indistinguishable from an interrupted write-back of a long old version
/// over a short new one.
pub(super) fn is_torn(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    if now == old || now == new {
        return true;
    }
    let lengths = old.len().min(new.len())..=old.len().max(new.len());
    if !lengths.contains(&now.len()) {
        return false;
    }
    // A kill can interrupt a write at any byte.
    let written = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    let is_prefix = now.len() >= written && now.get(written..) == old.get(written..);
    let sector = |bytes: &[u8], at: usize| -> Vec<u8> {
        let start = at.min(bytes.len());
        bytes[start..(at + SECTOR_BYTES).min(bytes.len())].to_vec()
    };
    // Until the file is truncated to its new length, the longer version continues after the end of
    // the shorter one.
    let (shorter, longer) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let joint = [shorter, &longer[shorter.len()..]].concat();
    let is_mix = (0..now.len()).step_by(SECTOR_BYTES).all(|at| {
        let here = sector(now, at);
        // If a sector was truncated at the end of the file, zeros follow when the file grows again.
        let matches = |version: &[u8]| is_prefix_with_zeros(&here, &sector(version, at));
        matches(old) || matches(new) || matches(&joint)
    });
    is_prefix || is_mix
}

/// Whether `copy` is an unfinished copy of `whole`: a prefix of it, in which lost sectors are
/// zeros. Then it contains nothing that `whole` lacks.
pub(super) fn is_unfinished_copy(copy: &[u8], whole: &[u8]) -> bool {
    let mut sectors = copy.chunks(SECTOR_BYTES).zip(whole.chunks(SECTOR_BYTES));
    copy.len() <= whole.len() && sectors.all(|(here, there)| is_prefix_with_zeros(here, there))
}

/// Whether `here` is a prefix of `there` followed by zeros.
fn is_prefix_with_zeros(here: &[u8], there: &[u8]) -> bool {
    let same = here.iter().zip(there).take_while(|(here, there)| here == there).count();
    here[same..].iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_contents_are_distinguished_from_foreign_ones() {
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
        // A truncation by another process.
        assert!(!is_torn(&[], &old, &new));
        assert!(!is_torn(&old[..1999], &old, &new));
        assert!(is_torn(&[], &[], &new));
    }

    #[test]
    fn an_unfinished_copy_has_no_content_of_its_own() {
        let whole: Vec<u8> = (0..3000).map(|at| b'a' + (at % 20) as u8).collect();
        for length in [0, 1, 511, 512, 700, 2999, 3000] {
            assert!(is_unfinished_copy(&whole[..length], &whole), "{length}");
        }
        let mut copy = whole[..2000].to_vec();
        copy[512..1100].fill(0);
        assert!(!is_unfinished_copy(&copy, &whole), "zeros must extend to the end of the sector");
        copy[1024..1100].copy_from_slice(&whole[1024..1100]);
        assert!(is_unfinished_copy(&copy, &whole));
        copy[1999] = b'x';
        assert!(!is_unfinished_copy(&copy, &whole));
        assert!(!is_unfinished_copy(&whole, &whole[..2999]));
    }

    /// Two power cuts: the first leaves new sectors and the old length, the second the new length.
    #[test]
    fn a_sector_that_was_cut_at_the_old_length_and_grew_again_is_torn() {
        let (old, new) = (vec![b'o'; 2000], vec![b'n'; 3000]);
        let mut now = new[..2000].to_vec();
        now.resize(3000, 0);
        assert!(is_torn(&now, &old, &new));
        now[2900] = b'x';
        assert!(!is_torn(&now, &old, &new));
    }

    /// A file that shrinks: its last sector reached the disk before its first one and before its
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
