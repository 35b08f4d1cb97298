//! `read`, `hash` and `verify`: read files once.

use hashline_core::host::{RowAnchor, file_header};
use hashline_core::{Code, Error, FileView, ReadRequest, TextView, ViewKind};

use crate::args::{Hash, Read, STANDARD_INPUT, Verify};
use crate::call::Call;
use crate::exit::{Exit, Failure, complain, say};
use crate::input::{Piped, is_standard_input, standard_input};
use crate::mismatch;

/// `hashline read`
pub fn read(call: &mut Call<'_>, args: &Read) -> Result<Exit, Failure> {
    let requests = args.requests()?;
    if call.shared.json {
        let views = views(call, &requests)?;
        let has_failed = views.iter().any(|view| error_of(view).is_some());
        call.out.json(&views)?;
        return Ok(if has_failed { Exit::Error } else { Exit::Done });
    }
    if let Some(search) = requests.first().and_then(|request| request.search.as_ref()) {
        call.out.highlight(search);
    }
    let mut piped = Piped::default();
    let mut exit = Exit::Done;
    for request in &requests {
        match show(call, request, requests.len() > 1, &mut piped) {
            Ok(view) => report_omitted(call, &view)?,
            Err(Failure::Engine(error)) if error.code != Code::Aborted => {
                call.out.flush()?;
                complain(&error, false);
                exit = Exit::Error;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(exit)
}

/// Prints one file in pieces.
fn show(
    call: &mut Call<'_>,
    request: &ReadRequest,
    has_header: bool,
    piped: &mut Piped,
) -> Result<FileView, Failure> {
    let Call { files, cancel, out, .. } = call;
    // Dialects without hashes have headers in their rows.
    let has_header = has_header && files.workspace().options().dialect.has_hashes();
    let mut header = has_header.then(|| file_header(&request.path.to_string_lossy()));
    let mut pass_on = |piece: &[u8]| -> Result<(), Failure> {
        if let Some(header) = header.take() {
            out.rows(&header)?;
        }
        Ok(out.piece_of_rows(piece)?)
    };
    let view = if is_standard_input(&request.path) {
        let bytes = piped.bytes(files.workspace().options().max_file_bytes)?;
        files.workspace().stream_bytes(request, bytes, cancel, &mut pass_on)?
    } else {
        match files.stream(request, cancel, &mut pass_on) {
            Err(Failure::Engine(error)) if error.code == Code::NotAFile => {
                let directory = files.list_directory(request, cancel)?.ok_or(error)?;
                let newline = if directory.text.is_empty() { "" } else { "\n" };
                pass_on(format!("{}{newline}", directory.text).as_bytes())?;
                directory
            }
            streamed => streamed?,
        }
    };
    if let Some(error) = error_of(&view) {
        return Err(error.into());
    }
    // An empty file has only a header.
    pass_on(b"")?;
    Ok(view)
}

/// `hashline hash`
pub fn hash(call: &mut Call<'_>, args: &Hash) -> Result<Exit, Failure> {
    let request = ReadRequest::new(&args.file);
    let dialect = call.files.workspace().options().dialect;
    let anchor_of = |row: &str| row.find(dialect.text_mark as char).unwrap_or(row.len());
    let mut hashes = Vec::new();
    for view in views(call, &[request])? {
        if let Some(error) = error_of(&view) {
            return Err(error.into());
        }
        for row in view.text.lines() {
            let anchor = &row[..anchor_of(row)];
            if call.shared.json {
                hashes.extend(RowAnchor::of(dialect, row).map(|row| dialect.hash_text(row.hash)));
            } else {
                call.out.line(anchor)?;
            }
        }
    }
    if call.shared.json {
        call.out.json(&hashes)?;
    }
    Ok(Exit::Done)
}

/// `hashline verify`
pub fn verify(call: &mut Call<'_>, args: &Verify) -> Result<Exit, Failure> {
    let (workspace, cancel) = (call.files.workspace(), &call.cancel);
    let refused = match args.file.as_str() {
        STANDARD_INPUT => {
            let bytes = standard_input(workspace.options().max_file_bytes)?;
            workspace.verify_bytes(STANDARD_INPUT, &bytes, &args.anchors, cancel)?
        }
        path => workspace.verify(path, &args.anchors, cancel)?,
    };
    match refused {
        Some(rejected) => mismatch::report(call, rejected),
        None if call.shared.json => {
            call.out.json(&serde_json::json!({"status": "verified"}))?;
            Ok(Exit::Done)
        }
        None => Ok(Exit::Done),
    }
}

/// The views of all requests, in the order of the requests.
fn views(call: &Call<'_>, requests: &[ReadRequest]) -> Result<Vec<FileView>, Failure> {
    let is_piped = |request: &&ReadRequest| is_standard_input(&request.path);
    let named: Vec<ReadRequest> = requests.iter().filter(|one| !is_piped(one)).cloned().collect();
    let mut named = call.files.read(&named, &call.cancel)?.into_iter();
    let mut piped = Piped::default();
    let mut views = Vec::with_capacity(requests.len());
    for request in requests {
        if is_piped(&request) {
            let bytes = piped.bytes(call.files.workspace().options().max_file_bytes)?;
            views.push(call.files.workspace().read_bytes(request, bytes, &call.cancel)?);
        } else {
            views.extend(named.next());
        }
    }
    Ok(views)
}

/// Why a file has no lines to show.
fn error_of(view: &FileView) -> Option<Error> {
    let path = &view.path;
    let kind = match &view.kind {
        ViewKind::Error { error } => return Some(error.clone()),
        ViewKind::Image { mime_type, .. } => mime_type,
        ViewKind::Binary { .. } => "binary",
        _ => return None,
    };
    let message = format!("{path}: the file is not text ({kind}), and cannot be shown");
    Some(Error::at(Code::BinaryFile, path, message))
}

/// Reports that a limit omitted matches, and what is not shown of a directory. Lines outside of the requested range are not reported.
fn report_omitted(call: &mut Call<'_>, view: &FileView) -> Result<(), Failure> {
    if let Some(&TextView { match_count: Some(count), next_line: Some(next), .. }) = view.as_text()
    {
        let path = &view.path;
        call.out.flush()?;
        say(&format!("{path}: {count} lines match. Continue with --start-line {next}."));
    }
    if let ViewKind::Directory(shown) = &view.kind {
        call.out.flush()?;
        shown.notes().iter().for_each(|note| say(note));
    }
    Ok(())
}
