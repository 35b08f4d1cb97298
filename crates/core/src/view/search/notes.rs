//! What a search did not cover, in a line for the reader.

use hashline_disk::bytes::Charset;
use hashline_lines::anchor::quote;
use hashline_lines::rows::one_line;

use super::{DirectoryView, FileMatches, SearchResult, Skipped, SkippedDirectories};

/// The maximum number of files that a note about encodings names.
const FILES_NAMED: usize = 5;

/// The maximum number of globs that a note names.
const GLOBS_NAMED: usize = 5;

/// The maximum number of errors, and of warnings, that the notes on a directory have.
const ERRORS_NAMED: usize = 5;

impl SearchResult {
    /// A note that names the globs that match no file.
    pub fn unmatched_globs_note(&self) -> Option<String> {
        let globs = &self.unmatched_globs;
        let noun = if globs.len() == 1 { "glob" } else { "globs" };
        let named = globs.iter().take(GLOBS_NAMED).map(|glob| quote(glob));
        let more = if globs.len() > GLOBS_NAMED { ", …" } else { "" };
        let named = named.collect::<Vec<_>>().join(", ");
        (!globs.is_empty()).then(|| format!("no file matches the {noun} {named}{more}"))
    }

    /// A note that names the files that are not UTF-8, with their encodings.
    pub fn encodings_note(&self) -> Option<String> {
        let named = |file: &FileMatches| {
            let charset = Charset::by_label(file.encoding.as_deref()?).ok()?;
            Some(format!("{} is {}", one_line(&file.path), charset.standard_name()))
        };
        let named: Vec<String> = self.files.iter().filter_map(named).collect();
        let more = if named.len() > FILES_NAMED { ", …" } else { "" };
        let first = &named[..named.len().min(FILES_NAMED)];
        (!first.is_empty()).then(|| format!("encoding: {}{more}", first.join(", ")))
    }

    /// A note of what the pattern means, and of the matches of its other readings. `literal` says
    /// how to search for literal text, `regex` how for a regular expression.
    pub fn explanation_note(&self, literal: &str, regex: &str) -> Option<String> {
        let explanation = self.explanation.as_ref()?;
        let mut note = format!("here {}", explanation.meaning);
        if let (Some(pattern), Some(count)) = (&explanation.grep_pattern, explanation.grep_matches)
        {
            note += &format!("; as in grep, {}, it matches {}", quote(pattern), lines_noun(count));
        }
        if let Some(count) = explanation.regex_matches {
            let lines = lines_noun(count);
            return Some(format!("{note}; as a regular expression it matches {lines}: {regex}"));
        }
        note += &match explanation.literal_matches {
            None => format!("; to search for it as literal text, {literal}"),
            Some(0) => format!("; as literal text it matches {}", lines_noun(0)),
            Some(count) => format!("; as literal text it matches {}: {literal}", lines_noun(count)),
        };
        Some(note)
    }

    /// A note of how many files a list has, and of how many matching lines.
    pub fn list_note(&self) -> Option<String> {
        let list = self.list.as_ref()?;
        let lines = list.match_count.map(|count| match count {
            1 => "1 matching line in ".to_owned(),
            count => format!("{count} matching lines in "),
        });
        let files = if list.file_count == 1 { "file" } else { "files" };
        let shown = match list.files.len() as u64 {
            shown if shown < list.file_count => format!(", {shown} shown"),
            _ => String::new(),
        };
        Some(format!("{}{} {files}{shown}", lines.unwrap_or_default(), list.file_count))
    }

    /// A note of what was skipped, by reason. If there are results, it is brief: it has no names.
    pub fn skipped_note(&self) -> Option<String> {
        let (named, advice) = (!self.has_results(), "; name a path to search it");
        self.skipped
            .note(named, self.max_file_bytes)
            .map(|(note, can_be_named)| note + if can_be_named && named { advice } else { "" })
    }
}

impl DirectoryView {
    /// Notes of how many files there are, what was skipped, and what could not be listed.
    pub fn notes(&self) -> Vec<String> {
        let more = if self.partial { "more than " } else { "" };
        let files = if self.file_count == 1 { "file" } else { "files" };
        let advice = if self.truncated {
            ". To see more, read a directory in it, or list its files with a search"
        } else {
            ""
        };
        let skipped = self.skipped.note(true, 0).map(|(note, _)| note);
        let errors = self.errors.iter().take(ERRORS_NAMED).map(|error| error.message.to_string());
        let warnings =
            self.warnings.iter().take(ERRORS_NAMED).map(|warning| warning.message.clone());
        let count = format!("{more}{} {files}{advice}", self.file_count);
        std::iter::once(count).chain(skipped).chain(errors).chain(warnings).collect()
    }
}

impl Skipped {
    /// What was skipped, by reason, with or without names; and whether a path could name it.
    fn note(&self, has_names: bool, max_file_bytes: u64) -> Option<(String, bool)> {
        let directories = |kind: &str, directories: &SkippedDirectories| {
            let (one, many) = (format!("{kind} directory"), format!("{kind} directories"));
            let names = if has_names { names(directories) } else { String::new() };
            counted(directories.count, &one, &many).map(|count| count + &names)
        };
        let kinds = [
            directories("ignored", &self.ignored_directories),
            directories("hidden", &self.hidden_directories),
            counted(self.ignored_files, "ignored file", "ignored files"),
            counted(self.hidden_files, "hidden file", "hidden files"),
            counted(self.links, "symbolic link", "symbolic links"),
        ];
        let can_be_named = kinds.iter().any(Option::is_some);
        let over = format!("over {}", size(max_file_bytes));
        let unknown = "with the name in a file of unknown structure or over 1 MiB";
        let others = [
            counted(self.binary, "binary", "binary"),
            counted(self.too_large, &over, &over),
            counted(self.unknown_structure, unknown, unknown),
            counted(self.lossy, "file", "files").map(|files| format!("invalid bytes in {files}")),
        ];
        let parts: Vec<String> = kinds.into_iter().chain(others).flatten().collect();
        (!parts.is_empty()).then(|| (format!("skipped: {}", parts.join(", ")), can_be_named))
    }
}

/// A number of lines, in words.
pub(super) fn lines_noun(count: u64) -> String {
    match count {
        0 => "no line".to_owned(),
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

fn counted(count: u64, one: &str, many: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
}

fn names(directories: &SkippedDirectories) -> String {
    // A name must not forge a line of the answer.
    let named = directories.names.iter().map(|name| match name.contains(char::is_control) {
        true => quote(name),
        false => name.clone(),
    });
    let more = if directories.has_more { ", …" } else { "" };
    format!(" ({}{more})", named.collect::<Vec<_>>().join(", "))
}

/// Units of sizes, as powers of two.
const UNITS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];

/// A size in the largest unit that gives a whole number.
fn size(bytes: u64) -> String {
    let whole = UNITS.into_iter().find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(
        || format!("{bytes} bytes"),
        |(shift, unit)| format!("{} {unit}", bytes >> shift),
    )
}

/// A size in the unit that gives a short number: `512 B`, `1.5 KiB`.
pub(super) fn short_size(bytes: u64) -> String {
    let unit = UNITS.into_iter().find(|(shift, _)| bytes >> shift > 0);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(shift, unit)| format!("{:.1} {unit}", bytes as f64 / (1_u64 << shift) as f64),
    )
}
