//! Sections → operations. Lines are named by anchors that carry the tag of their version. A CUT
//! with a PUT becomes a move; further PUTs of the same lines become copies.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Registers;
use crate::edit::recurring::Recurring;
use crate::edit::request::{
    FileAction, InsertAt, LineEdit, MovedIndent, NamedLines, NamedVersion, Operation, Operations,
    Transfer,
};
use hashline_lines::anchor::Anchor;
use hashline_lines::tag::Tag;
use hashline_omp::{
    HunkAct, HunkGap, HunkLines, Register, Script, ScriptHunk, ScriptNote, ScriptProblem, Section,
};

/// The operations of a script.
#[derive(Debug, Default)]
pub struct LoweredScript {
    /// The operations; their indexes are those of the hunks.
    pub operations: Operations,
    /// How ambiguous parts of the text were read.
    pub notes: Vec<ScriptNote>,
}

/// Converts sections to operations, or reports misused registers. `kept` are the registers of the
/// session; without a session, no register is kept.
pub fn lower(
    mut script: Script,
    kept: Option<&Registers>,
) -> Result<LoweredScript, Vec<ScriptProblem>> {
    let all = script.sections.iter_mut().flat_map(|section| &mut section.hunks);
    let new_lines: Vec<Vec<String>> = all.map(|hunk| hunk.act.take_lines()).collect();
    let hunks: Vec<(&Section, &ScriptHunk)> = script.hunks().collect();
    let PasteSources { of, moved } = sources(&hunks, kept)?;
    let (superseded, more) = superseded(&hunks);
    let mut lowered = LoweredScript::default();
    lowered.operations.edits.reserve(hunks.len());
    for (index, (&(section, hunk), new_lines)) in hunks.iter().zip(new_lines).enumerate() {
        if !superseded.contains(&index) {
            Lowering {
                hunks: &hunks,
                sources: &of,
                moved: &moved,
                keeps: kept.is_some(),
                section,
                index,
            }
            .add(&hunk.act, new_lines, &mut lowered.operations);
        }
    }
    if kept.is_some() {
        lowered.operations.captures = captures(&hunks, &of);
    }
    let mut first = 0;
    for section in script.sections.iter().filter(|section| !section.hunks.is_empty()) {
        let (path, tag) = (section.path.clone(), section.tag);
        lowered.operations.versions.push(NamedVersion {
            path,
            tag,
            operation: first,
            hunks: section.hunks.len(),
        });
        first += section.hunks.len();
    }
    lowered.operations.hunks =
        script.sections.into_iter().flat_map(|section| section.hunks).collect();
    lowered.notes = script.notes;
    lowered.notes.extend(more);
    Ok(lowered)
}

/// The source of the lines that a hunk puts.
#[derive(Clone, Debug)]
enum PasteSource {
    /// The lines that another hunk cuts. They are copied if an earlier hunk already moves them.
    Cut { hunk: usize, is_copy: bool },
    /// Lines that an earlier patch cut.
    Kept(Arc<[String]>),
}

/// The contents of the registers while hunks are read in sequence.
#[derive(Default)]
struct RegisterState {
    named: HashMap<String, PasteSource>,
    anonymous: Option<PasteSource>,
    /// Anonymous cuts that no hunk has put yet.
    pending: Vec<usize>,
}

/// The sources of all hunks that put lines.
#[derive(Default)]
struct PasteSources {
    /// By the index of the hunk.
    of: HashMap<usize, PasteSource>,
    /// The hunks whose lines are moved to another position.
    moved: HashSet<usize>,
}

fn sources(
    hunks: &[(&Section, &ScriptHunk)],
    kept: Option<&Registers>,
) -> Result<PasteSources, Vec<ScriptProblem>> {
    let mut state = RegisterState::default();
    let (mut sources, mut problems) = (PasteSources::default(), Vec::new());
    for (index, (_, hunk)) in hunks.iter().enumerate() {
        let register = match &hunk.act {
            HunkAct::Cut(_, register) => {
                state.cut(index, register);
                continue;
            }
            HunkAct::Paste(_, register) => register.as_deref(),
            HunkAct::PasteOver(_, name) => Some(name.as_str()),
            _ => continue,
        };
        match state.held(hunks, register, kept) {
            Ok(PasteSource::Cut { hunk, .. }) => {
                let is_copy = !sources.moved.insert(hunk);
                sources.of.insert(index, PasteSource::Cut { hunk, is_copy });
            }
            Ok(source) => {
                sources.of.insert(index, source);
            }
            Err(what) => problems.push(ScriptProblem { row: hunk.row, hunk: index, what }),
        }
    }
    if problems.is_empty() { Ok(sources) } else { Err(problems) }
}

impl RegisterState {
    fn cut(&mut self, hunk: usize, register: &Register) {
        let source = PasteSource::Cut { hunk, is_copy: false };
        match register {
            Some(name) => {
                self.named.insert(name.clone(), source);
            }
            None => {
                self.pending.push(hunk);
                self.anonymous = Some(source);
            }
        }
    }

    /// The contents of a register at the current hunk.
    fn held(
        &mut self,
        hunks: &[(&Section, &ScriptHunk)],
        register: Option<&str>,
        kept: Option<&Registers>,
    ) -> Result<PasteSource, String> {
        let Some(name) = register else {
            let pending = std::mem::take(&mut self.pending);
            if let [_, .., _] = pending.as_slice() {
                let heads: Vec<String> =
                    pending.iter().map(|&at| hunks[at].1.act.to_string()).collect();
                return Err(format!(
                    "several CUTs without @name are above, {}: name them, CUT … @name, and put each with PUT … @name",
                    heads.join(" and ")
                ));
            }
            return self.anonymous.clone().ok_or_else(|| {
                "there is nothing to put: no CUT without @name is above, and lines without @name are not kept for later patches".to_owned()
            });
        };
        let old = || kept?.get(name).map(|lines| PasteSource::Kept(Arc::clone(lines)));
        self.named.get(name).cloned().or_else(old).ok_or_else(|| {
            let old = kept.into_iter().flat_map(Registers::names);
            let names: BTreeSet<&String> = self.named.keys().chain(old).collect();
            let named: Vec<String> =
                names.into_iter().take(NAMES_LIMIT).map(|name| format!("@{name}")).collect();
            let known = match named.as_slice() {
                [] => "no register is filled".to_owned(),
                named => format!("filled are {}", named.join(", ")),
            };
            format!("@{name} is empty, because no CUT … @{name} is above; {known}")
        })
    }
}

/// The registers that hunks fill, each with the operation that takes the lines.
fn captures(
    hunks: &[(&Section, &ScriptHunk)],
    sources: &HashMap<usize, PasteSource>,
) -> Vec<(String, usize)> {
    let moves = sources.iter().filter_map(|(&by, source)| match source {
        PasteSource::Cut { hunk, is_copy: false } => Some((*hunk, by)),
        PasteSource::Cut { .. } | PasteSource::Kept(_) => None,
    });
    let moved_by: HashMap<usize, usize> = moves.collect();
    let named = hunks.iter().enumerate().filter_map(|(index, (_, hunk))| match &hunk.act {
        HunkAct::Cut(_, Some(name)) => {
            Some((name.clone(), moved_by.get(&index).copied().unwrap_or(index)))
        }
        _ => None,
    });
    named.collect()
}

/// An error for an unknown register names at most this many others.
const NAMES_LIMIT: usize = 10;

/// The hunks that replace exactly the lines that a later hunk replaces or cuts. Only the later hunk
/// is applied.
fn superseded(hunks: &[(&Section, &ScriptHunk)]) -> (HashSet<usize>, Vec<ScriptNote>) {
    let lines = |hunk: &ScriptHunk| match &hunk.act {
        HunkAct::Replace(lines, _) | HunkAct::Cut(lines, _) => Some(*lines),
        _ => None,
    };
    let named = hunks.iter().filter_map(|(_, hunk)| lines(hunk)).map(HunkLines::first);
    let named = Recurring::among(named);
    let mut replaced: HashMap<(&str, Tag, HunkLines), usize> = HashMap::new();
    let (mut superseded, mut notes) = (HashSet::new(), Vec::new());
    for (index, (section, hunk)) in hunks.iter().enumerate() {
        let lines = lines(hunk).filter(|lines| named.has(lines.first()));
        let Some(lines) = lines else { continue };
        let key = (section.path.as_str(), section.tag, lines);
        if let Some(earlier) = replaced.remove(&key) {
            superseded.insert(earlier);
            let what = "several hunks replace the same lines; only the last one is applied";
            notes.push(ScriptNote { row: hunk.row, hunk: index, what });
        }
        if let HunkAct::Replace(..) = &hunk.act {
            replaced.insert(key, index);
        }
    }
    (superseded, notes)
}

/// The conversion of one hunk to operations.
struct Lowering<'s> {
    hunks: &'s [(&'s Section, &'s ScriptHunk)],
    sources: &'s HashMap<usize, PasteSource>,
    /// The hunks whose lines another hunk puts.
    moved: &'s HashSet<usize>,
    /// Whether registers are kept after the patch.
    keeps: bool,
    section: &'s Section,
    index: usize,
}

impl Lowering<'_> {
    /// Adds the operations of a hunk. Its new lines were taken out of `act`.
    fn add(&self, act: &HunkAct, new_lines: Vec<String>, to: &mut Operations) {
        let tag = self.section.tag;
        match act {
            HunkAct::Replace(lines, _) => self.push(to, replace(tag, *lines, new_lines)),
            HunkAct::Insert(gap, _) => self.push(to, insert(tag, *gap, new_lines)),
            HunkAct::Cut(..) if self.moved.contains(&self.index) => {}
            HunkAct::Cut(lines, register) => {
                self.push(to, replace(tag, *lines, Vec::new()));
                if self.keeps && register.is_some() {
                    self.capture(to, *lines);
                }
            }
            HunkAct::Paste(gap, _) => match self.source() {
                PasteSource::Cut { hunk, is_copy } => self.transfer(to, *hunk, *is_copy, *gap),
                PasteSource::Kept(text) => self.push(to, insert(tag, *gap, text.to_vec())),
            },
            HunkAct::PasteOver(lines, _) => match self.source() {
                PasteSource::Cut { hunk, is_copy } => {
                    let gap = match *lines {
                        HunkLines::Range(_, last) => HunkGap::After(last),
                        HunkLines::Block(line) => HunkGap::AfterBlock(line),
                    };
                    // First the transfer: its `Put` becomes the key of the destination file.
                    self.transfer(to, *hunk, *is_copy, gap);
                    self.push(to, replace(tag, *lines, Vec::new()));
                }
                PasteSource::Kept(text) => self.push(to, replace(tag, *lines, text.to_vec())),
            },
            HunkAct::Remove => self.file(to, FileAction::Delete),
            HunkAct::Move(path) => self.file(to, FileAction::Move { to: path.clone() }),
        }
    }

    fn source(&self) -> &PasteSource {
        self.sources.get(&self.index).expect("each hunk that puts lines has a source")
    }

    fn push(&self, to: &mut Operations, action: LineEdit) {
        self.push_at(to, &self.section.path, action);
    }

    fn push_at(&self, to: &mut Operations, path: &str, action: LineEdit) {
        let (index, path) = (self.index, path.to_owned());
        to.edits.push(Operation { index, path, verbatim: true, action });
    }

    fn file(&self, to: &mut Operations, action: FileAction) {
        let (index, path) = (self.index, self.section.path.clone());
        to.files.push(Operation { index, path, verbatim: true, action });
    }

    /// Copies lines to a register only: no hunk of this patch puts them.
    fn capture(&self, to: &mut Operations, lines: HunkLines) {
        let NamedLines { first, last, block } = named_lines(self.section.tag, lines);
        let transfer = Transfer {
            is_copy: true,
            first,
            last,
            block,
            to: None,
            at: None,
            at_block: false,
            indent: MovedIndent::Keep,
        };
        self.push(to, LineEdit::Take(transfer));
    }

    /// Moves or copies the lines that a hunk cuts to a gap in this section.
    fn transfer(&self, to: &mut Operations, cut: usize, is_copy: bool, gap: HunkGap) {
        let (from, hunk) = self.hunks[cut];
        let HunkAct::Cut(lines, _) = &hunk.act else { return };
        let NamedLines { first, last, block } = named_lines(from.tag, *lines);
        let NamedPosition { at, block: at_block } = named_position(self.section.tag, gap);
        let destination = (from.path != self.section.path).then(|| self.section.path.clone());
        let transfer = Transfer {
            is_copy,
            first,
            last,
            block,
            to: destination,
            at: Some(at),
            at_block,
            indent: MovedIndent::Keep,
        };
        self.push_at(to, &from.path, LineEdit::Take(transfer.clone()));
        self.push(to, LineEdit::Put(transfer));
    }
}

fn named_lines(tag: Tag, lines: HunkLines) -> NamedLines {
    let anchor = |line| Anchor::of_version(tag, line);
    match lines {
        HunkLines::Range(first, last) => NamedLines {
            first: anchor(first),
            last: (last != first).then(|| anchor(last)),
            block: false,
        },
        HunkLines::Block(line) => NamedLines { first: anchor(line), last: None, block: true },
    }
}

fn replace(tag: Tag, lines: HunkLines, text: Vec<String>) -> LineEdit {
    let NamedLines { first, last, block } = named_lines(tag, lines);
    LineEdit::Replace { first, last, lines: text, checksum: None, block }
}

fn insert(tag: Tag, gap: HunkGap, lines: Vec<String>) -> LineEdit {
    let NamedPosition { at, block } = named_position(tag, gap);
    LineEdit::Insert { at, lines, block }
}

/// A position as an operation names it.
struct NamedPosition {
    at: InsertAt,
    /// Whether its line names the whole block that begins there.
    block: bool,
}

/// The position of a gap. The gap before line 1 is the start of the file, which needs no anchor.
fn named_position(tag: Tag, gap: HunkGap) -> NamedPosition {
    let anchor = |line| Anchor::of_version(tag, line);
    let at = match gap {
        HunkGap::Before(1) => InsertAt::Start,
        HunkGap::Before(line) => InsertAt::Before(anchor(line)),
        HunkGap::After(line) | HunkGap::AfterBlock(line) => InsertAt::After(anchor(line)),
        HunkGap::End => InsertAt::End,
    };
    NamedPosition { at, block: matches!(gap, HunkGap::AfterBlock(_)) }
}
