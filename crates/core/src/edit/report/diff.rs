//! What became of a text, as a diff: hunks in the shape of the npm package `diff`, and the same in
//! the unified format.

use imara_diff::{Algorithm, Diff, InternedInput};

/// One hunk of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffHunk {
    /// The first line of the old text; the line before where it has none.
    pub old_start: u64,
    /// How many lines of the old text.
    pub old_lines: u64,
    /// The first line of the new text; the line before where it has none.
    pub new_start: u64,
    /// How many lines of the new text.
    pub new_lines: u64,
    /// The lines, each after a space, `-` or `+`; notes after `\`.
    pub lines: Vec<String>,
}

/// What stands behind a line without terminator.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// The hunks between two texts, with so many lines of context.
pub fn diff_hunks(before: &[u8], after: &[u8], context_lines: u64) -> Vec<DiffHunk> {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let old: Vec<&[u8]> = input.before.iter().map(|&token| input.interner[token]).collect();
    let new: Vec<&[u8]> = input.after.iter().map(|&token| input.interner[token]).collect();
    let context = usize::try_from(context_lines).unwrap_or(usize::MAX);
    let mut hunks: Vec<DiffHunk> = Vec::new();
    // One past the last old line that a hunk shows.
    let mut next = 0_usize;
    let mut open: Option<DiffHunk> = None;
    for change in diff.hunks() {
        let (first, last) = (change.before.start as usize, change.before.end as usize);
        let new_first = change.after.start as usize;
        let start = first.saturating_sub(context);
        let joins = open.is_some() && start <= next.saturating_add(context);
        if !joins {
            if let Some(mut hunk) = open.take() {
                push(&mut hunk, ' ', &old[next..next.saturating_add(context).min(old.len())]);
                hunks.push(hunk);
            }
            let new_start = new_first - (first - start);
            open = Some(DiffHunk {
                old_start: start as u64 + 1,
                new_start: new_start as u64 + 1,
                ..DiffHunk::default()
            });
            next = start;
        }
        let hunk = open.get_or_insert_default();
        push(hunk, ' ', &old[next..first]);
        push(hunk, '-', &old[first..last]);
        push(hunk, '+', &new[new_first..change.after.end as usize]);
        next = last;
    }
    if let Some(mut hunk) = open {
        push(&mut hunk, ' ', &old[next..next.saturating_add(context).min(old.len())]);
        hunks.push(hunk);
    }
    for hunk in &mut hunks {
        hunk.old_start -= u64::from(hunk.old_lines == 0);
        hunk.new_start -= u64::from(hunk.new_lines == 0);
    }
    hunks
}

fn push(hunk: &mut DiffHunk, mark: char, lines: &[&[u8]]) {
    for line in lines {
        let text = line.strip_suffix(b"\n");
        hunk.lines.push(format!("{mark}{}", String::from_utf8_lossy(text.unwrap_or(line))));
        if text.is_none() {
            hunk.lines.push(NO_NEWLINE.to_owned());
        }
    }
    let count = lines.len() as u64;
    hunk.old_lines += if mark == '+' { 0 } else { count };
    hunk.new_lines += if mark == '-' { 0 } else { count };
}

/// The unified diff of a file; `None` stands for no file.
pub fn unified_diff(from: Option<&str>, to: Option<&str>, hunks: &[DiffHunk]) -> String {
    let name = |prefix: &str, path: Option<&str>| match path {
        Some(path) => format!("{prefix}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let range = |start: u64, count: u64| match count {
        1 => start.to_string(),
        _ => format!("{start},{count}"),
    };
    let mut out = format!("--- {}\n+++ {}\n", name("a", from), name("b", to));
    for hunk in hunks {
        let old = range(hunk.old_start, hunk.old_lines);
        let new = range(hunk.new_start, hunk.new_lines);
        out += &format!("@@ -{old} +{new} @@\n");
        for line in &hunk.lines {
            out += line;
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(before: &str, after: &str, context_lines: u64) -> String {
        let hunks = diff_hunks(before.as_bytes(), after.as_bytes(), context_lines);
        unified_diff(Some("f"), Some("f"), &hunks)
    }

    #[test]
    fn changes_near_each_other_share_a_hunk() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before
            .replace("\n4\n", "\nfour\n")
            .replace("\n8\n", "\n")
            .replace("\n17\n", "\n17\n17b\n");
        let expected = "--- a/f\n+++ b/f\n@@ -2,9 +2,8 @@\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n-8\n 9\n 10\n@@ -16,4 +15,5 @@\n 16\n 17\n+17b\n 18\n 19\n";
        assert_eq!(unified(&before, &after, 2), expected);
    }

    #[test]
    fn ends_without_a_line_feed_are_told() {
        let expected = "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n";
        assert_eq!(unified("a", "a\nb", 3), expected);
    }

    #[test]
    fn texts_that_begin_or_end_empty() {
        let one = DiffHunk {
            old_start: 0,
            old_lines: 0,
            new_start: 1,
            new_lines: 1,
            lines: vec!["+a".into()],
        };
        assert_eq!(diff_hunks(b"", b"a\n", 3), [one]);
        let gone = DiffHunk {
            old_start: 1,
            old_lines: 1,
            new_start: 0,
            new_lines: 0,
            lines: vec!["-a".into()],
        };
        assert_eq!(diff_hunks(b"a\n", b"", 3), [gone]);
        assert_eq!(diff_hunks(b"a\n", b"a\n", 3), []);
    }
}
