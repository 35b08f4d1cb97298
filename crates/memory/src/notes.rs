//! What went wrong with keeping a session on disk. Reading it does not wait for work in progress.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;

use hashline_base::error::{Error, Spelling};

/// A problem that can recur: it is reported once, with its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// Others' records could not be read.
    NotRead,
    /// Updates were not written.
    NotWritten,
    /// A file has a name that cannot be written down.
    Unnamed,
}

/// What is damaged, and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Damage {
    Record,
    Text,
}

#[derive(Debug, Default)]
struct Noted {
    damage: BTreeMap<Damage, u64>,
    /// How often it came, and why the last time.
    trouble: BTreeMap<Trouble, (u64, Error)>,
}

/// The notes on one store.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Noted>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock()
    }

    /// Notes that something could not be done.
    pub(super) fn add(&self, trouble: Trouble, why: Error) {
        let mut noted = self.lock();
        let times = noted.trouble.get(&trouble).map_or(0, |(times, _)| *times);
        noted.trouble.insert(trouble, (times + 1, why));
    }

    /// Notes what was skipped.
    pub(super) fn add_damage(&self, damage: Damage, count: u64) {
        if count > 0 {
            *self.lock().damage.entry(damage).or_default() += count;
        }
    }

    /// A sentence for each kind, with options as a binding has them.
    pub(super) fn all(&self, spelling: Spelling) -> Vec<String> {
        let noted = self.lock();
        let damage = noted.damage.iter().map(|(damage, &count)| damage.sentence(count));
        let trouble = noted.trouble.iter().map(|(trouble, (times, why))| {
            let why = why.clone().spelled(spelling).message;
            let sentence = trouble.sentence(&why);
            if *times > 1 { format!("{sentence} (the last of {times} times)") } else { sentence }
        });
        damage.chain(trouble).collect()
    }
}

impl Trouble {
    fn sentence(self, why: &str) -> String {
        match self {
            Trouble::NotRead => format!("the session's memory could not be read: {why}"),
            Trouble::NotWritten => format!("the session's memory could not be written: {why}"),
            Trouble::Unnamed => format!("a file is not in the session's memory: {why}"),
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
    fn regression_what_goes_wrong_often_takes_no_place_from_what_is_new() {
        let notes = Notes::default();
        (0..30).for_each(|_| notes.add_damage(Damage::Text, 1));
        notes.add_damage(Damage::Record, 1);
        notes.add_damage(Damage::Record, 0);
        for why in ["the disk is full", "denied"] {
            notes.add(Trouble::NotWritten, Error::new(Code::Io, why));
        }
        let why = Message::from("set ") + Term::StateDir;
        notes.add(Trouble::NotRead, Error::new(Code::Io, why));
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
