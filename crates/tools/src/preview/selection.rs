//! Which operations a preview shows: in the order of the call, each that goes together with those
//! shown before it. So an operation that is shown stays when more operations arrive.

use std::collections::BTreeMap;
use std::ops::Range;

use hashline_core::{Code, Failure, FileChange};

/// At most this many operations are refused; further ones are not tried.
pub const MAX_REFUSED: usize = 16;

/// At most this many attempts are made: each plans all operations that it tries.
pub const MAX_ATTEMPTS: usize = 64;

/// Tries some operations together: the files that they change, or why they are refused.
pub type Try<'t> = &'t dyn Fn(&[usize]) -> Result<Vec<FileChange>, Vec<Failure>>;

/// The operations of a call, divided into those that are shown and those that are refused.
#[derive(Default)]
pub struct Selection {
    /// The changes of those that are shown.
    pub files: Vec<FileChange>,
    /// Those that are refused.
    pub refused: Vec<(usize, Failure)>,
    /// How many were tried, from the first.
    pub tried: usize,
}

/// Selects among `count` operations. `frees_name` finds those that delete or move a file: an
/// earlier operation may need the name.
pub fn select(count: usize, attempt: Try<'_>, frees_name: &dyn Fn(usize) -> bool) -> Selection {
    let all: Vec<usize> = (0..count).collect();
    let failures = match attempt(&all) {
        Ok(files) => return Selection { files, tried: count, ..Selection::default() },
        Err(failures) => failures,
    };
    let mut suspects: BTreeMap<usize, Failure> = BTreeMap::new();
    for failure in failures {
        suspects.entry(failure.operation).or_insert(failure);
    }
    if let Some(selection) = without_suspects(&all, &suspects, attempt) {
        return selection;
    }
    let mut search = Search {
        attempt,
        frees_name,
        suspects,
        kept: Vec::new(),
        attempts: 0,
        selection: Selection::default(),
    };
    while search.selection.tried < count && !search.is_at_limit() {
        let at = search.selection.tried;
        let next = search.suspects.range(at..).next().map_or(count, |(&next, _)| next);
        search.extend(at..next.max(at + 1).min(count));
    }
    search.selection
}

/// The selection without the suspects, if each of them is refused whatever the others do: one more
/// attempt instead of one for each.
fn without_suspects(
    all: &[usize],
    suspects: &BTreeMap<usize, Failure>,
    attempt: Try<'_>,
) -> Option<Selection> {
    let is_own_fault = |failure: &Failure| {
        matches!(
            failure.code,
            Code::HashMismatch
                | Code::AmbiguousAnchor
                | Code::NotShown
                | Code::PartlyShown
                | Code::LineOutOfRange
                | Code::InvalidAnchor
                | Code::TextNotFound
                | Code::TextNotUnique
        )
    };
    if suspects.len() > MAX_REFUSED || !suspects.values().all(is_own_fault) {
        return None;
    }
    let others: Vec<usize> = all.iter().copied().filter(|at| !suspects.contains_key(at)).collect();
    let files = if others.is_empty() { Vec::new() } else { attempt(&others).ok()? };
    let refused = suspects.iter().map(|(&at, failure)| (at, failure.clone())).collect();
    Some(Selection { files, refused, tried: all.len() })
}

struct Search<'t> {
    attempt: Try<'t>,
    frees_name: &'t dyn Fn(usize) -> bool,
    /// The operations that fail when all are tried. Further ones may, when these are gone.
    suspects: BTreeMap<usize, Failure>,
    kept: Vec<usize>,
    attempts: usize,
    selection: Selection,
}

impl Search<'_> {
    /// Adds those of a range that go together with all that are kept, in sequence.
    fn extend(&mut self, range: Range<usize>) {
        if self.is_at_limit() {
            return;
        }
        let frees_name = self.waits_for_name() && range.clone().any(self.frees_name);
        // What frees a name is tried alone, so that the operation that needs it comes next.
        let kept = match frees_name && range.len() > 1 {
            true => Err(Vec::new()),
            false => self.keep(range.clone()),
        };
        match kept {
            Err(_) if range.len() > 1 => {
                let middle = range.start + range.len() / 2;
                self.extend(range.start..middle);
                self.extend(middle..range.end);
                return;
            }
            Err(failures) => self.refuse(range.start, failures),
            Ok(()) if frees_name => self.retry(),
            Ok(()) => {}
        }
        self.selection.tried = range.end;
    }

    fn is_at_limit(&self) -> bool {
        self.selection.refused.len() >= MAX_REFUSED || self.attempts >= MAX_ATTEMPTS
    }

    /// Keeps more operations, if all go together.
    fn keep(&mut self, more: impl IntoIterator<Item = usize>) -> Result<(), Vec<Failure>> {
        let mut together = self.kept.clone();
        together.extend(more);
        together.sort_unstable();
        self.attempts += 1;
        self.selection.files = (self.attempt)(&together)?;
        self.kept = together;
        Ok(())
    }

    /// Refuses an operation, for the reason when all were tried: it has the right numbers of the
    /// others.
    fn refuse(&mut self, operation: usize, failures: Vec<Failure>) {
        let failure = self.suspects.get(&operation).cloned();
        if let Some(failure) = failure.or_else(|| failures.into_iter().next()) {
            self.selection.refused.push((operation, failure));
        }
    }

    /// Whether an operation is refused only because a name is taken.
    fn waits_for_name(&self) -> bool {
        self.selection.refused.iter().any(|(_, failure)| failure.code == Code::FileExists)
    }

    /// Tries again the operations that need a name.
    fn retry(&mut self) {
        for (operation, failure) in std::mem::take(&mut self.selection.refused) {
            if failure.code != Code::FileExists || self.keep([operation]).is_err() {
                self.selection.refused.push((operation, failure));
            }
        }
    }
}
