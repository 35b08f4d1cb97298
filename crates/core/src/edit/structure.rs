//! Checks whether files still parse after a patch. A parser finds what line hashes cannot, such as
//! a closing bracket that an edit removed or duplicated. The result is reported, and the file is
//! not changed.

mod variants;

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use hashline_syntax::SOURCE_LIMIT_BYTES;
use hashline_syntax::{Budget, Fault, Source, language_of};

pub use variants::{LineReplacement, Mistake, Suggestion, TrialParser};

/// The maximum number of files of a patch that are parsed.
pub const FILES_LIMIT: usize = 64;

/// The maximum size of the texts of a patch that are parsed.
pub const TEXT_LIMIT_BYTES: usize = 4 << 20;

/// The maximum memory for trees that are kept for the next edit. The tree of a source of 256 KB
/// takes 4 to 12 MB, and at most twice that after edits.
const KEPT_LIMIT_BYTES: usize = 24 << 20;

/// What happens if a file parsed before a patch and does not parse after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyntaxCheck {
    /// Nothing.
    Off,
    /// The answer has a warning.
    Warn,
    /// The patch is refused.
    Refuse,
}

/// Whether a file parses after a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SyntaxState {
    /// It parses.
    Ok,
    /// It does not parse, and did before the patch.
    Broken,
    /// It does not parse, and is new or did not parse before the patch.
    Unclean,
    /// It was not checked: its language is unknown, it is too large, or parsing takes too long.
    Unknown,
}

impl SyntaxState {
    /// The word callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            SyntaxState::Ok => "ok",
            SyntaxState::Broken => "broken",
            SyntaxState::Unclean => "unclean",
            SyntaxState::Unknown => "unknown",
        }
    }
}

/// Whether a file parsed before a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It did.
    Clean,
    /// It did not, or it still does: the error is one that parsers accept.
    Unclean,
    /// There was no file, or it was not checked.
    New,
}

/// The first syntax error of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Whether the file parsed before the patch.
    pub earlier: Earlier,
    /// Its line.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
    /// The line of the opening bracket, block or string that is not closed.
    pub opened: Option<u64>,
}

impl Break {
    fn of(fault: Fault, earlier: Earlier) -> Break {
        let Fault { line, what, opened } = fault;
        Break { earlier, line: line.into(), what, opened: opened.map(u64::from) }
    }
}

/// A file before and after a patch, as UTF-8.
pub struct Revision<'a> {
    /// Its path and text before; `None` if the patch creates it.
    pub before: Option<(&'a str, &'a [u8])>,
    /// Its path after.
    pub path: &'a str,
    /// Its text after.
    pub text: Arc<Vec<u8>>,
}

/// The result of a check.
pub struct Checked {
    /// Whether the file parses.
    pub state: SyntaxState,
    /// The first error, if the patch caused it.
    pub fault: Option<Break>,
    /// Whether the file parses and its language does not depend on indentation. Then warnings about
    /// indentation are omitted.
    pub confirms_indentation: bool,
    /// The edit that was probably intended, if [`Checked::suggest`] found one.
    pub suggestion: Option<Suggestion>,
    /// The tree of the text before.
    before: Option<SyntaxTree>,
    tree: Option<SyntaxTree>,
    text: Option<Arc<Vec<u8>>>,
}

/// A parsed text that can be kept for the next edit.
#[derive(Clone)]
pub struct SyntaxTree(Arc<Source>);

impl SyntaxTree {
    /// The tree of a text; `None` if it does not parse.
    fn clean(path: &str, text: &[u8], budget: &Budget<'_>) -> Option<SyntaxTree> {
        let language = language_of(path, text).filter(|language| language.is_checked)?;
        let source = Source::parse(language, text, budget).filter(Source::is_clean)?;
        Some(SyntaxTree(Arc::new(source)))
    }
}

impl Checked {
    /// The result for a file that is not parsed.
    pub fn unknown() -> Checked {
        let state = SyntaxState::Unknown;
        Checked {
            state,
            fault: None,
            confirms_indentation: false,
            suggestion: None,
            before: None,
            tree: None,
            text: None,
        }
    }

    /// If the edits broke the file, searches for the edits that were probably intended. `edits` are
    /// sorted by line.
    pub fn suggest<'a>(
        &mut self,
        edits: impl ExactSizeIterator<Item = LineReplacement<'a>>,
        budget: &Budget<'_>,
    ) {
        // If the text parses, the fault is one that a variant without errors may have, too.
        let parses = self.tree.as_ref().is_some_and(|tree| tree.0.is_clean());
        let before = self.before.as_ref().filter(|before| before.0.is_clean() && !parses);
        if let (Some(before), Some(fault)) = (before, &self.fault) {
            let is_unclosed = fault.opened.is_some() && !before.0.language().is_indented;
            self.suggestion = variants::suggestion(before, is_unclosed, edits, budget);
        }
    }

    /// The text after the patch, if the file was checked.
    pub fn text(&self) -> Option<&[u8]> {
        self.text.as_ref().map(|text| &text[..])
    }

    /// The text before the patch, if it was checked.
    pub fn text_before(&self) -> Option<&[u8]> {
        self.before.as_ref().map(|tree| tree.0.text())
    }

    /// The tree, for the next edit.
    pub fn into_tree(self) -> Option<SyntaxTree> {
        self.tree
    }
}

/// Whether the language of a file is known and its files are checked.
pub fn is_checked(path: &str, text: &[u8]) -> bool {
    language_of(path, text).is_some_and(|language| language.is_checked)
}

/// Parses a file as it is before a patch and as the patch would write it. `kept` is a tree of any
/// version of it, which saves the first parse if its text is still the same.
pub fn check(change: Revision<'_>, kept: Option<SyntaxTree>, budget: &Budget<'_>) -> Checked {
    let Revision { before, path, text } = change;
    let Some(language) = language_of(path, &text).filter(|language| language.is_checked) else {
        return Checked::unknown();
    };
    let has_same_language = |(path, text)| language_of(path, text) == Some(language);
    let old = before.filter(|&before| has_same_language(before)).and_then(|(_, text)| {
        let kept =
            kept.filter(|SyntaxTree(kept)| kept.language() == language && kept.text() == text);
        kept.map(|SyntaxTree(kept)| kept)
            .or_else(|| Source::parse(language, text, budget).map(Arc::new))
    });
    let parsed = match &old {
        Some(old) => old.reparse(Arc::clone(&text), budget),
        None => Source::parse(language, Arc::clone(&text), budget).ok_or(None),
    };
    let was_clean = old.as_ref().map(|old| old.is_clean());
    let (new, fault) = match (parsed, &old) {
        (Ok(new), Some(old)) => {
            let fault = new.new_fault(old, budget);
            (Some(new), fault)
        }
        (Ok(new), None) => {
            let fault = if before.is_none() { new.fault(budget) } else { None };
            (Some(new), fault)
        }
        (Err(fault), _) => (None, fault.filter(|_| was_clean == Some(true))),
    };
    let is_clean = new.as_ref().map(Source::is_clean);
    let state = match (is_clean, was_clean) {
        (_, Some(_)) if fault.is_some() => SyntaxState::Broken,
        (Some(true), _) => SyntaxState::Ok,
        (Some(false), Some(false)) => SyntaxState::Unclean,
        (Some(false), None) if before.is_none() => SyntaxState::Unclean,
        _ => SyntaxState::Unknown,
    };
    let earlier = match was_clean {
        Some(true) if is_clean != Some(true) => Earlier::Clean,
        Some(_) => Earlier::Unclean,
        None => Earlier::New,
    };
    let is_new = fault.is_some() && before.is_none();
    let escaped = if is_new { escaped_line(&text) } else { None };
    Checked {
        state,
        fault: escaped.or(fault.map(|fault| Break::of(fault, earlier))),
        confirms_indentation: state == SyntaxState::Ok && !language.is_indented,
        suggestion: None,
        before: old.map(SyntaxTree),
        tree: new.map(|new| SyntaxTree(Arc::new(new))),
        text: Some(text),
    }
}

/// The error of a new file whose only line has escapes in place of line ends, because its text was
/// escaped twice.
fn escaped_line(text: &[u8]) -> Option<Break> {
    let line = text.trim_ascii_end();
    let first = memchr::memmem::find(line, br"\n")?;
    let is_quoted = b"\"'`"
        .iter()
        .any(|quote| line[..first].iter().filter(|byte| *byte == quote).count() % 2 == 1);
    let has_other_escapes = line.windows(2).any(|pair| {
        pair[0] == b'\\' && pair[1].is_ascii_alphabetic() && !b"nrt".contains(&pair[1])
    });
    let count = memchr::memmem::find_iter(line, br"\n").count();
    if count < 2 || is_quoted || has_other_escapes || line.contains(&b'\n') {
        return None;
    }
    let what =
        format!("its only line contains `\\n` {count} times: the text seems to be escaped twice");
    Some(Break { earlier: Earlier::New, line: 1, what, opened: None })
}

/// Parses a file; returns whether it parses, and its first error.
pub fn state_of(path: &str, text: &[u8], budget: &Budget<'_>) -> (SyntaxState, Option<Break>) {
    let language = language_of(path, text).filter(|language| language.is_checked);
    match language.and_then(|language| Source::parse(language, text, budget)) {
        None => (SyntaxState::Unknown, None),
        Some(source) if source.is_clean() => (SyntaxState::Ok, None),
        Some(source) => {
            (SyntaxState::Unclean, source.fault(budget).map(|fault| Break::of(fault, Earlier::New)))
        }
    }
}

/// The trees of edited files, the last used one last.
#[derive(Default)]
pub struct SyntaxTrees(Mutex<Vec<(PathBuf, SyntaxTree)>>);

impl SyntaxTrees {
    /// The tree of a file.
    pub fn of(&self, file: &Path) -> Option<SyntaxTree> {
        let trees = self.0.lock();
        trees.iter().find(|(name, _)| name == file).map(|(_, tree)| tree.clone())
    }

    /// Drops the trees of all files.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Keeps the tree of a file, and drops the trees that were not used for longest if all together
    /// are too large.
    pub fn keep(&self, file: PathBuf, tree: Option<SyntaxTree>) {
        let mut trees = self.0.lock();
        trees.retain(|(name, _)| *name != file);
        trees.extend(tree.map(|tree| (file, tree)));
        let mut room = KEPT_LIMIT_BYTES;
        let fits = |(_, SyntaxTree(tree)): &&(PathBuf, SyntaxTree)| {
            let left = room.checked_sub(tree.size_bytes());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let kept = trees.iter().rev().take_while(fits).count();
        let dropped = trees.len() - kept;
        trees.drain(..dropped);
    }
}
