//! The lines that the output of a compiler, linter, test or stack trace names, with anchors.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::reading::{LinesAdded, Reading, Room};
use super::turn::QueuePosition;
use super::{ReadReport, Session};
use crate::view::excerpt::Context;
use crate::view::near::{MISSING_LIMIT, normalized};
use crate::view::places::{Directory, NamedPlace, is_absolute, read_places};
use crate::view::read::ReadRequest;
use crate::workspace::turns::Access;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};
use hashline_base::shape::sized;
use hashline_disk::fs::{Base, FileKind, FileSystem, Stamp, unicode_path};
use hashline_disk::names::has_several_forms;
use hashline_lines::rows::one_line;

/// Where the programs of a command ran, if their output does not say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunsIn {
    /// Where the command started.
    #[default]
    Cwd,
    /// In another directory.
    Directory(PathBuf),
    /// It is not known: no line of a file at a relative path is shown.
    Unknown,
}

/// How much of the files that an output names is shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct AnnotateOptions {
    /// Where the command ran: the base of relative paths in its output, before that of the session.
    pub cwd: Option<PathBuf>,
    /// Where the programs of the command ran.
    #[serde(skip)]
    pub runs_in: RunsIn,
    /// Whether lines that do not exist are named only next to others.
    #[serde(skip)]
    pub omits_absent: bool,
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
            runs_in: RunsIn::Cwd,
            omits_absent: false,
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

/// How many places are named that are not shown.
const PLACES_NAMED: usize = 5;

/// In how many directories of a project a class is searched.
const MODULES_LIMIT: usize = 100;

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
            let mut named = NamedPlaces::new(self, cwd, &options.runs_in)?;
            read_places(output, cancel, |place| named.add(&place, options))?;
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
    runs_in: &'s RunsIn,
    /// The directories of the project that contain Java's source directories, once they are needed.
    modules: OnceCell<Vec<String>>,
    /// The numbers of files by the paths that were checked.
    by_path: HashMap<String, Option<usize>>,
    by_name: HashMap<PathBuf, usize>,
    files: Vec<NamedFile>,
    /// The first places whose file is not certain, as the output names them.
    uncertain: Vec<String>,
    /// All places, also those that are too many to show.
    places: HashSet<(usize, u64)>,
    chosen: u64,
    stopped: bool,
    /// Whether paths were not checked, because there are too many.
    is_unchecked: bool,
    /// How many missing paths were searched in another Unicode normalization.
    normalized: usize,
}

impl<'s> NamedPlaces<'s> {
    fn new(session: &'s Session, cwd: Option<&'s str>, runs_in: &'s RunsIn) -> Result<Self> {
        let spelled = |error: Error| error.spelled(session.options.workspace.host.spelling);
        let own = session.workspace.base().map_err(spelled)?;
        // A read root that does not exist contains nothing.
        let others = session.readable.iter().filter_map(|workspace| workspace.base().ok());
        Ok(NamedPlaces {
            fs: session.workspace.fs,
            bases: std::iter::once(own).chain(others).collect(),
            cwd,
            runs_in,
            modules: OnceCell::new(),
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            files: Vec::new(),
            uncertain: Vec::new(),
            places: HashSet::new(),
            chosen: 0,
            stopped: false,
            is_unchecked: false,
            normalized: 0,
        })
    }

    /// Adds a place, if it is certain which file it is in.
    fn add(&mut self, place: &NamedPlace<'_>, options: &AnnotateOptions) -> ControlFlow<()> {
        let &NamedPlace { line, column, .. } = place;
        let file = match self.meant(place) {
            Meant::File(file) => file,
            Meant::Nothing => return ControlFlow::Continue(()),
            Meant::Uncertain(path) => {
                let named = format!("{}:{line}", one_line(path));
                if self.uncertain.len() <= PLACES_NAMED && !self.uncertain.contains(&named) {
                    self.uncertain.push(named);
                }
                return ControlFlow::Continue(());
            }
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

    /// The file that a place is in.
    fn meant<'p>(&mut self, place: &'p NamedPlace<'_>) -> Meant<'p> {
        let is_unknown = match place.directory {
            Directory::Start => *self.runs_in == RunsIn::Unknown,
            Directory::Named(path) => match self.runs_in {
                _ if is_absolute(path) => false,
                RunsIn::Cwd => false,
                RunsIn::Directory(known) => !known.ends_with(path),
                RunsIn::Unknown => true,
            },
            Directory::Unknown => true,
        };
        let Some(first) = place.paths.first() else { return Meant::Nothing };
        match self.of_class(place.of_class)[..] {
            [] => {}
            [file] if !is_unknown => return Meant::File(file),
            _ => return Meant::Uncertain(first),
        }
        if is_unknown {
            let absolute = place.paths.iter().filter(|path| is_absolute(path));
            let found = absolute.into_iter().find_map(|path| self.file(path));
            let is_path = |path: &str| path.contains(['/', '\\']) && path.contains('.');
            let is_named =
                is_path(first) && !is_absolute(first) && !is_skipped(Path::new(&**first));
            let is_likely = !first.contains(char::is_whitespace)
                && (is_named || (found.is_none() && self.file(first).is_some()));
            return match found {
                Some(file) => Meant::File(file),
                None if is_likely => Meant::Uncertain(first),
                None => Meant::Nothing,
            };
        }
        let file = place.paths.iter().find_map(|path| match place.directory {
            Directory::Named(directory) => self.file(&self.in_named(directory, path)),
            _ => self.file(path),
        });
        file.map_or(Meant::Nothing, Meant::File)
    }

    /// A path in a directory that the output names. `ninja -C out` names it as from where the command
    /// started, so it may be known already.
    fn in_named(&self, directory: &str, path: &str) -> String {
        let path = Path::new(path);
        let full = match self.runs_in {
            RunsIn::Directory(known) if !is_absolute(directory) => known.join(path),
            _ if is_absolute(directory) => Path::new(directory).join(path),
            _ => Path::new(self.cwd.unwrap_or_default()).join(directory).join(path),
        };
        full.to_string_lossy().into_owned()
    }

    /// The files that a class may be in, in any module.
    fn of_class(&mut self, paths: &[String]) -> Vec<usize> {
        let mut files = Vec::new();
        if paths.is_empty() {
            return files;
        }
        let modules = self.modules.get_or_init(|| modules(&self.bases[0])).clone();
        for module in &modules {
            for path in paths {
                let file = self.file(&format!("{module}{path}"));
                files.extend(file.filter(|file| !files.contains(file)));
            }
        }
        files
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
        let cwd = match self.runs_in {
            RunsIn::Directory(directory) => Some(directory.as_path()),
            _ => self.cwd.map(Path::new),
        };
        let in_cwd = cwd.map(|cwd| cwd.join(path).to_string_lossy().into_owned());
        // Programs on Windows may print `\`, which is not a separator elsewhere.
        let slashes = path.contains('\\').then(|| path.replace('\\', "/"));
        let spellings = in_cwd.as_deref().into_iter().chain([path]).chain(slashes.as_deref());
        let found = spellings.clone().find_map(|path| self.existing(path));
        let (name, stamp) = match found {
            None => spellings.into_iter().find_map(|path| self.existing_normalized(path))?,
            Some(found) => found,
        };
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

    /// The file whose path differs only in its Unicode normalization.
    fn existing_normalized(&mut self, path: &str) -> Option<(PathBuf, Stamp)> {
        if !has_several_forms(path) || self.normalized == MISSING_LIMIT {
            return None;
        }
        self.normalized += 1;
        let path = self.bases.iter().find_map(|base| normalized(base, path))?;
        self.existing(&path)
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
        if options.omits_absent && reading.is_empty() {
            absent.clear();
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
            let named = shortened(absent);
            reading.add_note(&format!("(The output names lines that do not exist: {named}.)"));
        }
        if !self.uncertain.is_empty() {
            let named = shortened(&self.uncertain);
            reading.add_note(&format!(
                "(Not shown, because it is not certain which files the output means: {named}.)"
            ));
        }
        if self.is_unchecked {
            reading.add_note("(The output names too many paths: some were not checked.)");
        }
    }
}

/// Which file a place is in.
enum Meant<'p> {
    File(usize),
    Nothing,
    /// One of several; with the path that is written.
    Uncertain(&'p str),
}

/// The first of some places, for a note.
fn shortened(places: &[String]) -> String {
    let more = if places.len() > PLACES_NAMED { ", …" } else { "" };
    places[..places.len().min(PLACES_NAMED)].join(", ") + more
}

/// The root, and directories in it that contain source directories, each with a final slash.
fn modules(base: &Base) -> Vec<String> {
    let Ok(start) = base.start_dir() else { return Vec::new() };
    let mut modules: Vec<_> = base
        .list(&start)
        .unwrap_or_default()
        .into_iter()
        .filter(|entry| entry.kind == FileKind::Directory && !entry.hidden)
        .filter(|entry| base.exists(&start.join(&entry.name).join("src")))
        .filter_map(|entry| Some(entry.name.to_str()?.to_owned() + "/"))
        .collect();
    modules.sort_unstable();
    modules.insert(0, String::new());
    modules.truncate(MODULES_LIMIT);
    modules
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
    absent.into_iter().take(PLACES_NAMED + 1).map(named).collect()
}

/// Whether a file was written after a time. Documents have a revision in place of the time.
fn is_newer(stamp: &Stamp, since_ms: Option<u64>) -> bool {
    !stamp.is_document()
        && since_ms.is_some_and(|since| stamp.modified_ns / 1_000_000 > since.into())
}
