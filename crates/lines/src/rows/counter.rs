//! A line number in decimal, counted up without being formatted anew.

/// Numbers up to this length are kept in one register. That is a hundred million lines.
pub(super) const DIGITS_LIMIT: usize = 8;

/// A number in decimal that is counted up.
pub(super) struct Counter {
    pub(super) value: u64,
    /// The digits, the first one in the lowest byte, where they fit. Kept in a register: bytes
    /// that were just written one by one are slow to read together.
    pub(super) digits: u64,
    /// How many digits there are.
    pub(super) len: usize,
    /// What counts the last digit up.
    pub(super) step: u64,
    /// How often that may be done.
    steps_left: u8,
}

impl Counter {
    pub(super) fn new(value: u64) -> Counter {
        let (mut digits, mut len, mut left) = (0, 0, value);
        loop {
            digits = digits << 8 | u64::from(b'0' + (left % 10) as u8);
            len += 1;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        let step = 1 << (8 * (len.min(DIGITS_LIMIT) - 1));
        Counter { value, digits, len, step, steps_left: 9 - (value % 10) as u8 }
    }

    /// How many numbers from this one on differ in the last digit alone, if all fit 64 bits.
    pub(super) fn left_of_ten(&self) -> usize {
        usize::from(self.steps_left) + 1
    }

    /// Counts up, at most so far that only the last digit changes, or one further.
    pub(super) fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.left_of_ten());
        self.value = self.value.wrapping_add(count as u64);
        if count <= usize::from(self.steps_left) {
            self.steps_left -= count as u8;
            self.digits = self.digits.wrapping_add(self.step.wrapping_mul(count as u64));
        } else {
            self.carry();
        }
    }

    /// After the last number of ten. Nine times of ten only the last but one digit changes.
    fn carry(&mut self) {
        let nine_left = self.step.wrapping_mul(u64::from(self.steps_left));
        let digits = self.digits.wrapping_add(nine_left);
        let tens = self.step >> 8;
        let are_tens_below_nine = tens != 0
            && self.len <= DIGITS_LIMIT
            && digits >> (8 * (self.len - 2)) & 0xFF != u64::from(b'9');
        if are_tens_below_nine {
            self.digits = digits - 9 * self.step + tens;
            self.steps_left = 9;
        } else {
            *self = Counter::new(self.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count() {
        let long = 9_999_999_999_999_990;
        for start in [0, 1, 8, 95, 989, 99_990, 9_999_980, 99_999_980, long, u64::MAX - 130] {
            for step in 1..=10 {
                let (mut counter, mut value) = (Counter::new(start), start);
                while value < start + 120 {
                    let text = value.to_string();
                    assert_eq!((counter.value, counter.len), (value, text.len()));
                    assert_eq!(counter.left_of_ten(), 10 - (value % 10) as usize);
                    if text.len() <= DIGITS_LIMIT {
                        let digits = counter.digits.to_le_bytes();
                        assert_eq!(digits[..text.len()], *text.as_bytes());
                    }
                    let count = step.min(counter.left_of_ten());
                    counter.advance(count);
                    value += count as u64;
                }
            }
        }
    }
}
