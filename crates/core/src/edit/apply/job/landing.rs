//! The destinations of moved and copied lines, so that a session's memory can follow them.

use std::collections::HashMap;
use std::ops::Range;

use super::{AddedContents, FileKey, Job, NewContent, Settled, Task};
use crate::edit::apply::transfer::Taken;
use crate::edit::session::Recall;
use hashline_memory::{Course, LeftLines, LineSet, MovedLines};

/// Lines at their destination.
struct Landing<'a> {
    /// The destination file.
    goal: FileKey,
    /// Its path, as the patch names it.
    path: &'a str,
    /// The source file.
    source: FileKey,
    /// The lines before the patch.
    taken: &'a Taken,
    /// The number of the first line after the patch.
    now: u64,
    /// The number of lines.
    count: u64,
    /// The lines that the model knows, by their numbers before the patch.
    known: LineSet,
}

/// All lines that a patch moves and copies.
pub(in crate::edit::apply) struct Landings<'a>(Vec<Landing<'a>>);

/// A session, and the lines that the patch moves and copies.
#[derive(Clone, Copy)]
pub(in crate::edit::apply) struct SessionParts<'a> {
    pub recall: &'a Recall<'a>,
    pub landings: &'a Landings<'a>,
}

/// The destination of an operation.
#[derive(Clone, Copy)]
struct Goal<'a> {
    file: FileKey,
    /// Its path, as the patch names it.
    path: &'a str,
    /// The number of the first line after the patch.
    first: u64,
    /// The number of lines.
    count: u64,
}

impl<'a> Job<'a> {
    /// The lines that the patch moves and copies, at their destinations.
    pub(in crate::edit::apply) fn landings(
        &self,
        added: &AddedContents,
        recall: &Recall<'_>,
    ) -> Landings<'a> {
        if self.files.iter().all(|file| file.taken.is_empty()) {
            return Landings(Vec::new());
        }
        let goals = self.goals(added);
        let mut landings = Vec::new();
        for (edits, file) in self.tasks.edits.iter().zip(self.files) {
            if file.taken.is_empty() {
                continue;
            }
            let (name, hash) = (edits.place.canonical(), file.body_before().hash);
            let known = recall.memory.known_lines(name, hash, recall.as_of);
            for (operation, taken) in &file.taken {
                let Some(&goal) = goals.get(operation).filter(|goal| goal.count > 0) else {
                    continue;
                };
                let Goal { file: goal, path, first: now, count } = goal;
                let known = known.common(&LineSet::of(taken.first, taken.first + count - 1));
                let source = edits.key();
                landings.push(Landing { goal, path, source, taken, now, count, known });
            }
        }
        landings.sort_by_key(|one| one.taken.first);
        Landings(landings)
    }

    /// The destination of each operation that puts lines.
    fn goals(&self, added: &AddedContents) -> HashMap<usize, Goal<'a>> {
        let mut goals = HashMap::new();
        for (edits, file) in self.tasks.edits.iter().zip(self.files) {
            let moved = self.moved.get(edits.place.canonical()).map(|one| &one.task);
            let path = match moved {
                Some(Task::Move { to_path, .. }) => to_path.as_str(),
                _ => edits.place.shown(),
            };
            let mut shift = 0;
            for region in &file.plan.regions {
                let first = (region.after_line + 1).saturating_add_signed(shift);
                goals.extend(region.pasted.iter().map(|one| {
                    let (file, first, count) = (edits.key(), first + one.above, one.lines);
                    (one.operation, Goal { file, path, first, count })
                }));
                shift += region.shift();
            }
        }
        let counts = self.files.iter().flat_map(|file| &file.taken);
        let counts: HashMap<usize, u64> =
            counts.map(|(&operation, taken)| (operation, taken.count())).collect();
        for one in self.tasks.files.iter().filter(|one| added.contains_key(&one.key())) {
            let Task::Add { content: NewContent::Lines(operations), .. } = &one.task else {
                continue;
            };
            let (file, path) = (one.key(), one.path.as_str());
            let mut first = 1;
            for operation in operations {
                let count = counts.get(&operation.index).copied().unwrap_or_default();
                goals.insert(operation.index, Goal { file, path, first, count });
                first += count;
            }
        }
        goals
    }
}

impl Landings<'_> {
    /// The lines of a file that were moved or copied there.
    pub(super) fn pasted(&self, file: FileKey) -> LineSet {
        let there = self.0.iter().filter(|one| one.goal == file);
        there.map(|one| one.now..one.now + one.count).collect()
    }

    /// The lines of a file that came from elsewhere and that the model knows. Lines that moved
    /// within the file are excluded: the memory follows them.
    pub(super) fn shown(&self, file: FileKey) -> LineSet {
        let there = self.0.iter().filter(|one| one.goal == file && !one.is_within());
        there.flat_map(Landing::known_now).collect()
    }

    /// The lines of a file that were moved or copied there and that the model does not know.
    pub(super) fn unread(&self, file: FileKey) -> LineSet {
        let there = self.0.iter().filter(|one| one.goal == file);
        self.pasted(file).without(&there.flat_map(Landing::known_now).collect())
    }

    /// The effect of the patch on the lines of a file.
    pub(super) fn course(&self, file: FileKey, settled: &Settled) -> Course {
        let from_here = || self.0.iter().filter(|one| one.source == file && !one.taken.is_copy);
        let moves = from_here().filter(|one| one.is_within()).map(|one| {
            let (first, count, now) = (one.taken.first, one.count, one.now);
            MovedLines { first, count, now }
        });
        let left = from_here().filter(|one| !one.is_within()).map(|one| LeftLines {
            first: one.taken.first,
            count: one.count,
            to: one.path.to_owned(),
            now: one.now,
        });
        Course {
            splices: settled.plan.splices(),
            moves: moves.collect(),
            left: left.collect(),
            pasted: self.pasted(file),
            tag_before: None,
        }
    }
}

impl Landing<'_> {
    /// The lines that the model knows, by their numbers after the patch.
    fn known_now(&self) -> impl Iterator<Item = Range<u64>> {
        let now = |line: u64| line - self.taken.first + self.now;
        self.known.ranges().iter().map(move |known| now(known.start)..now(known.end))
    }

    /// Whether the lines moved within their file.
    fn is_within(&self) -> bool {
        self.source == self.goal && !self.taken.is_copy
    }
}
