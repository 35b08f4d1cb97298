//! Operations on whole files → conflicts between them over file names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Conflict;
use hashline_base::error::{Code, Error, Mention};

/// The effect of one operation on file names. Paths are canonical, so that different spellings of
/// one path are one key.
#[derive(Clone, Debug)]
pub enum NameChange {
    /// A file is created.
    Add {
        /// Its name.
        to: Name,
        /// Whether it existed before, and comes back.
        comes_back: bool,
    },
    /// A file gets another name.
    Move {
        /// The old one.
        from: PathBuf,
        /// The new one.
        to: Name,
    },
    /// A name is removed.
    Delete {
        /// The name.
        from: PathBuf,
    },
}

/// The destination of an operation.
#[derive(Clone, Debug)]
pub struct Name {
    /// The path.
    pub path: PathBuf,
    /// The path as the request wrote it.
    pub shown: String,
    /// Whether the name exists before the patch.
    pub exists: bool,
}

/// The effects of a patch on one name, each with its operation.
#[derive(Default)]
struct NameState {
    /// The operation that removes the name, and whether it deletes the file.
    leaves: Option<(usize, bool)>,
    arrives: Option<usize>,
    edited: Option<usize>,
}

/// All conflicts over names. `edited` are the files with line edits, each with its first operation.
pub fn find_conflicts(
    changes: &[(usize, NameChange)],
    edited: &[(usize, PathBuf)],
) -> Vec<Conflict> {
    let mut states: BTreeMap<&Path, NameState> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for (operation, path) in edited {
        states.entry(path).or_default().edited.get_or_insert(*operation);
    }
    for (operation, change) in changes {
        let (from, is_delete) = match change {
            NameChange::Add { .. } => continue,
            NameChange::Move { from, .. } => (from, false),
            NameChange::Delete { from } => (from, true),
        };
        let state = states.entry(from).or_default();
        match state.leaves.replace((*operation, is_delete)) {
            Some((other, _)) => conflicts.push(conflict(*operation, other, from, "both take away")),
            None => {
                if let Some(edit) = state.edited.filter(|_| is_delete) {
                    conflicts.push(conflict(*operation, edit, from, "delete and edit"));
                }
            }
        }
    }
    for (operation, change) in changes {
        let (NameChange::Add { to, .. } | NameChange::Move { to, .. }) = change else {
            continue;
        };
        let state = states.entry(&to.path).or_default();
        if let Some(other) = state.arrives.replace(*operation) {
            conflicts.push(conflict(*operation, other, &to.path, "both make"));
        } else if to.exists && state.leaves.is_none() {
            let way = match change {
                NameChange::Add { comes_back: false, .. } => {
                    "edit it, or set replace to replace its whole content"
                }
                NameChange::Add { comes_back: true, .. } => "move or delete it first",
                _ => "delete or move it in the same patch",
            };
            conflicts.push(exists(*operation, to, way));
        }
    }
    conflicts.extend(files_as_directories(&states));
    conflicts.sort_by_key(|conflict| conflict.operation);
    conflicts
}

fn conflict(operation: usize, other: usize, path: &Path, what: &str) -> Conflict {
    let (one, two) = (operation.min(other), operation.max(other));
    Conflict {
        operation: two,
        error: Error::new(
            Code::OverlappingEdits,
            Mention::Operations(one, two) + format!(" {what} {}", path.display()),
        ),
    }
}

/// The conflict with a file that the patch does not remove; `way` is the way out.
fn exists(operation: usize, to: &Name, way: &str) -> Conflict {
    let shown = &to.shown;
    Conflict {
        operation,
        error: Error::at(
            Code::FileExists,
            shown,
            Mention::Operation(operation) + format!(": {shown} already exists: {way}"),
        ),
    }
}

/// Conflicts between a new file and another new file that would have to be its directory.
fn files_as_directories(states: &BTreeMap<&Path, NameState>) -> Vec<Conflict> {
    let arriving = |path: &Path| states.get(path).and_then(|state| state.arrives);
    let below = states.iter().filter_map(|(path, state)| {
        let operation = state.arrives?;
        let above = path.ancestors().skip(1).find_map(|above| Some((above, arriving(above)?)));
        let (above, other) = above?;
        Some(conflict(operation, other, above, "make a file and a directory of"))
    });
    below.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str) -> Name {
        let exists = path.chars().all(char::is_lowercase);
        Name { path: path.into(), shown: path.into(), exists }
    }

    fn add(to: &str) -> NameChange {
        NameChange::Add { to: name(to), comes_back: false }
    }

    fn rename(from: &str, to: &str) -> NameChange {
        NameChange::Move { from: from.into(), to: name(to) }
    }

    fn delete(from: &str) -> NameChange {
        NameChange::Delete { from: from.into() }
    }

    /// Lower-case names exist before the patch, upper-case names do not.
    fn check(changes: &[NameChange], edited: &[&str], expected: &[Code]) {
        let numbered: Vec<_> = changes.iter().cloned().enumerate().collect();
        let edited: Vec<_> = (100..).zip(edited.iter().map(PathBuf::from)).collect();
        let codes: Vec<_> =
            find_conflicts(&numbered, &edited).iter().map(|conflict| conflict.error.code).collect();
        assert_eq!(codes, expected, "{changes:?} {edited:?}");
    }

    #[test]
    fn conflicts_over_names_are_found() {
        check(&[add("A"), delete("b"), rename("c", "D")], &["c", "e"], &[]);
        check(&[add("a")], &[], &[Code::FileExists]);
        check(&[rename("a", "b")], &[], &[Code::FileExists]);
        // The same patch frees the name: replaced, chained, swapped.
        check(&[delete("a"), add("a")], &[], &[]);
        check(&[rename("a", "b"), rename("b", "C")], &[], &[]);
        check(&[rename("a", "b"), rename("b", "a")], &[], &[]);
        check(&[rename("a", "B"), add("a")], &[], &[]);
        let overlap = &[Code::OverlappingEdits];
        check(&[delete("a")], &["a"], overlap);
        check(&[delete("a"), rename("a", "B")], &[], overlap);
        check(&[add("A"), add("A")], &[], overlap);
        check(&[rename("a", "C"), rename("b", "C")], &[], overlap);
        check(&[add("A"), add("A/B")], &[], overlap);
    }
}
