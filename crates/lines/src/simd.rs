//! Selects the instructions of the hot loops at run time, once, by what the processor supports. All
//! levels give the same results; tests run each that is available.

#[cfg(target_arch = "aarch64")]
pub(super) mod neon;

use std::sync::OnceLock;

/// A set of instructions for which the hot loops are implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Plain Rust, for every processor.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2 and POPCNT: Intel from 2013, AMD from 2015.
    Avx2,
    /// The same and AVX-512 F, BW and VBMI2: Intel servers from 2021 and some clients from 2019,
    /// AMD from 2022.
    Avx512,
    /// 64-bit ARM, which always has NEON.
    Neon,
}

impl Level {
    /// All levels, slowest first.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Avx2, Level::Avx512, Level::Neon];

    /// The name, for measurements and messages.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
        }
    }

    /// Whether this processor supports it.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                // The compiler treats FMA and F16C as part of AVX-512 F; a hypervisor may not
                // provide them.
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
            // Masks are built on the assumption that the first byte is the lowest.
            Level::Neon => cfg!(all(target_arch = "aarch64", target_endian = "little")),
        }
    }

    /// The fastest level that this processor supports.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let mut fastest_first = Level::ALL.into_iter().rev();
            fastest_first.find(|level| level.is_available()).unwrap_or(Level::Portable)
        })
    }

    /// The levels that this processor supports, slowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_level_is_available() {
        assert_eq!(Level::available().last(), Some(Level::best()));
        assert_eq!(Level::available().next(), Some(Level::Portable));
    }
}
