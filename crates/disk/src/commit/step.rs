//! The steps of a transaction. The same type describes a step when it is planned, staged, published
//! and recovered. Also defines the order of publishing.

use serde::{Deserialize, Serialize};

/// A step with names `N` and versions `V`: names that were looked up (`Lookup` and `Stamp`), staged
/// places (`Place` and `Stamp`), or the data of a journal (`JournalPath` and `Mark`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step<N, V> {
    /// Replaces a version by a new one. Where names cannot be exchanged, the old version gets the
    /// name `saved` first.
    Rewrite { target: N, old: V, temporary: N, saved: N },
    /// Rewrites a file without changing its inode, because it has other names or its directory
    /// cannot be written. Copies of the old and new content are in the state directory.
    RewriteInPlace { target: N, old: V, saved: N, ready: N },
    /// Creates a file with a name that does not exist.
    Create { target: N, temporary: N },
    /// Renames a file. It gets a temporary name first if the patch itself vacates its new name.
    Rename { from: N, old: V, to: N, parked: Option<N> },
    /// Moves a file by copying, with the same or a new content.
    Replace { from: N, old: V, to: N, temporary: N, parked: N },
    /// A name is removed.
    Delete { target: N, old: V, parked: N },
}

impl<N, V> Step<N, V> {
    /// Converts the names and versions of this step.
    pub(super) fn try_map<M, W, E>(
        &self,
        mut name: impl FnMut(&N) -> Result<M, E>,
        version: impl Fn(&V) -> W,
    ) -> Result<Step<M, W>, E> {
        Ok(match self {
            Step::Rewrite { target, old, temporary, saved } => Step::Rewrite {
                target: name(target)?,
                old: version(old),
                temporary: name(temporary)?,
                saved: name(saved)?,
            },
            Step::RewriteInPlace { target, old, saved, ready } => Step::RewriteInPlace {
                target: name(target)?,
                old: version(old),
                saved: name(saved)?,
                ready: name(ready)?,
            },
            Step::Create { target, temporary } => {
                Step::Create { target: name(target)?, temporary: name(temporary)? }
            }
            Step::Rename { from, old, to, parked } => Step::Rename {
                from: name(from)?,
                old: version(old),
                to: name(to)?,
                parked: parked.as_ref().map(name).transpose()?,
            },
            Step::Replace { from, old, to, temporary, parked } => Step::Replace {
                from: name(from)?,
                old: version(old),
                to: name(to)?,
                temporary: name(temporary)?,
                parked: name(parked)?,
            },
            Step::Delete { target, old, parked } => {
                Step::Delete { target: name(target)?, old: version(old), parked: name(parked)? }
            }
        })
    }

    /// The file that the step changes, and the version that was read.
    pub(super) fn source(&self) -> Option<(&N, &V)> {
        match self {
            Step::Rewrite { target: file, old, .. }
            | Step::RewriteInPlace { target: file, old, .. }
            | Step::Delete { target: file, old, .. }
            | Step::Rename { from: file, old, .. }
            | Step::Replace { from: file, old, .. } => Some((file, old)),
            Step::Create { .. } => None,
        }
    }

    /// The version that the step replaces, moves or removes.
    pub(super) fn old(&self) -> Option<&V> {
        self.source().map(|(_, old)| old)
    }

    /// The names that have a new state after the step.
    pub(super) fn targets(&self) -> Vec<&N> {
        match self {
            Step::Rewrite { target, .. }
            | Step::RewriteInPlace { target, .. }
            | Step::Create { target, .. }
            | Step::Delete { target, .. } => vec![target],
            Step::Rename { from, to, .. } | Step::Replace { from, to, .. } => vec![from, to],
        }
    }

    /// The name that has a file after the step.
    pub(super) fn result(&self) -> Option<&N> {
        match self {
            Step::Rewrite { target, .. } | Step::RewriteInPlace { target, .. } => Some(target),
            Step::Delete { .. } => None,
            Step::Create { .. } | Step::Rename { .. } | Step::Replace { .. } => self.new_name(),
        }
    }

    /// The new name of a file, in a directory that may not exist yet.
    pub(super) fn new_name(&self) -> Option<&N> {
        match self {
            Step::Create { target: to, .. }
            | Step::Rename { to, .. }
            | Step::Replace { to, .. } => Some(to),
            Step::Rewrite { .. } | Step::RewriteInPlace { .. } | Step::Delete { .. } => None,
        }
    }

    /// The temporary file with the new content, until it is published.
    pub(super) fn staged(&self) -> Option<&N> {
        match self {
            Step::Rewrite { temporary, .. }
            | Step::Create { temporary, .. }
            | Step::Replace { temporary, .. } => Some(temporary),
            Step::RewriteInPlace { .. } | Step::Rename { .. } | Step::Delete { .. } => None,
        }
    }

    /// All temporary files, with new or old content.
    pub(super) fn temporaries(&self) -> Vec<&N> {
        match self {
            Step::Rewrite { temporary, saved, .. } => vec![temporary, saved],
            Step::RewriteInPlace { saved, ready, .. } => vec![saved, ready],
            Step::Create { temporary, .. } => vec![temporary],
            Step::Replace { temporary, parked, .. } => vec![temporary, parked],
            Step::Delete { parked, .. } => vec![parked],
            Step::Rename { parked, .. } => parked.iter().collect(),
        }
    }

    /// The temporary files that can exist after publishing.
    pub(super) fn leftovers(&self) -> Vec<&N> {
        match self {
            Step::Rewrite { .. } | Step::RewriteInPlace { .. } | Step::Delete { .. } => {
                self.temporaries()
            }
            Step::Replace { parked, .. } => vec![parked],
            Step::Create { .. } | Step::Rename { .. } => Vec::new(),
        }
    }

    /// The original name of the file that can have one of the temporary names.
    pub(super) fn home(&self) -> Option<&N> {
        match self {
            Step::Delete { target, .. } | Step::Rewrite { target, .. } => Some(target),
            Step::Replace { from, .. } | Step::Rename { from, .. } => Some(from),
            Step::Create { .. } | Step::RewriteInPlace { .. } => None,
        }
    }

    /// Moves the file away, so that another one can take its name.
    fn park_action(&self) -> Option<Action<'_, N, V>> {
        match self {
            Step::Delete { target: from, old, parked }
            | Step::Replace { from, old, parked, .. }
            | Step::Rename { from, old, parked: Some(parked), .. } => {
                Some(Action::Park { from, old, parked })
            }
            Step::Rename { parked: None, .. }
            | Step::Create { .. }
            | Step::Rewrite { .. }
            | Step::RewriteInPlace { .. } => None,
        }
    }

    /// Renames the file directly.
    fn move_action(&self) -> Option<Action<'_, N, V>> {
        match self {
            Step::Rename { from, old, to, parked: None } => Some(Action::Move { from, old, to }),
            _ => None,
        }
    }

    /// Renames the file from its temporary name to its new name.
    fn unpark_action(&self) -> Option<Action<'_, N, V>> {
        match self {
            Step::Rename { to, parked: Some(parked), .. } => Some(Action::Unpark { parked, to }),
            _ => None,
        }
    }

    /// Publishes the new content.
    fn publish_action(&self) -> Option<Action<'_, N, V>> {
        match self {
            Step::Create { target, temporary } | Step::Replace { to: target, temporary, .. } => {
                Some(Action::Install { temporary, target })
            }
            Step::Rewrite { target, old, temporary, saved } => {
                Some(Action::Exchange { target, old, temporary, saved })
            }
            Step::RewriteInPlace { target, old, saved, ready } => {
                Some(Action::Overwrite { target, old, saved, ready })
            }
            Step::Rename { .. } | Step::Delete { .. } => None,
        }
    }
}

/// A single reversible action of publishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action<'s, N, V> {
    /// Renames a file to a temporary name.
    Park { from: &'s N, old: &'s V, parked: &'s N },
    /// Renames a file to its new name.
    Move { from: &'s N, old: &'s V, to: &'s N },
    /// Renames a file from its temporary name to its new name.
    Unpark { parked: &'s N, to: &'s N },
    /// Gives a staged file a name that does not exist.
    Install { temporary: &'s N, target: &'s N },
    /// Exchanges the names of the new and the old version.
    Exchange { target: &'s N, old: &'s V, temporary: &'s N, saved: &'s N },
    /// Writes the new content into the file itself.
    Overwrite { target: &'s N, old: &'s V, saved: &'s N, ready: &'s N },
}

/// All actions of publishing, in sequence, with the indices of their steps. Names are vacated first
/// and taken next, so that moves may form chains and cycles; contents come last. Recoveries use the
/// same order.
pub(super) fn actions<N, V>(
    steps: &[Step<N, V>],
) -> impl Iterator<Item = (usize, Action<'_, N, V>)> {
    // Direct renames come before those of parked files, which may take the names that they vacate.
    let phases = [Step::park_action, Step::move_action, Step::unpark_action, Step::publish_action];
    phases.into_iter().flat_map(move |phase| {
        let action = move |(at, step)| Some((at, phase(step)?));
        steps.iter().enumerate().filter_map(action)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All kinds of steps, roughly in the reverse order of publishing.
    fn steps() -> Vec<Step<&'static str, u32>> {
        vec![
            Step::RewriteInPlace { target: "a", old: 1, saved: "a.saved", ready: "a.ready" },
            Step::Rewrite { target: "b", old: 2, temporary: "b.new", saved: "b.saved" },
            Step::Create { target: "c", temporary: "c.new" },
            Step::Rename { from: "d", old: 4, to: "e", parked: Some("d.parked") },
            Step::Rename { from: "e", old: 5, to: "f", parked: None },
            Step::Replace { from: "g", old: 6, to: "h", temporary: "h.new", parked: "g.parked" },
            Step::Delete { target: "c", old: 7, parked: "c.parked" },
        ]
    }

    #[test]
    fn names_are_vacated_then_taken_and_contents_come_last() {
        let steps = steps();
        let expected = [
            (3, Action::Park { from: &"d", old: &4, parked: &"d.parked" }),
            (5, Action::Park { from: &"g", old: &6, parked: &"g.parked" }),
            (6, Action::Park { from: &"c", old: &7, parked: &"c.parked" }),
            (4, Action::Move { from: &"e", old: &5, to: &"f" }),
            (3, Action::Unpark { parked: &"d.parked", to: &"e" }),
            (0, Action::Overwrite { target: &"a", old: &1, saved: &"a.saved", ready: &"a.ready" }),
            (1, Action::Exchange { target: &"b", old: &2, temporary: &"b.new", saved: &"b.saved" }),
            (2, Action::Install { temporary: &"c.new", target: &"c" }),
            (5, Action::Install { temporary: &"h.new", target: &"h" }),
        ];
        assert_eq!(actions(&steps).collect::<Vec<_>>(), expected);
    }

    /// All temporary names are listed, and none of them is a target.
    #[test]
    fn each_name_of_a_step_has_one_role() {
        for step in steps() {
            let (targets, temporaries) = (step.targets(), step.temporaries());
            assert!(step.leftovers().iter().all(|name| temporaries.contains(name)), "{step:?}");
            assert!(step.staged().iter().all(|name| temporaries.contains(name)), "{step:?}");
            assert!(temporaries.iter().all(|name| !targets.contains(name)), "{step:?}");
            let named = [step.result(), step.new_name(), step.home()];
            assert!(named.iter().flatten().all(|name| targets.contains(name)), "{step:?}");
            let upper = step.try_map(|name| Ok::<_, ()>(name.to_uppercase()), |old| old * 10);
            let upper = upper.unwrap();
            let all: Vec<_> = targets.iter().chain(&temporaries).collect();
            let all_upper: Vec<_> =
                upper.targets().into_iter().chain(upper.temporaries()).cloned().collect();
            assert_eq!(all_upper, all.iter().map(|name| name.to_uppercase()).collect::<Vec<_>>());
            assert_eq!(upper.old().copied(), step.old().map(|old| old * 10));
        }
    }
}
