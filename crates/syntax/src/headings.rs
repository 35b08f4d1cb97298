//! Headings of Markdown, without a parser, and the lines below them.

use crate::source::Source;
use crate::structure::{Block, Definition, Fold, Heading, Outline};

/// The section that starts at a line: its heading, the text below it, and its subsections.
pub(crate) fn section(source: &Source, line: u32) -> Option<Block> {
    let headings = &source.headings;
    let index = headings.iter().position(|heading| heading.first == line)?;
    let last = end_of(source, headings, index);
    (last > line).then_some(Block { first: line, start: line, last })
}

/// Sections as definitions, and the text below their headings as folds.
pub(crate) fn outline(source: &Source) -> Outline {
    let headings = &source.headings;
    let mut outline = Outline::default();
    let mut around: Vec<u32> = Vec::new();
    for (index, heading) in headings.iter().enumerate() {
        let last = end_of(source, headings, index);
        while around.last().is_some_and(|&last| last < heading.first) {
            around.pop();
        }
        let depth = around.len() as u32;
        around.push(last);
        if last > heading.last {
            outline.folds.push(Fold {
                first: heading.last + 1,
                last,
                definition: Some(index as u32),
                is_test: false,
                depth,
            });
        }
        outline.definitions.push(Definition {
            qualifier: String::new(),
            name: heading.title.clone(),
            is_secondary: false,
            is_minor: false,
            is_alias: false,
            bytes: source.start_of(heading.first as usize - 1)..source.start_of(last as usize),
            first: heading.first,
            last,
            is_test: false,
            depth,
        });
    }
    outline
}

/// The last non-empty line of a section.
fn end_of(source: &Source, headings: &[Heading], index: usize) -> u32 {
    let level = headings[index].level;
    let next = headings[index + 1..].iter().find(|heading| heading.level <= level);
    let end = next.map_or(source.lines(), |heading| heading.first - 1);
    let is_text = |line: &u32| source.first_byte(*line as usize - 1).is_some();
    (headings[index].last..=end).rev().find(is_text).unwrap_or(end)
}

/// All headings of a text.
pub(crate) fn headings(source: &Source) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    // The start of a paragraph, which an underline makes a heading.
    let mut paragraph = None;
    for row in front_matter(source)..source.lines() as usize {
        let line = source.row(row);
        let text = line.trim_ascii();
        let indent = line.iter().take_while(|&&byte| byte == b' ').count();
        if let Some(open) = fence {
            let closes =
                fence_of(text).is_some_and(|(mark, length)| mark == open.0 && length >= open.1);
            if closes && text.iter().all(|&byte| byte == open.0) {
                fence = None;
            }
            continue;
        }
        if indent > 3 || text.is_empty() {
            paragraph = paragraph.filter(|_| !text.is_empty());
            continue;
        }
        fence = fence_of(text);
        let level = text.iter().take_while(|&&byte| byte == b'#').count();
        let is_heading =
            (1..=6).contains(&level) && matches!(text.get(level), None | Some(b' ' | b'\t'));
        let (first, level, title) = if is_heading {
            (row, level, text[level..].trim_ascii())
        } else if let (Some(start), Some(level)) = (paragraph, underline(text)) {
            (start, level, source.row(start).trim_ascii())
        } else {
            let is_text = fence.is_none() && !matches!(text[0], b'>' | b'-' | b'*' | b'+' | b'|');
            paragraph = if is_text { paragraph.or(Some(row)) } else { None };
            continue;
        };
        paragraph = None;
        let title = String::from_utf8_lossy(title).trim_end_matches(['#', ' ']).to_owned();
        found.push(Heading { first: first as u32 + 1, last: row as u32 + 1, level, title });
    }
    found
}

/// The number of lines of front matter.
fn front_matter(source: &Source) -> usize {
    let is_mark = |&row: &usize| source.row(row).trim_ascii_end() == b"---";
    let rows = source.lines() as usize;
    if rows == 0 || !is_mark(&0) {
        return 0;
    }
    (1..rows).find(is_mark).map_or(0, |end| end + 1)
}

/// The character and length of a line of at least three backticks or tildes.
fn fence_of(text: &[u8]) -> Option<(u8, usize)> {
    let mark = *text.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = text.iter().take_while(|&&byte| byte == mark).count();
    (length >= 3 && !(mark == b'`' && text[length..].contains(&b'`'))).then_some((mark, length))
}

fn underline(text: &[u8]) -> Option<usize> {
    let level = match text[0] {
        b'=' => 1,
        b'-' => 2,
        _ => return None,
    };
    text.iter().all(|&byte| byte == text[0]).then_some(level)
}
