//! One step of a transaction, in one vocabulary for everybody who has to do with it: planned,
//! staged, published, and worked off by a recovery. And the order in which steps are published.

use serde::{Deserialize, Serialize};

/// One step, of names `N` and versions `V`: names that were looked up (`Lookup` and `Stamp`),
/// open directories with everything that the step needs (`Place` and `Stamp`), or what a journal
/// says (`JournalPath` and `Mark`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step<N, V> {
    /// A new version takes the place of the old one; where names cannot be exchanged, that has
    /// the name `saved` before.
    Rewrite { target: N, old: V, temporary: N, saved: N },
    /// The file keeps its inode: it has other names, or its directory takes no new entries.
    /// The old and the new content wait in the state directory.
    RewriteInPlace { target: N, old: V, saved: N, ready: N },
    /// A new file takes a name that nobody has.
    Create { target: N, temporary: N },
    /// A file gets another name; it is parked when the patch itself vacates that name.
    Rename { from: N, old: V, to: N, parked: Option<N> },
    /// A move through a copy, with the same content or another.
    Replace { from: N, old: V, to: N, temporary: N, parked: N },
    /// A name is removed.
    Delete { target: N, old: V, parked: N },
}

impl<N, V> Step<N, V> {
    /// This step in terms of other names and versions.
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

    /// The file that it was made from, and the version that was seen there.
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

    /// The version that it replaces, moves or removes.
    pub(super) fn old(&self) -> Option<&V> {
        self.source().map(|(_, old)| old)
    }

    /// The names that it gives a new state.
    pub(super) fn targets(&self) -> Vec<&N> {
        match self {
            Step::Rewrite { target, .. }
            | Step::RewriteInPlace { target, .. }
            | Step::Create { target, .. }
            | Step::Delete { target, .. } => vec![target],
            Step::Rename { from, to, .. } | Step::Replace { from, to, .. } => vec![from, to],
        }
    }

    /// The name under which it leaves a file.
    pub(super) fn result(&self) -> Option<&N> {
        match self {
            Step::Rewrite { target, .. } | Step::RewriteInPlace { target, .. } => Some(target),
            Step::Delete { .. } => None,
            Step::Create { .. } | Step::Rename { .. } | Step::Replace { .. } => self.new_name(),
        }
    }

    /// The name that a file newly gets, in a directory that may have to be made.
    pub(super) fn new_name(&self) -> Option<&N> {
        match self {
            Step::Create { target: to, .. }
            | Step::Rename { to, .. }
            | Step::Replace { to, .. } => Some(to),
            Step::Rewrite { .. } | Step::RewriteInPlace { .. } | Step::Delete { .. } => None,
        }
    }

    /// The file that holds its new content until that is moved into place.
    pub(super) fn staged(&self) -> Option<&N> {
        match self {
            Step::Rewrite { temporary, .. }
            | Step::Create { temporary, .. }
            | Step::Replace { temporary, .. } => Some(temporary),
            Step::RewriteInPlace { .. } | Step::Rename { .. } | Step::Delete { .. } => None,
        }
    }

    /// All files beside its targets, with its new or its old content.
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

    /// The temporary names that can still be there when everything is in place.
    pub(super) fn leftovers(&self) -> Vec<&N> {
        match self {
            Step::Rewrite { .. } | Step::RewriteInPlace { .. } | Step::Delete { .. } => {
                self.temporaries()
            }
            Step::Replace { parked, .. } => vec![parked],
            Step::Create { .. } | Step::Rename { .. } => Vec::new(),
        }
    }

    /// The name of the file that can wait under one of its temporary names.
    pub(super) fn home(&self) -> Option<&N> {
        match self {
            Step::Delete { target, .. } | Step::Rewrite { target, .. } => Some(target),
            Step::Replace { from, .. } | Step::Rename { from, .. } => Some(from),
            Step::Create { .. } | Step::RewriteInPlace { .. } => None,
        }
    }

    /// The file leaves its name, so that another one can take it.
    fn parking(&self) -> Option<Deed<'_, N, V>> {
        match self {
            Step::Delete { target: from, old, parked }
            | Step::Replace { from, old, parked, .. }
            | Step::Rename { from, old, parked: Some(parked), .. } => {
                Some(Deed::Park { from, old, parked })
            }
            Step::Rename { parked: None, .. }
            | Step::Create { .. }
            | Step::Rewrite { .. }
            | Step::RewriteInPlace { .. } => None,
        }
    }

    /// The file goes straight to its new name.
    fn moving(&self) -> Option<Deed<'_, N, V>> {
        match self {
            Step::Rename { from, old, to, parked: None } => Some(Deed::Move { from, old, to }),
            _ => None,
        }
    }

    /// The file takes its new name from where it was parked.
    fn arriving(&self) -> Option<Deed<'_, N, V>> {
        match self {
            Step::Rename { to, parked: Some(parked), .. } => Some(Deed::Arrive { parked, to }),
            _ => None,
        }
    }

    /// The new content comes into place.
    fn placing(&self) -> Option<Deed<'_, N, V>> {
        match self {
            Step::Create { target, temporary } | Step::Replace { to: target, temporary, .. } => {
                Some(Deed::Place { temporary, target })
            }
            Step::Rewrite { target, old, temporary, saved } => {
                Some(Deed::Exchange { target, old, temporary, saved })
            }
            Step::RewriteInPlace { target, old, saved, ready } => {
                Some(Deed::Overwrite { target, old, saved, ready })
            }
            Step::Rename { .. } | Step::Delete { .. } => None,
        }
    }
}

/// What is done for a step at one moment of publishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed<'s, N, V> {
    /// A file leaves its name and waits under another one.
    Park { from: &'s N, old: &'s V, parked: &'s N },
    /// A file goes to its new name.
    Move { from: &'s N, old: &'s V, to: &'s N },
    /// A file that was parked goes to its new name.
    Arrive { parked: &'s N, to: &'s N },
    /// A new file takes a name that nobody has.
    Place { temporary: &'s N, target: &'s N },
    /// A new version and the old one exchange names.
    Exchange { target: &'s N, old: &'s V, temporary: &'s N, saved: &'s N },
    /// The new content is written into the file itself.
    Overwrite { target: &'s N, old: &'s V, saved: &'s N, ready: &'s N },
}

/// Everything that publishing does, in order, with the index of its step: first names are
/// vacated, then taken, so that moves may chain and swap; contents come last. A transaction
/// publishes in this order, and a recovery does in it what is left to do.
pub(super) fn deeds<N, V>(steps: &[Step<N, V>]) -> impl Iterator<Item = (usize, Deed<'_, N, V>)> {
    // A name that a parked file waits for may be left by one that is not parked.
    let rounds = [Step::parking, Step::moving, Step::arriving, Step::placing];
    rounds.into_iter().flat_map(move |round| {
        let deed = move |(at, step)| Some((at, round(step)?));
        steps.iter().enumerate().filter_map(deed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All kinds of steps, the last ones of publishing first.
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
            (3, Deed::Park { from: &"d", old: &4, parked: &"d.parked" }),
            (5, Deed::Park { from: &"g", old: &6, parked: &"g.parked" }),
            (6, Deed::Park { from: &"c", old: &7, parked: &"c.parked" }),
            (4, Deed::Move { from: &"e", old: &5, to: &"f" }),
            (3, Deed::Arrive { parked: &"d.parked", to: &"e" }),
            (0, Deed::Overwrite { target: &"a", old: &1, saved: &"a.saved", ready: &"a.ready" }),
            (1, Deed::Exchange { target: &"b", old: &2, temporary: &"b.new", saved: &"b.saved" }),
            (2, Deed::Place { temporary: &"c.new", target: &"c" }),
            (5, Deed::Place { temporary: &"h.new", target: &"h" }),
        ];
        assert_eq!(deeds(&steps).collect::<Vec<_>>(), expected);
    }

    /// What is left over is among the temporary files, and none of these is a target.
    #[test]
    fn names_of_a_step_play_one_part_each() {
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
