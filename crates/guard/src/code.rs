//! Code that is given to an interpreter on its command line: whether it opens files.
//!
//! Only the usual calls are known, by their names. Code is not parsed.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// Whether a command is an interpreter, and which of its options takes code.
pub fn code_options(command: &str) -> Option<&'static [&'static str]> {
    // Versions: `python3.12`, `node22`.
    match command.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-') {
        "python" | "pypy" => Some(&["c"]),
        "node" | "nodejs" | "bun" | "tsx" => Some(&["e", "p", "eval", "print"]),
        "ruby" | "perl" => Some(&["e", "E"]),
        "php" => Some(&["r"]),
        "deno" => Some(&[]),
        _ => None,
    }
}

static WRITES: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new([
        // open("f", "w"), File.open("f", "a"), fs.openSync("f", "r+"), Perl's open(F, ">f").
        r#"\bopen(?:Sync)?\s*\(?[^)]*,\s*(?:mode\s*=\s*)?["'](?:[rb]*[wax][bt+]*|r[bt]?\+[bt]?)["']"#,
        r#"\bopen\b[^;]*["']\s*\+?>"#,
        r"\.(?:write_text|write_bytes|unlink|rename|touch)\s*\(",
        r"\b(?:writeFile|appendFile|createWriteStream|writeTextFile|truncate)(?:Sync)?\b",
        r"\b(?:unlinkSync|rmSync|renameSync|copyFileSync|cpSync)\b",
        r"\bBun\.write\s*\(|\bDeno\.(?:writeFile|remove|rename)",
        r"\bshutil\.(?:copy|move|rmtree)|\bos\.(?:remove|rename|replace|truncate)\s*\(",
        r"\b(?:File|IO)\.(?:write|binwrite|delete|rename)\b|\bFileUtils\.",
        r"\bfile_put_contents\b|\bfwrite\b",
    ])
    .ok()
});

static READS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"\bopen(?:Sync)?\s*\(\s*["'rf$\w]|\.read_(?:text|bytes)\s*\("#,
        r"|\b(?:readFile|createReadStream|readTextFile)(?:Sync)?\b|\bBun\.file\s*\(",
        r"|\b(?:File|IO)\.(?:read|readlines|foreach)\b|\bfile_get_contents\b|\blinecache\.",
    ))
    .ok()
});

/// Whether the code opens a file to write to it, or changes files otherwise.
pub fn writes(code: &str) -> bool {
    WRITES.as_ref().is_some_and(|patterns| patterns.is_match(code))
}

/// Whether the code opens a file.
pub fn reads(code: &str) -> bool {
    READS.as_ref().is_some_and(|pattern| pattern.is_match(code))
}
