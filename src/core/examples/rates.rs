use hashline_core::dialect::Dialect;
use hashline_core::hash::*;
use hashline_core::lines::*;
use hashline_core::simd::Level;
use std::time::Instant;
fn only(n: &str) -> bool {
    std::env::var("ONLY").map_or(true, |o| o.is_empty() || o == n)
}
fn time(mut f: impl FnMut() -> u64) -> f64 {
    let t = Instant::now();
    std::hint::black_box(f());
    t.elapsed().as_secs_f64()
}
fn main() {
    let p = std::env::args().nth(1).unwrap();
    let text = std::fs::read(p).unwrap();
    let d = Dialect::by_name(&std::env::args().nth(2).unwrap_or("pi".into())).unwrap();
    let n = text.len() as f64;
    let mut best = vec![f64::MAX; 8];
    let all = |level| {
        let mut h = BlockHasher::with_level(d, level);
        let mut at = 0;
        let mut sum = 0u64;
        let mut num = 1;
        while at < text.len() {
            let b = h.hash_block(num, &text[at..]);
            at += b.len_bytes();
            num += b.hashes.len() as u64;
            for &x in b.hashes {
                sum = sum.wrapping_mul(31).wrapping_add(x as u64);
            }
        }
        sum
    };
    let one = || {
        let mut h = LineHasher::new(d);
        let mut sum = 0u64;
        for (i, s) in (1..).zip(Lines::new(&text, Unit::Byte)) {
            sum = sum.wrapping_mul(31).wrapping_add(h.hash(i, s.text(&text)) as u64);
        }
        sum
    };
    assert_eq!(all(Level::Portable), one());
    assert_eq!(all(Level::Avx2), one());
    for _ in 0..std::env::args().nth(3).map_or(30, |x| x.parse().unwrap()) {
        let v = [
            time(|| {
                let mut s = 0u64;
                for i in memchr::memchr_iter(b'\n', &text) {
                    s = s.wrapping_add(i as u64)
                }
                s
            }),
            if only("mem") {
                time(|| memchr::memchr_iter(b'\n', &text).count() as u64)
            } else {
                f64::MAX
            },
            if only("one") { time(|| one()) } else { f64::MAX },
            if only("portable") { time(|| all(Level::Portable)) } else { f64::MAX },
            if only("avx2") { time(|| all(Level::Avx2)) } else { f64::MAX },
        ];
        for (b, x) in best.iter_mut().zip(v) {
            if x < *b {
                *b = x
            }
        }
    }
    for (name, b) in
        ["memchr positions", "memchr count", "one by one", "portable", "avx2"].iter().zip(&best)
    {
        println!("{name:18} {:.3} GB/s  ratio {:.3}", n / b / 1e9, best[0] / b);
    }
}
