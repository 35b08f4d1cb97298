//! Problems with the memory on disk. Reading them does not wait for work in progress.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;

use hashline_base::error::{Error, Spelling};

/// A problem that can recur: it is reported once, with its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// Records of other processes could not be read.
    NotRead,
    /// Updates were not written.
    NotWritten,
    /// The name of a file cannot be stored.
    UnstorableName,
}

/// Kinds of damaged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Damage {
    Record,
    Text,
}

#[derive(Debug, Default)]
struct Noted {
    damage: BTreeMap<Damage, u64>,
    /// How often each occurred, and its last cause.
    faults: BTreeMap<Fault, (u64, Error)>,
}

/// The problems of one store.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Noted>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock()
    }

    /// Records a fault with its cause.
    pub(super) fn add(&self, fault: Fault, why: Error) {
        let mut noted = self.lock();
        let times = noted.faults.get(&fault).map_or(0, |(times, _)| *times);
        noted.faults.insert(fault, (times + 1, why));
    }

    /// Counts damaged data that was skipped.
    pub(super) fn add_damage(&self, damage: Damage, count: u64) {
        if count > 0 {
            *self.lock().damage.entry(damage).or_default() += count;
        }
    }

    /// One sentence for each kind. `spelling` gives the names of options in a binding.
    pub(super) fn all(&self, spelling: Spelling) -> Vec<String> {
        let noted = self.lock();
        let damage = noted.damage.iter().map(|(damage, &count)| damage.sentence(count));
        let fault = noted.faults.iter().map(|(fault, (times, why))| {
            let why = why.clone().spelled(spelling).message;
            let sentence = fault.sentence(&why);
            if *times > 1 { format!("{sentence} (the last of {times} times)") } else { sentence }
        });
        damage.chain(fault).collect()
    }
}

impl Fault {
    fn sentence(self, why: &str) -> String {
        match self {
            Fault::NotRead => format!("the session's memory could not be read: {why}"),
            Fault::NotWritten => format!("the session's memory could not be written: {why}"),
            Fault::UnstorableName => format!("a file is not in the session's memory: {why}"),
        }
    }
}

impl Damage {
    fn sentence(self, count: u64) -> String {
        let one = match self {
            Damage::Record => "record",
            Damage::Text => "text",
        };
        match count {
            1 => format!("1 damaged {one} of the session's memory was skipped"),
            _ => format!("{count} damaged {one}s of the session's memory were skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_base::error::{Code, Message, Term};

    #[test]
    fn regression_each_kind_of_problem_is_reported_once_with_its_count() {
        let notes = Notes::default();
        (0..30).for_each(|_| notes.add_damage(Damage::Text, 1));
        notes.add_damage(Damage::Record, 1);
        notes.add_damage(Damage::Record, 0);
        for why in ["the disk is full", "denied"] {
            notes.add(Fault::NotWritten, Error::new(Code::Io, why));
        }
        let why = Message::from("set ") + Term::StateDir;
        notes.add(Fault::NotRead, Error::new(Code::Io, why));
        let all = notes.all(|_| "--state-dir");
        assert_eq!(
            all,
            [
                "1 damaged record of the session's memory was skipped",
                "30 damaged texts of the session's memory were skipped",
                "the session's memory could not be read: set --state-dir",
                "the session's memory could not be written: denied (the last of 2 times)",
            ]
        );
    }
}
