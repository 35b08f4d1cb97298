//! A line number in decimal that is incremented without being formatted again.

/// The limit on numbers that are kept in one register: a hundred million lines.
pub(super) const DIGITS_LIMIT: usize = 8;

/// A decimal number that is incremented.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    /// The largest number that differs from this one only in the last digit, within 64 bits.
    last_of_ten: u64,
    /// The digits, first digit in the lowest byte, if they fit. They are kept in a register because
    /// bytes that were written one by one are slow to load together.
    pub(super) digits: u64,
    /// The number of digits.
    pub(super) len: usize,
    /// The value that increments the last digit.
    step: u64,
    /// How often it can be added.
    steps_left: u64,
}

impl Counter {
    #[inline(never)]
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
        let steps_left = (9 - value % 10).min(u64::MAX - value);
        Counter { last_of_ten: value + steps_left, digits, len, step, steps_left }
    }

    /// The number.
    pub(super) fn value(self) -> u64 {
        self.last_of_ten - self.steps_left
    }

    /// Increments the number. In nine of ten cases only the last digit changes, and in nine of ten
    /// of the others only the last two.
    #[inline(always)]
    pub(super) fn count_up(&mut self) {
        if self.steps_left > 0 {
            self.steps_left -= 1;
            self.digits = self.digits.wrapping_add(self.step);
            return;
        }
        let tens = self.step >> 8;
        let are_tens_below_nine = tens != 0
            && self.len <= DIGITS_LIMIT
            && self.digits >> (8 * (self.len - 2)) & 0xFF != u64::from(b'9');
        if are_tens_below_nine {
            self.digits = self.digits - 9 * self.step + tens;
            (self.last_of_ten, self.steps_left) = (self.last_of_ten + 10, 9);
        } else {
            *self = Counter::new(self.last_of_ten.wrapping_add(1));
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
            let mut counter = Counter::new(start);
            for value in start..start + 120 {
                let text = value.to_string();
                assert_eq!((counter.value(), counter.len), (value, text.len()));
                if text.len() <= DIGITS_LIMIT {
                    let digits = counter.digits.to_le_bytes();
                    assert_eq!(digits[..text.len()], *text.as_bytes());
                }
                counter.count_up();
            }
        }
    }
}
