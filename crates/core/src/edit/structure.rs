//! Whether files still parse after a patch. Parsers tell what lines cannot: a closer that an edit
//! ate or doubled. What is found is said, and nothing is done about it.

mod variants;

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use hashline_syntax::SOURCE_LIMIT_BYTES;
use hashline_syntax::{Budget, Fault, Source, language_of};

pub use variants::{LineReplacement, Mistake, Suggestion, TrialParser};

/// How many files of a patch are parsed.
pub const FILES_LIMIT: usize = 64;

/// How much text of a patch is parsed.
pub const TEXT_LIMIT_BYTES: usize = 4 << 20;

/// How much memory trees take that are kept for the next edit. That of a source of 256 KB takes 4 to
/// 12 MB, and at most twice that after edits.
const KEPT_LIMIT_BYTES: usize = 24 << 20;

/// What is done about a file that parsed before a patch and does not after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyntaxCheck {
    /// Nothing.
    Off,
    /// It is told in a warning.
    Warn,
    /// The patch is refused.
    Refuse,
}

/// What a parser says of a file after a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SyntaxState {
    /// It parses.
    Ok,
    /// It parsed before, and does not now.
    Broken,
    /// It does not parse, and did not before.
    Unclean,
    /// Its language is not known, or it is too long, or takes too long.
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

/// The first place that does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its line.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
    /// The line where what is not closed opens.
    pub opened: Option<u64>,
}

impl From<Fault> for Break {
    fn from(fault: Fault) -> Break {
        let Fault { line, what, opened } = fault;
        Break { line: line.into(), what, opened: opened.map(u64::from) }
    }
}

/// A file before and after a patch, as UTF-8.
pub struct Revision<'a> {
    /// Its path before; `None` if the patch makes it.
    pub before: Option<(&'a str, &'a [u8])>,
    /// Its path after.
    pub path: &'a str,
    /// Its text after.
    pub text: Arc<Vec<u8>>,
}

/// What was found.
pub struct Checked {
    /// In one word.
    pub state: SyntaxState,
    /// What is wrong, if it was not before.
    pub fault: Option<Break>,
    /// Whether a text that is indented wrongly would not have parsed.
    pub confirms_indentation: bool,
    /// What may have been meant, if that was asked.
    pub suggestion: Option<Suggestion>,
    /// The text before, if it was clean.
    before: Option<SyntaxTree>,
    tree: Option<SyntaxTree>,
}

/// A parsed text that is kept.
#[derive(Clone)]
pub struct SyntaxTree(Arc<Source>);

impl SyntaxTree {
    /// The tree of a text that parses.
    fn clean(path: &str, text: &[u8], budget: &Budget<'_>) -> Option<SyntaxTree> {
        let language = language_of(path, text).filter(|language| language.is_checked)?;
        let source = Source::parse(language, text, budget).filter(Source::is_clean)?;
        Some(SyntaxTree(Arc::new(source)))
    }
}

impl Checked {
    /// What is said of a file that is not parsed.
    pub fn unknown() -> Checked {
        let state = SyntaxState::Unknown;
        Checked {
            state,
            fault: None,
            confirms_indentation: false,
            suggestion: None,
            before: None,
            tree: None,
        }
    }

    /// Looks for what may have been meant by the edits of a file that is broken now. They are in
    /// the order of their lines.
    pub fn suggest<'a>(
        &mut self,
        edits: impl ExactSizeIterator<Item = LineReplacement<'a>>,
        budget: &Budget<'_>,
    ) {
        if let (Some(before), Some(fault)) = (&self.before, &self.fault) {
            let is_unclosed = fault.opened.is_some() && !before.0.language().is_indented;
            self.suggestion = variants::suggestion(before, is_unclosed, edits, budget);
        }
    }

    /// The text after the patch, if it was parsed.
    pub fn text(&self) -> Option<&[u8]> {
        self.tree.as_ref().map(|tree| tree.0.text())
    }

    /// The text before the patch, if it was clean.
    pub fn text_before(&self) -> Option<&[u8]> {
        self.before.as_ref().map(|tree| tree.0.text())
    }

    /// The tree, for the next edit.
    pub fn into_tree(self) -> Option<SyntaxTree> {
        self.tree
    }
}

/// Whether a file of this name and text is parsed at all.
pub fn is_checked(path: &str, text: &[u8]) -> bool {
    language_of(path, text).is_some_and(|language| language.is_checked)
}

/// Parses a file as it would be written, and as it is. `kept` is a tree of it, of any time.
pub fn check(change: Revision<'_>, kept: Option<SyntaxTree>, budget: &Budget<'_>) -> Checked {
    let Revision { before, path, text } = change;
    let Some(language) = language_of(path, &text).filter(|language| language.is_checked) else {
        return Checked::unknown();
    };
    let same = |(path, text)| language_of(path, text).is_some_and(|before| before == language);
    let was = before.filter(|&before| same(before)).and_then(|(_, text)| {
        let kept =
            kept.filter(|SyntaxTree(kept)| kept.language() == language && kept.text() == text);
        kept.map(|SyntaxTree(kept)| kept)
            .or_else(|| Source::parse(language, text, budget).map(Arc::new))
    });
    let is = match &was {
        Some(was) => was.reparse(text, budget),
        None => Source::parse(language, text, budget),
    };
    let Some(is) = is else { return Checked::unknown() };
    let was_clean = was.as_ref().map(|was| was.is_clean());
    let fault = if was_clean == Some(true) { is.fault(budget) } else { None };
    let state = match (is.is_clean(), was_clean) {
        (true, _) => SyntaxState::Ok,
        (false, Some(true)) if fault.is_some() => SyntaxState::Broken,
        (false, Some(true)) => SyntaxState::Unknown,
        (false, Some(false)) => SyntaxState::Unclean,
        (false, None) if before.is_none() => SyntaxState::Unclean,
        (false, None) => SyntaxState::Unknown,
    };
    Checked {
        state,
        fault: fault.map(Break::from),
        confirms_indentation: state == SyntaxState::Ok && !language.is_indented,
        suggestion: None,
        before: was.filter(|was| was.is_clean()).map(SyntaxTree),
        tree: Some(SyntaxTree(Arc::new(is))),
    }
}

/// Parses a file as it is, and says what is wrong first.
pub fn state_of(path: &str, text: &[u8], budget: &Budget<'_>) -> (SyntaxState, Option<Break>) {
    let language = language_of(path, text).filter(|language| language.is_checked);
    match language.and_then(|language| Source::parse(language, text, budget)) {
        None => (SyntaxState::Unknown, None),
        Some(source) if source.is_clean() => (SyntaxState::Ok, None),
        Some(source) => (SyntaxState::Unclean, source.fault(budget).map(Break::from)),
    }
}

/// Trees of files that were edited, the one used last at the end.
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

    /// Keeps the tree of a file, and as many of those used last as there is room for.
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
