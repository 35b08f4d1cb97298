//! The destinations of moved and copied lines, so that a session's memory can follow them.

use std::collections::HashMap;
use std::ops::Range;

use super::{AddedContents, FileKey, Job, NewContent, PlannedFile, Task};
use crate::edit::apply::transfer::Taken;
use crate::edit::session::CallMemory;
use hashline_memory::{LineChanges, LineSet, MovedLines, MovedOutLines};

/// Lines at their destination.
struct Transferred<'a> {
    /// The destination file.
    destination: FileKey,
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
pub(in crate::edit::apply) struct Transfers<'a>(Vec<Transferred<'a>>);

/// A session, and the lines that the patch moves and copies.
#[derive(Clone, Copy)]
pub(in crate::edit::apply) struct SessionParts<'a> {
    pub call_memory: &'a CallMemory<'a>,
    pub transfers: &'a Transfers<'a>,
}

/// The destination of an operation.
#[derive(Clone, Copy)]
struct Destination<'a> {
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
    pub(in crate::edit::apply) fn transfers(
        &self,
        added: &AddedContents,
        call_memory: &CallMemory<'_>,
    ) -> Transfers<'a> {
        if self.files.iter().all(|file| file.taken.is_empty()) {
            return Transfers(Vec::new());
        }
        let destinations = self.destinations(added);
        let mut transfers = Vec::new();
        for (edits, file) in self.tasks.edits.iter().zip(self.files) {
            if file.taken.is_empty() {
                continue;
            }
            let (name, hash) = (edits.place.canonical(), file.body_before().hash);
            let known = call_memory.memory.known_lines(name, hash, call_memory.as_of);
            for (operation, taken) in &file.taken {
                let Some(&destination) =
                    destinations.get(operation).filter(|destination| destination.count > 0)
                else {
                    continue;
                };
                let Destination { file: destination, path, first: now, count } = destination;
                let known = known.common(&LineSet::of(taken.first, taken.first + count - 1));
                let source = edits.key();
                transfers.push(Transferred { destination, path, source, taken, now, count, known });
            }
        }
        transfers.sort_by_key(|lines| lines.taken.first);
        Transfers(transfers)
    }

    /// The destination of each operation that puts lines.
    fn destinations(&self, added: &AddedContents) -> HashMap<usize, Destination<'a>> {
        let mut destinations = HashMap::new();
        for (edits, file) in self.tasks.edits.iter().zip(self.files) {
            let moved = self.moved.get(edits.place.canonical()).map(|task| &task.task);
            let path = match moved {
                Some(Task::Move { to_path, .. }) => to_path.as_str(),
                _ => edits.place.shown(),
            };
            let mut shift = 0;
            for region in &file.plan.regions {
                let first = (region.after_line + 1).saturating_add_signed(shift);
                destinations.extend(region.pasted.iter().map(|pasted| {
                    let (file, first, count) = (edits.key(), first + pasted.above, pasted.lines);
                    (pasted.operation, Destination { file, path, first, count })
                }));
                shift += region.shift();
            }
        }
        let counts = self.files.iter().flat_map(|file| &file.taken);
        let counts: HashMap<usize, u64> =
            counts.map(|(&operation, taken)| (operation, taken.count())).collect();
        for one in self.tasks.files.iter().filter(|task| added.contains_key(&task.key())) {
            let Task::Add { content: NewContent::Lines(operations), .. } = &one.task else {
                continue;
            };
            let (file, path) = (one.key(), one.path.as_str());
            let mut first = 1;
            for operation in operations {
                let count = counts.get(&operation.index).copied().unwrap_or_default();
                destinations.insert(operation.index, Destination { file, path, first, count });
                first += count;
            }
        }
        destinations
    }
}

impl Transfers<'_> {
    /// The lines of a file that were moved or copied there.
    pub(super) fn pasted(&self, file: FileKey) -> LineSet {
        let there = self.0.iter().filter(|lines| lines.destination == file);
        there.map(|lines| lines.now..lines.now + lines.count).collect()
    }

    /// The lines of a file that came from elsewhere and that the model knows. Lines that moved
    /// within the file are excluded: the memory follows them.
    pub(super) fn shown(&self, file: FileKey) -> LineSet {
        let there =
            self.0.iter().filter(|lines| lines.destination == file && !lines.is_within_file());
        there.flat_map(Transferred::known_now).collect()
    }

    /// The lines of a file that were moved or copied there and that the model does not know.
    pub(super) fn unread(&self, file: FileKey) -> LineSet {
        let there = self.0.iter().filter(|lines| lines.destination == file);
        self.pasted(file).without(&there.flat_map(Transferred::known_now).collect())
    }

    /// The effect of the patch on the lines of a file.
    pub(super) fn changes(&self, file: FileKey, planned: &PlannedFile) -> LineChanges {
        let from_here =
            || self.0.iter().filter(|lines| lines.source == file && !lines.taken.is_copy);
        let moves = from_here().filter(|lines| lines.is_within_file()).map(|lines| {
            let (first, count, now) = (lines.taken.first, lines.count, lines.now);
            MovedLines { first, count, now }
        });
        let left = from_here().filter(|lines| !lines.is_within_file()).map(|lines| MovedOutLines {
            first: lines.taken.first,
            count: lines.count,
            to: lines.path.to_owned(),
            now: lines.now,
        });
        LineChanges {
            splices: planned.plan.splices(),
            moves: moves.collect(),
            left: left.collect(),
            pasted: self.pasted(file),
            tag_before: None,
        }
    }
}

impl Transferred<'_> {
    /// The lines that the model knows, by their numbers after the patch.
    fn known_now(&self) -> impl Iterator<Item = Range<u64>> {
        let now = |line: u64| line - self.taken.first + self.now;
        self.known.ranges().iter().map(move |known| now(known.start)..now(known.end))
    }

    /// Whether the lines moved within their file.
    fn is_within_file(&self) -> bool {
        self.source == self.destination && !self.taken.is_copy
    }
}
