//! Numbers that occur more than once. In a patch with many hunks, only those that name the same
//! line have to be compared with each other.

/// The numbers that occur more than once.
pub struct Recurring(Vec<u32>);

impl Recurring {
    /// Finds the repeated ones among some numbers.
    pub fn among(numbers: impl Iterator<Item = u32>) -> Recurring {
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let several = numbers.chunk_by(u32::eq).filter(|alike| alike.len() > 1);
        Recurring(several.map(|alike| alike[0]).collect())
    }

    /// Whether a number occurs more than once.
    pub fn has(&self, number: u32) -> bool {
        self.0.binary_search(&number).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_repeated_numbers_are_found() {
        let recurring = Recurring::among([3, 7, 1, 7, 0, u32::MAX, 3, 7, 0].into_iter());
        let found: Vec<u32> = (0..9).filter(|&number| recurring.has(number)).collect();
        assert_eq!(found, [0, 3, 7]);
        assert!(!recurring.has(u32::MAX));
        assert!(!Recurring::among(std::iter::empty()).has(0));
    }
}
