//! What a command does with a file, and what a tool is to be asked for instead.

use super::{CommandRule, FindingKind};

/// Something that a command does with a file.
#[derive(Clone, Debug)]
pub struct Hit {
    pub kind: FindingKind,
    pub rule: CommandRule,
    /// The file, where it is known.
    pub target: Option<String>,
    /// What a tool is to be asked for.
    pub wish: Wish,
    /// Whether it is one of several files.
    pub has_more: bool,
}

/// What a model is after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// The file, or nothing that can be said.
    #[default]
    Any,
    /// So many lines from this one on; all, where there is no number.
    Lines(u64, Option<u64>),
    /// Lines with a pattern.
    Pattern(String),
}

impl Wish {
    /// The lines from one to another, both with it, or to the end.
    pub fn range(first: u64, last: Option<u64>) -> Wish {
        let count = |last: u64| last.checked_sub(first)?.checked_add(1);
        match last {
            _ if first == 0 => Wish::Any,
            None => Wish::Lines(first, None),
            Some(last) => count(last).map_or(Wish::Any, |count| Wish::Lines(first, Some(count))),
        }
    }
}

impl Hit {
    pub fn new(kind: FindingKind, rule: CommandRule, file: Option<&str>) -> Hit {
        // What only `xargs` and `find` will know is no name to tell.
        let target = file.filter(|target| !target.ends_with("$_")).map(str::to_owned);
        Hit { kind, rule, target, wish: Wish::Any, has_more: false }
    }

    /// The same of some of the lines, where that is known.
    pub fn narrowed(&self, lines: &Wish) -> Option<Hit> {
        let Wish::Lines(start, count) = *lines else { return None };
        let (before, limit) = match self.wish {
            Wish::Any => (1, None),
            Wish::Lines(before, limit) => (before, limit),
            Wish::Pattern(_) => return None,
        };
        let skipped = start.saturating_sub(1);
        let left = match limit {
            Some(limit) => Some(limit.checked_sub(skipped).filter(|left| *left > 0)?),
            None => None,
        };
        let count = left.into_iter().chain(count).min();
        Some(Hit { wish: Wish::Lines(before.saturating_add(skipped), count), ..self.clone() })
    }

    /// Whether what the command prints is lines of the file, in their order.
    pub fn is_lines(&self, command: &str) -> bool {
        let is_all = matches!(command, "cat" | "gcat" | "nl" | "bat" | "batcat");
        !self.has_more
            && match self.wish {
                Wish::Any => is_all,
                Wish::Lines(..) => true,
                Wish::Pattern(_) => false,
            }
    }
}
