//! The lines that the output of a compiler, linter, test or stack trace names, with anchors.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::reading::{LinesAdded, Reading, Room};
use super::turn::QueuePosition;
use super::{ReadReport, Session};
use crate::view::excerpt::Context;
use crate::view::places::{LinePlace, read_places};
use crate::view::read::ReadRequest;
use crate::workspace::turns::Access;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};
use hashline_base::shape::sized;
use hashline_disk::fs::{Base, FileKind, FileSystem, Stamp, unicode_path};
use hashline_lines::rows::one_line;

/// How much of the files that an output names is shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct AnnotateOptions {
    /// Where the command ran: the base of relative paths in its output, before that of the session.
    pub cwd: Option<PathBuf>,
    /// Whether the command ran in a directory that is not known: relative paths then name nothing.
    #[serde(skip)]
    pub is_elsewhere: bool,
    /// How many lines around each place are shown.
    pub context: u64,
    /// When the command started, in milliseconds after the epoch: files that are newer are reported.
    #[serde(rename = "since")]
    pub since_ms: Option<u64>,
    /// Maximum number of files.
    #[serde(deserialize_with = "sized")]
    pub max_files: usize,
    /// Maximum number of lines, not more than a read shows.
    pub max_lines: u64,
    /// Maximum number of bytes of text, not more than a read shows.
    #[serde(deserialize_with = "sized")]
    pub max_bytes: usize,
}

impl Default for AnnotateOptions {
    fn default() -> AnnotateOptions {
        AnnotateOptions {
            cwd: None,
            is_elsewhere: false,
            context: 0,
            since_ms: None,
            max_files: 20,
            max_lines: 100,
            max_bytes: 16 << 10,
        }
    }
}

/// How many different paths of an output are checked.
const LOOKUP_LIMIT: usize = 2_000;

/// How many different places of an output are counted.
const PLACES_LIMIT: usize = 10_000;

/// How many lines that do not exist are named.
const ABSENT_NAMED: usize = 5;

/// Whether a path below a root leads to a directory of dependencies, of which stack traces are full;
/// or to a file of secrets, which is shown only if the model asks for it.
fn is_skipped(path: &Path) -> bool {
    const DIRECTORIES: [&str; 4] = [".git", ".hg", "node_modules", "site-packages"];
    let mut names = path.components().filter_map(|name| name.as_os_str().to_str());
    const SECRETS: [&str; 8] =
        [".envrc", ".npmrc", ".netrc", ".pgpass", ".git-credentials", ".aws", ".ssh", ".gnupg"];
    let is_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.ends_with(".env")
            || name.starts_with(".env.")
            || name.ends_with(".pem")
            || SECRETS.contains(&name.as_str())
    };
    names.any(|name| DIRECTORIES.contains(&name) || is_secret(name))
}

impl Session {
    /// Shows the lines that the output of a program names, such as a compiler, a linter, a test or
    /// `grep -n`: each once, within limits, and only those of existing text files that the session
    /// may read. They count as shown. The text is empty if there are none.
    pub fn annotate(
        &self,
        output: &str,
        options: &AnnotateOptions,
        cancel: &Cancel,
    ) -> Result<ReadReport> {
        let position = self.enqueue(Access::Reads);
        Ok(self.annotate_at(&position, output, options, cancel)?.with_texts())
    }

    pub(super) fn annotate_at(
        &self,
        position: &QueuePosition,
        output: &str,
        options: &AnnotateOptions,
        cancel: &Cancel,
    ) -> Result<ReadReport> {
        let cwd = options.cwd.as_deref().map(|cwd| unicode_path("cwd", cwd)).transpose()?;
        self.report_at(position, cancel, || {
            let mut named = NamedPlaces::new(self, cwd)?;
            named.is_elsewhere = options.is_elsewhere;
            read_places(output, cancel, |paths, place| named.add(paths, place, options))?;
            named.reading(self, options, cancel)
        })
    }
}

/// A file that an output names.
struct NamedFile {
    name: PathBuf,
    stamp: Stamp,
    /// The lines to show, in the order in which they are named.
    lines: Vec<u64>,
    /// Columns of these lines.
    columns: Vec<(u64, u64)>,
}

impl NamedFile {
    fn request(self, path: &Path) -> ReadRequest {
        let NamedFile { lines, columns: columns_at, .. } = self;
        ReadRequest { lines, columns_at, ..ReadRequest::new(path) }
    }
}

/// The existing files that an output names, and their lines.
struct NamedPlaces<'s> {
    fs: &'s dyn FileSystem,
    /// The directories that may be read, opened once.
    bases: Vec<Base>,
    cwd: Option<&'s str>,
    is_elsewhere: bool,
    /// The numbers of files by the paths that were checked.
    by_path: HashMap<String, Option<usize>>,
    by_name: HashMap<PathBuf, usize>,
    files: Vec<NamedFile>,
    /// All places, also those that are too many to show.
    places: HashSet<(usize, u64)>,
    chosen: u64,
    stopped: bool,
    /// Whether paths were not checked, because there are too many.
    is_unchecked: bool,
}

impl<'s> NamedPlaces<'s> {
    fn new(session: &'s Session, cwd: Option<&'s str>) -> Result<Self> {
        let spelled = |error: Error| error.spelled(session.options.workspace.host.spelling);
        let own = session.workspace.base().map_err(spelled)?;
        // A read root that does not exist contains nothing.
        let others = session.readable.iter().filter_map(|workspace| workspace.base().ok());
        Ok(NamedPlaces {
            fs: session.workspace.fs,
            bases: std::iter::once(own).chain(others).collect(),
            cwd,
            is_elsewhere: false,
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            files: Vec::new(),
            places: HashSet::new(),
            chosen: 0,
            stopped: false,
            is_unchecked: false,
        })
    }

    /// Adds a place: a line of the first path that is a file.
    fn add(
        &mut self,
        paths: &[Cow<'_, str>],
        LinePlace { line, column }: LinePlace,
        options: &AnnotateOptions,
    ) -> ControlFlow<()> {
        let Some(file) = paths.iter().find_map(|path| self.file(path)) else {
            return ControlFlow::Continue(());
        };
        if self.places.insert((file, line))
            && file < options.max_files
            && self.chosen < options.max_lines
        {
            self.files[file].lines.push(line);
            self.files[file].columns.extend(column.map(|column| (line, column)));
            self.chosen += 1;
        }
        self.stopped = self.places.len() >= PLACES_LIMIT;
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The number of the file that a path leads to.
    fn file(&mut self, path: &str) -> Option<usize> {
        if let Some(known) = self.by_path.get(path) {
            return *known;
        }
        if self.by_path.len() == LOOKUP_LIMIT {
            self.is_unchecked = true;
            return None;
        }
        let file = self.look_up(path);
        self.by_path.insert(path.to_owned(), file);
        file
    }

    fn look_up(&mut self, path: &str) -> Option<usize> {
        if self.is_elsewhere && Path::new(path).is_relative() {
            return None;
        }
        let in_cwd = self.cwd.map(|cwd| Path::new(cwd).join(path).to_string_lossy().into_owned());
        // Programs on Windows may print `\`, which is not a separator elsewhere.
        let slashes = path.contains('\\').then(|| path.replace('\\', "/"));
        let spellings = in_cwd.as_deref().into_iter().chain([path]).chain(slashes.as_deref());
        let (name, stamp) = spellings.into_iter().find_map(|path| self.existing(path))?;
        let files = &mut self.files;
        Some(*self.by_name.entry(name.clone()).or_insert_with(|| {
            files.push(NamedFile { name, stamp, lines: Vec::new(), columns: Vec::new() });
            files.len() - 1
        }))
    }

    /// The regular file at a path that may be read. It is not opened.
    fn existing(&self, path: &str) -> Option<(PathBuf, Stamp)> {
        let found = self.bases.iter().find_map(|base| Some((base, base.existing(path).ok()?)));
        let (base, place) = found?;
        let (stamp, name) = (self.fs.stamp(&place).ok()?, place.canonical());
        let below = base.root_path().and_then(|root| name.strip_prefix(root).ok());
        let is_shown = stamp.kind == FileKind::File && !is_skipped(below.unwrap_or(name));
        is_shown.then(|| (name.to_owned(), stamp))
    }

    /// The page of the places.
    fn reading<'p>(
        mut self,
        session: &'p Session,
        options: &AnnotateOptions,
        cancel: &Cancel,
    ) -> Result<Reading<'p>> {
        let names: Vec<PathBuf> = self.files.iter().map(|file| file.name.clone()).collect();
        let mut missing = self.places.len() as u64 - self.chosen;
        let files: Vec<_> = std::mem::take(&mut self.files)
            .into_iter()
            .zip(session.relative(&names))
            .filter(|(file, _)| !file.lines.is_empty())
            .map(|(file, path)| (file.stamp, file.request(Path::new(&path))))
            .collect();
        let requests: Vec<&ReadRequest> = files.iter().map(|(_, request)| request).collect();
        let page = || Reading::new(session, true).limited_to(options.max_lines, options.max_bytes);
        let needed = match options.context {
            0 => vec![Room { lines: 0, bytes: 0 }; files.len()],
            _ => rooms_of(page(), &requests, cancel)?,
        };
        let mut reading = page();
        let mut absent = Vec::new();
        for (at, (stamp, request)) in files.iter().enumerate() {
            let context = Context { before: options.context, after: options.context };
            let wanted = ReadRequest { context, ..request.clone() };
            let part = match options.context {
                0 => reading.room(),
                _ => fair_part(reading.room(), &needed[at..], &requests[at..]),
            };
            let added = reading.add_lines(&wanted, part, cancel)?;
            let full = LinesAdded { existing: request.lines.len() as u64, ..LinesAdded::default() };
            let added = added.unwrap_or(full);
            missing += added.existing - added.shown;
            absent.extend(absent_lines(request, added));
            if added.shown > 0 && is_newer(stamp, options.since_ms) {
                reading.note_changed(&request.name());
            }
        }
        self.add_notes(&mut reading, missing, &absent);
        Ok(reading)
    }

    /// Adds what is not shown, and what does not exist.
    fn add_notes(&self, reading: &mut Reading<'_>, missing: u64, absent: &[String]) {
        if missing > 0 {
            let at_least = if self.stopped { "at least " } else { "" };
            let (noun, are) = if missing == 1 { ("place", "is") } else { ("places", "are") };
            reading.add_note(&format!(
                "({at_least}{missing} more {noun} of the output {are} not shown.)"
            ));
        }
        if !absent.is_empty() {
            let more = if absent.len() > ABSENT_NAMED { ", …" } else { "" };
            let named = absent[..absent.len().min(ABSENT_NAMED)].join(", ");
            reading
                .add_note(&format!("(The output names lines that do not exist: {named}{more}.)"));
        }
        if self.is_unchecked && !reading.is_empty() {
            reading.add_note("(The output names too many paths: some were not checked.)");
        }
    }
}

/// How much of a page the lines of each file need without context.
fn rooms_of(
    mut page: Reading<'_>,
    requests: &[&ReadRequest],
    cancel: &Cancel,
) -> Result<Vec<Room>> {
    let mut rooms = Vec::with_capacity(requests.len());
    for request in requests {
        let before = page.room();
        page.add_lines(request, before, cancel)?;
        let after = page.room();
        rooms.push(Room { lines: before.lines - after.lines, bytes: before.bytes - after.bytes });
    }
    Ok(rooms)
}

/// The part of a page for the first one of some files: what its lines need, and of what the lines
/// of all leave for context as much as it has of the lines.
fn fair_part(room: Room, needed: &[Room], requests: &[&ReadRequest]) -> Room {
    let places = |requests: &[&ReadRequest]| {
        requests.iter().map(|request| request.lines.len()).sum::<usize>().max(1)
    };
    let (own, all) = (places(&requests[..1]), places(requests));
    let all_lines: u64 = needed.iter().map(|room| room.lines).sum();
    let all_bytes: usize = needed.iter().map(|room| room.bytes).sum();
    let spare_lines = room.lines.saturating_sub(all_lines).saturating_mul(own as u64) / all as u64;
    let spare_bytes = room.bytes.saturating_sub(all_bytes).saturating_mul(own) / all;
    Room { lines: needed[0].lines + spare_lines, bytes: needed[0].bytes + spare_bytes }
}

/// The lines of a request that the file does not have, for a note. An error may name the first line
/// of an empty file.
fn absent_lines(request: &ReadRequest, added: LinesAdded) -> Vec<String> {
    let count = added.line_count.unwrap_or(u64::MAX);
    let mut absent: Vec<u64> =
        request.lines.iter().copied().filter(|&line| line > count.max(1)).collect();
    absent.sort_unstable();
    let path = one_line(&request.name()).into_owned();
    let named = |line: u64| {
        let noun = if count == 1 { "line" } else { "lines" };
        // The end of a file, as compilers name it.
        let is_end = line == count + 1 && added.shown == added.existing;
        let end = if is_end { "; the last one is shown" } else { "" };
        format!("{path}:{line} (of {count} {noun}{end})")
    };
    absent.into_iter().take(ABSENT_NAMED + 1).map(named).collect()
}

/// Whether a file was written after a time. Documents have a revision in place of the time.
fn is_newer(stamp: &Stamp, since_ms: Option<u64>) -> bool {
    !stamp.is_document()
        && since_ms.is_some_and(|since| stamp.modified_ns / 1_000_000 > since.into())
}
