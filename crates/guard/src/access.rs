//! How a command accesses a file, and the tool request to suggest instead.

use super::{CommandRule, FindingKind};

/// An access of a command to a file.
#[derive(Clone, Debug)]
pub struct Access {
    pub kind: FindingKind,
    pub rule: CommandRule,
    /// The file, if it is known.
    pub target: Option<String>,
    /// The request to suggest.
    pub request: Request,
    /// Whether further files are accessed in the same way.
    pub has_more: bool,
}

/// The part of a file that a model wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// The whole file, or unknown.
    #[default]
    Any,
    /// The first line and the number of lines; `None` for all.
    Lines(u64, Option<u64>),
    /// The lines that match a pattern.
    Pattern(String),
}

impl Request {
    /// The lines from `first` to `last`, inclusive, or to the end.
    pub fn range(first: u64, last: Option<u64>) -> Request {
        let count = |last: u64| last.checked_sub(first)?.checked_add(1);
        match last {
            _ if first == 0 => Request::Any,
            None => Request::Lines(first, None),
            Some(last) => {
                count(last).map_or(Request::Any, |count| Request::Lines(first, Some(count)))
            }
        }
    }
}

impl Access {
    pub fn new(kind: FindingKind, rule: CommandRule, file: Option<&str>) -> Access {
        // A placeholder for a name that `xargs` and `find` insert is not shown.
        let target = file.filter(|target| !target.ends_with("$_")).map(str::to_owned);
        Access { kind, rule, target, request: Request::Any, has_more: false }
    }

    /// The access restricted to some of its lines, if they are known.
    pub fn narrowed(&self, lines: &Request) -> Option<Access> {
        let Request::Lines(start, count) = *lines else { return None };
        let (before, limit) = match self.request {
            Request::Any => (1, None),
            Request::Lines(before, limit) => (before, limit),
            Request::Pattern(_) => return None,
        };
        let skipped = start.saturating_sub(1);
        let left = match limit {
            Some(limit) => Some(limit.checked_sub(skipped).filter(|left| *left > 0)?),
            None => None,
        };
        let count = left.into_iter().chain(count).min();
        Some(Access {
            request: Request::Lines(before.saturating_add(skipped), count),
            ..self.clone()
        })
    }

    /// Whether the command prints lines of the file, in file order.
    pub fn is_lines(&self, command: &str) -> bool {
        let is_all = matches!(command, "cat" | "gcat" | "nl" | "bat" | "batcat");
        !self.has_more
            && match self.request {
                Request::Any => is_all,
                Request::Lines(..) => true,
                Request::Pattern(_) => false,
            }
    }
}
