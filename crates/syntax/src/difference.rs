//! What an edit broke: the faults of a text that its earlier version did not have. A text whose
//! errors are all older may be in a newer version of its language than the grammar.

use std::collections::HashMap;

use crate::budget::{Budget, Meter};
use crate::edit::edit_between;
use crate::fault;
use crate::keys;
use crate::source::Source;
use crate::structure::Fault;

/// With more errors than this, texts are not compared.
const ERRORS_LIMIT: usize = 1_000;

/// An error: its fault, and where it is.
struct Error {
    fault: Fault,
    start: usize,
    length: usize,
}

impl Error {
    /// What stays the same if the text around it changes.
    fn key(&self) -> (&str, usize) {
        (&self.fault.what, self.length)
    }
}

impl Source {
    /// The first fault that an earlier version of the text in the same language did not have;
    /// `None` if there is none, or the search exceeds the budget.
    pub fn new_fault(&self, before: &Source, budget: &Budget<'_>) -> Option<Fault> {
        let meter = &budget.meter();
        if let (Some(new), Some(old)) = (&self.lexical, &before.lexical) {
            let found = new.new_fault(self, old, before);
            if found.is_some() || !self.checks_tree() {
                return found.filter(|_| !meter.is_spent());
            }
        }
        let found = match (before.is_clean, self.is_clean) {
            (true, true) => keys::new_duplicate(before, self, meter),
            (false, true) => None,
            (true, false) => fault::first(self, meter),
            (false, false) => new_error(before, self, meter),
        };
        found.filter(|_| !meter.is_spent())
    }
}

/// The first new error of two texts with errors.
fn new_error(before: &Source, after: &Source, meter: &Meter<'_>) -> Option<Fault> {
    let (old_root, new_root) = (before.root()?, after.root()?);
    if !fault::has_error(after, meter) {
        return None;
    }
    if !fault::has_error(before, meter) {
        // A fault of brackets or tags may be older.
        return fault::first_in_tree(after, meter);
    }
    let brackets = |source, root| fault::brackets(source, root, meter);
    let old_bracket = brackets(before, old_root);
    let new_bracket = brackets(after, new_root).filter(|_| old_bracket.is_none());
    if new_bracket.is_some() || old_root.is_error() || new_root.is_error() {
        return new_bracket;
    }
    let (old, new) = (errors(before, meter)?, errors(after, meter)?);
    let mut known: HashMap<(&str, usize), usize> = HashMap::new();
    for error in &old {
        *known.entry(error.key()).or_default() += 1;
    }
    // An error inside the edited text may only be described differently.
    let edit = edit_between((&before.text, &before.rows), (&after.text, &after.rows));
    let edited = edit.start_byte..=edit.old_end_byte;
    let mut gone = old.iter().filter(|error| edited.contains(&error.start));
    for error in &new {
        match known.get_mut(&error.key()) {
            Some(count @ 1..) => *count -= 1,
            _ if old.iter().any(|known| known.fault.what == error.fault.what) => {}
            _ if gone.next().is_some() => {}
            _ => return Some(error.fault.clone()),
        }
    }
    None
}

/// The outermost errors of a text; `None` if there are too many.
fn errors(source: &Source, meter: &Meter<'_>) -> Option<Vec<Error>> {
    let mut found = Vec::new();
    let mut end = 0;
    for node in fault::errors(source, source.root()?, meter) {
        let start = node.start_byte();
        if !found.is_empty() && start < end {
            continue;
        }
        end = node.end_byte();
        found.push(Error { fault: fault::describe(source, node), start, length: end - start });
        if found.len() > ERRORS_LIMIT {
            return None;
        }
    }
    Some(found)
}
