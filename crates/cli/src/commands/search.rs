//! `search`: finds matches in many files.

use std::cell::RefCell;

use hashline_core::host::file_header;
use hashline_core::{
    Error, FileMatches, FoundFile, FoundFiles, Limits, ReadRequest, RowSink, SearchOutput,
    SearchQuery, SearchResult, ViewKind,
};

use crate::args::{STANDARD_INPUT, Search};
use crate::call::Call;
use crate::exit::{Exit, Failure, complain, say};
use crate::input::{is_standard_input, standard_input};
use crate::progress::Progress;

/// `hashline search`
pub fn search(call: &mut Call<'_>, args: &Search) -> Result<Exit, Failure> {
    let found = find(call, args)?;
    if call.shared.json {
        call.out.json(&found)?;
        return Ok(exit_of(&found));
    }
    call.out.rows(&found.text)?;
    call.out.flush()?;
    for warning in &found.warnings {
        say(&warning.message);
    }
    for error in &found.errors {
        complain(error, false);
    }
    if found.no_definition {
        say("no definition has this name. These lines contain it.");
    }
    report_omitted(&found);
    let skipped = found
        .skipped_note()
        .filter(|_| !found.has_results() || found.skipped.unknown_structure > 0);
    let explanation = found.explanation_note("omit --regex", "add --regex");
    for note in [explanation, found.unmatched_globs_note(), skipped].into_iter().flatten() {
        say(&note);
    }
    Ok(exit_of(&found))
}

/// Searches files, and then standard input if it is named. If only files are searched, their rows
/// are printed as they are found and are not in the result.
fn find(call: &mut Call<'_>, args: &Search) -> Result<SearchResult, Failure> {
    let mut query = args.query()?;
    call.out.highlight(&query.search);
    let named = query.paths.len();
    query.paths.retain(|path| !is_standard_input(path));
    let is_piped = query.paths.len() < named;
    let only_on_disk = match (query.output, &query.symbol) {
        (SearchOutput::List, _) => {
            Some("--files lists files on disk, and standard input is not one")
        }
        (_, Some(_)) => Some(
            "--symbol needs the name of a file, which says its language, and standard input has none",
        ),
        _ => None,
    };
    if let Some(message) = only_on_disk.filter(|_| is_piped) {
        return Err(Error::argument(message).into());
    }
    if is_piped && query.paths.is_empty() {
        let list = (query.output != SearchOutput::Lines).then(FoundFiles::default);
        let mut found = SearchResult { list, ..SearchResult::default() };
        add_standard_input(call, &query, &mut found)?;
        return Ok(found);
    }
    let is_printed = !is_piped && !call.shared.json;
    let mut found = find_in_files(call, &query, is_printed)?;
    if is_piped {
        add_standard_input(call, &query, &mut found)?;
    }
    Ok(found)
}

/// Searches files; if requested, the rows of each file are printed as soon as they are final. The
/// progress line is removed before the first row, because both may be on one terminal.
fn find_in_files(
    call: &mut Call<'_>,
    query: &SearchQuery,
    is_printed: bool,
) -> Result<SearchResult, Failure> {
    let Call { files, cancel, out, .. } = call;
    let progress = RefCell::new(Some(Progress::begin("searched")));
    let on_progress = |done, total| {
        if let Some(progress) = &*progress.borrow() {
            progress.set(done, total);
        }
    };
    let mut printed = Ok(());
    let mut print = |header: &str, rows: &str| {
        progress.take();
        printed = out.rows(header).and_then(|()| out.rows(rows));
        if printed.is_ok() && out.is_terminal() {
            printed = out.flush();
        }
        printed.is_ok()
    };
    let sink: Option<RowSink<'_>> = if is_printed { Some(&mut print) } else { None };
    let found = files.search(query, cancel, &on_progress, sink);
    progress.take();
    printed?;
    Ok(found?)
}

fn add_standard_input(
    call: &Call<'_>,
    query: &SearchQuery,
    found: &mut SearchResult,
) -> Result<(), Failure> {
    let left = query.max_matches.saturating_sub(found.match_count);
    let request = ReadRequest {
        search: Some(query.search.clone()),
        context: query.context,
        max_matches: Some(query.max_matches_per_file.unwrap_or(u64::MAX).min(left)),
        limits: Limits { max_lines: None, max_bytes: query.max_bytes },
        max_line_chars: query.max_line_chars,
        ..ReadRequest::new(STANDARD_INPUT)
    };
    let bytes = standard_input(call.files.workspace().options().max_file_bytes)?;
    let view = call.files.workspace().read_bytes(&request, &bytes, &call.cancel)?;
    let shown = match view.kind {
        ViewKind::Text(shown) => shown,
        ViewKind::Error { error } => {
            found.errors.push(error);
            return Ok(());
        }
        _ => {
            found.binary_skipped += 1;
            found.skipped.binary += 1;
            return Ok(());
        }
    };
    found.files_searched += 1;
    found.skipped.lossy += u64::from(shown.lossy);
    if query.output != SearchOutput::Lines {
        if let Some(match_count) = shown.match_count.filter(|&count| count > 0) {
            let counts = query.output == SearchOutput::Count;
            let file = FoundFile {
                path: STANDARD_INPUT.to_owned(),
                match_count: counts.then_some(match_count),
                bytes: query.sizes.then_some(bytes.len() as u64),
            };
            found.list_file(query, file);
        }
        return Ok(());
    }
    let truncated = shown.next_line.is_some() || shown.is_line_cut;
    found.truncated |= truncated;
    let match_lines = shown.match_lines.unwrap_or_default();
    if match_lines.is_empty() {
        return Ok(());
    }
    if !found.text.is_empty() {
        found.text.push('\n');
    }
    let header = file_header(STANDARD_INPUT);
    found.text.extend([header.as_str(), "\n", &view.text]);
    found.match_count += match_lines.len() as u64;
    found.files.push(FileMatches {
        path: view.path,
        match_lines,
        match_count: shown.match_count.unwrap_or_default(),
        line_count: shown.line_count,
        truncated,
        symbols: Vec::new(),
        encoding: None,
        rows: shown.rows,
    });
    Ok(())
}

fn exit_of(found: &SearchResult) -> Exit {
    match (found.errors.is_empty(), found.has_results()) {
        (false, _) => Exit::Error,
        (true, true) => Exit::Done,
        (true, false) => Exit::NotFound,
    }
}

fn report_omitted(found: &SearchResult) {
    if let Some(list) = &found.list {
        let note = found.list_note().unwrap_or_default();
        match list.next {
            Some(next) => say(&format!("{note}. Continue with --skip {next}.")),
            None if list.match_count.is_some() => say(&note),
            None => {}
        }
    } else if found.truncated {
        let (shown, files) = (found.match_count, found.files.len());
        say(&format!(
            "a limit omitted matches: {shown} in {files} files are shown. \
             Raise --max-matches, --max-matches-per-file or --max-bytes."
        ));
    }
}
