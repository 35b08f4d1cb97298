//! Generates texts to measure on, reproducibly.

/// A pseudorandom number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const ASCII_WORDS: [&str; 24] = [
    "const ",
    "return ",
    "if (",
    ") {",
    "}",
    "this.",
    "function ",
    "value",
    " = ",
    "index",
    "(",
    "); ",
    "node",
    ".kind",
    " === ",
    "undefined",
    ", ",
    "result",
    ".push(",
    "context",
    " && ",
    "\"text\"",
    "0",
    "types[i]",
];

const CYRILLIC_WORDS: [&str; 12] = [
    "в ",
    "чащах ",
    "юга ",
    "жил ",
    "бы ",
    "цитрус ",
    "да, ",
    "но ",
    "фальшивый ",
    "экземпляр ",
    "= ",
    "// ",
];

const CHINESE_WORDS: [&str; 12] = [
    "这是",
    "一个",
    "用于",
    "测试",
    "哈希",
    "速度",
    "的",
    "文本行，",
    "标点符号。",
    "テキスト",
    "も",
    " = ",
];

/// Lines like those of a program: indented, mostly short, about one in ten empty.
pub fn lines_of(words: &[&str], size_bytes: usize) -> String {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut text = String::with_capacity(size_bytes + 200);
    while text.len() < size_bytes {
        if numbers.below(10) > 0 {
            text.push_str(&"    ".repeat(numbers.below(6)));
            for _ in 0..=numbers.below(10) {
                text.push_str(numbers.pick(words));
            }
        }
        text.push('\n');
    }
    text
}

/// A program in ASCII.
pub fn ascii(size_bytes: usize) -> String {
    lines_of(&ASCII_WORDS, size_bytes)
}

/// Text with two bytes for most characters.
pub fn cyrillic(size_bytes: usize) -> String {
    lines_of(&CYRILLIC_WORDS, size_bytes)
}

/// Text with three bytes for most characters.
pub fn chinese(size_bytes: usize) -> String {
    lines_of(&CHINESE_WORDS, size_bytes)
}

/// A program on one line.
pub fn one_long_line(size_bytes: usize) -> String {
    ascii(size_bytes).replace('\n', " ")
}
