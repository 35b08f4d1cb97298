//! Numbers that several things have: of a patch with many hunks, few name the same line, and only
//! those have to be compared.

/// The numbers that occur more than once.
pub struct Recurring(Vec<u32>);

impl Recurring {
    /// Those among some numbers.
    pub fn among(numbers: impl Iterator<Item = u32>) -> Recurring {
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let several = numbers.chunk_by(u32::eq).filter(|alike| alike.len() > 1);
        Recurring(several.map(|alike| alike[0]).collect())
    }

    /// Whether a number is one of them.
    pub fn has(&self, number: u32) -> bool {
        self.0.binary_search(&number).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_occur_once_do_not_count() {
        let recurring = Recurring::among([3, 7, 1, 7, 0, u32::MAX, 3, 7, 0].into_iter());
        let found: Vec<u32> = (0..9).filter(|&number| recurring.has(number)).collect();
        assert_eq!(found, [0, 3, 7]);
        assert!(!recurring.has(u32::MAX));
        assert!(!Recurring::among(std::iter::empty()).has(0));
    }
}
